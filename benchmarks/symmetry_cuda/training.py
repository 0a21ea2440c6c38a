"""Train many symmetry networks side by side on one GPU, and evaluate positions there.

Needs torch and nvcc. What it compiles is kept in, and loaded from, a folder of the user alone.

`GpuTraining` runs independent trainings of equal batch and board size. Each plays the same games as
the CPU would (see selfplay.cu) as long as rounding does not tip a draw, and gives the same
weights on every run. `evaluate` judges boards of category bytes.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.board.kernels import ZOBRIST
from tengen.errors import SpecError, TengenError
from tengen.learners.symmetry_network import SymmetryNetwork
from tengen.learners.symmetry_network.features import CATEGORIES
from tengen.learners.symmetry_network.learner import load_snapshots
from tengen.learners.symmetry_network.packing import SIZE, Packing
from tengen.learners.symmetry_network.rewards import target_table, value_table
from tengen.learners.symmetry_network.settings import SymmetrySettings

try:
    import torch
except ImportError:  # the module stays readable without the extra; only using it needs torch
    torch = None

HERE = Path(__file__).parent

# As `Params` in selfplay.cu.
PARAMS = np.dtype(
    [
        ("beta", "f8"),
        ("trace", "f8"),
        ("capture", "f8"),
        ("maxlib", "f8"),
        ("table", "f4", (3, 9)),
        ("targets", "f4", (7, 5)),
        ("cats", "i4", 5),
        ("pad", "i4"),
        ("seed", "u8"),
        ("first", "i8"),
    ],
    align=True,
)


def build(source: str, size: int, *, options: Sequence[str] = ()) -> ctypes.CDLL:
    """Compile a .cu file of this folder for a board size with nvcc and load it.

    Raises
    ------
    TengenError
        If there is no nvcc or it fails.
    """
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise TengenError(f"{source}: needs CUDA's compiler nvcc on the PATH")
    path = HERE / source
    mark = hashlib.sha256(path.read_bytes() + repr((size, options)).encode()).hexdigest()[:16]
    library = private_folder() / f"{path.stem}-{size}-{mark}.so"
    if not library.exists():
        fresh = library.with_suffix(f".{os.getpid()}.so")
        command = [nvcc, "-O3", "-arch=native", f"-DSIZE={size}", "-shared", "-Xcompiler", "-fPIC"]
        done = subprocess.run(
            [*command, *options, str(path), "-o", str(fresh)], capture_output=True, text=True
        )
        if done.returncode:
            raise TengenError(f"{source}: nvcc failed: {done.stderr.strip().splitlines()[-1:]}")
        fresh.replace(library)
    return ctypes.CDLL(str(library))


def private_folder(base: Path | None = None) -> Path:
    """Return a folder for compiled code into which nobody else can put any; made if missing.

    Raises
    ------
    TengenError
        If it is a link, belongs to another user, or others may write to it or read it.
    """
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base or home) / "tengen-cuda"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise TengenError(f"{folder}: must be a folder of yours alone (mode 700) to load code from")
    return folder


def pointer(tensor: torch.Tensor) -> ctypes.c_void_p:
    """Return a tensor's address for a C function."""
    return ctypes.c_void_p(tensor.data_ptr())


def stream() -> ctypes.c_void_p:
    """Return torch's current stream for a C function."""
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def unknown_options(settings: SymmetrySettings) -> list[str]:
    """Name what a training asks for that the CUDA self-play does not know.

    >>> unknown_options(SymmetrySettings(turn=True, layers=3))
    ['turn', 'layers']
    """
    names = ["turn", "anneal", "single", "steps"]
    unknown = [name for name in names if getattr(settings, name)]
    if settings.layers > 1:
        unknown.append("layers")
    if settings.sorting.count != CATEGORIES:
        unknown.append(f"categories {settings.categories}")
    return unknown


