"""Repeat the papers' experiments and show them beside the papers: steps that resume, one report.

`catalogue` lists the experiments, `steps` runs them and keeps each result as soon as it is there,
`sections` holds what they do. A `content.Result` is what each gives; `papers` has the papers'
figures, `verdicts` compares, and `terminal`, `markdown` and `report` show it.
"""
