"""Keep many positions of one size as tensors and play moves on them, on a processor or a GPU.

A position is what the network reads of it: a byte per point, seen from the side to move (see
`network.inputs_kernels`; no ladders), the last moves, and a few facts. On the processor the board's
own kernels play; on a GPU `rules.cu`, tested against them. Ko is simple, suicide forbidden.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tengen.errors import TengenError
from tengen.learners.network.inputs_kernels import (
    FACTS,
    HISTORY,
    NOWHERE,
    play_moves,
    write_owners,
)

SOURCE = Path(__file__).with_name("rules.cu")


class Boards:
    """Slots for positions; slot after slot, a row of each tensor."""

    def __init__(self, lines: int, slots: int, device: torch.device) -> None:
        self.lines, self.points, self.device = lines, lines * lines, device
        self.codes = torch.zeros((slots, self.points), dtype=torch.uint8, device=device)
        self.history = torch.full((slots, HISTORY), NOWHERE, dtype=torch.int16, device=device)
        """Where the last moves were, latest first; NOWHERE for a pass or none."""
        self.facts = torch.zeros((slots, FACTS), dtype=torch.int32, device=device)
        """Columns SIDE, PASSES, PLY and SCORE of `inputs_kernels`."""
        self._empty = _empty_codes(lines).to(device)
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
        """Say who owns every point by area: 1 the side to move, -1 the other, 0 nobody."""
        found = torch.empty((len(slots), self.points), dtype=torch.int8, device=self.device)
        if self._cuda is None:
            write_owners(self.codes.numpy(), slots.numpy(), found.numpy(), self.lines)
        elif len(slots):
            self._cuda.launch("write_owners", len(slots), self.codes, slots, found, len(slots))
        return found


def legal(codes: Tensor) -> Tensor:
    """Tell which moves the side to move has; the last column is the pass, always legal."""
    playable = ((codes & 3) == 0) & ((codes & 12) != 0)
    return torch.cat([playable, torch.ones_like(playable[:, :1])], 1)


def _empty_codes(lines: int) -> Tensor:
    """Return the bytes of an empty board: a stone's liberties, at most 3."""
    side = torch.full((lines,), 2)
    side[0] = side[-1] = 1
    return ((side[:, None] + side).clamp(max=3) << 2).to(torch.uint8).flatten()


# ----- CUDA text, compiled for this machine's GPU and launched on tensors -----

_THREADS = 128


class _CudaError(TengenError):
    """CUDA text that could not be compiled or launched."""


class Module:
    """Kernels of one text, compiled for the current device."""

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
