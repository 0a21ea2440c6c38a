"""Search many games at once with few evaluations each: Gumbel search.

After Danihelka et al. 2022: a few root moves are drawn from the network's policy; they are visited,
the better half of them again, and so on (sequential halving), and the best is played. The network
learns the policy that the search has improved. Every shape is fixed and nothing waits for the host,
so on a GPU one move of all games is one captured graph.

A position is stored as the network reads it: a byte per point, seen from the side to move (see
`network.inputs_kernels`; no ladders), the last moves, and a few facts. Moves are played by the
board's kernels or, on a GPU, by `rules.cu`, tested against them; simple ko, suicide forbidden.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tengen.board import BLACK, WHITE, Board
from tengen.board.counting import count_area
from tengen.errors import TengenError
from tengen.network.inputs_kernels import FACTS, HISTORY, NOWHERE, play_moves
from tengen.network.layers import pack_boards
from tengen.network.torch_network import Output, Seen

SOURCE = Path(__file__).with_name("rules.cu")
_VISIT_SCALE = 50.0  # weight of values relative to the policy: the paper's c_visit; c_scale is 1
_NEVER = -1e9
_SUREST = 1e4  # bound on logits: those of a diverging training must not look like `_NEVER`
_SCORE_UNIT = 10.0  # divides the lead, in points, before tanh in the score's share of a value


class Boards:
    """Slots for positions; each slot is one row of every tensor."""

    def __init__(self, lines: int, slots: int, device: torch.device) -> None:
        self.lines, self.points, self.device = lines, lines * lines, device
        self.codes = torch.zeros((slots, self.points), dtype=torch.uint8, device=device)
        self.history = torch.full((slots, HISTORY), NOWHERE, dtype=torch.int16, device=device)
        """Where the last moves were, latest first; NOWHERE for a pass or none."""
        self.facts = torch.zeros((slots, FACTS), dtype=torch.int32, device=device)
        """Columns SIDE, PASSES, PLY and SCORE of `inputs_kernels`."""
        self._empty = torch.tensor(
            pack_boards([Board(lines)], ladders=False).codes[0], device=device
        )
        self._new = torch.tensor([1, 0, 0, 0], dtype=torch.int32, device=device)
        self._cuda = None
        if device.type == "cuda":
            self._cuda = Module(SOURCE.read_text(), [f"-DLINES={lines}"])
            words = 3 * -(-lines * (lines + 1) // 64) + 1
            self._sets = torch.zeros((slots, words), dtype=torch.int64, device=device)
        self.clear(torch.arange(slots, device=device))

    def clear(self, slots: Tensor) -> None:
        """Make empty boards, Black to move."""
        self.codes[slots] = self._empty
        self.history[slots] = NOWHERE
        self.facts[slots] = self._new

    def play(self, source: Tensor, moves: Tensor, target: Tensor) -> None:
        """Play legal moves (row by row, the pass last) from source slots to target slots."""
        if self._cuda is None:
            play_moves(
                self.codes.numpy(), self.history.numpy(), self.facts.numpy(), source.numpy(),
                moves.numpy(), target.numpy(), self.lines,
            )  # fmt: skip
            return
        n = len(source)
        self._cuda.launch(
            "play_moves", n, self.codes, self.history, self.facts, source, moves, target,
            self._sets, n,
        )  # fmt: skip
        self._cuda.launch("write_bytes", n * self.points, self._sets, target, self.codes, n)

    def owners(self, slots: Tensor) -> Tensor:
        """Return the owner of every point by area: 1 the side to move, -1 the other, 0 neither."""
        if self._cuda is None:  # own stones count as Black's
            grids = (self.codes[slots] & 3).view(-1, self.lines, self.lines).numpy()
            owner = np.array([count_area(grid).owner for grid in grids], np.int8)
            signs = (owner == BLACK).astype(np.int8) - (owner == WHITE).astype(np.int8)
            return torch.from_numpy(signs).view(len(slots), self.points)
        found = torch.empty((len(slots), self.points), dtype=torch.int8, device=self.device)
        if len(slots):
            self._cuda.launch("write_owners", len(slots), self.codes, slots, found, len(slots))
        return found


def legal(codes: Tensor) -> Tensor:
    """Return a mask of legal moves; the last column is the pass, always legal."""
    playable = ((codes & 3) == 0) & ((codes & 12) != 0)
    return torch.cat([playable, torch.ones_like(playable[:, :1])], 1)


# ----- Gumbel search -----


def visit_plan(considered: int, simulations: int) -> list[int]:
    """Return, per simulation, how many visits its root move already has: sequential halving."""
    plan: list[int] = []
    visits, left = [0] * considered, considered
    rounds = max(1, math.ceil(math.log2(considered)))
    while len(plan) < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            plan += visits[:left]
            for i in range(left):
                visits[i] += 1
        left = max(2, left // 2) if considered > 1 else 1
    return plan[:simulations]


def _gains(logits: Tensor, visits: Tensor, totals: Tensor, value: Tensor) -> Tensor:
    """Return a value for every move on the scale of logits; unseen moves get a mixed value."""
    odds = torch.softmax(logits, 1)
    seen = visits > 0
    means = torch.where(seen, totals / visits.clamp(min=1), 0.0)
    count = visits.sum(1, keepdim=True)
    share = (odds * seen).sum(1, keepdim=True).clamp(min=1e-6)
    found = (odds * means).sum(1, keepdim=True) / share
    values = torch.where(seen, means, (value[:, None] + count * found) / (1 + count))
    return (_VISIT_SCALE + visits.amax(1, keepdim=True)) * (values + 1) / 2


def _choose_first(
    drawn: Tensor, considered: Tensor, logits: Tensor, visits: Tensor, totals: Tensor,
    value: Tensor, due: Tensor,
) -> Tensor:  # fmt: skip
    """Return the root move to visit next: the most promising of those with `due` visits."""
    ready = considered & (visits == due)
    ready = torch.where(ready.any(1, keepdim=True), ready, considered)
    hopes = drawn + _gains(logits, visits, totals, value)
    return torch.where(ready, hopes, -math.inf).argmax(1)


def _choose_below(logits: Tensor, visits: Tensor, totals: Tensor, value: Tensor) -> Tensor:
    """Return the move of an inner node that brings visits closest to the improved policy."""
    hopes = logits + _gains(logits, visits, totals, value)
    lacking = torch.softmax(hopes, 1) - visits / (1 + visits.sum(1, keepdim=True))
    return torch.where(logits > _NEVER / 2, lacking, -math.inf).argmax(1)


class Search:
    """One tree per game, all grown together; the root is slot 0 of each game's nodes."""

    def __init__(
        self,
        lines: int,
        games: int,
        network: Callable[[Seen], Output],
        *,
        device: torch.device,
        evaluations: int,
        considered: int,
        score_share: float,
    ) -> None:
        def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
            return torch.compile(function, dynamic=False) if device.type == "cuda" else function

        self.lines, self.games, self.nodes = lines, games, evaluations
        self.network = compiled(network)
        self.moves = lines * lines + 1
        self.considered, self.score_share = min(considered, self.moves), score_share
        self.boards = Boards(lines, games * self.nodes, device)
        self._first, self._below = compiled(_choose_first), compiled(_choose_below)
        shape = games, self.nodes, self.moves

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(shape, device=device)

        self.noise, self.komi, self.limit = zeros(games, self.moves), zeros(games), zeros(games)
        """Inputs of a search: Gumbel noise, komi, and the plies after which a game is cut."""
        self.chosen = torch.zeros(games, dtype=torch.int64, device=device)
        self.policy = zeros(games, self.moves)
        """Results of a search: the chosen move, and the improved policy."""
        self.judged = zeros(games)  # the network's value of the root, without search
        self._logits, self._visits, self._totals = zeros(*shape), zeros(*shape), zeros(*shape)
        self._values, self._over = zeros(games, self.nodes), zeros(games, self.nodes) > 0
        self._child = torch.zeros(shape, dtype=torch.int64, device=device)
        self._game = torch.arange(games, device=device)
        self.roots = self._game * self.nodes
        self._due = [torch.tensor(float(due), device=device) for due in range(evaluations)]

    @torch.no_grad()
    def run(self, evaluations: int) -> None:
        """Search every game's root; read `chosen` and `policy` afterwards."""
        self._visits.zero_()
        self._totals.zero_()
        self._child.zero_()  # no child is the root, so zero means none
        self._evaluate(0)
        self.judged.copy_(self._values[:, 0])
        logits = self._logits[:, 0]
        drawn = self.noise + logits
        places = drawn.topk(self.considered, 1).indices
        considered = torch.zeros_like(drawn, dtype=torch.bool).scatter_(1, places, True)
        considered &= logits > _NEVER / 2
        plan = visit_plan(self.considered, evaluations - 1)
        for number, due in enumerate(plan, start=1):
            self._simulate(number, due, drawn, considered)
        visits = self._visits[:, 0]
        gains = _gains(logits, visits, self._totals[:, 0], self._values[:, 0])
        most = torch.where(considered, visits, -1.0).amax(1, keepdim=True)
        best = torch.where(considered & (visits == most), drawn + gains, -math.inf)
        self.chosen.copy_(best.argmax(1))
        self.policy.copy_(torch.softmax(logits + gains, 1))

    def _simulate(self, number: int, due: int, drawn: Tensor, considered: Tensor) -> None:
        """Descend each tree, add node `number`, and back up its value along the path."""
        game, width = self._game, self.nodes * self.moves
        move = self._first(
            drawn, considered, self._logits[:, 0], self._visits[:, 0], self._totals[:, 0],
            self._values[:, 0], self._due[due],
        )  # fmt: skip
        node = torch.zeros_like(move)
        alive = torch.ones_like(move, dtype=torch.bool)
        path = [(node, move, alive)]
        for _ in range(due):  # A child seen `due` times has no deeper tree below it.
            child = self._child[game, node, move]
            alive = alive & (child > 0) & ~self._over[game, child]
            node = torch.where(alive, child, node)
            deeper = self._below(
                self._logits[game, node], self._visits[game, node], self._totals[game, node],
                self._values[game, node],
            )  # fmt: skip
            move = torch.where(alive, deeper, move)
            path.append((node, move, alive))
        known = self._child[game, node, move]
        leaf = torch.where(known > 0, known, number)  # A finished game is visited again.
        self.boards.play(self.roots + node, move, self.roots + number)
        self._evaluate(number)
        flat = (node * self.moves + move)[:, None]
        self._child.view(-1, width).scatter_(1, flat, leaf[:, None])
        value = self._values[game, leaf]
        for node, move, alive in reversed(path):
            # The sign alternates above the leaf; levels that were not reached change nothing.
            value = torch.where(alive, -value, value)
            flat, counts = (node * self.moves + move)[:, None], alive[:, None].float()
            self._visits.view(-1, width).scatter_add_(1, flat, counts)
            self._totals.view(-1, width).scatter_add_(1, flat, value[:, None] * counts)

    def _evaluate(self, number: int) -> None:
        """Judge node `number` of every tree."""
        boards = self.boards
        codes = boards.codes.view(self.games, self.nodes, -1)[:, number].contiguous()
        history = boards.history.view(self.games, self.nodes, -1)[:, number].contiguous()
        facts = boards.facts.view(self.games, self.nodes, -1)[:, number]
        side, passes, ply, score = facts.unbind(1)
        sign = torch.where(side == 1, 1.0, -1.0)
        komi = -sign * self.komi
        nothing = torch.zeros_like(komi, dtype=torch.bool)  # area is counted
        output = self.network(
            Seen(self.lines, self.lines, codes, history, passes > 0, komi, nothing)
        )
        self._logits[:, number] = torch.where(
            legal(codes), output.moves.clamp(-_SUREST, _SUREST), _NEVER
        )
        over = (passes >= 2) | (ply >= self.limit)
        lead = torch.where(over, sign * (score - self.komi), output.score)
        wins = torch.where(over, torch.sign(lead), torch.tanh(output.winner / 2))
        share = self.score_share
        self._values[:, number] = (1 - share) * wins + share * torch.tanh(lead / _SCORE_UNIT)
        self._over[:, number] = over


