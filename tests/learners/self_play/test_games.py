"""Games of a network against itself: kept as shards, whole and counted; resigned where lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.needs import need

torch = need("torch")


from tengen.board import BLACK, WHITE, Board  # noqa: E402
from tengen.board.counting import count_area  # noqa: E402
from tengen.learners.network import DeepNetwork, Shard  # noqa: E402
from tengen.learners.network.inputs_kernels import PASSES, PLY, SCORE, SIDE  # noqa: E402
from tengen.learners.network.torch_network import (  # noqa: E402
    FoldedNetwork,
    network_arrays,
    network_of,
)
from tengen.learners.network.training import use_fast_products  # noqa: E402
from tengen.learners.self_play.parallel_games import (  # noqa: E402
    ENOUGH,
    NOBODY,
    Resigning,
    copy_into,
    play_out,
    record_games,
    shard_of,
)
from tengen.learners.self_play.settings import (  # noqa: E402
    SelfPlaySettings,
    design_of,
    longest,
)
from tengen.learners.self_play.training import Loop, Pupil  # noqa: E402

CPU = torch.device("cpu")
SMALL = SelfPlaySettings(
    size=(5,), design="tiny", games=12, evaluations=4, considered=2, komi=1.0, random_moves=0.0
)


@pytest.fixture(scope="module")
def network() -> DeepNetwork:
    made = DeepNetwork()
    made.design_ = design_of(SMALL)
    made.weights_ = network_arrays(Pupil(SMALL, CPU).network)
    return made


def test_recorded_games_are_whole_and_counted_as_the_board_counts(
    network: DeepNetwork, tmp_path: Path
) -> None:
    made = record_games(network, SMALL, tmp_path, rounds=2)
    shards = [Shard.load(path) for path in made.files]
    assert len(shards) == 2 and made.games == sum(map(len, shards)) > 0
    assert made.games + made.passed_over == 2 * SMALL.games
    for shard in shards:
        ends = np.cumsum(shard.lengths)
        for game, (end, length) in enumerate(zip(ends, shard.lengths, strict=True)):
            moves = shard.moves[end - length : end]
            board = Board(5, komi=float(shard.komi[game]))
            for colour, move in zip(shard.colours[end - length : end], moves, strict=True):
                assert board.turn == colour
                board.play("pass" if move == 25 else (int(move) // 5, int(move) % 5))
            assert list(moves[-2:]) == [25, 25]
            counted = count_area(board.grid(), np.zeros((5, 5), np.bool_), komi=board.komi)
            assert counted.score == pytest.approx(shard.score[game])
            owner = counted.owner.ravel()
            whose = (owner == BLACK).astype(int) - (owner == WHITE).astype(int)
            assert np.array_equal(whose, shard.ownership[game])
            winner = {1.0: BLACK, -1.0: WHITE, 0.0: 0}[np.sign(shard.score[game])]
            assert shard.winner[game] == winner


def test_games_that_are_cut_are_left_out(network: DeepNetwork) -> None:
    before = torch.backends.cudnn.benchmark
    use_fast_products(CPU)
    assert torch.backends.cudnn.benchmark == before  # a processor has nothing to choose
    learned = network_of(network.weights_, network.design_)
    folded, generator = FoldedNetwork(learned, CPU, torch.float32), torch.Generator().manual_seed(4)
    ended: list[int] = []
    tally, batch = play_out(SMALL, 5, folded, generator, on_games=ended.append)
    assert tally.games == SMALL.games == sum(ended) and tally.positions == len(batch.codes)
    shard = shard_of(batch)
    assert 0 < len(shard) <= tally.games and int(shard.lengths.max()) < longest(5)
    left_out = tally.games - len(shard)
    assert shard.positions == tally.positions - left_out * longest(5)


def test_the_same_seed_gives_the_same_games(network: DeepNetwork, tmp_path: Path) -> None:
    first = record_games(network, SMALL, tmp_path / "a")
    again = record_games(network, SMALL, tmp_path / "b")
    for mine, other in zip(first.files, again.files, strict=True):
        assert mine.read_bytes() == other.read_bytes()


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
