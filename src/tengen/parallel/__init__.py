"""Run independent jobs: in this process, in local processes, or on a Ray cluster.

`map_jobs` runs jobs once, `Team` keeps its workers for several rounds, `share` splits a loop among
threads. The results do not depend on where jobs run, since every job has its seed (`spawn_seeds`).
"""

from tengen.parallel.jobs import Team, WorkerLostError, map_jobs, share, spawn_seeds

__all__ = ["Team", "WorkerLostError", "map_jobs", "share", "spawn_seeds"]
