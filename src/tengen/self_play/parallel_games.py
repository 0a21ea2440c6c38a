"""Play many games of a network against itself in parallel, and collect training data.

All games advance together, one move at a time. Komi varies and some moves are random; a game ends
with two passes or is cut, and is then counted by area.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
import torch
from torch import Tensor

from tengen.errors import SpecError
from tengen.network import DeepNetwork
from tengen.network.inputs_kernels import HISTORY, NOWHERE, PASSES, PLY, SCORE, SIDE
from tengen.network.shards import Made, Shard, refuse_shards
from tengen.network.torch_network import FoldedNetwork, network_of
from tengen.network.training import Batch, joined, use_fast_products
from tengen.parallel import spawn_seeds
from tengen.self_play.search import Search, legal
from tengen.self_play.settings import SelfPlaySettings, evaluations_at, longest

_RANDOM_PASS = 0.02  # probability of a random pass, relative to a point
_FAR_KOMI = 0.2  # share of the games whose komi is far from even
_SURE_PLIES = 6  # plies for which a value must stay low before a side resigns
_PLAYED_ON = 0.2  # share of the games in which nobody resigns, so that ends are learned too


class Tally(NamedTuple):
    """Counts of what was played, which can be added up."""

    moves: int = 0
    games: int = 0  # finished games; positions and wins are also those of finished games
    positions: int = 0
    black_wins: int = 0
    evaluations: int = 0

    def plus(self, *others: Tally) -> Tally:
        """Return the sum of several."""
        return Tally(*map(sum, zip(self, *others, strict=True)))


def traced(judged: Tensor, plies: Tensor, result: Tensor, trace: float) -> Tensor:
    """Return the targets of TD(lambda), with `trace` for lambda: a row per game, a column per ply.

    `judged` are the network's values, `result` those of the games, which lasted `plies`.
    """
    targets, after = torch.empty_like(judged), result
    for ply in range(judged.shape[1] - 1, -1, -1):
        if ply + 1 < judged.shape[1]:
            mixed = (1 - trace) * judged[:, ply + 1] + trace * after
            after = torch.where(ply + 1 < plies, mixed, result)
        targets[:, ply] = after
    return targets


class ParallelGames:
    """Games in progress on boards of one size; `play` queues work, `collect` waits for it."""

    def __init__(
        self,
        settings: SelfPlaySettings,
        search: Search,
        generator: torch.Generator,
        *,
        endless: bool = True,
    ) -> None:
        """Begin games; unless `endless`, only the first game of every place counts."""
        self.settings, self.search, self.generator = settings, search, generator
        self.endless, self.tally = endless, Tally()
        self.run_search: Callable[[int], None] = search.run  # or captured graphs of it
        device, games, points = search.noise.device, search.games, search.moves - 1
        self.device, plies = device, longest(search.lines)

        def zeros(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((games, plies, *shape), dtype=dtype, device=device)

        # Positions of the games in progress, with the network's own value for the side to move.
        self._played = {
            "codes": zeros(points, dtype=torch.uint8),
            "last_moves": zeros(HISTORY, dtype=torch.int16),
            "passed": zeros(dtype=torch.bool),
            "policy": zeros(points + 1, dtype=torch.float16),
            "judged": zeros(dtype=torch.float16),
        }
        self._game = torch.arange(games, device=device)
        # How many plies Black (or White, if negative) has surely been winning for.
        self.sure = torch.zeros(games, device=device)
        self.played_on = torch.zeros(games, dtype=torch.bool, device=device)
        # Whether the game in a place counts.
        self.counts = torch.ones(games, dtype=torch.bool, device=device)
        self._begin(self._game)
        if endless:  # Cut the first games at random plies, so that games do not stay in step.
            search.limit.copy_(self._chances(games) * (plies * 2 // 3) + plies // 3)

    def _chances(self, *shape: int) -> Tensor:
        return torch.rand(shape, generator=self.generator, device=self.device)

    def _begin(self, games: Tensor) -> None:
        """Begin new games in these places."""
        search, count = self.search, len(games)
        search.boards.clear(search.roots[games])
        near = torch.randint(-1, 2, (count,), generator=self.generator, device=self.device) * 0.5
        far = torch.randn(count, generator=self.generator, device=self.device) * 4
        far = torch.where(self._chances(count) < _FAR_KOMI, far.round(), 0.0)
        search.komi[games] = self.settings.komi + near + far
        search.limit[games] = float(longest(search.lines))
        self.sure[games] = 0
        if self.settings.resign:
            self.played_on[games] = self._chances(count) < _PLAYED_ON

    @torch.no_grad()
    def play(self, evaluations: int) -> None:
        """Play one move in every game, each after so many evaluations."""
        search, game = self.search, self._game
        chances = self._chances(search.games, search.moves).clamp(1e-9, 1 - 1e-7)
        search.noise.copy_(-torch.log(-torch.log(chances)))
        self.run_search(evaluations)
        boards, roots = search.boards, search.roots
        codes, facts = boards.codes[roots], boards.facts[roots]
        ply = facts[:, PLY].long()
        last, passed = boards.history[roots], facts[:, PASSES] > 0
        seen = codes, last, passed, search.policy, search.judged
        for kept, new in zip(self._played.values(), seen, strict=True):
            kept[game, ply] = new.to(kept.dtype)
        if self.settings.resign:
            value = torch.where(facts[:, SIDE] == 1, search.judged, -search.judged)
            longer = self.sure.where(self.sure * value > 0, 0) + value.sign()
            self.sure.copy_(longer.where(value.abs() > self.settings.resign, 0))
        boards.play(roots, self._with_random_moves(codes, ply), roots)
        evaluated = search.games * evaluations
        self.tally = self.tally.plus(Tally(moves=search.games, evaluations=evaluated))

    @torch.no_grad()
    def collect(self) -> Batch | None:
        """Return the positions of the games that ended, if any did, and begin others."""
        resigned = (self.sure.abs() >= _SURE_PLIES) & ~self.played_on
        ended = (self._at_end() | resigned).nonzero()[:, 0]
        if not len(ended):
            return None
        batch = self._finish(ended[self.counts[ended]])
        self.counts[ended] &= self.endless
        self._begin(ended)
        return batch

    def _at_end(self) -> Tensor:
        """Return which games have ended by two passes or are cut."""
        facts = self.search.boards.facts[self.search.roots]
        return (facts[:, PASSES] >= 2) | (facts[:, PLY] >= self.search.limit)

    def _with_random_moves(self, codes: Tensor, ply: Tensor) -> Tensor:
        """Return the chosen moves, some of them replaced by random ones."""
        s = self.settings
        chance = torch.where(ply < s.opening, s.random_opening, s.random_moves)
        weights = legal(codes).float()
        weights[:, -1] *= _RANDOM_PASS
        anything = torch.multinomial(weights, 1, generator=self.generator)[:, 0]
        return torch.where(self._chances(self.search.games) < chance, anything, self.search.chosen)

    def _finish(self, ended: Tensor) -> Batch:
        """Count games that ended and gather their positions; of others, the winner is known."""
        search, played, plies = self.search, self._played, longest(self.search.lines)
        slots, komi = search.roots[ended], search.komi[ended]
        facts = search.boards.facts[slots]
        to_black = torch.where(facts[:, SIDE] == 1, 1.0, -1.0)
        lead = facts[:, SCORE] - komi
        owner = search.boards.owners(slots) * to_black[:, None].to(torch.int8)
        counted = self._at_end()[ended]
        result = torch.where(counted, lead, self.sure[ended]).sign()
        if self.settings.trace == 1:
            hopes = result[:, None].expand(-1, plies)
        else:
            judged = played["judged"][ended].float()
            judged[:, 1::2] *= -1  # White moves there
            hopes = traced(judged, facts[:, PLY], result, self.settings.trace)
        each = torch.arange(plies, device=self.device)
        row, ply = (each[None, :] < facts[:, PLY, None]).nonzero(as_tuple=True)
        game = ended[row]
        sign = torch.where(ply % 2 == 0, 1.0, -1.0)  # Black moves first
        wins, scored = int((result > 0).sum()), counted[row]
        self.tally = self.tally.plus(Tally(0, len(ended), len(row), wins))
        return Batch(
            search.lines, search.lines, codes=played["codes"][game, ply],
            history=played["last_moves"][game, ply], passed=played["passed"][game, ply],
            komi=-sign * komi[row], territory=torch.zeros_like(scored),
            moves=played["policy"][game, ply], winner=(sign * hopes[row, ply] + 1) / 2,
            score=sign * lead[row] * scored, scored=scored,
            owner=owner[row] * sign[:, None].to(torch.int8), owned=scored,
        )  # fmt: skip

    def tensors(self) -> dict[str, Tensor]:
        """Return the state of the games in progress, without the generator and the tally."""
        search = self.search
        boards, roots = search.boards, slice(None, None, search.nodes)
        return {
            "codes": boards.codes[roots],
            "last_moves": boards.history[roots],
            "facts": boards.facts[roots],
            "komi": search.komi,
            "limit": search.limit,
            "counts": self.counts,
            "sure": self.sure,
            "played_on": self.played_on,
            **{f"played_{name}": tensor for name, tensor in self._played.items()},
        }


def copy_into(mine: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> None:
    """Copy tensors into others of the same names."""
    for name, tensor in mine.items():
        tensor.copy_(theirs[name])


# ----- Games on a device; on a GPU, a search is captured as one graph -----

_WARM_UPS = 2  # searches before one is captured: kernels are compiled and chosen in them


def make_games(
    settings: SelfPlaySettings,
    lines: int,
    network: FoldedNetwork,
    generator: torch.Generator,
    *,
    games: int | None = None,
    endless: bool = True,
) -> ParallelGames:
    """Start games of one size in which a network plays both sides."""
    device, games = generator.device, games or settings.games
    per_point = 20 * settings.evaluations + 3 * longest(lines)
    ask_for_memory(games * lines * lines * per_point, device)
    search = Search(
        lines, games, network, device=device, evaluations=settings.evaluations,
        considered=settings.considered, score_share=settings.score_share,
    )  # fmt: skip
    started = ParallelGames(settings, search, generator, endless=endless)
    if device.type == "cuda":
        started.run_search = _Captured(search.run)
        started.run_search(evaluations_at(settings, 0))
    return started


def ask_for_memory(size: int, device: torch.device) -> None:
    """Raise `RuntimeError` if `size` bytes of RAM are not free: Linux would overcommit and kill."""
    if device.type == "cpu" and size > psutil.virtual_memory().available:
        raise RuntimeError(f"no memory for {size} bytes")


@contextmanager
def explain_out_of_memory(message: str) -> Iterator[None]:
    """Turn out-of-memory errors into a `SpecError` with this message."""
    try:
        yield
    except RuntimeError as failure:  # CUDA's error is a subclass; a processor raises this
        if "memory" not in str(failure):
            raise
        raise SpecError(message) from None


class _Captured:
    """Searches as graphs, captured when so many evaluations are first asked for."""

    def __init__(self, search: Callable[[int], None]) -> None:
        self.search = search
        self.count = 0
        self.again: Callable[[], None] = partial(search, 0)  # captured later

    def __call__(self, evaluations: int) -> None:
        if evaluations != self.count:
            self.count, self.again = evaluations, capture(partial(self.search, evaluations))
        self.again()


def capture(work: Callable[[], None]) -> Callable[[], None]:
    """Capture GPU work as a CUDA graph and return its replay, or `work` itself if that fails."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(_WARM_UPS):
            work()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            work()
    except RuntimeError:
        torch.cuda.synchronize()
        return work
    again: Callable[[], None] = graph.replay
    return again