# ----- CUDA source, compiled for this machine's GPU and launched on tensors -----

_THREADS = 128


class _CudaError(TengenError):
    """CUDA source that could not be compiled or launched."""


class Module:
    """Kernels of one CUDA source, compiled for the current device."""

    def __init__(self, text: str, options: Sequence[str]) -> None:
        torch.zeros(1, device="cuda")  # so that this thread has a context to load into
        self._driver = ctypes.CDLL("libcuda.so.1")
        image = _compiled(text, options)
        self._image = ctypes.create_string_buffer(image, len(image))
        self._module = ctypes.c_void_p()
        self._check(self._driver.cuModuleLoadData(ctypes.byref(self._module), self._image))
        self._kernels: dict[str, ctypes.c_void_p] = {}

    def _check(self, status: int) -> None:
        if status:
            raise _CudaError(f"CUDA's driver answered {status}")

    def launch(self, name: str, threads: int, *arguments: Tensor | int) -> None:
        """Start a kernel on the current stream, one thread for each of `threads`."""
        if name not in self._kernels:
            found = self._kernels[name] = ctypes.c_void_p()
            given = ctypes.byref(found), self._module, name.encode()
            self._check(self._driver.cuModuleGetFunction(*given))
        values: list[Any] = []
        for argument in arguments:
            if isinstance(argument, Tensor):
                assert argument.is_cuda and argument.is_contiguous(), name
                values.append(ctypes.c_void_p(argument.data_ptr()))
            else:
                values.append(ctypes.c_int(argument))
        pointers = (ctypes.c_void_p * len(values))(
            *(ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in values)
        )
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        blocks = -(-threads // _THREADS)
        self._check(
            self._driver.cuLaunchKernel(
                self._kernels[name], blocks, 1, 1, _THREADS, 1, 1, 0, stream, pointers, None
            )
        )


def _compiled(text: str, options: Sequence[str]) -> bytes:
    """Return machine code for the current device, by NVRTC, CUDA's compiler as a library."""
    library, program, size = _nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    if library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"rules.cu", 0, None, None):
        raise _CudaError("NVRTC takes no program")
    major, minor = torch.cuda.get_device_capability()
    flags = [option.encode() for option in (f"--gpu-architecture=sm_{major}{minor}", *options)]
    if library.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags)):
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        library.nvrtcGetProgramLog(program, log)
        raise _CudaError(f"NVRTC: {log.value.decode(errors='replace').strip()[:500]}")
    if library.nvrtcGetCUBINSize(program, ctypes.byref(size)):
        raise _CudaError("NVRTC gives no machine code")
    image = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, image)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return image.raw


def _nvrtc() -> Any:
    """Load the NVRTC that comes with every PyTorch for NVIDIA's GPUs."""
    major = str(torch.version.cuda or "").split(".")[0]
    names = [f"libnvrtc.so.{major}", "libnvrtc.so"]
    for folder in [*map(Path, sys.path), *Path("/usr/local").glob("cuda*/lib64")]:
        for pattern in (f"nvidia/*/lib/libnvrtc.so.{major}*", f"libnvrtc.so.{major}*"):
            if folder.is_dir():
                names += sorted(str(path) for path in folder.glob(pattern))
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise _CudaError("NVRTC, CUDA's compiler, is not found")
