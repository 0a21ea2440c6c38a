"""Raw rows of experiments, from which every figure is computed.

DATA/EXPERIMENT/rows.csv.gz   one row per game, checkpoint or position: what a statistic uses
DATA/EXPERIMENT/run.json      how the rows were made, see `RunRecord`
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from tengen import __version__
from tengen.errors import TengenError
from tengen.files import write_atomic

ROWS, RUN = "rows.csv.gz", "run.json"

Cell = str | int | float


@dataclass(frozen=True)
class RunRecord:
    """How the rows of an experiment were made."""

    command: str
    seeds: list[int]
    settings: dict[str, Any]
    rows: int
    version: str
    commit: str
    processor: str
    cores: int
    seconds: float
    cpu_seconds: float | None  # of all processes; null where it was not measured
    date: str


@dataclass(frozen=True)
class NewRows:
    """Rows that an experiment has just made; the laboratory writes them with their run record."""

    name: str  # of the experiment's folder below `data`
    rows: Iterable[Mapping[str, Cell]]
    seeds: Sequence[int]
    settings: Mapping[str, Any]


def record_of(
    command: str,
    seeds: Sequence[int],
    settings: Mapping[str, Any],
    *,
    seconds: float,
    cpu_seconds: float | None,
) -> RunRecord:
    """Describe a run that has just ended on this machine; `write_evidence` counts its rows."""
    if cpu_seconds is not None:
        cpu_seconds = round(cpu_seconds, 1)
    today = datetime.now(UTC).date().isoformat()
    return RunRecord(
        command, list(seeds), dict(settings), 0, __version__, _commit(), _processor(),
        os.cpu_count() or 1, round(seconds, 1), cpu_seconds, today,
    )  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """The rows of one experiment by column, and how they were made."""

    folder: Path
    run: RunRecord
    columns: dict[str, NDArray[Any]] = field(repr=False)

    def __len__(self) -> int:
        return self.run.rows

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return one column."""
        try:
            return self.columns[column]
        except KeyError:
            raise TengenError(f"{self.folder / ROWS}: has no column {column}") from None

    def where(self, **values: Cell) -> Evidence:
        """Return the rows that have these values."""
        chosen = np.ones(len(self), np.bool_)
        for name, value in values.items():
            chosen &= self[name] == value
        return self._take(chosen)

    def groups(self, column: str) -> Iterator[tuple[Any, Evidence]]:
        """Return the rows of each value of a column, in the order of the values."""
        for value in np.unique(self[column]).tolist():
            yield value, self.where(**{column: value})

    def _take(self, chosen: NDArray[np.bool_]) -> Evidence:
        columns = {name: cells[chosen] for name, cells in self.columns.items()}
        run = RunRecord(**{**asdict(self.run), "rows": int(chosen.sum())})
        return Evidence(self.folder, run, columns)


def write_evidence(folder: Path, rows: Iterable[Mapping[str, Cell]], run: RunRecord) -> None:
    """Write rows, which have the same keys, and how they were made."""
    text = io.StringIO()
    sheet, count = csv.writer(text, lineterminator="\n"), 0
    for count, row in enumerate(rows, 1):
        if count == 1:
            sheet.writerow(row)
        sheet.writerow([f"{x:.10g}" if isinstance(x, float) else x for x in row.values()])
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:  # the same rows, the same bytes
        file.write(text.getvalue().encode())
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / ROWS, packed.getvalue())
    write_atomic(folder / RUN, json.dumps({**asdict(run), "rows": count}, indent=1) + "\n")


def runs_in(data: Path) -> dict[str, RunRecord]:
    """Return how the rows of every experiment in a folder were made, by name."""
    return {
        path.parent.name: read_run_record(path.parent) for path in sorted(data.glob(f"*/{RUN}"))
    }


def read_run_record(folder: Path) -> RunRecord:
    """Read how the rows of an experiment were made; fail clearly if that is missing or damaged."""
    path = folder / RUN
    try:
        return TypeAdapter(RunRecord).validate_json(path.read_bytes())
    except FileNotFoundError:
        raise TengenError(f"{path}: no such file") from None
    except ValidationError as failure:
        what = failure.errors()[0]["msg"]
        raise TengenError(f"{path}: does not describe a run: {what}") from None


def find_evidence(data: Path, name: str) -> Evidence | None:
    """Return the rows of an experiment below a folder, or None if there are none."""
    return read_evidence(data / name) if (data / name).is_dir() else None


def read_evidence(folder: Path) -> Evidence:
    """Read the rows of an experiment; fail clearly if they are missing or damaged."""
    run = read_run_record(folder)
    try:
        with gzip.open(folder / ROWS, "rt", encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
    except FileNotFoundError as failure:
        raise TengenError(f"{failure.filename}: no such file") from None
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, ValueError) as failure:
        raise TengenError(f"{folder / ROWS}: damaged ({failure})") from None
    if len(rows) != run.rows or any(len(row) != len(header) for row in rows):
        raise TengenError(f"{folder / ROWS}: damaged: {len(rows)} rows, {run.rows} in {RUN}")
    cells = zip(*rows, strict=True) if rows else ([] for _ in header)
    return Evidence(folder, run, dict(zip(header, map(_column, cells), strict=True)))


def _column(cells: Sequence[str]) -> NDArray[Any]:
    """Return a column as integers, else as numbers, else as text; an empty cell is not a number."""
    for kind in (np.int64, np.float64):
        try:
            return np.array([cell or "nan" for cell in cells]).astype(kind)
        except ValueError:
            continue
    return np.array(cells, np.str_)


def _commit() -> str:
    """Return the commit of the source tree this code runs in, or "" outside of one."""
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        found = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()


def _processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
