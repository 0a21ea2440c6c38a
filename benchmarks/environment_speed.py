"""Speed of the vector environment against its own kernels.

Run `python benchmarks/environment_speed.py`.

Both play the same legal random moves on 1,000 boards. The kernels play and compute the legal moves;
the environment also makes observations, rewards and new games. Prints boards per second and the
ratio.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from tengen.board import BatchBoard
from tengen.environment import GoVectorEnv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=1000)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--plies", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    shape = (asked.boards, asked.size**2 + 1)
    ratios = []
    for _ in range(asked.rounds + 1):
        batch, envs = BatchBoard(*shape[:1], asked.size), GoVectorEnv(asked.boards, asked.size)
        masks = envs.reset(seed=1)[0]["action_mask"]
        spent = [0.0, 0.0]
        for _ in range(asked.plies):
            chances = rng.random(shape) * masks
            chances[:, -1] = 0
            actions = chances.argmax(axis=1)
            begin = time.perf_counter()
            batch.play(actions)
            batch.legal_masks()
            middle = time.perf_counter()
            masks = envs.step(actions)[0]["action_mask"]
            spent = [spent[0] + middle - begin, spent[1] + time.perf_counter() - middle]
        ratios.append(spent[0] / spent[1])
    rate = [asked.boards * asked.plies / seconds for seconds in spent]
    print(f"kernels {rate[0]:,.0f} boards per second, environment {rate[1]:,.0f}")
    print(f"ratio {np.median(ratios[1:]):.2f}, from {min(ratios[1:]):.2f} to {max(ratios[1:]):.2f}")


if __name__ == "__main__":
    main()
