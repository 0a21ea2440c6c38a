"""A command takes its options from settings and groups, and names none of them again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tengen.commands.options import Options, RunFolder, RunOfModel, WorkOptions, command
from tengen.commands.printing import Shown
from tengen.models import CheckedSettings, Run, setting, to_plain


@dataclass(frozen=True)
class Walk(CheckedSettings):
    """Settings of a random walk, as a learner declares them."""

    steps: int = setting(20, "How far to walk.", least=0, changeable=True)
    rate: float = setting(0.1, "Length of a step.", least=0)
    rate_end: float | None = setting(None, "The same at the end.")
    trace: float = setting(0.0, "The lambda of TD(lambda).", least=0, most=1, option="lambda")
    kind: str = setting("normal", "What steps are drawn from.", choices=("normal", "flat"))
    without: tuple[str, ...] = setting((), "Directions to leave out.")
    far: bool = setting(False, "Whether to walk far.")
    safe: bool = setting(True, "Whether to look both ways.")
    seed: int = setting(0, "Every random choice follows from it.")
    secret: int = 5


app = typer.Typer(add_completion=False)


@command(app)
def train(settings: Walk, run: RunFolder, seed: str = "own", *, shown: Shown) -> None:
    """Walk about."""
    folder = run.out or Path("runs/walk")
    settings = run.settings(folder, settings)
    with Run.open(folder, "walk", settings, resume=run.resume) as held:
        held.save(settings.steps, {})
        shown.as_json({**to_plain(settings), "given": sorted(run.given)})


@command(app)
def walk(
    first: str, times: int = 2, *, training: RunOfModel, work: WorkOptions, shown: Shown
) -> None:
    """Show what arrived."""
    assert isinstance(training, Options)
    paths = [str(training.out), str(training.folder)]
    shown.as_json([first, times, *paths, work.workers, work.ray, shown.quiet])


def call(*words: str, command: str = "train") -> Any:
    import json

    result = CliRunner().invoke(app, [command, *words, "--json"])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return json.loads(result.stdout) if result.exit_code == 0 else result.output


def test_defaults_are_those_of_the_settings(tmp_path: Path) -> None:
    assert call("--out", str(tmp_path)) == {**to_plain(Walk()), "given": []}


def test_every_kind_of_option_arrives(tmp_path: Path) -> None:
    words = "--steps 7 --rate 2 --rate-end 0.5 --lambda 0.9 --kind flat --far --no-safe"
    got = call("--out", str(tmp_path), *words.split(), "--without", "left", "--without", "up")
    wanted = Walk(7, 2.0, 0.5, 0.9, "flat", ("left", "up"), True, False)
    given = ["far", "kind", "rate", "rate_end", "safe", "steps", "trace", "without"]
    assert got == {**to_plain(wanted), "given": given}


def test_resuming_takes_from_the_run_what_is_not_given(tmp_path: Path) -> None:
    call("--out", str(tmp_path), "--rate", "0.7")
    got = call("--out", str(tmp_path), "--resume", "--steps", "30")
    assert (got["rate"], got["steps"], got["given"]) == (0.7, 30, ["steps"])
    with pytest.raises(ValueError, match=r"rate 0\.7 there, 0\.8 asked"):
        call("--out", str(tmp_path), "--resume", "--rate", "0.8")


def test_mistakes_are_named(tmp_path: Path) -> None:
    assert "--steps" in call("--out", str(tmp_path), "--steps", "-1")
    with pytest.raises(ValueError, match="kind is 'odd'; it should be 'normal' or 'flat'"):
        call("--out", str(tmp_path), "--kind", "odd")
    assert call("--out", str(tmp_path), "--seed", "3")["seed"] == 0  # the command's own option
    assert "No such option" in call("--secret", "3")


def test_help_shows_what_the_settings_say() -> None:
    text = " ".join(
        CliRunner().invoke(app, ["train", "--help"], env={"COLUMNS": "200"}).output.split()
    )
    for words in ("How far to walk.", "--lambda", "normal|flat", "--no-safe", "Walk about."):
        assert words in text
    assert "--no-far" not in text and "context" not in text


def test_a_group_arrives_whole_among_a_commands_own_parameters() -> None:
    got = call("north", "--out", "models/far.safetensors", command="walk")
    assert got == ["north", 2, "models/far.safetensors", "runs/far", 1, None, False]
    words = "east --times 3 --out a.safetensors --run here --workers 4 --ray auto --quiet"
    wanted = ["east", 3, "a.safetensors", "here", 4, "auto", True]
    assert call(*words.split(), command="walk") == wanted
    assert "Missing option '--out'" in call("north", command="walk")


def test_settings_of_a_run_that_is_not_resumed_are_those_that_were_given(tmp_path: Path) -> None:
    call("--out", str(tmp_path), "--rate", "0.7")
    assert RunFolder(out=tmp_path).settings(tmp_path, Walk()) == Walk()
    assert RunFolder(out=tmp_path, resume=True).settings(tmp_path, Walk()) == Walk(rate=0.7)
