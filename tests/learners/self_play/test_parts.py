"""Smaller parts of self-play, each by its own name."""

from __future__ import annotations

from dataclasses import replace

from tests.needs import need

torch = need("torch")

from tengen.learners.deep_network.design import DESIGNS  # noqa: E402
from tengen.learners.deep_network.training import network_arrays  # noqa: E402
from tengen.learners.self_play import rules_kernels  # noqa: E402
from tengen.learners.self_play.learning import Pupil  # noqa: E402
from tengen.learners.self_play.loop import Room  # noqa: E402
from tengen.learners.self_play.making import make_loop  # noqa: E402
from tengen.learners.self_play.playing import Tally  # noqa: E402
from tengen.learners.self_play.settings import (  # noqa: E402
    FIRST_BATCHES,
    SelfPlaySettings,
    design_of,
)

CPU = torch.device("cpu")
SMALL = SelfPlaySettings(size=(5, 7), design="tiny", games=2, evaluations=4, considered=2, batch=4)


def test_no_network_of_self_play_is_told_ladders() -> None:
    for name in DESIGNS:
        settings = SelfPlaySettings(design=name)
        assert not design_of(settings).ladders
        assert design_of(settings).blocks == DESIGNS[name].blocks


def test_a_judge_plays_with_what_was_learned_once_it_is_handed_over() -> None:
    pupil = Pupil(SMALL, CPU)

    def laid_out() -> list[float]:
        return [float(value.sum()) for value in pupil.judge._laid_out(pupil.network).values()]

    before = laid_out()
    with torch.no_grad():
        for parameter in pupil.network.parameters():
            parameter.add_(0.5)
    name, changed = next(iter(pupil.judge._laid_out(pupil.network).items()))
    assert laid_out() != before and not torch.equal(getattr(pupil.judge, name), changed)
    pupil.hand_over()
    for name, value in pupil.judge._laid_out(pupil.network).items():
        assert torch.equal(getattr(pupil.judge, name), value.to(getattr(pupil.judge, name).dtype))


def test_every_size_has_a_room_with_a_window_of_its_own() -> None:
    loop = make_loop(SMALL, CPU)
    assert [room.lines for room in loop.rooms] == [5, 7]
    assert all(isinstance(room, Room) and room.debt == 0 for room in loop.rooms)
    assert loop.rooms[0].window is not loop.rooms[1].window
    assert FIRST_BATCHES * SMALL.batch <= SMALL.window


def test_facts_of_a_position_have_a_column_each() -> None:
    columns = (rules_kernels.SIDE, rules_kernels.PASSES, rules_kernels.PLY, rules_kernels.SCORE)
    assert sorted(columns) == list(range(rules_kernels.FACTS))


def test_a_judge_learns_the_weights_of_another_network() -> None:
    one, two = Pupil(SMALL, CPU), Pupil(replace(SMALL, seed=7), CPU)
    two.judge.learn_from(one.network)
    for name, value in one.judge._laid_out(one.network).items():
        assert torch.equal(getattr(two.judge, name), value)
    two.load_weights(network_arrays(one.network))
    there = two.network.state_dict()
    assert all(torch.equal(value, there[name]) for name, value in one.network.state_dict().items())


def test_tallies_add_up() -> None:
    some = Tally(moves=5, games=1, resigned=1)
    assert some.plus() == some
    assert Tally(moves=2, black_wins=3).plus(some, some) == Tally(12, 2, 0, 3, 2)