class GpuTraining:
    """Independent trainings side by side: `free` (runs, numbers), `done` games each."""

    def __init__(
        self,
        runs: Sequence[SymmetrySettings],
        *,
        device: str = "cuda",
        options: Sequence[str] = (),
    ) -> None:
        if torch is None:
            raise TengenError("training on a GPU needs PyTorch: pip install 'tengen[torch]'")
        first = runs[0]
        if unknown := sorted({name for r in runs for name in unknown_options(r)}):
            raise SpecError(f"selfplay.cu does not know {', '.join(unknown)}; the CPU trainer does")
        if any(r.batch != first.batch or r.size != first.size for r in runs):
            raise SpecError("trainings side by side need the same batch and board size")
        self.runs, self.batch, self.done = list(runs), first.batch, 0
        self.built = build("selfplay.cu", first.size, options=options)
        if self.built.isn_sizes(0) != PARAMS.itemsize or self.built.isn_sizes(3) != SIZE:
            raise TengenError("selfplay.cu and gpu.py disagree about their structures")
        self.device = device
        packings = [Packing(r.architecture) for r in runs]
        most = max(r.architecture.size for r in runs)
        self._lay_out(packings, most)
        self.free = self._tensor(np.zeros((len(runs), most)))
        for i, r in enumerate(runs):
            start = r.architecture.initial(r.seed, r.hidden_scale)
            self.free[i, : len(start)] = self._tensor(start)
        points = (first.size + 2) * (first.size + 1) + 1
        self.zobrist = self._tensor(np.ascontiguousarray(ZOBRIST[:, :points]))
        self.params = self._tensor(np.frombuffer(self._pack().tobytes(), np.int64).copy())
        self._buffers(first.size)

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        """Bring an array to the device."""
        return torch.as_tensor(array, device=self.device)

    def _lay_out(self, packings: list[Packing], most: int) -> None:
        """Prepare gathers for expansion and, with a fixed order of addition, for its transpose."""
        n = len(packings)
        source, sign = np.zeros((n, SIZE), np.int64), np.zeros((n, SIZE))
        copies = max(int(np.bincount(p.source).max()) for p in packings)
        where, back = np.zeros((n, most, copies), np.int64), np.zeros((n, most, copies))
        linear, decayed = np.zeros((n, most)), np.ones((n, most))
        for i, p in enumerate(packings):
            source[i, p.where], sign[i, p.where] = p.source, p.sign
            filled = np.zeros(most, np.int64)
            for w, s, g in zip(p.where, p.source, p.sign, strict=True):
                where[i, s, filled[s]], back[i, s, filled[s]] = w, g
                filled[s] += 1
            a = p.architecture
            for name in ("OI", "BO"):
                linear[i, a.slices[name]] = 1
            decayed[i, : a.weights] = self.runs[i].decay ** self.batch
        self._source, self._sign = self._tensor(source), self._tensor(sign)
        self._where, self._back = self._tensor(where), self._tensor(back)
        self._linear, self._decayed = self._tensor(linear), self._tensor(decayed)
        self._rate = self._tensor(np.array([[r.rate] for r in self.runs]))
        self._linear_games = self._tensor(np.array([[r.linear_games] for r in self.runs]))

    def _pack(self) -> NDArray[Any]:
        """Return the parameters of all trainings as the kernel's structures."""
        params = np.zeros(len(self.runs), PARAMS)
        for row, r in zip(params, self.runs, strict=True):
            row["beta"], row["trace"], row["capture"] = r.beta, r.trace, r.rewards[0]
            row["maxlib"] = r.maxlib
            row["table"] = value_table(*r.rewards)
            row["targets"] = target_table(r.rewards[0])
            row["cats"] = r.sorting.packed()
            row["seed"], row["first"] = r.seed, self.done
        return params

    def _buffers(self, size: int) -> None:
        """Allocate room for records, gradients and statistics of a round."""
        games, length = len(self.runs) * self.batch, (3 * size * size + 1) * size * size
        options: dict[str, Any] = {"device": self.device}
        self._xs = torch.empty(games * length, dtype=torch.uint8, **options)
        self._cs = torch.empty(games * length, dtype=torch.uint8, **options)
        self._os = torch.empty(games * length * 3, dtype=torch.float32, **options)
        self.grads = torch.zeros(games, SIZE, dtype=torch.float32, **options)
        self.stats = torch.zeros(games, 5, dtype=torch.float64, **options)

    def keep(self, folders: Sequence[Path]) -> None:
        """Write a snapshot of every training into its folder."""
        for free, settings, folder in zip(self.free.cpu().numpy(), self.runs, folders, strict=True):
            network = SymmetryNetwork.from_free(
                free[: settings.architecture.size], settings, self.done
            )
            network.save(folder / "snapshots" / f"{self.done:09d}.safetensors")

    def resume(self, folders: Sequence[Path]) -> None:
        """Go on from the newest snapshots, which must be of these trainings and of one age."""
        free = self.free.cpu().numpy()
        last = [load_snapshots(folder)[-1] for folder in folders]
        for i, (network, settings) in enumerate(zip(last, self.runs, strict=True)):
            before = network.settings
            if (
                before is None
                or before.recipe != settings.recipe
                or network.games_ != last[0].games_
            ):
                raise SpecError(f"{folders[i]}: snapshots of another training or of another age")
            free[i, : len(network.free_)] = network.free_
        self.restore(free, last[0].games_)

    def restore(self, free: NDArray[np.float64], done: int) -> None:
        """Go on from free numbers saved after `done` games."""
        self.free = self._tensor(free.copy())
        self.done = done
        self.params = self._tensor(np.frombuffer(self._pack().tobytes(), np.int64).copy())

    def advance(self) -> None:
        """Play a round in every training and learn from it; statistics stay on the device."""
        n = len(self.runs)
        flat = (self._sign * self.free.gather(1, self._source)).float().contiguous()
        code = self.built.isn_round(
            *(pointer(flat), pointer(self.params), pointer(self.zobrist)),
            *(ctypes.c_int(n), ctypes.c_int(self.batch)),
            *(pointer(self._xs), pointer(self._cs), pointer(self._os)),
            *(pointer(self.grads), pointer(self.stats), stream()),
        )
        if code:
            raise TengenError(f"CUDA error {code} in a round of self-play")
        total = self.grads.view(n, self.batch, SIZE).double().sum(1)
        most, copies = self._where.shape[1:]
        gathered = total.gather(1, self._where.reshape(n, -1)).view(n, most, copies)
        gradient = (gathered * self._back).sum(-1)
        phase = (self._linear_games > self.done).double()
        gradient = gradient * (1 - phase * (1 - self._linear))
        self.free = (self.free + self._rate * gradient) * self._decayed
        self.done += self.batch
        self.params.view(n, -1)[:, -1] += self.batch

    def train(
        self,
        until: int,
        *,
        snapshot_every: int = 20_000,
        watch: Callable[[dict[str, Any]], bool] = lambda _: True,
    ) -> None:
        """Train until `until` games each; `watch` gets statistics at every snapshot.

        It stops early when `watch` returns False.
        """
        n = len(self.runs)
        sums = torch.zeros(n, 5, dtype=torch.float64, device=self.device)
        count = 0
        while self.done < until:
            mark = self.done // snapshot_every
            self.advance()
            sums += self.stats.view(n, self.batch, 5).sum(1)
            count += self.batch
            if self.done // snapshot_every != mark or self.done >= until:
                values = sums.cpu().numpy()
                report = {
                    "games": self.done,
                    "plies": (values[:, 0] / count).tolist(),
                    "ended": (values[:, 1] / count).tolist(),
                    "score": (values[:, 2] / count).tolist(),
                    "error": (values[:, 3] / np.maximum(values[:, 4], 1)).tolist(),
                }
                sums.zero_()
                count = 0
                if not watch(report):
                    return


def evaluate(
    library: ctypes.CDLL,
    flat: torch.Tensor,
    table: torch.Tensor,
    symbols: torch.Tensor,
    *,
    exact: bool = False,
    blocks: int | None = None,
) -> torch.Tensor:
    """Return White's value of every board of category bytes, on tensor cores (evaluate.cu).

    flat (SIZE) weights as `Packing.flat`, table `rewards.value_table`, symbols (boards, points)
    uint8; all on the GPU. `exact` keeps float32's accuracy to a few 1e-6, otherwise half precision.
    """
    boards = symbols.shape[0]
    values = torch.empty(boards, dtype=torch.float32, device=symbols.device)
    if blocks is None:
        count = torch.cuda.get_device_properties(symbols.device).multi_processor_count
        blocks = count * (1 if exact else 2)
    code = library.isn_evaluate(
        *(pointer(flat), pointer(table), pointer(symbols), ctypes.c_int(boards), pointer(values)),
        *(ctypes.c_int(int(exact)), ctypes.c_int(blocks), stream()),
    )
    if code:
        raise TengenError(f"CUDA error {code} in an evaluation")
    return values
