"""Measure internal symmetry networks on a GPU, and train them there.

    S=benchmarks/symmetry_network_gpu.py
    python $S evaluate --out FOLDER      evaluations of 19x19 boards a second
    python $S rounds --out FOLDER        games of self-play a second
    python $S batches --games 4096       what the number of games in a round changes
    python $S train --runs paper,colour --batch 32 --games 860000 --out FOLDER

Needs torch, nvcc and a CUDA GPU of compute capability 8 or more. `train` writes every run as a
folder of snapshots, OUT/NAME, for `tengen symmetry-network experiment OUT/NAME`.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from symmetry_cuda import training as gpu
from tengen.board.kernels import ZOBRIST
from tengen.learners.symmetry_network import rewards
from tengen.learners.symmetry_network.features import Categories
from tengen.learners.symmetry_network.network import Architecture
from tengen.learners.symmetry_network.packing import Packing
from tengen.learners.symmetry_network.settings import SymmetrySettings
from tengen.learners.symmetry_network.torch_network import TorchNetwork

Row = dict[str, Any]
SOFT = (0.3, 1.0)
LIBERTIES = "liberties"
MIXED = "mixed"
# Trainings by name; batch and games come from the command line.
RUNS = {
    "paper": SymmetrySettings(),
    "paper-1": SymmetrySettings(seed=1),
    "paper-2": SymmetrySettings(seed=2),
    "fast": SymmetrySettings(rate=2e-5),
    "fast-1": SymmetrySettings(rate=2e-5, seed=1),
    "soft": SymmetrySettings(eyes=SOFT),
    "soft-1": SymmetrySettings(eyes=SOFT, seed=1),
    "soft-fast": SymmetrySettings(eyes=SOFT, rate=2e-5),
    "soft-fast-1": SymmetrySettings(eyes=SOFT, rate=2e-5, seed=1),
    "liberties": SymmetrySettings(categories="liberties"),
    "none": SymmetrySettings(categories="none"),
    "linear": SymmetrySettings(linear_games=10**9),
    "linear-1": SymmetrySettings(linear_games=10**9, seed=1),
    "soft-linear": SymmetrySettings(linear_games=10**9, eyes=SOFT),
    "colour": SymmetrySettings(colour=True),
    "colour-1": SymmetrySettings(colour=True, seed=1),
    "soft-colour": SymmetrySettings(colour=True, eyes=SOFT),
    "soft-colour-fast": SymmetrySettings(colour=True, eyes=SOFT, rate=2e-5),
    "plain": SymmetrySettings(tied=False),
    "plain-1": SymmetrySettings(tied=False, seed=1),
    "soft-plain": SymmetrySettings(tied=False, eyes=SOFT),
    "mixed": SymmetrySettings(categories=MIXED),
    "colour-mixed": SymmetrySettings(categories=MIXED, colour=True),
    "colour-liberties": SymmetrySettings(categories=LIBERTIES, colour=True),
    "trivial": SymmetrySettings(mixture={"T": 12}),
    "maxlib": SymmetrySettings(maxlib=0.5),
    "mixed-maxlib": SymmetrySettings(categories=MIXED, maxlib=0.5),
    "liberties-maxlib": SymmetrySettings(categories=LIBERTIES, maxlib=0.5),
    "colour-maxlib": SymmetrySettings(colour=True, maxlib=0.5),
    "colour-mixed-maxlib": SymmetrySettings(categories=MIXED, colour=True, maxlib=0.5),
    "colour-mixed-maxlib-1": SymmetrySettings(categories=MIXED, colour=True, maxlib=0.5, seed=1),
    "colour-liberties-maxlib": SymmetrySettings(categories=LIBERTIES, colour=True, maxlib=0.5),
    "colour-mixed-maxlib-90": SymmetrySettings(categories=MIXED, colour=True, maxlib=0.9),
    "lambda-1": SymmetrySettings(trace=1.0),
    "lambda-0.8": SymmetrySettings(trace=0.8),
    "beta-2": SymmetrySettings(beta=2.0),
    "beta-8": SymmetrySettings(beta=8.0),
}


def median_ms(work: Callable[[], object], repeats: int = 15, warm: int = 3) -> float:
    for _ in range(warm):
        work()
    times: list[float] = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def evaluate(args: argparse.Namespace) -> list[Row]:
    """Check against float64 and time; symbols are uniform over the 13 on-board categories."""
    size, boards = args.size, args.boards
    architecture = Architecture()
    rng = np.random.default_rng(args.seed)
    free = architecture.initial(0) + rng.normal(0, 0.2, architecture.size)
    flat = torch.as_tensor(Packing(architecture).flat(free), device="cuda")
    table = torch.as_tensor(rewards.value_table(0.4, 0.4), device="cuda")
    small = table.float().contiguous()
    symbols = torch.randint(0, 13, (boards, size * size), device="cuda", dtype=torch.uint8)
    library = gpu.build("evaluate.cu", size)
    exact64 = TorchNetwork(architecture, free, torch.float64).cuda()
    part = symbols[:2000].view(-1, size, size)
    with torch.no_grad():
        reference = white_values(exact64, part, table)
    rows: list[Row] = []
    work = partial(gpu.evaluate, library, flat, small, symbols)
    for name, exact in (("exact (two halves)", True), ("fast (half)", False)):
        values = gpu.evaluate(library, flat, small, symbols, exact=exact)
        error = (values[:2000].double() - reference).abs()
        spread = reference.std().item()
        best = float("inf"), 0
        for per in (1, 2, 3, 4):
            blocks = 132 * per
            ms = median_ms(partial(work, exact=exact, blocks=blocks))
            best = min(best, (ms, blocks))
        again = median_ms(partial(work, exact=exact, blocks=best[1]))
        rows.append(
            {
                "what": f"evaluate.cu {name}",
                "size": size,
                "boards": boards,
                "ms": best[0],
                "ms_again": again,
                "blocks": best[1],
                "per_second": boards / best[0] * 1e3,
                "largest_error": error.max().item(),
                "mean_error": error.mean().item(),
                "std_of_values": spread,
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    for dtype in (torch.float32, torch.bfloat16):
        plain = TorchNetwork(architecture, free, dtype).cuda()
        chunk = symbols[:16384].view(-1, size, size)
        with torch.no_grad():
            for compiled in (False, True):
                call = torch.compile(white_values) if compiled else white_values
                try:
                    ms = median_ms(partial(call, plain, chunk, small))
                except Exception as failure:
                    print("torch failed:", repr(failure)[:200], flush=True)
                    continue
                error = (white_values(plain, part, small).double() - reference).abs()
                rows.append(
                    {
                        "what": f"PyTorch {dtype} compiled={compiled}",
                        "size": size,
                        "boards": 16384,
                        "ms": ms,
                        "per_second": 16384 / ms * 1e3,
                        "largest_error": error.max().item(),
                    }
                )
                print(json.dumps(rows[-1]), flush=True)
    rows.append(raw_boards(args, architecture, free))
    print(json.dumps(rows[-1]), flush=True)
    return rows


def white_values(network: TorchNetwork, symbols: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Return White's value of every board; `table` is `rewards.value_table`."""
    outputs = torch.sigmoid(network(symbols)).permute(0, 2, 3, 1)
    state = torch.where(symbols < 6, 2, torch.where(symbols < 12, 1, 0)).long()
    rows = table.to(outputs)[state]
    return (rows[..., :7] * outputs).sum((1, 2, 3)) + rows[..., 8].sum((1, 2))


