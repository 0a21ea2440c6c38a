"""Kill every trainer at random moments: weights and rows must be those of undisturbed work."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

from results import different, training_of
from seen import Seen
from victims import START, Victim, kill_until_done, make_games, tengen

SELF_PLAY = (
    "train", "self-play", "--size", 5, "--design", "tiny", "--games", 8, "--evaluations", 4,
    "--considered", 2, "--batch", 16, "--window", 1000, "--warm-up", 5, "--komi", 1,
    "--device", "cpu",
)  # fmt: skip
KINDS = {"self-play with workers": ("first", "first", "below", "all")}
"""What is killed, where it is not the first process alone."""


def often(module: str, *words: object, **others: object) -> list[object]:
    """Return a command that saves its state every second; `others` are settings of the module."""
    changes = [f"m.{name} = {value}" for name, value in {"SAVE_SECONDS": 1.0, **others}.items()]
    start = f"import tengen.learners.{module} as m; {'; '.join(changes)}; {START}"
    return [sys.executable, "-c", start, *words]


def trainers(games: Path) -> dict[str, Callable[[Path], list[object]]]:
    """Return the small training of each learner, to be given its folder."""

    def run(folder: Path, *words: object) -> list[object]:
        return tengen(*words, "--out", folder, "--resume", "--quiet")

    def file_run(folder: Path, *words: object) -> list[object]:
        where = ("--out", folder / "model.safetensors", "--run", folder, "--resume", "--quiet")
        return tengen(*words, *where)

    def self_play(folder: Path, *words: object) -> list[object]:
        return often("self_play.training", *run(folder, *SELF_PLAY, *words)[3:])

    evolution = ("--network", "spatial", "--size", 7, "--moves", 6, "--population", 6)
    network = ("--design", "tiny", "--batch", 16, "--device", "cpu", "--scorer", "none")
    return {
        "opening-evolution": lambda f: run(
            f, "train", "opening-evolution", *evolution, "--generations", 200, "--snapshot-every", 5
        ),
        "opening-td": lambda f: run(
            f, "train", "opening-td", "--size", 5, "--plies", 6, "--hidden", 3, "--games", 2000,
            "--curve-every", 100, "--curve-games", 4, "--expert", "playouts:1",
        ),
        "symmetry-network": lambda f: run(
            f, "train", "symmetry-network", "--size", 5, "--games", 1000, "--batch", 20,
            "--checkpoint-every", 50,
        ),
        "scoring": lambda f: run(
            f, "train", "scoring", games, "--members", 2, "--hidden", 4, "--epochs", 60
        ),
        "move-prediction": lambda f: file_run(
            f, "train", "move-prediction", games, "--size", 7, "--minimum", 3, "--passes", 60,
        ),
        "network": lambda f: often(
            "network.fitting",
            *file_run(f, "train", "network", games, *network, "--steps", 200)[3:], REPORT_EVERY=20,
        ),
        "self-play": lambda f: self_play(f, "--positions", 1500),
        "self-play with workers": lambda f: self_play(
            f, "--positions", 1500, "--pieces", 2, "--workers", 2
        ),
    }  # fmt: skip


def attack_trainer(name: str) -> Callable[[Seen, int, random.Random, Path], None]:
    """Make the attack on one learner's training."""

    def attack(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
        games = make_games(folder, 7, 80, ("maxlib", "random"))
        make = trainers(games)[name]
        span = Victim(seen, make(folder / "calm"), folder).finish()
        calm = training_of(folder / "calm")
        number = states = 0
        while seen.go_on(kills):
            wild = folder / f"wild-{number}"

            def look(wild: Path = wild) -> None:
                nonlocal states
                kept = [*wild.glob("checkpoints/*.safetensors"), *wild.glob("features.npz")]
                states += bool(kept)
                # A kill before the first state tries the start anew, one after it the resumption.
                seen.note = f"{states} with a state to go on from"

            kinds = KINDS.get(name, ("first",))
            kill_until_done(Victim(seen, make(wild), folder), kills, rng, span, kinds, look)
            if others := different(calm, training_of(wild)):
                seen.fault("other results", others)
            number += 1

    return attack


ATTACKS = {name: attack_trainer(name) for name in trainers(Path())}
