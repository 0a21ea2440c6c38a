"""The metrics of a run as curves for TensorBoard, with the extra `tensorboard`.

The file repeats what `metrics.jsonl` says and nothing else, no times either, so that a resumed run
has the same one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import Any, Self

from tengen.extras import is_there

FILE = "events.out.tfevents.tengen"


class Curves:
    """An open file of curves; begun anew with the rows noted before."""

    def __init__(self, path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
        protocol = "tensorboard.compat.proto"
        self._event = import_module(f"{protocol}.event_pb2").Event
        self._summary = import_module(f"{protocol}.summary_pb2").Summary
        # Written in place: a TensorBoard that shows the file goes on reading where it was.
        self._file = path.open("r+b" if path.exists() else "wb")
        writer = import_module("tensorboard.summary.writer.record_writer").RecordWriter
        self._writer = writer(self._file)
        self._write(file_version="brain.Event:2")
        for row in rows:
            self.add(row)
        self._file.truncate()

    @classmethod
    def open(cls, folder: Path, rows: Iterable[Mapping[str, Any]]) -> Self | None:
        """Begin the curves of a run; None without TensorBoard."""
        return cls(folder / FILE, rows) if is_there("tensorboard") else None

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the numbers of a row of metrics at its step."""
        values = [
            {"tag": name, "simple_value": float(value)}
            for name, value in row.items()
            if name != "step" and isinstance(value, Real)
        ]
        self._write(step=row["step"], summary=self._summary(value=values))

    def _write(self, **content: Any) -> None:
        self._writer.write(self._event(**content).SerializeToString())
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
