"""Positions as bytes, played on by kernels of the processor and by the text for GPUs."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.needs import need

torch = need("torch")

from tengen.board import PASS, Board, Rules
from tengen.network.inputs_kernels import PASSES, PLY, SCORE, SIDE
from tengen.network.layers import pack_boards
from tengen.self_play.search import SOURCE, Boards, legal

CPU = torch.device("cpu")
SIMPLE = Rules(ko="simple", scoring="area")


def some_moves(codes: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    weights = legal(codes).float()
    weights[:, -1] *= 0.02
    return torch.multinomial(weights, 1, generator=generator)[:, 0]


@pytest.mark.parametrize("lines", [5, 9])
def test_positions_are_those_of_the_board_game_by_game(lines: int) -> None:
    games, generator = 8, torch.Generator().manual_seed(lines)
    slots = Boards(lines, games, CPU)
    boards = [Board(lines, lines, rules=SIMPLE, komi=0) for _ in range(games)]
    everyone, kos = torch.arange(games), 0
    for _ in range(2 * lines * lines):
        seen = pack_boards(boards, ladders=False)
        assert np.array_equal(slots.codes.numpy(), seen.codes)
        assert np.array_equal(slots.history.numpy(), seen.history)
        assert np.array_equal((slots.facts[:, PASSES] > 0).numpy(), seen.passed)
        assert np.array_equal(slots.facts[:, SIDE].numpy(), [board.turn for board in boards])
        masks = np.array([board.legal_mask() for board in boards])
        assert np.array_equal(legal(slots.codes).numpy(), masks)
        kos += int((slots.codes & 64 > 0).sum())
        moves = some_moves(slots.codes, generator)
        slots.play(everyone, moves, everyone)
        for board, move in zip(boards, moves.tolist(), strict=True):
            board.play(PASS if move == lines * lines else divmod(move, lines))
        assert slots.facts[:, SCORE].tolist() == [board.area_score() for board in boards]
        owned = slots.owners(everyone).sum(1) * torch.where(slots.facts[:, SIDE] == 1, 1, -1)
        assert owned.tolist() == slots.facts[:, SCORE].tolist()
    assert kos > 0


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("c++")
    return tmp_path_factory.mktemp("rules")


@pytest.mark.parametrize("lines", [5, 9, 13])
def test_the_text_for_gpus_plays_the_same_games(lines: int, build: Path) -> None:
    made = build / f"rules{lines}.so"
    command = ["c++", "-O1", "-shared", "-fPIC", f"-DLINES={lines}", "-x", "c++", str(SOURCE)]
    subprocess.run([*command, "-o", str(made)], check=True)
    library = ctypes.CDLL(str(made))
    games, generator = 12, torch.Generator().manual_seed(lines)
    here, there = Boards(lines, games, CPU), Boards(lines, games, CPU)
    sets = torch.zeros((games, 3 * -(-lines * (lines + 1) // 64) + 1), dtype=torch.int64)
    everyone = torch.arange(games)
    owners = torch.zeros((games, lines * lines), dtype=torch.int8)

    def call(name: str, *tensors: torch.Tensor) -> None:
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
        getattr(library, name)(*pointers, ctypes.c_int(games))

    for _ in range(2 * lines * lines):
        moves = some_moves(here.codes, generator)
        here.play(everyone, moves, everyone)
        call("play_moves", there.codes, there.history, there.facts, everyone, moves, everyone, sets)
        call("write_bytes", sets, everyone, there.codes)
        call("write_owners", there.codes, everyone, owners)
        assert torch.equal(here.codes, there.codes)
        assert torch.equal(here.history, there.history)
        assert torch.equal(here.facts, there.facts)
        assert torch.equal(here.owners(everyone), owners)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_plays_the_same_games() -> None:
    games, gpu, generator = 64, torch.device("cuda"), torch.Generator().manual_seed(9)
    here, there = Boards(9, games, CPU), Boards(9, games, gpu)
    everyone = torch.arange(games)
    for _ in range(160):
        moves = some_moves(here.codes, generator)
        here.play(everyone, moves, everyone)
        there.play(everyone.to(gpu), moves.to(gpu), everyone.to(gpu))
        for name in ("codes", "history", "facts"):
            assert torch.equal(getattr(here, name), getattr(there, name).cpu())
        assert torch.equal(here.owners(everyone), there.owners(everyone.to(gpu)).cpu())


def test_a_move_from_one_slot_to_another_leaves_the_first() -> None:
    slots = Boards(5, 2, CPU)
    before = slots.codes[0].clone()
    slots.play(torch.tensor([0]), torch.tensor([12]), torch.tensor([1]))
    assert torch.equal(slots.codes[0], before) and slots.codes[1, 12] & 3 == 2
    assert slots.history[1].tolist() == [12, -1, -1, -1, -1]
    assert (slots.facts[:, SIDE].tolist(), slots.facts[:, PLY].tolist()) == ([1, 2], [0, 1])
