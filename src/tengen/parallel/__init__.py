"""Run many independent jobs: in process, in local processes, or on a Ray cluster.

`map_jobs` is the one way of this project to use more than one process or machine, `Team` the same
for lots of jobs that follow each other; `share` splits one loop among threads. Nothing here knows
Go. The same jobs give the same results whichever way is used, since every job carries its seed
(`spawn_seeds`) and no job sees another.
"""

from tengen.parallel.jobs import Team, WorkerLostError, map_jobs, spawn_seeds
from tengen.parallel.threads import share

__all__ = ["Team", "WorkerLostError", "map_jobs", "share", "spawn_seeds"]
