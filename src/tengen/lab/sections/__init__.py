"""Hold one module for each section of the report: what the laboratory does there, small and large.

A module lists its experiments, each with a quick size, which needs nothing but the package, and a
full one, which repeats the paper at its own scale (see `steps`). They return plain data, `content`.
"""
