"""Smaller parts of the deep network, each by its own name."""

from __future__ import annotations

import builtins
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.needs import need

from tengen.board import BLACK, Board, index_of, play_random
from tengen.errors import RunError, SpecError
from tengen.learners.deep_network import DESIGNS, NetworkSettings, Shard, design, inputs
from tengen.learners.deep_network.evaluation import Evaluation, positions_of
from tengen.learners.deep_network.fitting import check_start, torch_or_refuse
from tengen.learners.deep_network.inputs_kernels import (
    CATCHES_BIT,
    ENEMY,
    KO_BIT,
    LIBERTIES,
    OWN,
    TAKES,
)
from tengen.learners.deep_network.shards import refuse_shards
from tengen.learners.deep_network.winograd import Winograd, winograd
from tengen.learners.deep_network.winograd_kernels import ADD, CLIP, STORE

torch = need("torch")

from tengen.learners.deep_network.lessons import (  # noqa: E402
    Lessons,
    Source,
    gather,
    plane_table,
    planes_of,
)
from tengen.learners.deep_network.network import FieldNorm, Network, merge  # noqa: E402
from tengen.learners.deep_network.optimizer import Both, Muon  # noqa: E402
from tengen.learners.deep_network.training import (  # noqa: E402
    GRADIENT,
    Trainer,
    network_arrays,
)

CPU = torch.device("cpu")


def test_a_training_begins_with_weights_of_its_own_shape() -> None:
    settings = NetworkSettings(design="small")
    check_start(settings, DESIGNS["small"])
    check_start(settings, replace(DESIGNS["small"], ladders=False))
    with pytest.raises(SpecError, match="another shape than --design small"):
        check_start(settings, DESIGNS["large"])


def test_shards_are_not_added_to_others(tmp_path: Path) -> None:
    refuse_shards(tmp_path)
    (tmp_path / "00000.safetensors").touch()
    with pytest.raises(RunError, match="holds shards already"):
        refuse_shards(tmp_path)


def test_planes_of_the_whole_board_come_last_and_komi_first_of_them() -> None:
    assert inputs.PLANES[-len(inputs.BOARD_PLANES) :] == inputs.BOARD_PLANES
    assert inputs.PLANES[inputs.KOMI_PLANE] == inputs.BOARD_PLANES[0]
    board = Board(9, komi=inputs.KOMI_SCALE, moves="B E5")
    planes = inputs.of_boards([board], ladders=False).planes()
    assert (planes[0, inputs.KOMI_PLANE] == 1).all()  # White is to move and is given it


def test_bits_of_a_point_do_not_overlap() -> None:
    liberties = 3 << LIBERTIES
    parts = (OWN | ENEMY, liberties, TAKES, CATCHES_BIT, KO_BIT)
    assert sum(parts) == np.bitwise_or.reduce(parts) < 256


def test_planes_are_the_same_on_the_device() -> None:
    boards = [play_random(Board(7), n, np.random.default_rng(n)) for n in (5, 20)]
    seen = inputs.of_boards(boards, ladders=False)
    names = ("codes", "history", "komi", "territory", "passed")
    given = {name: torch.from_numpy(np.ascontiguousarray(getattr(seen, name))) for name in names}
    batch: Any = SimpleNamespace(rows=7, cols=7, **given)
    laid = planes_of(batch, plane_table(CPU), torch.float32)
    np.testing.assert_allclose(laid.numpy(), seen.planes())


def test_positions_of_a_game_are_those_of_its_boards() -> None:
    board, boards = Board(5, komi=2.5), []
    moves = ["C3", "B2", "pass", "D4", "C4", "B3", "A1"]
    for move in moves:
        boards.append(board.copy())
        board.play(move)
    seen = inputs.of_boards(boards, ladders=False)
    played = np.array([index_of(point, 5, 5) for _, point in board.moves])
    black = np.array([b.turn == BLACK for b in boards])
    shard: Any = SimpleNamespace(rows=5, cols=5, komi=[2.5], territory=[False])
    packed = positions_of(shard, 0, seen.codes, played, black)
    np.testing.assert_array_equal(packed.planes(), seen.planes())


