"""What a paper shows to visitors: its machine, snapshots of its training, and where it fails.

`story` and the table `exhibit` of `paper.toml` say it in words. A paper's module `snapshots` yields
the states of a recorded training; they lie in `data/snapshots`, one model each, in half precision,
named by what they are counted by: `000000250.safetensors` after 250 games.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.board import Board
from tengen.errors import TengenError
from tengen.models.store import StoredLearner

if TYPE_CHECKING:
    from tengen.lab.papers import Paper

SNAPSHOTS = "snapshots"
_DIGITS = 9


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A position where a paper's machine goes wrong; a test checks that it does."""

    title: str
    why: str
    size: int
    moves: str  # as `Board` takes them
    right: str  # the move of a good player
    loses: float  # points that the machine's move loses at least, as the strongest network judges

    def board(self) -> Board:
        """Return the position."""
        return Board(self.size, moves=self.moves)


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """How a paper's machine is shown."""

    size: int  # of the board
    model: str = ""  # the finished machine, if it is a model
    player: str = ""  # spec of the machine as a player; {} stands for the model
    counted: str = ""  # what the snapshots are counted by, as "games"
    failures: Sequence[Failure] = ()

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Exhibit:
        """Make an exhibit from a table of `paper.toml`."""
        failures = [Failure(**{"size": said["size"], **each}) for each in said.get("failures", [])]
        return cls(**{**said, "failures": failures})


def snapshots_of(paper: Paper) -> dict[int, Path]:
    """Return the files of a paper's snapshots by number, the untrained one first."""
    return {int(path.stem): path for path in sorted(_folder(paper).glob("*.safetensors"))}


def make_snapshots(name: str, paper: Paper) -> Iterator[Path]:
    """Repeat a paper's recorded training and write its snapshots anew; return their files.

    The paper's `snapshots(data)` fails if the training goes another way than its rows say.
    """
    if paper.exhibit is None or not paper.exhibit.counted:
        raise TengenError(f"the paper {name!r} has no training to show")
    found: Iterator[tuple[int, StoredLearner]] = paper.module("snapshots").snapshots(paper.data)
    folder = _folder(paper)
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
