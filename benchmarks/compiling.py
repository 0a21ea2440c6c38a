"""Measure what compiling costs: processor seconds of all kernels, or of a command's first answer.

    python benchmarks/compiling.py            # all kernels, in one process
    python benchmarks/compiling.py commands   # the first answers of score, predict and gtp

The cache is a fresh temporary folder. To measure another version, put its `src` on PYTHONPATH.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

GAME = "(;GM[1]FF[4]SZ[9]KM[6.5]RU[Japanese];B[ee];W[ce];B[cd];W[dd];B[de];W[cf];B[bd];W[df])"
COMMANDS = {"score": ["score", "game.sgf"], "predict": ["predict", "game.sgf"], "gtp": ["gtp"]}


def measure_all(most: int = 20) -> None:
    """Compile everything and print the total, then the kernels that cost most by themselves."""
    from numba.core import event

    running: list[list[float]] = []
    spent: dict[str, float] = defaultdict(float)
    compiled = 0

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            running.append([time.process_time(), 0.0])

        def on_end(self, told: Any) -> None:
            nonlocal compiled
            compiled += 1
            begin, within = running.pop()
            took = time.process_time() - begin
            function = told.data["dispatcher"].py_func
            spent[f"{function.__module__}.{function.__name__}"] += took - within
            if running:
                running[-1][1] += took

    event.register("numba:compile", Listener())
    from tengen.warming import steps

    begin = time.process_time()
    for step in steps().values():
        step()
    print(f"{time.process_time() - begin:.1f} s for {len(spent)} functions, {compiled} forms")
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1])[:most]:
        print(f"{seconds:6.2f} s {name}")


def measure_commands(folder: Path) -> None:
    """Run each command with an empty cache and print the processor seconds it took."""
    (folder / "game.sgf").write_text(GAME)
    for name, words in COMMANDS.items():
        before = os.times()
        subprocess.run(
            [sys.executable, "-m", "tengen", *words],
            cwd=folder,
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder / name)},
            input="boardsize 9\ngenmove b\n",
            text=True,
            capture_output=True,
            check=True,
        )
        after = os.times()
        seconds = after.children_user - before.children_user
        seconds += after.children_system - before.children_system
        print(f"{name}: {seconds:.1f} s, {len(list((folder / name).rglob('*.nbi')))} kernels")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        if sys.argv[1:] == ["commands"]:
            measure_commands(Path(name))
        else:
            os.environ["NUMBA_CACHE_DIR"] = name
            measure_all()
