"""Share what commands have in common: options, options derived from settings, ways of printing.

`emit` and `table` write to standard output, `remark` and `progress` to standard error, so that
`--json` gives exactly one JSON value. Nothing here knows a command or a learner.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeVar, get_type_hints

import typer

from tengen.foreign import for_rich, printable

if TYPE_CHECKING:
    from tengen.lab.content import Result
    from tengen.lab.steps import Context
    from tengen.models.settings import SettingField

Settings = TypeVar("Settings")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no remarks.")]
Seed = Annotated[int, typer.Option("--seed", help="Every random choice follows from it.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes to work side by side.")]
Ray = Annotated[
    str | None, typer.Option("--ray", help="Address of a Ray cluster ('auto' or host:port).")
]

Out = Annotated[Path | None, typer.Option("--out", help="Folder of the run.")]
ExperimentOut = Annotated[Path, typer.Option("--out", help="Folder of the experiment.")]
OwnSeed = Annotated[
    int | None, typer.Option("--seed", help="Every random choice follows from it; drawn if none.")
]
PlayerName = Annotated[str, typer.Option("--player", help="Who; `tengen players` lists the names.")]
RulesName = Annotated[str, typer.Option("--rules", help="cgos, chinese, japanese, aga, ...")]
Record = Annotated[str, typer.Argument(help="A game record; - reads standard input.")]
MoveNumber = Annotated[
    int | None, typer.Option("--move", min=1, help="The position before this move; the last.")
]
GameNumber = Annotated[int, typer.Option("--game", min=1, help="Which game of the file.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")]


def standard_input() -> TextIO:
    """Return standard input.

    Raises
    ------
    TengenError
        If it was closed before we started.
    """
    from tengen.errors import TengenError

    if sys.stdin is None:
        raise TengenError("standard input is closed")
    return sys.stdin


class Said(frozenset[str]):
    """The names of the settings that the user gave: a field `said` of a group receives them."""


class Options:
    """Base of groups of options that commands share: dataclasses whose fields are such options."""


@dataclass(frozen=True, kw_only=True)
class Shown(Options):
    """How a command shows what it found."""

    json: Json = False
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class Shared(Options):
    """Among whom the work is shared."""

    workers: Workers = 1
    ray: Ray = None


@dataclass(frozen=True, kw_only=True)
class Resumable(Options):
    """A training that can go on where it was stopped."""

    resume: Resume = False
    said: Said = field(default_factory=Said)

    def settings(self, folder: Path, settings: Settings) -> Settings:
        """Return the settings; of a resumed run its own, where the user said nothing else."""
        from tengen.models import resumed_settings

        return resumed_settings(folder, settings, self.said) if self.resume else settings


@dataclass(frozen=True, kw_only=True)
class RunFolder(Resumable):
    """A training whose folder is all that it writes."""

    out: Out = None


@dataclass(frozen=True, kw_only=True)
class RunOfModel(Resumable):
    """A training that writes a model, and keeps a folder of its own."""

    out: Annotated[Path, typer.Option("--out", help="Where to write the model.")]
    run: Annotated[
        Path | None, typer.Option("--run", help="Folder of the run (runs/NAME by default).")
    ] = None

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.run if self.run is not None else Path("runs") / self.out.stem


def derived_options(*, leave: Collection[str] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Give a command the options of its settings and groups: no command names them again.

    A parameter whose type is a settings class (see `models.settings`) is replaced by one option a
    field, less those in `leave`; the command receives the settings made of them. An option that
    several of its settings classes have goes to all of them, each with its own default. A parameter
    whose type is a group (see `Options`) is replaced by the group's options. Goes below
    `@app.command()`.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(command, include_extras=True)
        signature = inspect.signature(command)
        shared = {name: hint for name, hint in hints.items() if _is_group(hint)}
        groups = {name: _group_options(kind) for name, kind in shared.items()}
        kinds: dict[str, Any] = {
            name: hint
            for name, hint in hints.items()
            if is_dataclass(hint) and name not in groups and name != "return"
        }
        offered = _setting_options(kinds, leave)

        @functools.wraps(command)
        def call(context: typer.Context, **values: Any) -> Any:
            parts: dict[str, dict[str, Any]] = {parameter: {} for parameter in kinds}
            given = set()
            for name, places in offered.items():
                value = values.pop(name)
                source = context.get_parameter_source(name)
                if source is not None and source.name != "DEFAULT":
                    given.add(name)
                    for parameter, field in places:
                        parts[parameter][name] = tuple(value) if field.many else value
            made = {parameter: kinds[parameter](**parts[parameter]) for parameter in kinds}
            for parameter, options in groups.items():
                members = {each.name: values.pop(each.name) for each in options}
                if "said" in shared[parameter].__dataclass_fields__:
                    members["said"] = Said(given)
                made[parameter] = shared[parameter](**members)
            return command(**values, **made)

        parameters = [_parameter("context", typer.Context)]
        for name, parameter in signature.parameters.items():
            if name in kinds:
                first = [places[0] for places in offered.values()]
                parameters += [_option(field) for parent, field in first if parent == name]
            elif name in groups:
                parameters += groups[name]
            else:
                parameters.append(_parameter(name, hints[name], parameter.default))
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        del call.__wrapped__
        return call

    return decorate


def _is_group(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Options)


def _group_options(kind: Any) -> list[inspect.Parameter]:
    """List the options of a group."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        _parameter(
            each.name,
            hints[each.name],
            inspect.Parameter.empty if each.default is MISSING else each.default,
        )
        for each in fields(kind)
        if hints[each.name] is not Said
    ]


