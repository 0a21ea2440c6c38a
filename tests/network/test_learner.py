"""The learner keeps the contracts, learns from shards, resumes exactly, and measures itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.needs import need
from tests.network.network_games import EverybodyLives, write_games

from tengen.board import Board
from tengen.contracts import check_evaluator, check_policy, sample_boards
from tengen.errors import ModelError, TengenError
from tengen.network import (
    DESIGNS,
    DeepNetwork,
    NetworkSettings,
    Shard,
    make_shards,
    read_shards,
)
from tengen.network.evaluation import evaluate, measure_games
from tengen.network.learner import untrained
from tengen.network.shards import fingerprint_of
from tengen.records import Corpus

TINY = DESIGNS["tiny"]


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Shard]:
    folder = tmp_path_factory.mktemp("shards")
    games = write_games(folder / "games.sgf", 120)
    made = make_shards(Corpus(games), folder / "shards", scorer=EverybodyLives())
    assert made.games == 120 and made.counted == made.labelled > 100
    return list(read_shards([folder / "shards"]))


def test_shards_hold_the_games(shards: list[Shard], tmp_path: Path) -> None:
    (shard,) = shards
    assert shard.board == (5, 5) and len(shard) == 120
    assert set(np.unique(shard.winner)) <= {0, 1, 2}
    owned = shard.ownership.sum(1) - 0.5
    assert np.array_equal(owned[shard.labelled], shard.score[shard.labelled])
    shard.save(tmp_path / "one.safetensors")
    (again,) = read_shards([tmp_path / "one.safetensors"])
    assert fingerprint_of([again]) == fingerprint_of([shard])


def test_shards_of_confirmed_games_only(shards: list[Shard], tmp_path: Path) -> None:
    games = write_games(tmp_path / "games.sgf", 120)
    wrong = games.read_text().replace("RE[B+", "RE[B+1", 5)  # which no count confirms
    games.write_text(wrong)
    made = make_shards(Corpus(games), tmp_path / "some", scorer=EverybodyLives(), confirmed=True)
    assert made.games == made.labelled == made.counted < 120
    assert made.passed_over == 120 - made.games >= 5
    (shard,) = read_shards([tmp_path / "some"])
    assert len(shard) == made.games and shard.labelled.all()
    assert np.array_equal(shard.ownership.sum(1) - 0.5, shard.score)


def test_bad_shards_are_refused(shards: list[Shard], tmp_path: Path) -> None:
    (shard,) = shards
    path = tmp_path / "bad.safetensors"
    for wrong in (
        {"offsets": shard.offsets + 1},
        {"offsets": shard.offsets[::-1]},
        {"komi": shard.komi[1:]},
        {"moves": shard.moves + 1},
        {"rows": shard.rows + 1},
        {"colours": shard.colours * 0},
        {"ownership": shard.ownership[:, 1:]},
    ):
        replace(shard, **wrong).save(path)
        with pytest.raises(ModelError, match="do not fit"):
            Shard.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"bad\.safetensors"):
        Shard.load(path)
    untrained(TINY).save(path)
    with pytest.raises(ModelError, match="not a shard"):
        Shard.load(path)
    (tmp_path / "short.sgf").write_text("(;SZ[9];B[aa])")
    with pytest.raises(TengenError, match="no game to learn from"):
        make_shards(Corpus(tmp_path / "short.sgf"), tmp_path / "none")


def test_it_keeps_the_contracts() -> None:
    network = untrained(TINY)
    check_policy(network, boards=sample_boards(3))
    check_evaluator(network, boards=sample_boards(3), tolerance=1e-3)
    assert network.supports(5, 25) and not network.supports(4, 9)
    views = network.evaluate([Board(9), Board(5, 7), Board(9)])
    assert [len(view.priors) for view in views] == [82, 36, 82]
    assert np.array_equal(views[0].priors, views[2].priors)
    assert 0 < views[0].win_probability < 1 and views[0].spread > 0


def test_evaluation_measures_everything(shards: list[Shard]) -> None:
    rows: list[dict[str, float]] = []
    told = evaluate(untrained(TINY), shards, threads=2, on_game=rows.append)
    assert sum(row["moves"] for row in rows) == told["positions"] and len(rows) == told["games"]
    assert sum(row["top5"] for row in rows) == pytest.approx(told["top5"] * told["positions"])
    assert np.nanmean([row["score_error"] for row in rows]) == pytest.approx(told["score_error"])
    assert told["games"] == 120 and 0 < told["positions"] <= shards[0].positions
    assert 0 <= told["top1"] <= told["top5"] <= told["top10"] <= 1
    for name in ("log_loss", "winner", "score_error", "ownership", "calibration"):
        assert told[name] is not None, name
    some, whole = (list(measure_games(untrained(TINY), shards, every=n)) for n in (3, 1))
    assert len(some) == 120
    for game in (0, 1, 5):
        for name in ("chances", "won"):
            few, all_of_them = (found[game][1][name] for found in (some, whole))
            assert np.allclose(few, all_of_them[game % 3 :: 3], atol=1e-5)
    empty = evaluate(untrained(TINY), [])
    assert empty["positions"] == 0 and empty["top1"] is empty["calibration"] is None


def test_equal_moves_share_a_hit(shards: list[Shard]) -> None:
    """A network that gives all moves the same odds foresees one in as many as there are."""
    torch = need("torch")
    from tengen.network.torch_network import Output
    from tengen.network.training import Trainer, gather, measures

    source = gather(shards, device=torch.device("cpu"), threads=1)
    batch = source.batch(torch.arange(50))
    same, points = torch.zeros(50), torch.zeros(50, 25)
    found = measures(Output(torch.zeros(50, 26), same, same, same, points), batch)
    assert found["top1"][0].tolist() == pytest.approx([1 / 26] * 50)
    assert found["top5"][0].tolist() == pytest.approx([5 / 26] * 50)

    trainer = Trainer(TINY, NetworkSettings(design="tiny"), torch.device("cpu"))
    seen: list[object] = []
    trainer.network.register_forward_hook(lambda m, i, output: seen.append(output.moves.dtype))
    trainer.mixed = True  # as on a GPU
    trainer.measure(batch)
    assert seen == [torch.float32]


def test_held_out_games_make_the_winner_less_sure(
    shards: list[Shard], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Overdone chances are taken back; moves and score stay as they are."""
    torch = need("torch")

    from tengen.network import training
    from tengen.network.layers import WINNER
    from tengen.network.training import Sampler, gather

    source = gather(shards, device=torch.device("cpu"), threads=1)
    known = source.batch(source.decided()).winner
    assert 0 < len(known) <= len(source.held_out) and bool((known >= 0).all())
    sampler, settings = Sampler([source]), NetworkSettings(design="tiny")
    trainer = training.Trainer(TINY, settings, torch.device("cpu"))
    batch = sampler.held_out(100)
    training.learn_one(trainer, sampler)
    with torch.no_grad():
        trainer.network.value.weight[WINNER] *= 40
    before = trainer.measure(batch), trainer.network.value.weight.clone()
    assert trainer.calibrate(sampler) == 1.0  # too few games to tell
    monkeypatch.setattr(training, "CALIBRATION_GAMES", 1)
    factor = trainer.calibrate(sampler)
    assert 0.5 <= factor < 0.9
    after = trainer.network.value.weight
    assert torch.allclose(after[WINNER], factor * before[1][WINNER])
    assert torch.equal(after[WINNER + 1 :], before[1][WINNER + 1 :])
    assert trainer.measure(batch) == before[0]


