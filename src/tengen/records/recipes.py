"""Recipes: collections of games that anybody can build again from public repositories.

A recipe is a TOML file: the repository and its files, filters, and the files to write, each with a
list of its games (by name, in order), their number and the SHA-256 of the whole. Those that come
with Tengen are in `collections/`; docs/guide/games.md describes them.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tengen.errors import RecordError, SpecError, unknown
from tengen.files import read_limited, refuse_inputs, write_atomic
from tengen.progress import OnStep
from tengen.records.reader import BROKEN, read_games
from tengen.records.record import GameRecord, Rank
from tengen.records.sgf_grammar import Fault
from tengen.records.sgf_properties import format_point, parse_move, parse_result

RECIPES = Path(__file__).parent / "collections"

_HEADER = ("DT", "RU", "KM", "HA", "BR", "WR", "RE")  # written in this order; names are left out
_LISTED = 10  # names in a message
_MOVES = re.compile(rb"(?:;[BW]\[(?:[a-s]{2})?\])+")
_DATE = re.compile(rb"(\d{4})\.(\d\d)\.(\d\d)")
_PASSES = re.compile(rb"(?:;[BW]\[\])*\Z")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Index(_Table):
    """Where the header of games in the one-line form is: in other files, by the game's id."""

    files: tuple[str, ...]
    columns: dict[str, int]
    """Property -> column, from 0; column 0 is the id."""
    header: dict[str, str] = {}
    """Properties that are the same in all games."""


class Filters(_Table):
    """Which games belong to a collection."""

    size: int | None = None
    """Side of the board, which must be square."""
    min_rank: str = ""
    """Of both players."""
    even: bool = False
    """No handicap and no stones before the first move."""
    rules: tuple[str, ...] = ()
    """Any of these names in RU, in whatever case."""
    counted: bool = False
    """The result is a number of points."""
    passes: int = 0
    """Passes at the end."""
    min_moves: int = 0

    def keep(self, game: SourceGame) -> bool:
        """Return whether a game passes all filters."""
        ranks = [Rank(game.text(name)) for name in ("BR", "WR")]
        handicap = game.text("HA") not in ("", "0") or any(map(game.root.get, ("AB", "AW")))
        final = _PASSES.search(game.moves)
        return (
            (self.size is None or (game.rows, game.cols) == (self.size, self.size))
            and (not self.min_rank or all(rank >= self.min_rank for rank in ranks))
            and not (self.even and handicap)
            and (not self.rules or game.text("RU").lower() in map(str.lower, self.rules))
            and (not self.counted or parse_result(game.text("RE")).kind == "score")
            and (not self.passes or (final is not None and final[0].count(b";") >= self.passes))
            and game.moves.count(b";") >= self.min_moves
        )


class Output(_Table):
    """One file of a collection."""

    name: Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*\.sgf$")]
    games: str = ""
    """File with the names of its games, one per line (.txt or .txt.gz), next to the recipe.
    Without it: all games that no other file lists, in the order of the sources."""
    count: int | None = None
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None


