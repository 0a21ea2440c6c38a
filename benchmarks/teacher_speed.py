"""Time a teacher, a network of KataGo, on a device, as it is and compiled.

python benchmarks/teacher_speed.py b10c384h6nbttflrs.bin.gz --device cuda --batch 512 1024 2048

Compiled answers are compared with the others. A compiled network may fail in ways that end the
process, so ask for --compile in a run of its own.
"""

from __future__ import annotations

import argparse
import time

import torch

from tengen.network.engine import chosen_device
from tengen.network.katago import Teacher


def main() -> None:
    """Print one row per board and batch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("teacher")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--size", type=int, nargs="+", default=[19, 9])
    parser.add_argument("--batch", type=int, nargs="+", default=[1024])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    device = torch.device(chosen_device(options.device))
    teacher = Teacher(options.teacher).prepare(device).eval()
    ask = torch.compile(teacher, dynamic=False) if options.compile else teacher
    generator = torch.Generator().manual_seed(1)
    for size in options.size:
        for batch in options.batch:
            planes = torch.rand((batch, 22, size, size), generator=generator) > 0.7
            inputs = planes.to(device), torch.rand((batch, 19), generator=generator).to(device)
            off = (ask(*inputs).lead - teacher(*inputs).lead).abs().max()
            began = time.perf_counter()
            for _ in range(options.turns):
                answer = ask(*inputs)
            assert float(answer.lead.sum()) == float(answer.lead.sum()), "waits for the device"
            pace = options.turns * batch / (time.perf_counter() - began)
            print(f"{size}x{size}, {batch} at once: {pace:,.0f} positions/s, lead {off:.3f} off")


if __name__ == "__main__":
    main()
