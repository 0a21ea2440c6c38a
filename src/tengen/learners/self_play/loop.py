"""Carry self-play on: play a move in all games, learn from the games that ended, play on.

One process does both on one device. Everything that the next round depends on can be taken out and
put back; nothing here touches a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tengen.learners.self_play.judge import Judge
from tengen.learners.self_play.learning import Pupil
from tengen.learners.self_play.playing import Player
from tengen.learners.self_play.search import Search
from tengen.learners.self_play.settings import SelfPlaySettings
from tengen.learners.self_play.window import Window

FIRST_BATCHES = 8
"""Batches that the window must hold before anything is learned."""
YOUNG = 0.5
"""Share of all positions that the window spans while it is not full, so that the first are left."""


class Loop:
    """Games, window and network of one run."""

    def __init__(self, settings: SelfPlaySettings, device: torch.device) -> None:
        self.settings, self.device = settings, device
        on_gpu = device.type == "cuda"
        compiled: Callable[[Any], Any] = _compiled if on_gpu else lambda function: function
        if on_gpu:
            torch.backends.cudnn.benchmark = True
            torch.backends.cuda.matmul.allow_tf32 = True
            torch.backends.cudnn.allow_tf32 = True
        self.pupil = Pupil(settings, device, compiled)
        dtype = torch.bfloat16 if on_gpu else torch.float32
        self.judge = Judge(self.pupil.network, device, dtype)
        self.search = Search(
            settings.size,
            settings.games,
            compiled(self.judge),
            device=device,
            evaluations=settings.evaluations,
            considered=settings.considered,
            score_share=settings.score_share,
            compiled=compiled,
        )
        self.generator = torch.Generator(device)
        self.generator.manual_seed(settings.seed)
        self.player = Player(settings, self.search, self.generator)
        self.window = Window(settings.size**2, settings.window, device)
        self.debt = 0.0
        """Positions that are still to be learned from."""
        self.rounds = 0

    def advance(self, progress: float) -> None:
        """Play a move in every game and learn what is due; `progress` is 0 to 1."""
        s = self.settings
        lesson = self.player.move()
        self.rounds += 1
        if lesson is not None:
            self.window.add(lesson)
            self.debt += s.reuse * len(lesson.codes)
        if len(self.window) < FIRST_BATCHES * s.batch:
            self.debt = min(self.debt, float(s.batch))
            return
        learned = False
        latest = max(FIRST_BATCHES * s.batch, int(YOUNG * self.window.total))
        while self.debt >= s.batch:
            self.debt -= s.batch
            self.pupil.learn(self.window, latest, progress, self.generator)
            learned = True
        if learned:
            self.judge.learn_from(self.pupil.network)


def _compiled(function: Any) -> Any:
    return torch.compile(function, dynamic=False)
