"""Every learner's command keeps its run apart from others and resumes it to the same model."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Tengen
from tests.needs import need

from tengen import extensions

# The smallest training of each learner; `{games}` is a file of games.
SMALL = {
    "move-prediction": "{games} --size 7 --minimum 1 --top 3",
    "network": "{games} --design tiny --steps 2 --batch 8 --warm-up 1 --device cpu --scorer none",
    "opening-evolution": "--size 5 --moves 4 --generations 2 --population 4",
    "opening-td": "--size 5 --plies 6 --hidden 3 --games 4 --curve-games 0 --expert playouts:1",
    "scoring": "{games} --hidden 3 --members 1 --epochs 4 --rounds 2",
    "self-play": "--size 5 --design tiny --positions 40 --batch 8 --window 100 --games 4 "
    "--evaluations 2 --considered 2 --device cpu",
    "symmetry-network": "--games 4 --linear-games 2 --size 5 --batch 2",
}
SOURCE = {"move-prediction": "--size 7", "network": "--scorer none"}  # what is no setting
WITHOUT_RUN = {"scoring-classifier"}  # it learns in a few seconds
LEARNERS = sorted(set(extensions.entries(extensions.LEARNERS)) - WITHOUT_RUN)


@pytest.fixture
def tengen(capsys: pytest.CaptureFixture[str], games: str) -> Tengen:
    return Tengen(capsys)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Games of two walls on 7x7, the white stones behind Black's dead."""
    texts = []
    for n in range(24):
        moves = "".join(f";B[c{row}];W[d{row}]" for row in "abcdefg")
        dead = f";B[];W[{'ab'[n // 7 % 2]}{'abcdefg'[n % 7]}];B[];W[]"
        texts.append(f"(;GM[1]SZ[7]KM[0.5]RU[Japanese]RE[W+6.5]{moves}{dead})")
    path = tmp_path_factory.mktemp("games") / "games.sgf"
    path.write_text("\n".join(texts))
    return str(path)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_is_not_mixed_up_and_resumed_exactly(
    name: str, games: str, tengen: Tengen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in ("network", "self-play"):
        need("torch")
    monkeypatch.chdir(tmp_path)
    words = SMALL[name].format(games=games).split()
    read = [word for word in words if word == games]
    out = "run/model.safetensors" if "--run" in tengen("train", name, "--help") else "run"

    def train(*more: str) -> tuple[str, ...]:
        return ("train", name, *more, "--quiet --out", out)

    model = Path(tengen.json(*train(*words))["model"])
    before = model.read_bytes()
    assert "resume it" in tengen.mistake(*train(*words))
    assert "there, 2 asked" in tengen.mistake(*train(*words, "--seed 2 --resume"))
    # A finished training writes a lost model again; its settings need not be repeated.
    model.unlink()
    tengen.json(*train(*read, "--resume", *SOURCE.get(name, "").split()))
    assert model.read_bytes() == before
