"""A GTP engine without tengen: plays random points that were never taken, so that it is legal.

Options: --delay SECONDS a move; --crash-at N, --exit-at N, --hang-at N, --nonsense-at N,
--illegal-at N: misbehave when asked for the Nth move of a game (with --once FILE: only if that
file is not there yet, which it makes).
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
SILENT = ["boardsize", "clear_board", "komi", "play", "genmove", "quit", "set_random_seed"]
ANSWERS = {"name": "Toy", "version": "0.7", "protocol_version": "2", **dict.fromkeys(SILENT, "")}
ANSWERS["list_commands"] = "\n".join([*ANSWERS, "list_commands"])
MISDEEDS = ("crash", "exit", "hang", "nonsense", "illegal")


class Engine:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.size, self.seed, self.played = options, 19, 0, []
        self.asked = 0

    def answer(self, name: str, words: list[str]) -> str:
        if name == "boardsize":
            self.size, self.played = int(words[0]), []
        elif name == "clear_board":
            self.played, self.asked = [], 0
        elif name == "set_random_seed":
            self.seed = int(words[0])
        elif name == "play":
            self.played.append(words[1].upper())
        elif name == "genmove":
            self.asked += 1
            self.misbehave()
            time.sleep(self.options.delay)
            self.played.append(self.move())
            return self.played[-1]
        return ANSWERS[name]

    def move(self) -> str:
        taken = set(self.played)
        lines = range(self.size)
        empty = {(c, r) for c in lines for r in lines if f"{LETTERS[c]}{r + 1}" not in taken}
        beside = [(-1, 0), (1, 0), (0, -1), (0, 1)]
        free = [p for p in sorted(empty) if any((p[0] + x, p[1] + y) in empty for x, y in beside)]
        if len(free) < 3:
            return "pass"
        c, r = random.Random(f"{self.seed}:{len(self.played)}").choice(free)
        return f"{LETTERS[c]}{r + 1}"

    def misbehave(self) -> None:
        once = self.options.once
        due = [kind for kind in MISDEEDS if getattr(self.options, f"{kind}_at") == self.asked]
        if not due or (once and os.path.exists(once)):
            return
        if once:
            open(once, "w").close()
        match due[0]:
            case "crash":
                sys.stderr.write("toy: out of toys\n")
                sys.stderr.flush()
                os.abort()
            case "exit":
                os._exit(0)
            case "hang":
                time.sleep(3600)
            case "nonsense":
                raise SystemError("= banana")
            case "illegal":
                raise SystemError(f"= {next(v for v in self.played if v != 'PASS')}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--once")
    for kind in MISDEEDS:
        parser.add_argument(f"--{kind}-at", type=int, default=0)
    engine = Engine(parser.parse_args())
    for line in sys.stdin:
        words = line.split("#")[0].split()
        if not words:
            continue
        number = words.pop(0) if words[0].isdigit() else ""
        try:
            text = f"={number} {engine.answer(words[0], words[1:])}"
        except SystemError as trick:
            text = str(trick)
        except (KeyError, IndexError, ValueError):
            text = f"?{number} unknown or wrong: {line.strip()}"
        sys.stdout.write(text + "\n\n")
        sys.stdout.flush()
        if words[0] == "quit":
            return


if __name__ == "__main__":
    main()
