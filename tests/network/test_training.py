"""What a network learns from: planes, batches, norms, steps; and what it needs for that."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.needs import need

from tengen.board import Board, index_of, play_random
from tengen.errors import SpecError
from tengen.network import DESIGNS, NetworkSettings, Shard, layers, settings
from tengen.network.settings import check_design

torch = need("torch")

from tengen.network.torch_network import Network, plane_table, planes_of, statistics
from tengen.network.training import Muon, Sampler, Source, Trainer, gather, learn_one

CPU = torch.device("cpu")


def test_a_training_begins_with_weights_of_its_own_shape() -> None:
    chosen = NetworkSettings(design="small")
    check_design(chosen, DESIGNS["small"])
    check_design(chosen, replace(DESIGNS["small"], ladders=False))
    with pytest.raises(SpecError, match="another shape than design small"):
        check_design(chosen, DESIGNS["large"])


def test_planes_are_the_same_on_the_device() -> None:
    boards = [play_random(Board(7), n, np.random.default_rng(n)) for n in (5, 20)]
    seen = layers.pack_boards(boards, ladders=False)
    names = ("codes", "history", "komi", "territory", "passed")
    given = {name: torch.from_numpy(np.ascontiguousarray(getattr(seen, name))) for name in names}
    batch: Any = SimpleNamespace(rows=7, cols=7, **given)
    laid = planes_of(batch, plane_table(CPU))
    np.testing.assert_allclose(laid.numpy(), seen.planes())
    filled = planes_of(batch, plane_table(CPU), layers.N_PLANES + 3)
    assert torch.equal(filled[:, :-3], laid) and not filled[:, -3:].any()


def test_positions_of_a_game_are_those_of_its_boards() -> None:
    board, boards = Board(5, komi=2.5), []
    moves = ["C3", "B2", "pass", "D4", "C4", "B3", "A1"]
    for move in moves:
        boards.append(board.copy())
        board.play(move)
    seen = layers.pack_boards(boards, ladders=False)
    played = np.array([index_of(point, 5, 5) for _, point in board.moves], np.int16)
    shard = Shard.of_moves(5, 5, [played] * 2, komi=np.full(2, 2.5, np.float32))
    with ThreadPoolExecutor(1) as pool:
        packed = shard.encoded(ladders=False, pool=pool)
    for cut in (slice(7), slice(7, None)):
        np.testing.assert_array_equal(packed.part(cut).planes(), seen.planes())


def source_of(lines: int, games: int) -> Source:
    points, rng = lines * lines, np.random.default_rng(lines)
    shard = Shard.of_moves(
        lines, lines, [rng.permutation(points)[:6].astype(np.int16) for _ in range(games)],
        komi=np.full(games, 1.5, np.float32), winner=np.ones(games, np.int8),
        score=np.full(games, 2.5, np.float32), labelled=np.ones(games, np.bool_),
        ownership=np.ones((games, points), np.int8),
    )  # fmt: skip
    return gather([shard], device=CPU, threads=1)


def test_targets_are_those_of_the_side_to_move() -> None:
    first, second = (np.array([n, 24, 25], np.int16) for n in (3, 4))
    known = Shard.of_moves(
        5, 5, [first, second], komi=np.full(2, 1.5, np.float32), winner=np.array([1, 2], np.int8),
        score=np.array([2.5, np.nan], np.float32), labelled=np.array([False, True]),
        ownership=np.array([np.zeros(25), np.arange(25)], np.int8),
    )  # fmt: skip
    unknown = Shard.of_moves(5, 5, [first])
    batch = gather([unknown, known], device=CPU, threads=1).batch(torch.arange(9))
    assert batch.moves.tolist() == [3, 24, 25, 3, 24, 25, 4, 24, 25]
    assert batch.winner.tolist() == [-1, -1, -1, 1, 0, 1, 0, 1, 0]
    assert batch.komi.tolist() == [0, 0, 0, -1.5, 1.5, -1.5, -1.5, 1.5, -1.5]
    assert batch.score.tolist() == [0, 0, 0, 2.5, -2.5, 2.5, 0, 0, 0]
    assert batch.scored.tolist() == [False] * 3 + [True] * 3 + [False] * 3
    assert batch.owned.tolist() == [False] * 6 + [True] * 3
    assert batch.owner[6:, 7].tolist() == [7, -7, 7]
    assert batch.history[:3, 0].tolist() == [-1, 3, 24] and not batch.passed.any()


def test_boards_take_turns_and_only_the_main_one_moves_the_statistics() -> None:
    sampler = Sampler([source_of(5, 100), source_of(7, 900)])
    assert sampler.shares.tolist() == pytest.approx([1 / 4, 3 / 4])  # roots of their sizes
    assert sampler.main == (7, 7) and sampler.measured == sampler.sources[1:]
    assert sampler.held_out(8).rows == 7
    generator, boards = torch.Generator(), []
    for seed in range(200):
        generator.manual_seed(seed)
        boards.append(sampler.draw(4, generator).rows)
    assert 30 < boards.count(5) < 70  # a quarter of them
    chosen = NetworkSettings(design="tiny", batch=8, warm_up=1, seed=1)
    trainer = Trainer(DESIGNS["tiny"], chosen, CPU)
    norm, seen = trainer.network.norm, []
    for _ in range(20):
        before = norm.mean.clone(), norm.gain.detach().clone()
        generator.manual_seed(1_000_003 + trainer.step)
        rows = sampler.draw(8, generator).rows
        learn_one(trainer, sampler)
        assert torch.equal(norm.mean, before[0]) == (rows == 5)
        assert not torch.equal(norm.gain, before[1])
        seen.append(rows)
    assert set(seen) == {5, 7}


def normed() -> tuple[Network, Any, Any]:
    """Return a network of two fields in eight orientations, its layers, and some maps."""
    network = Network(settings.Design(fields=2, blocks=1, head_fields=1))
    x = torch.randn(5, 16, 3, 3, generator=torch.Generator().manual_seed(1)) * 3 + 7
    return network, network.layers(), x


def test_orientations_of_a_field_are_normalised_and_merged_together() -> None:
    network, layers, x = normed()
    mean, variance = statistics(x, 8)
    fields = x.view(5, 2, 8, 9)
    assert torch.allclose(mean, fields.mean((0, 2, 3)), atol=1e-4)
    assert torch.allclose(variance, fields.var((0, 2, 3), unbiased=False), atol=1e-3)
    normal = (fields - mean[:, None, None]) / variance.sqrt()[:, None, None]
    known = network.weight("norm.mean")
    found = layers.norm(x, "norm")
    assert torch.allclose(found.view(5, 2, 8, 9), normal.relu(), atol=1e-3)
    slowly = known.clone()
    assert torch.allclose(slowly, 0.02 * mean)  # the statistics follow slowly
    layers.norm(x, "norm")
    assert ((known - mean).abs() < (slowly - mean).abs()).all()
    merged = layers.merge(x)
    assert merged.shape == (5, 2, 3, 3) and torch.allclose(merged[:, 0], x[:, :8].mean(1))


def test_a_norm_outside_training_is_a_factor_and_an_addend_per_map() -> None:
    network, layers, x = normed()
    network.eval()
    with torch.no_grad():
        network.weight("norm.gain").copy_(torch.tensor([2.0, 3.0]))
        network.weight("norm.bias").copy_(torch.tensor([0.5, -1.0]))
        network.weight("norm.mean").copy_(torch.tensor([1.0, -2.0]))
    factor = torch.tensor([2.0] * 8 + [3.0] * 8)[:, None, None]
    addend = torch.tensor([-1.5] * 8 + [5.0] * 8)[:, None, None]
    assert torch.allclose(layers.norm(x, "norm"), torch.relu(x * factor + addend), atol=1e-3)


def test_moves_are_learned_from_indices_and_from_probabilities_alike() -> None:
    shard_source = source_of(5, 20)
    batch = shard_source.batch(torch.arange(12))
    output = Network(DESIGNS["tiny"]).eval()(planes_of(batch, plane_table(CPU)))
    odds = torch.nn.functional.one_hot(batch.moves, 26).to(torch.float16)
    losses = Trainer(DESIGNS["tiny"], NetworkSettings(), CPU).losses
    one, other = losses(output, batch), losses(output, batch._replace(moves=odds))
    assert all(torch.allclose(one[name], other[name]) for name in one)
    unknown = batch._replace(winner=torch.full_like(batch.winner, -1.0))
    assert losses(output, unknown)["winner"] == 0
    uncounted = batch._replace(
        scored=torch.zeros_like(batch.scored), owned=torch.zeros_like(batch.owned)
    )
    assert losses(output, uncounted)["score"] == losses(output, uncounted)["ownership"] == 0


def test_muon_steps_alike_in_all_directions_of_a_kernel() -> None:
    weight = torch.nn.Parameter(torch.zeros(4, 4))
    weight.grad = torch.diag(torch.tensor([100.0, 10.0, 1.0, 0.1]))
    Muon([weight], 0.1).step()
    steps = -torch.diagonal(weight.detach())
    assert (steps > 0).all() and steps.max() < 2 * steps[:3].min()


def test_one_rate_is_set_for_both_optimizers() -> None:
    trainer = Trainer(DESIGNS["tiny"], NetworkSettings(rate=0.0), CPU)
    before = [weight.detach().clone() for weight in trainer.network.parameters()]
    trainer.learn(source_of(5, 20).batch(torch.arange(8)), 0.0)
    assert len(trainer.optimizers) == 2
    assert all(map(torch.equal, before, trainer.network.parameters()))  # nothing moves at rate 0


def test_a_training_that_diverged_names_batch_and_rate() -> None:
    trainer = Trainer(DESIGNS["tiny"], NetworkSettings(design="tiny", rate=0.5), CPU)
    batch = source_of(5, 20).batch(torch.arange(8))
    trainer.learn(batch, 0.0)
    trainer.check()
    with torch.no_grad():
        trainer.network.weight("value.bias").fill_(float("nan"))
    trainer.learn(batch, 0.0)
    with pytest.raises(SpecError, match=r"before batch 2 .* rate than 0\.5"):
        trainer.check()
