"""Repeat the papers' experiments and show them beside the papers: steps that resume, one report.

`steps` runs named pieces of work and keeps each result as soon as it is there; `quick` and `full`
list the pieces of the small and the whole laboratory; `sections` holds what they do, one module a
section; `papers` has the papers' figures, `verdicts` compares, `report` makes the page. One module
a paper (`opening_td`, `scoring`, ...) holds its experiments.
"""
