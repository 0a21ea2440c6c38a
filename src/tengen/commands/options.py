"""Options that commands share: single ones, groups, and those derived from settings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from tengen.errors import SpecError

if TYPE_CHECKING:
    from tengen.models.settings import SettingField

_Settings = TypeVar("_Settings")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no remarks.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random choices.")]
OwnSeed = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of all random choices; drawn by default.")
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Number of processes.")]
_Resume = Annotated[bool, typer.Option("--resume", help="Continue the run in the folder.")]
_Ray = Annotated[
    str | None, typer.Option("--ray", help="Address of a Ray cluster ('auto' or host:port).")
]
PlayerName = Annotated[
    str, typer.Option("--player", help="Such as mcts:seconds=2; `tengen players` lists them.")
]
RulesName = Annotated[str, typer.Option("--rules", help="cgos, chinese, japanese, aga, ...")]
BoardSize = Annotated[str, typer.Option("--size", help="9, or rows x columns as in 9x13.")]
Records = Annotated[
    list[str], typer.Argument(help="Game records, folders, archives; - is standard input.")
]


def option(default: Any, help: str, *names: str, **more: Any) -> Any:
    """Return the default of a parameter that is an option; the default `...` makes it required."""
    return typer.Option(default, *names, help=help, **more)


def flag(name: str, help: str) -> Any:
    """Return the default of a command's parameter that is a flag."""
    return typer.Option(False, name, help=help)


def argument(help: str, *, default: Any = ...) -> Any:
    """Return the default of a command's parameter that is an argument."""
    return typer.Argument(default, help=help)


class Options:
    """Base of groups of options: dataclasses whose fields are `option`s or annotated as such."""


@dataclass(frozen=True, kw_only=True)
class WorkOptions(Options):
    """Where the work is done: in worker processes or on a Ray cluster."""

    workers: Workers = 1
    ray: _Ray = None


@dataclass(frozen=True, kw_only=True)
class Resumable(Options):
    """A training that can be resumed."""

    resume: _Resume = False
    given: frozenset[str] = frozenset()  # names of the settings that the user gave

    def settings(self, folder: Path, settings: _Settings) -> _Settings:
        """Return the settings; a resumed run keeps its own unless the user gave others."""
        if not self.resume:
            return settings
        from tengen.models import resumed_settings
        from tengen.players import reaches_out

        found = resumed_settings(folder, settings, self.given)
        for name, value in vars(found).items():
            if name not in self.given and isinstance(value, str) and reaches_out(value):
                option = f"--{name.replace('_', '-')}"
                raise SpecError(f"{folder}: to start {value!r}, repeat it as {option}")
        return found


@dataclass(frozen=True, kw_only=True)
class RunFolder(Resumable):
    """A training that writes into one folder."""

    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the run; one below runs/ by default.")
    ] = None


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


def command(app: typer.Typer) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function a command of the application.

    A parameter whose type is a settings class (see `models.settings`) becomes one option per field
    that the function has no parameter for; an option of several such classes goes to all of them.
    A parameter whose type is a group (see `Options`) becomes the options of the group.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(function, include_extras=True)
        own = inspect.signature(function).parameters
        groups: dict[str, Any] = {}
        kinds: dict[str, Any] = {}
        offered: dict[str, list[tuple[str, SettingField]]] = {}
        parameters = [_parameter("context", typer.Context)]
        for name, parameter in own.items():
            hint = hints[name]
            if isinstance(hint, type) and issubclass(hint, Options):
                groups[name] = hint
                parameters += _group_options(hint)
            elif is_dataclass(hint):
                from tengen.models.settings import fields_of

                kinds[name] = hint
                mine = [f for f in fields_of(hint) if f.about.help and f.name not in own]  # type: ignore[arg-type]
                parameters += [_option(f) for f in mine if f.name not in offered]
                for each in mine:
                    offered.setdefault(each.name, []).append((name, each))
            else:
                parameters.append(_parameter(name, hint, parameter.default))

        @functools.wraps(function)
        def call(context: typer.Context, **values: Any) -> Any:
            parts: dict[str, dict[str, Any]] = {name: {} for name in kinds}
            given = set()
            for name, places in offered.items():
                value = values.pop(name)
                source = context.get_parameter_source(name)
                if source is not None and source.name != "DEFAULT":
                    given.add(name)
                    for place, each in places:
                        parts[place][name] = tuple(value) if each.many else value
            made = {name: kind(**parts[name]) for name, kind in kinds.items()}
            for name, group in groups.items():
                known = {each.name for each in fields(group)}
                members = {key: values.pop(key) for key in known & set(values)}
                if "given" in known:
                    members["given"] = frozenset(given)
                made[name] = group(**members)
            return function(**values, **made)

        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        del call.__wrapped__
        about = (" ".join(part.split()) for part in (function.__doc__ or "").split("\n\n"))
        return app.command(help="\n\n".join(about))(call)

    return decorate


def _group_options(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        _parameter(f.name, hints[f.name], *(() if f.default is MISSING else (f.default,)))
        for f in fields(kind)
        if f.name != "given"
    ]


def _option(field: SettingField) -> inspect.Parameter:
    about = field.about
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
    hint: Any = kind | None if field.optional else kind
    return _parameter(field.name, Annotated[hint, option], default)


def _parameter(name: str, hint: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """Return a keyword parameter, so that the order of defaults does not matter."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