def test_sources_share_a_batch_by_the_roots_of_their_sizes() -> None:
    class Sized:
        def __init__(self, count: int) -> None:
            self.train = range(count)

    assert Lessons([Sized(100), Sized(400)]).shares.tolist() == pytest.approx([1 / 3, 2 / 3])


def test_boards_take_turns_and_only_the_main_one_moves_the_statistics() -> None:
    def source(lines: int, games: int) -> Source:
        points, rng = lines * lines, np.random.default_rng(lines)
        moves = np.concatenate([rng.permutation(points)[:6] for _ in range(games)])
        shard = Shard(
            lines, lines, moves.astype(np.int16), np.tile([1, 2], 3 * games).astype(np.int8),
            np.full(games, 6, np.int32), np.zeros(0, np.int16), np.zeros(0, np.int8),
            np.zeros(games, np.int32), np.full(games, 1.5, np.float32), np.zeros(games, np.int8),
            np.ones(games, np.int8), np.full(games, 2.5, np.float32),
            np.arange(games, dtype=np.int32), np.ones((games, points), np.int8),
        )  # fmt: skip
        return gather([shard], device=CPU, threads=1)

    lessons = Lessons([source(5, 100), source(7, 900)])
    assert lessons.main == (7, 7) and lessons.judging() == lessons.sources[1:]
    assert lessons.held_out(8).rows == 7
    generator, boards = torch.Generator(), []
    for seed in range(200):
        generator.manual_seed(seed)
        boards.append(lessons.draw(4, generator).rows)
    assert 30 < boards.count(5) < 70  # a quarter of them
    trainer = Trainer(DESIGNS["tiny"], NetworkSettings(design="tiny", batch=8, warm_up=1), CPU)
    trainer.settings = replace(trainer.settings, seed=1)
    norm, seen = trainer.network.norm, []
    for _ in range(20):
        before = norm.mean.clone(), norm.gain.detach().clone()
        generator.manual_seed(1_000_003 + trainer.step)
        rows = lessons.draw(8, generator).rows
        trainer.advance(lessons, 1)
        assert torch.equal(norm.mean, before[0]) == (rows == 5)
        assert not torch.equal(norm.gain, before[1])
        seen.append(rows)
    assert set(seen) == {5, 7}


def test_orientations_of_a_field_are_normalised_and_merged_together() -> None:
    norm = FieldNorm(2, 4).train()
    x = torch.randn(5, 8, 3, 3, generator=torch.Generator().manual_seed(1)) * 3 + 7
    mean, variance = norm.statistics(x)
    fields = x.view(5, 2, 4, 9)
    assert torch.allclose(mean, fields.mean((0, 2, 3)), atol=1e-4)
    assert torch.allclose(variance, fields.var((0, 2, 3), unbiased=False), atol=1e-3)
    normal = (fields - mean[:, None, None]) / variance.sqrt()[:, None, None]
    assert torch.allclose(norm(x).view(5, 2, 4, 9), normal.relu(), atol=1e-3)
    slowly = norm.momentum * mean
    assert torch.allclose(norm.mean, slowly)
    norm.remember(mean, variance)
    assert ((norm.mean - mean).abs() < (slowly - mean).abs()).all()
    merged = merge(x, 4)
    assert merged.shape == (5, 2, 3, 3) and torch.allclose(merged[:, 0], x[:, :4].mean(1))
    assert merge(x, 1) is x


def test_muon_steps_alike_in_all_directions_of_a_kernel() -> None:
    weight = torch.nn.Parameter(torch.zeros(4, 4))
    weight.grad = torch.diag(torch.tensor([100.0, 10.0, 1.0, 0.1]))
    Muon([weight], 0.1).step()
    steps = -torch.diagonal(weight.detach())
    assert (steps > 0).all() and steps.max() < 2 * steps[:3].min()
    assert GRADIENT > 0


def test_tiles_convolve_as_the_definition_says() -> None:
    made = winograd(4)
    assert isinstance(made, Winograd) and made.output.shape == (4, 6)
    rng = np.random.default_rng(1)
    tile, kernel = rng.normal(size=(6, 6)), rng.normal(size=(3, 3))
    product = (made.input @ tile @ made.input.T) * (made.kernel @ kernel @ made.kernel.T)
    wanted = [[(tile[r : r + 3, c : c + 3] * kernel).sum() for c in range(4)] for r in range(4)]
    np.testing.assert_allclose(made.output @ product @ made.output.T, wanted, atol=1e-4)
    assert len({STORE, CLIP, ADD}) == 3