def test_it_learns(shards: list[Shard]) -> None:
    need("torch")
    rows: list[dict[str, object]] = []
    settings = NetworkSettings(design="tiny", steps=300, batch=64, warm_up=10)
    network = DeepNetwork(settings=settings).fit([shards], on_row=rows.append)
    before = evaluate(untrained(TINY), shards)
    after = evaluate(network, shards)
    # Far from the 0.71, 0.81 and 1.94 that it reached: last digits differ between computers.
    assert after["ownership"] > 0.58 > before["ownership"]
    assert after["winner"] > 0.65 > before["winner"]
    assert after["log_loss"] < 2.05 < before["log_loss"]
    assert rows[-1]["step"] == 300 and "held_out" in rows[-1]


def test_a_stopped_training_goes_on_exactly(shards: list[Shard], tmp_path: Path) -> None:
    need("torch")
    from tengen.models import Run
    from tengen.network import training

    settings = NetworkSettings(design="tiny", steps=9, batch=16, warm_up=3)
    data = {"games": fingerprint_of(shards)}
    whole = DeepNetwork(settings=settings).fit([shards])

    class Stop(Exception):
        pass

    def stop(row: dict[str, object]) -> None:
        if row["step"] == 6:
            raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "LOG_EVERY", 3)
        patch.setattr(training, "SAVE_SECONDS", 0.0)
        with pytest.raises(Stop), Run.open(tmp_path / "run", "network", settings, data=data) as run:
            DeepNetwork(settings=settings).fit([shards], run=run, on_row=stop)
        with Run.open(tmp_path / "run", "network", settings, data=data, resume=True) as run:
            assert run.start is not None and run.start.step == 5
            again = DeepNetwork(settings=settings).fit([shards], run=run)
    for name, weights in whole.weights_.items():
        assert np.array_equal(weights, again.weights_[name]), name


def test_a_network_goes_on_from_another(shards: list[Shard]) -> None:
    need("torch")
    settings = NetworkSettings(design="tiny", steps=1, batch=4, rate=0.0)
    start = untrained(TINY)
    network = DeepNetwork(settings=settings).fit([shards], start=start)
    assert np.allclose(network.weights_["lift.weight"], start.weights_["lift.weight"])