def raw_boards(
    args: argparse.Namespace, architecture: Architecture, free: NDArray[np.float64]
) -> Row:
    """Time evaluation from stones alone: blocks, liberties, categories, in 2 rounds."""
    size, boards = args.size, min(args.boards, 100_000)
    library = gpu.build("selfplay.cu", size, options=("-DWARPS=8" if size < 19 else "-DWARPS=4",))
    flat = torch.as_tensor(Packing(architecture).flat(free), device="cuda")
    stones = torch.randint(0, 3, (boards, size * size), device="cuda", dtype=torch.uint8)
    params = np.zeros(1, gpu.PARAMS)
    params["table"], params["cats"] = rewards.value_table(0.4, 0.4), Categories().packed()
    block = torch.as_tensor(np.frombuffer(params.tobytes(), np.uint8).copy(), device="cuda")
    keys = torch.as_tensor(ZOBRIST[:, : (size + 2) * (size + 1) + 1].copy(), device="cuda")
    values = torch.empty(boards, device="cuda")
    zs = torch.empty(boards * size * size, device="cuda")

    def work() -> None:
        code = library.isn_settle(
            *(gpu.pointer(t) for t in (flat, block, keys)),
            ctypes.c_int(boards),
            ctypes.c_int(2),
            *(gpu.pointer(t) for t in (stones, values, zs)),
            gpu.stream(),
        )
        assert code == 0, code

    ms = median_ms(work)
    return {
        "what": "selfplay.cu, stones to value, 2 rounds of categories, float32",
        "size": size,
        "boards": boards,
        "ms": ms,
        "per_second": boards / ms * 1e3,
    }


def chosen(args: argparse.Namespace, names: str, batch: int) -> list[SymmetrySettings]:
    runs = [RUNS[name] for name in names.split(",")]
    return [replace(r, batch=batch, games=args.games, size=args.size) for r in runs]


