"""The commands of the paper's program: features, training, test, predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen.cli import run
from tengen.papers.scoring_failure.experiments import make_games
from tengen.papers.scoring_failure.games import PaperGames
from tengen.papers.scoring_failure.network import VERSIONS
from tengen.papers.scoring_failure.settings import NAMES
from tengen.scoring.training import write_games


def asked(command: str, capsys: pytest.CaptureFixture[str]) -> object:
    assert run([*command.split(), "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def test_versions_have_the_names_of_the_settings() -> None:
    assert sorted(NAMES) == sorted(VERSIONS)


def test_generate_train_test_and_predict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games, out = tmp_path / "games.sgf", tmp_path / "run"
    write_games(make_games(8, 5, seed=2), games)
    train = f"train scoring-classifier {games} --out {out}"
    made = asked(f"{train} --generate-only", capsys)
    described = PaperGames.load(out / "features.npz")
    assert made["games"] == len(described) > 2 and made["blocks"] == len(described.x)
    trained = asked(f"{train} --steps 20", capsys)
    tested = asked(f"evaluate scoring-classifier {games} --model {trained['model']}", capsys)
    assert tested == {key: trained[key] for key in tested}
    told = asked(
        f"evaluate scoring-classifier {games} --model {trained['model']} --predictions", capsys
    )
    assert len(told) == tested["games"]
    counted = sum(each["counted"] == each["recorded"] for each in told)
    assert counted == round(tested["counted"] * tested["games"])


def test_mistakes_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "scoring-classifier", str(tmp_path / "none.sgf")]) == 1
    assert "no such file" in capsys.readouterr().err