class Recipe(_Table):
    """How to make a collection; see `load_recipe`."""

    name: str
    folder: Path
    title: str
    repository: str
    """Owner and name on GitHub."""
    commit: str = ""
    """The version that the recipe was made with."""
    sources: tuple[str, ...]
    """Files, folders and archives, relative to the repository."""
    index: Index | None = None
    """Given if the sources are in the one-line form."""
    leading_moves: bool = False
    """Leave out moves that follow other properties in their node."""
    filters: Filters = Filters()
    files: tuple[Output, ...] = Field(min_length=1)

    def games_of(self, output: Output) -> list[str] | None:
        """Return the names of the games of a file, or None if it has no list."""
        if not output.games:
            return None
        path = self.folder / output.games
        try:
            packed = path.read_bytes()
            return (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode().split()
        except (*BROKEN, OSError) as wrong:
            raise RecordError(f"{path}: not a list of games: {wrong}") from None


@dataclass(frozen=True)
class SourceGame:
    """A game as the source has it, without its variations and comments."""

    name: str
    """Of its file without suffix, or its id; unique in a collection."""
    rows: int
    cols: int
    root: Mapping[str, Sequence[bytes]]
    moves: bytes
    """Such as `;B[qd];W[]`."""

    def text(self, name: str) -> str:
        """Return a property of the root, "" if there is none."""
        return self.root.get(name, [b""])[0].decode("utf-8", "replace").strip()

    def sgf(self) -> bytes:
        """Return the game in the form of the collections: one line, no names, main line only."""
        size = str(self.rows) if self.rows == self.cols else f"{self.cols}:{self.rows}"
        parts = [b"(;GM[1]FF[4]CA[UTF-8]SZ[%b]" % size.encode()]
        found = ((name, self.root.get(name)) for name in _HEADER)
        parts += [b"%b[%b]" % (name.encode(), v[0].strip()) for name, v in found if v]
        for name in ("AB", "AW"):
            if stones := self.root.get(name):
                parts.append(name.encode() + b"".join(b"[%b]" % stone for stone in stones))
        return b"".join([*parts, self.moves, b")"])


@dataclass(frozen=True)
class Built:
    """A file that was written."""

    file: Path
    games: int
    sha256: str
    checked: bool
    """The recipe gives the sum, and this is it."""


# ----- Reading recipes -----


def recipe_names() -> list[str]:
    """Return the names of the recipes that come with Tengen."""
    return sorted(path.stem for path in RECIPES.glob("*.toml"))


def load_recipe(recipe: str | Path) -> Recipe:
    """Read a recipe: one that comes with Tengen by its name, any other by its path."""
    path = Path(recipe)
    if str(recipe) in recipe_names():
        path = RECIPES / f"{recipe}.toml"
    elif path.suffix != ".toml":
        raise SpecError(unknown("recipe", str(recipe), recipe_names()))
    try:
        table = tomllib.loads(read_limited(path).decode("utf-8"))
        return Recipe.model_validate({**table, "name": path.stem, "folder": path.parent})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise SpecError(f"{path}: not TOML: {wrong}") from None
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise SpecError(f"{path}: {place}: {first['msg']}") from None


# ----- Building collections -----


def build(
    recipe: Recipe,
    folders: Sequence[str | Path],
    out: str | Path,
    *,
    on_source: OnStep | None = None,
    on_fault: Callable[[Fault], None] | None = None,
) -> list[Built]:
    """Write the files of a recipe into the folder `out`; return what was written.

    If a source or a listed game is missing, or a file would not have the recipe's number of games
    and SHA-256, raise `RecordError` and write nothing.
    """
    sources = _find(recipe, recipe.sources, folders)
    index = _find(recipe, recipe.index.files, folders) if recipe.index else []
    targets = [Path(out) / output.name for output in recipe.files]
    for target in targets:
        refuse_inputs(target, [*sources, *index])
    lists = [recipe.games_of(output) for output in recipe.files]
    listed = {name for names in lists for name in names or ()}
    wanted = None if None in lists else listed
    games = _choose(recipe, sources, index, wanted, on_source, on_fault or (lambda fault: None))
    rest = [name for name in games if name not in listed]
    contents = [
        _content(output, rest if names is None else names, games)
        for output, names in zip(recipe.files, lists, strict=True)
    ]
    built = []
    for output, target, content in zip(recipe.files, targets, contents, strict=True):
        write_atomic(target, content)
        total = hashlib.sha256(content).hexdigest()
        built.append(Built(target, content.count(b"\n"), total, output.sha256 is not None))
    return built


def _find(recipe: Recipe, names: Sequence[str], folders: Sequence[str | Path]) -> list[Path]:
    """Return where the files of the repository are; each may be in another folder."""
    places = {name: [p for f in folders if (p := Path(f) / name).exists()] for name in names}
    if missing := [name for name, found in places.items() if not found]:
        raise RecordError(
            f"{recipe.name}: not in {', '.join(map(str, folders))}: {_some(missing)}; "
            f"they are in https://github.com/{recipe.repository}"
        )
    return [found[0] for found in places.values()]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _choose(
    recipe: Recipe,
    sources: Sequence[Path],
    index: Sequence[Path],
    wanted: set[str] | None,
    on_source: OnStep | None,
    on_fault: Callable[[Fault], None],
) -> dict[str, bytes]:
    """Return the games that are wanted and pass the filters: name -> line of the collection."""
    chosen: dict[str, bytes] = {}
    headers = _headers(recipe.index, index, wanted) if recipe.index else {}
    for number, source in enumerate(sources, 1):
        if recipe.index:
            games = _one_line_games(source, headers)
        else:
            games = _sgf_games(source, wanted, recipe.leading_moves, on_fault)
        for game in games:
            if recipe.filters.keep(game):
                if game.name in chosen:
                    raise RecordError(f"{source}: a second game {game.name}")
                chosen[game.name] = game.sgf()
        if on_source:
            on_source(number, len(sources))
    return chosen


def _content(output: Output, names: Sequence[str], games: Mapping[str, bytes]) -> bytes:
    """Return the content of a file; fail if it is not what the recipe says."""
    if missing := [name for name in names if name not in games]:
        raise RecordError(
            f"{output.name}: {len(missing):,} of {len(names):,} games are not in the sources or "
            f"do not pass the filters: {_some(missing)}; nothing was written"
        )
    if not names:
        raise RecordError(f"{output.name}: no game of the sources passes the filters")
    if output.count not in (None, len(names)):
        raise RecordError(
            f"{output.name}: {len(names):,} games instead of {output.count:,}; nothing was written"
        )
    content = b"".join(games[name] + b"\n" for name in names)
    if output.sha256 not in (None, hashlib.sha256(content).hexdigest()):
        raise RecordError(
            f"{output.name}: SHA-256 {hashlib.sha256(content).hexdigest()} instead of "
            f"{output.sha256}: the sources have changed; nothing was written"
        )
    return content


# ----- Reading sources -----


def _sgf_games(
    source: Path, wanted: set[str] | None, leading: bool, on_fault: Callable[[Fault], None]
) -> Iterator[SourceGame]:
    """Yield the games of a file, folder or archive; those after the first of a file as NAME:2."""
    for record in read_games(source, on_fault=on_fault):
        name = PurePosixPath(record.file.replace("\\", "/")).stem
        name = name if record.game == 1 else f"{name}:{record.game}"
        if (wanted is None or name in wanted) and not record.edits:
            root = record.tree.nodes[0]
            yield SourceGame(name, record.rows, record.cols, root, _moves(record, leading))


def _moves(record: GameRecord, leading: bool) -> bytes:
    """Return the moves of the main line, each once in its own node."""
    moves = []
    for index in record.tree.main_line():
        for place, (name, values) in enumerate(record.tree.nodes[index].items()):
            if name in ("B", "W") and not (leading and place):
                for value in values:
                    point = parse_move(value, record.rows, record.cols)
                    text = format_point(point, record.rows, record.cols)
                    moves.append(b";%b[%b]" % (name.encode(), text))
    return b"".join(moves)


def _headers(
    index: Index, paths: Sequence[Path], wanted: set[str] | None
) -> dict[bytes, dict[str, list[bytes]]]:
    """Return the root properties of the wanted games by their ids."""
    same = {name: [value.encode()] for name, value in index.header.items()}
    headers = {}
    for path in paths:
        for line in _lines(path):
            fields = line.split(b"\t")
            if wanted is not None and fields[0].decode("utf-8", "replace") not in wanted:
                continue
            try:
                own = {name: [fields[column].strip()] for name, column in index.columns.items()}
            except IndexError:
                raise RecordError(f"{path}: a line of {len(fields)} columns") from None
            if day := _DATE.search(own.get("DT", [b""])[0]):
                own["DT"] = [b"-".join(day.groups())]
            headers[fields[0]] = {**same, **own}
    return headers


def _one_line_games(
    source: Path, headers: Mapping[bytes, Mapping[str, Sequence[bytes]]]
) -> Iterator[SourceGame]:
    """Yield the games that have a header; lines that are not plain moves are left out."""
    for line in _lines(source):
        number, _, moves = line.partition(b"\t")
        header = headers.get(number)
        if header is not None and _MOVES.fullmatch(moves := moves.strip()):
            yield SourceGame(number.decode("utf-8", "replace"), 19, 19, header, moves)


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a text file, or of all files in a zip archive."""
    if path.suffix.lower() != ".zip":
        with path.open("rb") as stream:
            yield from stream
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for member in sorted(archive.namelist()):
                with archive.open(member) as stream:
                    yield from stream
    except BROKEN as broken:
        raise RecordError(f"{path}: damaged archive: {broken}") from None
