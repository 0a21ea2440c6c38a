"""Run many independent jobs: in process, in local processes, or on a Ray cluster.

`map_jobs` is the one way of this project to use more than one process or machine; `share` splits
one loop among threads. Nothing here knows
Go. The same jobs give the same results whichever way is used, since every job carries its seed
(`spawn_seeds`) and no job sees another.
"""

from tengen.parallel.jobs import map_jobs, spawn_seeds
from tengen.parallel.losses import WorkerLostError
from tengen.parallel.threads import share

__all__ = ["WorkerLostError", "map_jobs", "share", "spawn_seeds"]
