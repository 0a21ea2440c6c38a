"""A run of self-play: what is learned from, stopping and going on, workers, bad input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.needs import need

torch = need("torch")

from tengen.errors import RunError, SpecError  # noqa: E402
from tengen.learners.deep_network import DeepNetwork  # noqa: E402
from tengen.learners.deep_network.inputs import TERRITORY_PLANE  # noqa: E402
from tengen.learners.deep_network.training import network_arrays  # noqa: E402
from tengen.learners.self_play import training  # noqa: E402
from tengen.learners.self_play.farm import Piece, make_farmed_loop, play_piece  # noqa: E402
from tengen.learners.self_play.learning import rate_at  # noqa: E402
from tengen.learners.self_play.loop import Loop  # noqa: E402
from tengen.learners.self_play.making import make_loop, make_pupil  # noqa: E402
from tengen.learners.self_play.settings import SelfPlaySettings, longest  # noqa: E402
from tengen.learners.self_play.window import Lesson, Window  # noqa: E402
from tengen.models import Run, read_metrics  # noqa: E402
from tengen.parallel import Team  # noqa: E402

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


def check_lesson(lesson: Lesson) -> None:
    """Targets must fit each other: whose points, by how much, who won."""
    assert torch.equal(lesson.owner.sum(1) + lesson.komi, lesson.score)
    assert torch.equal((torch.sign(lesson.score) + 1) / 2, lesson.winner)
    assert torch.allclose(lesson.policy.float().sum(1), torch.ones(len(lesson.codes)), atol=0.01)
    stones = lesson.codes & 3
    playable = (stones == 0) & (lesson.codes >> 2 > 0)
    assert not lesson.policy[:, :-1][~playable].any()


def test_what_is_to_be_learned_fits_together() -> None:
    loop = make_loop(SMALL, CPU)
    player, found = loop.rooms[0].games, []
    for _ in range(2 * longest(5)):
        player.play()
        lesson = player.collect()
        if lesson is not None:
            check_lesson(lesson)
            found.append(len(lesson.codes))
    assert player.tally.games > 8 and player.tally.positions == sum(found)
    assert 0 < player.tally.black_wins < player.tally.games


def test_a_window_keeps_the_latest() -> None:
    window = Window(1, 5, CPU)

    def numbered(*numbers: int) -> Lesson:
        rows = torch.tensor(numbers)
        return Lesson(*(
            rows.to(part.dtype).view(-1, *[1] * (part.ndim - 1)).expand(-1, *part.shape[1:])
            for part in window.rows
        ))  # fmt: skip

    window.add(numbered(0, 1, 2))
    window.add(numbered(3, 4, 5, 6))
    generator = torch.Generator().manual_seed(1)
    assert set(window.draw(200, 99, generator).score.tolist()) == {2, 3, 4, 5, 6}
    assert set(window.draw(200, 2, generator).score.tolist()) == {5, 6}
    other = Window(1, 5, CPU)
    other.restore(window.tensors(3), window.total)
    assert (len(other), other.total) == (3, 7)
    assert set(other.draw(200, 99, generator).score.tolist()) == {4, 5, 6}
    window.add(numbered(*range(10, 20)))
    assert window.tensors()["score"].tolist() == [15, 16, 17, 18, 19]


def test_the_rate_rises_stays_and_falls() -> None:
    rates = [rate_at(step, progress, SMALL) for step, progress in ((0, 0), (9, 0.2), (9, 0.7))]
    assert rates[0] == pytest.approx(SMALL.rate / 5) and rates[1] == SMALL.rate
    assert rates[2] == pytest.approx(SMALL.rate / 2)


def fitted(folder: Path, **options: Any) -> DeepNetwork:
    resume = options.pop("resume", False)
    with Run.open(folder, training.LEARNER, SMALL, resume=resume) as run:
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
        fitted(tmp_path / "halves", on_report=stop)
    halves = fitted(tmp_path / "halves", resume=True)
    assert rows > 3 and same(whole, halves)
    assert read_metrics(tmp_path / "whole") == read_metrics(tmp_path / "halves")
    steps = [row["step"] for row in training.read_clock(tmp_path / "halves" / training.CLOCK)]
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
    alone = make_farmed_loop(SMALL, Team(play_piece))
    with Team(play_piece, workers=workers, ray=ray) as team:
        helped = make_farmed_loop(SMALL, team)
        for loop in (alone, helped):
            loop.advance(0.1)
    mine, theirs = alone.tensors(), helped.tensors()
    assert alone.counts() == helped.counts()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    tally = alone.rooms[0].games.tally
    assert tally.games == SMALL.games * SMALL.pieces
    assert tally.moves == tally.positions == alone.rooms[0].window.total


def test_a_piece_is_every_game_to_its_end() -> None:
    weights = network_arrays(make_pupil(SMALL, CPU).network)
    played = play_piece(Piece(SMALL, 5, weights, seed=3))
    check_lesson(Lesson(*map(torch.from_numpy, played.lesson)))
    assert played.tally.games == SMALL.games


def test_a_farmed_run_goes_on_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)

    @contextmanager
    def farmed(settings: SelfPlaySettings, *_: object) -> Iterator[Loop]:
        yield make_farmed_loop(settings, Team(play_piece))

    monkeypatch.setattr(training, "_opened_loop", farmed)
    whole = fitted(tmp_path / "whole")

    def stop(row: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "halves", on_report=stop)
    assert same(whole, fitted(tmp_path / "halves", resume=True))


def test_warming_up_teaches_nothing() -> None:
    pupil = make_pupil(SMALL, CPU)
    before = network_arrays(pupil.network)
    pupil.warm_up(Window(25, 10, CPU).blank(4))
    after = network_arrays(pupil.network)
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert pupil.report() == {} and all(w.grad is None for w in pupil.network.parameters())


def test_several_sizes_learn_together(tmp_path: Path) -> None:
    loop = make_loop(replace(SMALL, size=(5, 6), games=4), CPU)
    while loop.pupil.step < 4:
        loop.advance(0.1)
    assert all(room.window.total for room in loop.rooms)
    # What it is never shown keeps weights of nothing.
    assert not loop.pupil.network.lift.weight[:, TERRITORY_PLANE].any()


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="size is 4, less than 5"):
        SelfPlaySettings(size=(4,))
    with pytest.raises(SpecError, match="each named once"):
        SelfPlaySettings(size=(7, 7))
    with pytest.raises(SpecError, match="window is 100, less than 8 batches"):
        SelfPlaySettings(window=100)
    (tmp_path / "config.toml").write_text(
        'learner = "deep-network"\ntengen = "1"\n[settings]\n[data]\n'
    )
    with pytest.raises(RunError, match="holds a run of deep-network"):
        Run.open(tmp_path, training.LEARNER, SMALL)
    for wish in ({"games": 10**9}, {"evaluations": 10**8}, {"window": 10**10}):
        with pytest.raises(SpecError, match="cpu: no memory for"):
            make_loop(replace(SMALL, **wish), CPU)
    if not torch.cuda.is_available():
        with pytest.raises(SpecError, match="sees no GPU"):
            fitted(tmp_path / "new", device="cuda")
