"""Repeat the papers' experiments and show them beside the papers: steps that resume, one report.

`steps` runs named pieces of work and keeps each result as soon as it is there; `quick` lists the
pieces of the small laboratory; `report` makes one HTML page of them. One module a paper holds its
experiments.
"""
