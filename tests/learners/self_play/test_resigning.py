"""Giving games up: only what was measured as lost, and never those that measure it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.needs import need

torch = need("torch")


from tengen.learners.network.inputs_kernels import PASSES, PLY, SCORE, SIDE  # noqa: E402
from tengen.learners.self_play.parallel_games import (  # noqa: E402
    ENOUGH,
    NOBODY,
    Resigning,
    copy_into,
)
from tengen.learners.self_play.settings import SelfPlaySettings  # noqa: E402
from tengen.learners.self_play.training import Loop  # noqa: E402

CPU = torch.device("cpu")


def test_nobody_resigns_before_enough_is_known_and_few_winners_would_have() -> None:
    games, generator = 50, torch.Generator().manual_seed(1)
    settings = SelfPlaySettings(resign=0.1, played_out=0.5)
    resigning = Resigning(games, settings, CPU)
    everyone, side = torch.arange(games), torch.ones(games)
    assert float(resigning.floor) == NOBODY
    seen: list[float] = []
    while len(seen) < 2 * ENOUGH:
        resigning.begin(everyone, torch.rand(games, generator=generator))
        values = 2 * torch.rand(games, generator=generator) - 1
        given_up = resigning.note(side, values)
        assert not (given_up & resigning.played_out).any()
        if len(seen) < ENOUGH:
            assert not given_up.any()
        resigning.note(side, torch.ones(games))
        seen += values[resigning.played_out].tolist()
        resigning.ended(everyone, torch.ones(games))  # Black won them all
    below = sum(value < float(resigning.floor) for value in seen) / len(seen)
    assert below == pytest.approx(0.1, abs=0.01)
    resigning.begin(everyone, torch.full((games,), 0.9))
    assert resigning.note(side, torch.full((games,), float(resigning.floor) - 0.01)).all()


def test_of_a_resigned_game_only_the_winner_is_learned() -> None:
    settings = SelfPlaySettings(
        size=(5,), design="tiny", games=8, evaluations=4, considered=2, resign=0.1, played_out=0.3
    )
    torch.set_num_threads(1)
    player = Loop(settings).rooms[0].games
    resigning = player.resigning
    resigning.floor.fill_(0.0)  # as if nobody had ever won from behind
    rows = black_wins = 0
    for _ in range(40):
        player.play()
        boards, roots, komi = player.search.boards, player.search.roots, player.search.komi
        gone, to_move = player._resigned, boards.facts[roots, SIDE]
        assert not (gone & resigning.played_out).any()
        over = (boards.facts[roots, PASSES] >= 2) | (
            boards.facts[roots, PLY] >= player.search.limit
        )
        black_wins += int((over & (boards.facts[roots, SCORE] > komi)).sum())
        black_wins += int((~over & gone & (to_move == 1)).sum())  # White has just resigned
        batch = player.collect()
        rows += 0 if batch is None else int((~batch.scored).sum())
        assert player.tally.black_wins == black_wins
    assert rows > 0 and 0 < player.tally.resigned <= player.tally.games
    other = Loop(replace(settings, seed=5)).rooms[0].games
    copy_into(other.tensors(), player.tensors())
    for name, tensor in player.tensors().items():
        assert torch.equal(tensor, other.tensors()[name])
