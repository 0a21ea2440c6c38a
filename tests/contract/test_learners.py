"""Every learner has the same manners: settings that are only stored, fit, save, load, repeat."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.needs import need

from tengen import extensions
from tengen.board import BLACK, PASS, WHITE, Board, play_random
from tengen.contracts import check_learner
from tengen.models import from_plain, load_model, model_class, read_card, to_plain
from tengen.records import Corpus, GameArrays, GameRecord
from tengen.records.arrays import from_records
from tengen.records.sgf_properties import Result


def random_games(count: int = 4, size: int = 5) -> GameArrays:
    records = []
    for seed in range(count):
        board = play_random(Board(size), 20, np.random.default_rng(seed))
        records.append(GameRecord(rows=size, cols=size, moves=board.moves))
    return from_records(records)


def walls(count: int = 24, size: int = 7) -> GameArrays:
    """Return games of two walls and a white stone that dies behind Black's."""
    records = []
    for number in range(count):
        moves: list[Any] = []
        for row in range(size):
            moves += [(BLACK, (row, 2)), (WHITE, (row, 3))]
        dead = (number % size, number // size % 2)
        moves += [(BLACK, PASS), (WHITE, dead), (BLACK, PASS), (WHITE, PASS)]
        # Black has 14 points and one dead stone, White 21 and komi.
        score = Result("score", WHITE, 21 + 0.5 - 15)
        records.append(
            GameRecord(rows=size, cols=size, moves=moves, komi=0.5, rules="japanese", result=score)
        )
    return from_records(records)


class Stones:
    """An expert that counts what stands, and a player that takes the first legal move."""

    name = "stones"

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> np.ndarray:
        return np.array([board.area_score() for board in boards])

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return next(iter(board.legal_moves))


def fit_symmetry_network(learner: Any) -> Any:
    from tengen.papers.symmetry_network import SymmetrySettings

    learner.settings = SymmetrySettings(games=2, linear_games=1, size=5)
    return learner.fit()


def fit_move_prediction(learner: Any) -> Any:
    from tengen.papers.move_prediction import PredictionSettings

    learner.settings = PredictionSettings(minimum=1, top=3)
    return learner.fit(random_games())


def fit_scoring(learner: Any) -> Any:
    from tengen.scoring.settings import ScorerSettings

    learner.settings = ScorerSettings(hidden=3, members=1, epochs=8, rounds=2, seed=1)
    return learner.fit(walls())


def fit_scoring_classifier(learner: Any) -> Any:
    from tengen.papers.scoring_failure.settings import ClassifierSettings

    learner.settings = ClassifierSettings(classifier="rpnc", steps=3, seed=1)
    return learner.fit(walls())


def fit_opening_td(learner: Any) -> Any:
    from tengen.papers.opening_td import TDSettings

    learner.settings = TDSettings(rows=5, plies=4, games=2, hidden=3)
    return learner.fit(Stones())


def fit_opening_evolution(learner: Any) -> Any:
    from tengen.papers.opening_evolution import EvolutionSettings
    from tengen.papers.opening_evolution.learner import measure_with, play_job
    from tengen.parallel import Team

    learner.settings = EvolutionSettings(
        rows=5, cols=5, population=4, generations=2, moves=3, network="spatial"
    )
    return learner.fit(measure_with(Team(partial(play_job, [Stones()], Stones()))))


def fit_network(learner: Any) -> Any:
    need("torch")
    from tengen.network import NetworkSettings, make_shards, read_shards

    learner.settings = NetworkSettings(design="tiny", steps=2, batch=8, warm_up=1)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "games.sgf"
        text = "".join(f";{'BW'[n % 2]}[{'abcde'[n // 5]}{'abcde'[n % 5]}]" for n in range(20))
        place.write_text(f"(;SZ[5]KM[0.5]RE[B+R]{text})\n" * 4)
        make_shards(Corpus(place), Path(folder) / "shards")
        return learner.fit([list(read_shards([Path(folder) / "shards"]))])


FITS: dict[str, Callable[[Any], Any]] = {
    "symmetry-network": fit_symmetry_network,
    "move-prediction": fit_move_prediction,
    "scoring": fit_scoring,
    "scoring-classifier": fit_scoring_classifier,
    "opening-td": fit_opening_td,
    "opening-evolution": fit_opening_evolution,
    "network": fit_network,
}


@pytest.mark.parametrize("kind", extensions.entries(extensions.MODELS))
def test_a_learner_keeps_its_contract(kind: str, tmp_path: Path) -> None:
    assert kind in FITS, f"say how a small {kind} is fitted"

    def same(a: Any, b: Any) -> bool:
        tensors = []
        for number, learner in enumerate((a, b)):
            learner.save(tmp_path / f"{number}.safetensors")
            tensors.append(load_model(tmp_path / f"{number}.safetensors", kind=kind)[0])
        one, two = tensors
        return one.keys() == two.keys() and all(np.array_equal(one[n], two[n]) for n in one)

    fitted = check_learner(model_class(kind), FITS[kind], tmp_path, same=same)
    again = model_class(kind).load(tmp_path / "checked.safetensors")
    assert again.settings == fitted.settings
    again.save(tmp_path / "again.safetensors")
    cards = [read_card(tmp_path / name) for name in ("checked.safetensors", "again.safetensors")]
    assert cards[0].data == cards[1].data
    settings = fitted.settings
    assert from_plain(type(settings), to_plain(settings)) == settings
    with pytest.raises(AttributeError):
        settings.seed = 1
