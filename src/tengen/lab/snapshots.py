"""States of a paper's recorded training, for visitors to watch it learn.

A paper's module `snapshots` yields the learner at several points of a recorded training. They lie
in `data/snapshots`, one model each, in half precision, named by what they are counted by:
`000000250.safetensors` after 250 games.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from tengen.errors import TengenError
from tengen.lab.papers import Paper
from tengen.models.store import StoredLearner

SNAPSHOTS = "snapshots"
_DIGITS = 9


def snapshots_of(paper: Paper) -> dict[int, Path]:
    """Return the files of a paper's snapshots by number, the untrained one first."""
    return {int(path.stem): path for path in sorted(_folder(paper).glob("*.safetensors"))}


def make_snapshots(name: str, paper: Paper, collection: Path | None = None) -> Iterator[Path]:
    """Repeat a paper's recorded training and write its snapshots anew; return their files.

    The paper's `snapshots(data, collection)` fails if the training goes another way than its rows
    say. `collection` is the folder of games to learn from, where it learns from games.
    """
    if paper.exhibit is None or not paper.exhibit.counted:
        raise TengenError(f"the paper {name!r} has no training to show")
    module, folder = paper.module("snapshots"), _folder(paper)
    found: Iterator[tuple[int, StoredLearner]] = module.snapshots(paper.data, collection)
    fresh = folder.with_name(f"{SNAPSHOTS}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        for number, learner in found:
            path = fresh / f"{number:0{_DIGITS}d}.safetensors"
            learner.save(
                path, half=True, name=f"{name}-{number}",
                data=f"{number:,} {paper.exhibit.counted}", remake=f"tengen lab snapshots {name}",
            )  # fmt: skip
            yield folder / path.name
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _folder(paper: Paper) -> Path:
    return paper.data / SNAPSHOTS
