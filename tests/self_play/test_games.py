"""Games of a network against itself: kept as shards, whole and counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.needs import need

torch = need("torch")


from tengen.board import BLACK, PASS, WHITE, Board
from tengen.board.counting import count_area
from tengen.network import DeepNetwork, Shard
from tengen.network.torch_network import FoldedNetwork, network_arrays, network_of
from tengen.network.training import use_fast_products
from tengen.self_play.parallel_games import play_out, record_games, shard_of
from tengen.self_play.settings import SelfPlaySettings, design_of, longest
from tengen.self_play.training import SelfPlayTrainer

CPU = torch.device("cpu")
SMALL = SelfPlaySettings(
    size=(5,), design="tiny", games=12, evaluations=4, considered=2, komi=1.0, random_moves=0.0
)


@pytest.fixture(scope="module")
def network() -> DeepNetwork:
    made = DeepNetwork()
    made.design_ = design_of(SMALL)
    made.weights_ = network_arrays(SelfPlayTrainer(SMALL, CPU).network)
    return made


def test_recorded_games_are_whole_and_counted_as_the_board_counts(
    network: DeepNetwork, tmp_path: Path
) -> None:
    made = record_games(network, SMALL, tmp_path, rounds=2)
    shards = [Shard.load(path) for path in made.files]
    assert len(shards) == 2 and made.games == sum(map(len, shards)) > 0
    assert made.games + made.passed_over == 2 * SMALL.games
    for shard in shards:
        for game in range(len(shard)):
            record = shard.record(game)
            board = Board(5, komi=record.komi)
            for colour, move in record.moves:
                assert board.turn == colour
                board.play(move)
            assert [move for _, move in record.moves[-2:]] == [PASS, PASS]
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
    assert 0 < len(shard) <= tally.games and int(shard.lengths().max()) < longest(5)
    left_out = tally.games - len(shard)
    assert shard.positions == tally.positions - left_out * longest(5)


def test_the_same_seed_gives_the_same_games(network: DeepNetwork, tmp_path: Path) -> None:
    first = record_games(network, SMALL, tmp_path / "a")
    again = record_games(network, SMALL, tmp_path / "b")
    for mine, other in zip(first.files, again.files, strict=True):
        assert mine.read_bytes() == other.read_bytes()