def rounds(args: argparse.Namespace) -> list[Row]:
    """Check a round against stored gradients of the CPU's kernels, then time several shapes."""
    rows = []
    if args.reference:
        stored = np.load(args.reference)
        runs = [replace(RUNS["paper"], seed=5, batch=len(stored["stats"]), size=9)]
        training = gpu.GpuTraining(runs)
        training.restore(stored["free"][None], 0)
        training.advance()
        stats = training.stats.cpu().numpy()
        packing = Packing(Architecture())
        errors = [
            float(np.abs(packing.collect(g) - want).max() / np.abs(want).max())
            for g, want in zip(training.grads.cpu().numpy(), stored["gradients"], strict=True)
        ]
        same = bool(np.array_equal(stats[:, :3], stored["stats"][:, :3]))
        rows.append(
            {
                "what": "a round against the CPU's",
                "same_games": same,
                "gradient_errors": errors,
                "plies": stats[:, 0].tolist(),
                "cpu_plies": stored["stats"][:, 0].tolist(),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    for n, batch in ((1, 1), (1, 32), (1, 64), (8, 16), (8, 32), (12, 32), (16, 32), (16, 64)):
        training = gpu.GpuTraining(
            [
                replace(RUNS["paper"], seed=i, batch=batch, rate=1e-4, linear_games=0)
                for i in range(n)
            ]
        )
        for _ in range(6):
            training.advance()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        steps = 20
        for _ in range(steps):
            training.advance()
        torch.cuda.synchronize()
        seconds = (time.perf_counter() - begin) / steps
        rows.append(
            {
                "what": "round of self-play",
                "runs": n,
                "batch": batch,
                "ms": seconds * 1e3,
                "games_per_second": n * batch / seconds,
                "plies": training.stats[:, 0].mean().item(),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def _note(seen: Row, report: Row) -> bool:
    """Take over a report, and let the training go on."""
    seen.update(report)
    return True


def batches(args: argparse.Namespace) -> list[Row]:
    """Train a few thousand games with several batches; how far apart do the learned numbers end?

    Two seeds of the same batch say what distance is chance (games, not starting weights, differ).
    """
    rows: list[Row] = []
    ends: dict[int, torch.Tensor] = {}
    for batch in (1, 4, 16, 32, 64):
        runs = [
            replace(RUNS["paper"], batch=batch, linear_games=1024, rate=r, seed=s)
            for r in (5e-6, 2e-5)
            for s in (0, 1)
        ]
        training = gpu.GpuTraining(runs)
        training.free[1], training.free[3] = training.free[0], training.free[2]
        start = training.free.clone()
        begin = time.perf_counter()
        last: Row = {}
        training.train(args.games, snapshot_every=1024, watch=partial(_note, last))
        ends[batch] = training.free.clone()
        moved = (ends[batch] - start).norm(dim=1)
        chance = [(ends[batch][i] - ends[batch][i + 1]).norm().item() for i in (0, 2)]
        other = (ends[batch] - ends[1]).norm(dim=1)
        rows.append(
            {
                "batch": batch,
                "games": args.games,
                "moved": moved.tolist(),
                "between_seeds": chance,
                "from_batch_1": other.tolist(),
                "error": last["error"],
                "plies": last["plies"],
                "seconds": time.perf_counter() - begin,
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def train(args: argparse.Namespace) -> list[Row]:
    """Train the named runs side by side; write their snapshots and metrics.jsonl."""
    names = args.runs.split(",")
    training = gpu.GpuTraining(chosen(args, args.runs, args.batch))
    folders = [args.out / name for name in names]
    if args.resume:
        training.resume(folders)
    else:
        training.keep(folders)
    metrics = (args.out / "metrics.jsonl").open("a")
    begin = time.perf_counter()
    played = training.done

    def watch(report: Row) -> bool:
        training.keep(folders)
        report["seconds"] = time.perf_counter() - begin
        metrics.write(json.dumps({"names": names, **report}) + "\n")
        metrics.flush()
        rate = (report["games"] - played) / report["seconds"]
        errors = [round(e, 4) for e in report["error"]]
        print(f"{report['games']} in {report['seconds']:.0f} s, {rate:.0f}/s each, error {errors}")
        ahead = args.snapshot_every / max(rate, 1e-9)
        return bool(report["seconds"] + ahead * 1.1 < args.seconds)

    training.train(args.games, snapshot_every=args.snapshot_every, watch=watch)
    seconds = time.perf_counter() - begin
    return [{"what": "training", "runs": names, "games": training.done, "seconds": seconds}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["evaluate", "rounds", "batches", "train"])
    parser.add_argument("--out", type=Path, default=Path("."))
    parser.add_argument("--size", type=int, default=0, help="19 for evaluate, 9 otherwise")
    parser.add_argument("--boards", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--runs", default="paper")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--games", type=int, default=860_000)
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="stop after a snapshot near this time"
    )
    parser.add_argument("--snapshot-every", type=int, default=20_000)
    parser.add_argument("--resume", action="store_true", help="go on from the newest snapshots")
    args = parser.parse_args()
    args.size = args.size or (19 if args.what == "evaluate" else 9)
    args.out.mkdir(parents=True, exist_ok=True)
    rows = {"evaluate": evaluate, "rounds": rounds, "batches": batches, "train": train}[args.what](
        args
    )
    (args.out / f"{args.what}.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