def _setting_options(
    kinds: dict[str, Any], leave: Collection[str]
) -> dict[str, list[tuple[str, SettingField]]]:
    """Tell for each option of settings classes which parameters it belongs to."""
    if not kinds:
        return {}
    from tengen.models.settings import fields_of

    found: dict[str, list[tuple[str, SettingField]]] = {}
    for parameter, kind in kinds.items():
        for each in fields_of(kind):
            if each.about is not None and each.name not in leave:
                found.setdefault(each.name, []).append((parameter, each))
    return found


def _option(field: SettingField) -> inspect.Parameter:
    """Turn a setting into the option of a command."""
    about = field.about
    assert about is not None
    kind: Any = list[field.kind] if field.many else field.kind  # type: ignore[name-defined]
    extra: dict[str, Any] = {}
    name = f"--{field.option}"
    if field.kind is bool:
        name = f"{name}/--no-{field.option}" if field.default else name
    elif field.kind in (int, float):
        extra = {"min": about.least, "max": about.most}
    if about.choices:
        extra["metavar"] = "|".join(about.choices)
    option = typer.Option(name, help=about.help, **extra)
    default = list(field.default) if isinstance(field.default, tuple) else field.default
    return _parameter(
        field.name, Annotated[kind | None if field.optional else kind, option], default
    )


def _parameter(name: str, hint: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """Make a parameter of a signature, by keyword: the order of defaults does not matter then."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def emit(value: Any, *, json: bool, text: str | None = None) -> None:
    """Print `value` as JSON, or `text` for people."""
    if json:
        print(dumps(value, allow_nan=False))
    elif text is not None:
        print(text)


def emit_result(result: Result, *, json: bool, value: Any = None) -> None:
    """Print what an experiment found: its tables, or as JSON its data, unless `value` is given."""
    from tengen.lab.terminal import print_result

    emit(result.data if value is None else value, json=json)
    if not json:
        print_result(result)


def remark(message: str, *, quiet: bool = False) -> None:
    """Print a remark on standard error, where it cannot disturb the output."""
    if not quiet:
        print(printable(message), file=sys.stderr, flush=True)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table for people on standard output."""
    from rich.console import Console
    from rich.table import Table

    sheet = Table(title=for_rich(title) or None)
    for column in columns:
        sheet.add_column(for_rich(column))
    for row in rows:
        sheet.add_row(*map(for_rich, row))
    Console().print(sheet)


class Progress:
    """Count finished steps; draws a bar on a terminal and plain lines elsewhere."""

    def __init__(self, label: str, total: int | None, *, quiet: bool = False) -> None:
        import time

        self.label, self.total, self.quiet, self.done = label, total, quiet, 0
        self._start = self._last = time.monotonic()
        self._clock = time.monotonic
        self._bar: Any = None
        self._task: Any = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._bar.start()
            self._task = self._bar.add_task(label, total=total, rate="")

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Say that `steps` more steps are done."""
        self.done += steps
        now = self._clock()
        rate = self.done / max(now - self._start, 1e-9)
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, rate=f"{rate:.1f}/s {for_rich(note)}")
        elif not self.quiet and now - self._last > 10:
            self._last = now
            left = f", {(self.total - self.done) / rate:.0f} s left" if self.total and rate else ""
            of = f"/{self.total}" if self.total else ""
            remark(f"{self.label}: {self.done}{of}, {rate:.1f}/s{left} {note}".rstrip())

    def close(self) -> None:
        """Stop drawing."""
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def progress(label: str, total: int | None, *, quiet: bool = False) -> Iterator[Progress]:
    """Show progress with rate and time left while the block runs."""
    counter = Progress(label, total, quiet=quiet)
    try:
        yield counter
    finally:
        counter.close()


@contextmanager
def shares(label: str, *, quiet: bool = False) -> Iterator[Callable[[float, str], None]]:
    """Show how far a laboratory's experiment is: give its `Context` what this yields as `at`."""
    with progress(label, 100, quiet=quiet) as bar:
        yield lambda share, note: bar.advance(round(100 * share) - bar.done, note)


@contextmanager
def study_context(folder: Path | None, seed: int, *, quiet: bool = False) -> Iterator[Context]:
    """Give a study of the laboratory its folder, a temporary one for want of a name; tell notes."""
    from contextlib import nullcontext
    from tempfile import TemporaryDirectory

    from tengen.lab.steps import Context

    with TemporaryDirectory() if folder is None else nullcontext(folder) as place:
        yield Context(Path(place), seed, 1, at=lambda share, note: remark(note, quiet=quiet))