# ----- Games played to their end, and recorded as shards for other networks to learn from -----


def play_out(
    settings: SelfPlaySettings,
    lines: int,
    network: FoldedNetwork,
    generator: torch.Generator,
    *,
    on_games: Callable[[int], None] = lambda ended: None,
) -> tuple[Tally, Batch]:
    """Play `settings.games` games side by side until all have ended."""
    games = make_games(settings, lines, network, generator, endless=False)
    batches, device = [], generator.device
    while left := int(games.counts.sum()):
        # Drop the places of ended games once that pays; a GPU would have to capture again.
        if device.type == "cpu" and left <= games.search.games * 3 // 4:
            fewer = make_games(settings, lines, network, generator, games=left, endless=False)
            copy_into(fewer.tensors(), {k: v[games.counts] for k, v in games.tensors().items()})
            fewer.tally, games = games.tally, fewer
        before = games.tally.games
        games.play(settings.evaluations)
        batch = games.collect()
        if batch is not None:
            batches.append(batch)
            on_games(games.tally.games - before)
    return games.tally, joined(batches)


def shard_of(batch: Batch) -> Shard:
    """Return the games of a batch that both sides ended by passing; others were cut."""
    lines, points = batch.rows, batch.rows * batch.cols
    last, passed = batch.history[:, 0].cpu().numpy(), batch.passed.cpu().numpy()
    starts = np.flatnonzero((last == NOWHERE) & ~passed)
    # A move is the last move of the next position; a game's final move is a pass.
    moves = np.append(np.where(passed, points, last)[1:], points).astype(np.int16)
    moves[starts[1:] - 1] = points
    games = np.split(moves, starts[1:])
    begins = starts[[len(game) < longest(lines) for game in games]]
    score = batch.score.cpu().numpy()[begins].astype(np.float32)  # Black moves first
    return Shard.of_moves(
        lines, lines, [game for game in games if len(game) < longest(lines)],
        komi=-batch.komi.cpu().numpy()[begins].astype(np.float32),
        winner=np.select([score > 0, score < 0], [1, 2], 0).astype(np.int8), score=score,
        labelled=np.ones(len(begins), np.bool_),
        ownership=batch.owner.cpu().numpy()[begins].astype(np.int8),
    )  # fmt: skip