def test_sizes_and_scales_of_a_design() -> None:
    assert design.LIFTING_SIZE % 2 == 1  # has a centre
    scaled = [(lines - design.USUAL_SIZE) / design.SIZE_SCALE for lines in (9, 13, 19)]
    assert scaled == sorted(scaled) and max(map(abs, scaled)) < 1
    assert design.SCORE_SCALE > 0


def test_an_evaluation_of_nothing_measures_nothing() -> None:
    empty = Evaluation().summary()
    assert empty["positions"] == 0 and empty["top1"] is None and empty["ownership"] is None
    some = Evaluation(positions=4, hits=dict.fromkeys(Evaluation().hits, 2.0), log_loss=6.0)
    assert (some.summary()["top1"], some.summary()["log_loss"]) == (0.5, 1.5)


def test_who_has_no_pytorch_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert torch_or_refuse() is torch
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "torch":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SpecError, match=r"tengen\[torch\]"):
        torch_or_refuse()


def test_a_norm_is_a_factor_and_an_addend_of_every_channel() -> None:
    norm = FieldNorm(2, 4).eval()
    with torch.no_grad():
        norm.gain.copy_(torch.tensor([2.0, 3.0]))
        norm.bias.copy_(torch.tensor([0.5, -1.0]))
        norm.mean.copy_(torch.tensor([1.0, -2.0]))
    factor, addend = norm.affine(norm.mean, norm.variance)
    assert factor.shape == addend.shape == (8,)
    x = torch.randn(3, 8, 2, 2, generator=torch.Generator().manual_seed(2))
    above = torch.relu(x * factor[:, None, None] + addend[:, None, None])
    assert torch.allclose(norm(x), above)
    more = torch.ones_like(x)
    assert torch.allclose(norm(x - more, more), above, atol=1e-5)
    passed, total = norm.around(x - more, more)
    assert torch.allclose(passed, above, atol=1e-5) and torch.allclose(total, x, atol=1e-6)
    assert torch.allclose(addend, torch.tensor([-1.5] * 4 + [5.0] * 4), atol=1e-4)


def test_some_blocks_of_a_tower_look_at_the_whole_board() -> None:
    small = design.DESIGNS["small"]
    network = Network(small)
    pooling = [small.pools(i) for i in range(small.blocks)]
    assert pooling == [block.pool is not None for block in network.blocks]
    assert not pooling[0] and sum(pooling) == small.blocks // 3


def test_one_rate_is_set_for_both_optimizers() -> None:
    network = Network(design.DESIGNS["tiny"])
    both = Both(network, 0.1, 0.0)
    before = [weight.detach().clone() for weight in network.parameters()]
    both.set_rate(0.0)
    for weight in network.parameters():
        weight.grad = torch.ones_like(weight)
    both.step()
    assert len(both.parts) == 2
    assert all(map(torch.equal, before, network.parameters()))  # nothing moves at rate 0


def test_a_trainer_begins_with_the_weights_of_another() -> None:
    settings = design.NetworkSettings(design="tiny", seed=1)
    one = Trainer(design.DESIGNS["tiny"], settings, CPU)
    two = Trainer(design.DESIGNS["tiny"], replace(settings, seed=2), CPU)
    given = {name: array.copy() for name, array in network_arrays(one.network).items()}

    def equal() -> bool:
        return all((given[name] == a).all() for name, a in network_arrays(two.network).items())

    assert not equal()
    two.load_weights(network_arrays(one.network))
    with torch.no_grad():
        next(one.network.parameters()).add_(1)  # what was taken over is a copy
    assert equal() and two.step == 0


def test_a_training_that_came_apart_names_batch_and_rate() -> None:
    need("torch")
    from tengen.learners.deep_network.training import came_apart

    said = str(came_apart(7, 0.5))
    assert "before batch 7" in said and "--rate than 0.5" in said
