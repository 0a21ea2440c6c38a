"""Hold one module for each section of the report: what the laboratory does there, small and large.

A module's `quick` needs nothing but the package; its functions for `--full` repeat the paper at its
own scale. Both return plain data; see `content`.
"""
