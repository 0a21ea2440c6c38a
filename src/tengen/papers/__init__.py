"""The five papers; each is a folder that plugs into the core by entry points.

A folder has `paper.toml` (claims and questions), `settings`, `learner` and `kernels` (what it
built), `commands`, `experiments` (which play and return rows), `report` (which computes everything
from rows) and `data` (recorded rows). Nothing imports a paper, and a paper no other one.
"""
