"""Options that commands share: single ones, groups, and those derived from settings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.models.settings import SettingField
    from tengen.records import GameRecord

_Settings = TypeVar("_Settings")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no remarks.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random choices.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Number of processes.")]
_Ray = Annotated[
    str | None, typer.Option("--ray", help="Address of a Ray cluster ('auto' or host:port).")
]

Out = Annotated[
    Path | None, typer.Option("--out", help="Folder of the run; one below runs/ by default.")
]
ExperimentOut = Annotated[Path, typer.Option("--out", help="Folder of the experiment.")]
OwnSeed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed of all random choices; drawn if not given."),
]
PlayerName = Annotated[
    str,
    typer.Option("--player", help="Such as mcts:seconds=2; `tengen players` lists the players."),
]
RulesName = Annotated[str, typer.Option("--rules", help="cgos, chinese, japanese, aga, ...")]
_Record = Annotated[str, typer.Argument(help="A game record; - reads standard input.")]
Records = Annotated[
    list[str], typer.Argument(help="Game records, folders, archives; - is standard input.")
]
_MoveNumber = Annotated[
    int | None,
    typer.Option("--move", min=1, help="The position before this move (the last one)."),
]
_GameNumber = Annotated[int, typer.Option("--game", min=1, help="Which game of the file.")]
_Resume = Annotated[bool, typer.Option("--resume", help="Continue the run in the folder.")]


def option(default: Any, help: str, *names: str, **more: Any) -> Any:
    """Return the default of a command's parameter that is an option.

    It has the parameter's name unless `names` are given; `more` goes to `typer.Option`. The default
    `...` makes it required.
    """
    return typer.Option(default, *names, help=help, **more)


def flag(name: str, help: str) -> Any:
    """Return the default of a command's parameter that is a flag."""
    return typer.Option(False, name, help=help)


def argument(help: str, *, default: Any = ...) -> Any:
    """Return the default of a command's parameter that is an argument."""
    return typer.Argument(default, help=help)


class Given(frozenset[str]):
    """The names of the settings that the user gave; the field `given` of a group gets them."""


class Options:
    """Base of groups of options: dataclasses whose fields are options."""


@dataclass(frozen=True, kw_only=True)
class Shown(Options):
    """How a command prints its result."""

    json: Json = False
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class WorkOptions(Options):
    """Where the work is done: in worker processes or on a Ray cluster."""

    workers: Workers = 1
    ray: _Ray = None


@dataclass(frozen=True, kw_only=True)
class RecordPosition(Options):
    """A position of a game record: the one before a move."""

    file: _Record
    move: _MoveNumber = None
    game: _GameNumber = 1

    def read(self) -> tuple[GameRecord, Board, int]:
        """Return the record, the board before the move, and the number of the move."""
        from tengen.records import read_game
        from tengen.records.record import board_at

        record = read_game(self.file, self.game)
        number = self.move if self.move is not None else len(record.moves) + 1
        return record, board_at(record, self.move), number


@dataclass(frozen=True, kw_only=True)
class Resumable(Options):
    """A training that can be resumed."""

    resume: _Resume = False
    given: Given = field(default_factory=Given)

    def settings(self, folder: Path, settings: _Settings) -> _Settings:
        """Return the settings; those of a resumed run where the user gave no others."""
        from tengen.models import resumed_settings

        return resumed_settings(folder, settings, self.given) if self.resume else settings


@dataclass(frozen=True, kw_only=True)
class RunFolder(Resumable):
    """A training that writes into one folder."""

    out: Out = None


@dataclass(frozen=True, kw_only=True)
class RunOfModel(Resumable):
    """A training that writes a model file and has a run folder."""

    out: Annotated[Path, typer.Option("--out", help="Where to write the model.")]
    run: Annotated[
        Path | None, typer.Option("--run", help="Folder of the run (runs/NAME by default).")
    ] = None

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.run if self.run is not None else Path("runs") / self.out.stem


def derived_options(*, leave: Collection[str] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Give a command the options of its settings and groups.

    A parameter whose type is a settings class (see `models.settings`) is replaced by one option per
    field, except those in `leave`; the command receives the settings made of them. An option that
    several of its settings classes have goes to all of them, each with its own default. A parameter
    whose type is a group (see `Options`) is replaced by the group's options.
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
        asked = [name for name, hint in hints.items() if hint is typer.Context]

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
                if "given" in shared[parameter].__dataclass_fields__:
                    members["given"] = Given(given)
                made[parameter] = shared[parameter](**members)
            made |= dict.fromkeys(asked, context)
            return command(**values, **made)

        parameters = [_parameter("context", typer.Context)]
        for name, parameter in signature.parameters.items():
            if name in kinds:
                first = [places[0] for places in offered.values()]
                parameters += [_option(field) for parent, field in first if parent == name]
            elif name in groups:
                parameters += groups[name]
            elif name not in asked:
                parameters.append(_parameter(name, hints[name], parameter.default))
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        del call.__wrapped__
        return call

    return decorate


def command(app: typer.Typer, *, leave: Collection[str] = ()) -> Callable[..., Any]:
    """Make a function a command of the application, with `derived_options`."""

    def decorate(function: Callable[..., Any]) -> Any:
        return app.command()(derived_options(leave=leave)(function))

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
        if hints[each.name] is not Given
    ]


def _setting_options(
    kinds: dict[str, Any], leave: Collection[str]
) -> dict[str, list[tuple[str, SettingField]]]:
    """Return for each option of settings classes the parameters that it belongs to."""
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
    """Return a keyword parameter, so that the order of defaults does not matter."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
