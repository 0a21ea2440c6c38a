"""Play games of a network against itself, many side by side, and say what is to be learned.

All games wait for each other move by move. Komi varies, some moves are random; a game ends with
two passes or is cut, and is then counted by area. Knows the search, not what learns.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tengen.learners.deep_network.inputs_kernels import HISTORY
from tengen.learners.self_play.boards import legal
from tengen.learners.self_play.search import Search
from tengen.learners.self_play.settings import SelfPlaySettings
from tengen.learners.self_play.window import Lesson

RANDOM_PASS = 0.02
"""How likely a random move is a pass, against a point."""
FAR_KOMI = 0.2
"""Share of the games whose komi is far from even."""


@dataclass
class Tally:
    """What was played so far."""

    games: int = 0
    positions: int = 0
    """Of finished games."""
    moves: int = 0
    """Of all games."""
    black_wins: int = 0
    plies: int = 0


class Player:
    """Games under way."""

    def __init__(
        self, settings: SelfPlaySettings, search: Search, generator: torch.Generator
    ) -> None:
        self.settings, self.search, self.generator = settings, search, generator
        self.run_search: Callable[[], None] = search.run
        """May be replaced by a captured graph of it."""
        self.tally = Tally()
        device, games, plies = search.noise.device, settings.games, settings.longest
        points = settings.size**2
        self.device = device
        self.codes = torch.zeros((games, plies, points), dtype=torch.uint8, device=device)
        self.history = torch.zeros((games, plies, HISTORY), dtype=torch.int16, device=device)
        self.passed = torch.zeros((games, plies), dtype=torch.bool, device=device)
        self.policy = torch.zeros((games, plies, points + 1), dtype=torch.float16, device=device)
        self._game = torch.arange(games, device=device)
        self.begin(self._game)
        # The first games are cut at all ages, so that games do not go on in step.
        search.limit.copy_(self._chances(games) * (plies * 2 // 3) + plies // 3)

    def _chances(self, *shape: int) -> Tensor:
        return torch.rand(shape, generator=self.generator, device=self.device)

    def begin(self, games: Tensor) -> None:
        """Begin new games in these places."""
        search, count = self.search, len(games)
        search.boards.clear(search.roots[games])
        near = torch.randint(-1, 2, (count,), generator=self.generator, device=self.device) * 0.5
        far = torch.randn(count, generator=self.generator, device=self.device) * 4
        far = torch.where(self._chances(count) < FAR_KOMI, far.round(), 0.0)
        search.komi[games] = self.settings.komi + near + far
        search.limit[games] = float(self.settings.longest)

    @torch.no_grad()
    def move(self) -> Lesson | None:
        """Play one move in every game; return the positions of the games that ended, if any did."""
        search, s, game = self.search, self.settings, self._game
        chances = self._chances(s.games, search.moves).clamp(1e-9, 1 - 1e-7)
        search.noise.copy_(-torch.log(-torch.log(chances)))
        self.run_search()
        boards, roots = search.boards, search.roots
        facts = boards.facts[roots]
        ply = facts[:, 2].long()
        codes = boards.codes[roots]
        self.codes[game, ply] = codes
        self.history[game, ply] = boards.history[roots]
        self.passed[game, ply] = facts[:, 1] > 0
        self.policy[game, ply] = search.policy.to(torch.float16)
        boards.play(roots, self._with_random_moves(codes, ply), roots)
        self.tally.moves += s.games
        facts = boards.facts[roots]
        over = (facts[:, 1] >= 2) | (facts[:, 2] >= search.limit)
        ended = over.nonzero()[:, 0]
        if not len(ended):
            return None
        lesson = self._finish(ended)
        self.begin(ended)
        return lesson

    def _with_random_moves(self, codes: Tensor, ply: Tensor) -> Tensor:
        """Return the chosen moves, some of them replaced by chance."""
        s = self.settings
        chance = torch.where(ply < s.opening, s.random_opening, s.random_moves)
        weights = legal(codes).float()
        weights[:, -1] *= RANDOM_PASS
        anything = torch.multinomial(weights, 1, generator=self.generator)[:, 0]
        return torch.where(self._chances(s.games) < chance, anything, self.search.chosen)

    def _finish(self, ended: Tensor) -> Lesson:
        """Count games that ended and gather their positions."""
        search = self.search
        slots = search.roots[ended]
        facts = search.boards.facts[slots]
        length, komi = facts[:, 2].long(), search.komi[ended]
        lead = facts[:, 3] - komi
        to_black = torch.where(facts[:, 0] == 1, 1, -1).to(torch.int8)
        owner = search.boards.owners(slots) * to_black[:, None]
        rows = torch.arange(self.codes.shape[1], device=self.device)
        row, ply = (rows[None, :] < length[:, None]).nonzero(as_tuple=True)
        game = ended[row]
        sign = torch.where(ply % 2 == 0, 1.0, -1.0)
        self.tally.games += len(ended)
        self.tally.positions += len(row)
        self.tally.plies += len(row)
        self.tally.black_wins += int((lead > 0).sum())
        return Lesson(
            codes=self.codes[game, ply],
            history=self.history[game, ply],
            passed=self.passed[game, ply],
            komi=-sign * komi[row],
            policy=self.policy[game, ply],
            winner=(sign * torch.sign(lead[row]) + 1) / 2,
            score=sign * lead[row],
            owner=owner[row] * sign[:, None].to(torch.int8),
        )
