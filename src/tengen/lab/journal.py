"""Keep finished pieces of work as JSON lines, so that a stopped experiment does nothing twice.

A line is written whole and at once; one that a kill tore is dropped when the journal is read.
Nothing here knows what the work is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tengen.errors import TengenError
from tengen.models import write_atomic
from tengen.parallel import map_jobs

Row = dict[str, Any]
_Job = TypeVar("_Job")


class Journal:
    """A file of finished work, each piece under its key; without a path nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def rows(self) -> list[Row]:
        """Return what is finished; a torn last line is dropped, no file is no row.

        Raises
        ------
        TengenError
            If another line is damaged.
        """
        if self.path is None or not self.path.is_file():
            return []
        text = self.path.read_text(errors="replace")
        *lines, torn = text.split("\n")
        try:
            rows = [json.loads(line) for line in lines]
            known = [{"key": str(row["key"]), **row} for row in rows]
        except (ValueError, TypeError, KeyError):
            raise TengenError(f"{self.path}: is damaged; remove it to play again") from None
        if torn:
            write_atomic(self.path, text[: len(text) - len(torn)])
        return known

    def add(self, row: Row) -> None:
        """Write down one finished piece; it names its `key`."""
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(json.dumps(row) + "\n")

    def complete(
        self,
        jobs: Mapping[str, _Job],
        work: Callable[[_Job], Row],
        *,
        workers: int = 1,
        ray: str | None = None,
        tell: Callable[[int, int], None] = lambda done, of: None,
    ) -> list[Row]:
        """Do the jobs that are not finished yet; return the rows of all of them, in their order.

        `work` has to be importable, since it runs in other processes; `tell` hears how many are
        done.
        """
        known = {row["key"]: row for row in self.rows()}
        todo = [(key, job) for key, job in jobs.items() if key not in known]
        finished = len(jobs) - len(todo)
        for row in map_jobs(partial(_do, work), todo, workers=workers, ray=ray, ordered=False):
            self.add(row)
            known[row["key"]] = row
            finished += 1
            tell(finished, len(jobs))
        return [known[key] for key in jobs]


def _do(work: Callable[[Any], Row], job: tuple[str, Any]) -> Row:
    key, what = job
    return {"key": key, **work(what)}
