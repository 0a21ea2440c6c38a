"""Write collections: SGF files and folders, the one-line form, arrays; always UTF-8."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import chain, islice
from pathlib import Path

import numpy as np

from tengen.board import coordinates
from tengen.errors import RecordError
from tengen.files import refuse_inputs, replacing, write_atomic
from tengen.records.archives import may_hold_games
from tengen.records.corpus import Corpus
from tengen.records.record import GameRecord

_NUMBERED = re.compile(r"\d{6,}\.sgf").fullmatch  # the names of files in a folder that we write


def write_sgf(records: Iterable[GameRecord], path: str | Path, *, main_line: bool = False) -> int:
    """Write games as one SGF collection, one to a line where they have no line breaks."""
    count = 0
    with replacing(path) as stream:
        for record in records:
            stream.write(record.utf8_sgf(main_line=main_line) + b"\n")
            count += 1
    return count


def write(
    corpus: Corpus,
    out: str,
    *,
    main_line: bool = False,
    limit: int | None = None,
    shuffle_seed: int | None = None,
) -> int:
    """Write a corpus in the form the name `out` tells; return how many games were written.

    Where there are none, nothing is touched.

    `.sgf` a collection, `.txt` the one-line form (19x19 without setup only), `.npz` arrays, a
    folder one file each, `-` SGF on standard output. With a seed the order is by chance.

    Raises `RecordError` if the name tells no form and `TengenError` if what would be written over
    is read.
    """
    if not out:
        raise RecordError("the name of what to write is empty")
    to_folder = out.endswith("/") or Path(out).is_dir()
    if not to_folder and out != "-" and not out.endswith((".sgf", ".txt", ".npz")):
        raise RecordError(f"{out}: end the name with .sgf, .txt, .npz or / to say what to write")
    _refuse_inputs(out, corpus)
    if out.endswith(".npz"):
        return _write_arrays(corpus, Path(out), limit, shuffle_seed)
    records = iter(corpus) if shuffle_seed is None else corpus.shuffled(shuffle_seed)
    if out.endswith(".txt"):
        records = filter(_fits_a_line, records)
    records = islice(records, limit)
    first = next(records, None)
    if first is None:
        return 0
    records = chain([first], records)
    if out == "-":
        return _write_standard_output(records, main_line)
    if out.endswith(".sgf"):
        return write_sgf(records, out, main_line=main_line)
    if out.endswith(".txt"):
        return _write_lines(records, Path(out))
    return _write_folder(records, Path(out), main_line)


def _fits_a_line(record: GameRecord) -> bool:
    return (record.rows, record.cols) == (19, 19) and not record.setup and not record.edits


def _refuse_inputs(out: str, corpus: Corpus) -> None:
    """Refuse an output that the corpus reads: a file, or a folder that holds files of it."""
    refuse_inputs(out, corpus.paths)
    place = Path(out).resolve()
    folders = [Path(path).resolve() for path in corpus.paths if Path(path).is_dir()]
    if place.is_dir():
        files = [Path(path).resolve() for path in corpus.paths if Path(path).is_file()]
        mixed = any(file.parent == place and _NUMBERED(file.name) for file in files) or any(
            folder in place.parents for folder in folders
        )
    else:
        mixed = (
            place.exists()
            and may_hold_games(place.name)
            and any(folder in place.parents for folder in folders)
        )
    if mixed:
        raise RecordError(f"{out}: games are read from there; write to another place")


def _write_arrays(corpus: Corpus, path: Path, limit: int | None, seed: int | None) -> int:
    games = corpus.as_arrays()
    if seed is not None:
        games = games.shuffled(seed)
    if limit is not None:
        games = games.take(np.arange(min(limit, len(games))))
    if not len(games):
        return 0
    columns = {item.name: getattr(games, item.name) for item in fields(games)}
    for name in ("rules", "files"):
        columns[name] = columns[name].astype(np.str_)
    with replacing(path) as stream:
        np.savez_compressed(stream, **columns)
    return len(games)


def _write_standard_output(records: Iterator[GameRecord], main_line: bool) -> int:
    count = 0
    for record in records:
        sys.stdout.buffer.write(record.utf8_sgf(main_line=main_line) + b"\n")
        count += 1
    sys.stdout.buffer.flush()
    return count


def _write_lines(records: Iterator[GameRecord], path: Path) -> int:
    count = 0
    with replacing(path) as stream:
        for record in records:
            moves = "".join(
                f";{'BW'[colour - 1]}[{coordinates.format_sgf(point, 19, 19)}]"
                for colour, point in record.moves
            )
            count += 1
            stream.write(f"{count}\t{moves}\n".encode("ascii"))
    return count


def _write_folder(records: Iterator[GameRecord], folder: Path, main_line: bool) -> int:
    if folder.is_dir() and any(_NUMBERED(there.name) for there in folder.iterdir()):
        raise RecordError(f"{folder}: has numbered games already; write to another folder")
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for record in records:
        count += 1
        write_atomic(folder / f"{count:06d}.sgf", record.utf8_sgf(main_line=main_line) + b"\n")
    return count
