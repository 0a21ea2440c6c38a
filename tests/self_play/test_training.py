"""A run of self-play: what is learned from, stopping and going on, workers, bad input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.needs import need

torch = need("torch")


from tengen.errors import RunError, SpecError
from tengen.models import Run, read_metrics
from tengen.network import DeepNetwork
from tengen.network.layers import TERRITORY_PLANE
from tengen.network.torch_network import Output, network_arrays, plane_table, planes_of
from tengen.network.training import Batch, ReplayBuffer, joined, rate_at
from tengen.parallel import Team
from tengen.self_play import CLOCK, LEARNER, read_clock, training
from tengen.self_play.parallel_games import ParallelGames
from tengen.self_play.settings import SelfPlaySettings, longest
from tengen.self_play.training import Loop, SelfPlayTrainer, play_piece

CPU = torch.device("cpu")
SMALL = SelfPlaySettings(
    size=(5,), design="tiny", games=8, positions=400, evaluations=4, considered=2, batch=8,
    window=120, pieces=2, warm_up=5, komi=1.0,
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # so small tensors only wait for more
    yield
    torch.set_num_threads(before)


def check_batch(batch: Batch) -> None:
    """Targets must fit each other: whose points, by how much, who won."""
    assert torch.equal(batch.owner.sum(1) + batch.komi, batch.score)
    assert torch.equal((torch.sign(batch.score) + 1) / 2, batch.winner)
    assert torch.allclose(batch.moves.float().sum(1), torch.ones(len(batch.codes)), atol=0.01)
    stones = batch.codes & 3
    playable = (stones == 0) & (batch.codes >> 2 > 0)
    assert not batch.moves[:, :-1][~playable].any()


def test_what_is_to_be_learned_fits_together() -> None:
    loop = Loop(SMALL)
    player, found = loop.rooms[0].games, []
    for _ in range(2 * longest(5)):
        player.play(SMALL.evaluations)
        batch = player.collect()
        if batch is not None:
            check_batch(batch)
            found.append(len(batch.codes))
    assert player.tally.games > 8 and player.tally.positions == sum(found)
    assert 0 < player.tally.black_wins < player.tally.games


def test_a_buffer_keeps_the_latest() -> None:
    buffer = ReplayBuffer(Batch.blank(1, 0, CPU), 5)

    def numbered(*numbers: int) -> Batch:
        rows = torch.tensor(numbers)
        return Batch(1, 1, *(
            rows.to(part.dtype).view(-1, *[1] * (part.ndim - 1)).expand(-1, *part.shape[1:])
            for part in buffer.rows[2:]
        ))  # fmt: skip

    buffer.add(numbered(0, 1, 2))
    buffer.add(numbered(3, 4, 5, 6))
    generator = torch.Generator().manual_seed(1)
    assert set(buffer.draw(200, 99, generator).score.tolist()) == {2, 3, 4, 5, 6}
    assert set(buffer.draw(200, 2, generator).score.tolist()) == {5, 6}
    other = ReplayBuffer(Batch.blank(1, 0, CPU), 5)
    other.restore(buffer.tensors(3), buffer.total)
    assert (len(other), other.total) == (3, 7)
    assert set(other.draw(200, 99, generator).score.tolist()) == {4, 5, 6}
    buffer.add(numbered(*range(10, 20)))
    assert buffer.tensors()["score"].tolist() == [15, 16, 17, 18, 19]


def test_the_rate_rises_stays_and_falls() -> None:
    rates = [rate_at(step, progress, SMALL) for step, progress in ((0, 0), (9, 0.2), (9, 0.7))]
    assert rates[0] == pytest.approx(SMALL.rate / 5) and rates[1] == SMALL.rate
    assert rates[2] == pytest.approx(SMALL.rate / 2)


def fitted(folder: Path, **options: Any) -> DeepNetwork:
    resume = options.pop("resume", False)
    with Run.open(folder, LEARNER, SMALL, resume=resume) as run:
        return training.train(SMALL, run, **options)


def same(a: DeepNetwork, b: DeepNetwork) -> bool:
    return all(np.array_equal(a.weights_[name], b.weights_[name]) for name in a.weights_)


def test_a_stopped_run_goes_on_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
    whole = fitted(tmp_path / "whole")
    rows = 0

    def stop(row: dict[str, Any]) -> None:
        nonlocal rows
        rows += 1
        if row["progress"] > 0.55:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "halves", on_row=stop)
    halves = fitted(tmp_path / "halves", resume=True)
    assert rows > 3 and same(whole, halves)
    assert read_metrics(tmp_path / "whole") == read_metrics(tmp_path / "halves")
    steps = [row["step"] for row in read_clock(tmp_path / "halves" / CLOCK)]
    assert steps == [row["step"] for row in read_metrics(tmp_path / "whole")]
    assert read_metrics(tmp_path / "whole")[-1]["batches"] > 10
    snapshots = sorted((tmp_path / "whole" / "snapshots").glob("*.safetensors"))
    assert len(snapshots) > 10
    assert same(DeepNetwork.load(snapshots[-1]), whole)
    assert same(DeepNetwork.load(tmp_path / "whole" / training.MODEL), whole)


@pytest.mark.parametrize(
    ("workers", "ray"), [(2, None), pytest.param(1, "local", marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore")  # Ray leaves sockets and processes to the interpreter's end.
def test_workers_play_what_one_process_would(workers: int, ray: str | None) -> None:
    if ray is not None:
        need("ray")
    alone = Loop(SMALL, team=Team(play_piece))
    with Team(play_piece, workers=workers, ray=ray) as team:
        helped = Loop(SMALL, team=team)
        for loop in (alone, helped):
            loop.advance(0.1)
    mine, theirs = alone.arrays(), helped.arrays()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    check_batch(alone.rooms[0].buffer.at(torch.arange(len(alone.rooms[0].buffer))))
    tally = alone.rooms[0].games.tally
    assert tally.games == SMALL.games * SMALL.pieces
    assert tally.moves == tally.positions == alone.rooms[0].buffer.total


def test_a_remote_run_goes_on_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
    alone = lambda settings, *_: Loop(settings, team=Team(play_piece))  # noqa: E731
    monkeypatch.setattr(training, "Loop", alone)
    whole = fitted(tmp_path / "whole")

    def stop(row: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "halves", on_row=stop)
    assert same(whole, fitted(tmp_path / "halves", resume=True))


def test_warming_up_teaches_nothing() -> None:
    trainer = SelfPlayTrainer(SMALL, CPU)
    before = network_arrays(trainer.network)
    trainer.warm_up(Batch.blank(5, 4, CPU))
    after = network_arrays(trainer.network)
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert trainer.mean_losses() == {} and all(w.grad is None for w in trainer.network.parameters())


def test_several_sizes_learn_together(tmp_path: Path) -> None:
    loop = Loop(replace(SMALL, size=(5, 6), games=4))
    while loop.trainer.step < 4:
        loop.advance(0.1)
    assert all(room.buffer.total for room in loop.rooms)
    # What it is never shown keeps weights of nothing.
    assert not loop.trainer.network.weight("lift.weight")[:, TERRITORY_PLANE].any()


def test_a_side_that_is_surely_lost_resigns() -> None:
    loop = Loop(replace(SMALL, resign=0.2, games=32, random_moves=0.0))
    games, found = loop.rooms[0].games, []
    assert isinstance(games, ParallelGames)
    games.search.network = sure_of_black
    for _ in range(longest(5)):
        games.play(SMALL.evaluations)
        if (batch := games.collect()) is not None:
            found.append(batch)
    batch = joined(found)
    resigned = ~batch.scored
    assert torch.equal(batch.owned, batch.scored) and 0.2 < resigned.float().mean() < 0.95
    assert not batch.score[resigned].any()
    # Komi is what the side to move receives: Black, who pays it, wins.
    assert (batch.winner[resigned & (batch.komi < 0)] == 1).all()
    assert (batch.winner[resigned & (batch.komi > 0)] == 0).all()


def sure_of_black(seen: Any) -> Output:
    """Evaluate every position as won for the side that pays komi, with equal moves."""
    games, points = seen.codes.shape
    value = torch.where(seen.komi < 0, 4.0, -4.0)
    moves, owners = torch.zeros(games, points + 1), torch.zeros(games, points)
    return Output(moves, value, 5 * value, torch.zeros(games), owners)


def test_boards_and_searches_grow() -> None:
    grown = replace(
        SMALL, size=(5, 6), growing=0.5, first_evaluations=2, evaluations=8, games=4, window=64
    )
    loop, counts = Loop(grown), []
    for progress in (0.0, 0.2, 0.4, 0.6):
        before = [room.games.tally for room in loop.rooms]
        loop.advance(progress)
        after = [room.games.tally for room in loop.rooms]
        counts.append([b.evaluations - a.evaluations for a, b in zip(before, after, strict=True)])
    # Four games a size; two, three, five and then eight evaluations per move.
    assert counts == [[4 * 2, 0], [4 * 3, 0], [4 * 5, 0], [0, 4 * 8]]


def test_workers_search_as_much_as_they_are_told(tmp_path: Path) -> None:
    loop = Loop(replace(SMALL, first_evaluations=2, evaluations=8), team=Team(play_piece))
    for progress in (0.0, 0.6):
        before = loop.tally()
        loop.advance(progress)
        now = loop.tally()
        per_move = (now.evaluations - before.evaluations) / (now.moves - before.moves)
        # Places whose game has ended are searched until most have.
        assert (2 if progress == 0 else 8) <= per_move < 3 * (2 if progress == 0 else 8)


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="size is 4; it should be"):
        SelfPlaySettings(size=(4,))
    with pytest.raises(SpecError, match="first-evaluations is 20: 0, or 2 to 16"):
        SelfPlaySettings(first_evaluations=20)
    with pytest.raises(SpecError, match="each named once"):
        SelfPlaySettings(size=(7, 7))
    with pytest.raises(SpecError, match="window is 100, less than 8 batches"):
        SelfPlaySettings(window=100)
    (tmp_path / "config.toml").write_text(
        'learner = "deep-network"\ntengen = "1"\n[settings]\n[data]\n'
    )
    with pytest.raises(RunError, match="holds a run of deep-network"):
        Run.open(tmp_path, LEARNER, SMALL)
    for wish in ({"games": 10**9}, {"evaluations": 10**8}, {"window": 10**10}):
        with pytest.raises(SpecError, match="cpu: no memory for"):
            Loop(replace(SMALL, **wish))
    if not torch.cuda.is_available():
        with pytest.raises(SpecError, match="finds no GPU"):
            fitted(tmp_path / "new", device="cuda")


def test_the_playing_network_uses_what_was_learned_once_it_is_handed_over() -> None:
    trainer, seen = SelfPlayTrainer(SMALL, CPU), Batch.blank(5, 2, CPU)

    def answers() -> Any:
        trainer.network.eval()
        planes = planes_of(seen, plane_table(CPU))
        with torch.no_grad():
            return trainer.player(seen).moves, trainer.network(planes).moves

    torch.testing.assert_close(*answers())
    with torch.no_grad():
        for parameter in trainer.network.parameters():
            parameter.add_(0.1)
    here, there = answers()
    assert not torch.allclose(here, there)
    trainer.player.take_over(trainer.network)
    torch.testing.assert_close(*answers(), rtol=1e-4, atol=1e-4)
    other = SelfPlayTrainer(replace(SMALL, seed=7), CPU)
    other.load_weights(network_arrays(trainer.network))
    torch.testing.assert_close(other.player(seen).moves, trainer.player(seen).moves)