def record_games(
    network: DeepNetwork,
    settings: SelfPlaySettings,
    folder: Path,
    *,
    rounds: int = 1,
    device: str = "cpu",
    on_games: Callable[[int], None] = lambda ended: None,
) -> Made:
    """Play rounds of games on every size and write each as a shard when it is done."""
    refuse_shards(folder)
    settings = replace(settings, resign=0.0)  # the score is recorded
    place = torch.device(device)
    use_fast_products(place)
    learned = network_of(network.weights_, network.design_).to(place)
    dtype = torch.bfloat16 if place.type == "cuda" else torch.float32
    player = FoldedNetwork(learned, place, dtype)
    generator = torch.Generator(place)
    folder.mkdir(parents=True, exist_ok=True)
    files, games, positions, cut = [], 0, 0, 0
    for lines in settings.size:
        wish = f"{settings.games} games on {lines}x{lines}"
        refusal = f"{device}: no memory for {wish}; ask for fewer games, in more rounds"
        for number, seed in enumerate(spawn_seeds(settings.seed, rounds, lines)):
            generator.manual_seed(seed)
            with explain_out_of_memory(refusal):
                tally, batch = play_out(settings, lines, player, generator, on_games=on_games)
            shard = shard_of(batch)
            if len(shard):
                files.append(folder / f"{lines}x{lines}-{number:05d}.safetensors")
                shard.save(files[-1])
            games, positions = games + len(shard), positions + shard.positions
            cut += tally.games - len(shard)
    return Made(tuple(files), games, positions, passed_over=cut, counted=games, labelled=games)
