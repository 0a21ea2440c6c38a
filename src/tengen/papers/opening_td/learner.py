"""The opening player as an estimator, its training, and matches of openings.

Game g draws from random streams seeded with (seed, g), so a training that is stopped after any game
and resumed gives the same weights, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray
from tengen.board import BLACK, PASS, WHITE, Board, Point, random_point
from tengen.board.coordinates import elements, index_of, permutation, point_at
from tengen.board.kernels import new_state, seed_stream
from tengen.board.layout_kernels import HASH, SCALARS
from tengen.contracts import Expert, Player
from tengen.errors import ModelError, TengenError
from tengen.models import Card, StoredLearner, View
from tengen.models.params import only_processor
from tengen.models.runs import Run
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Tensors
from tengen.papers.opening_td import kernels
from tengen.papers.opening_td.kernels import STEPS
from tengen.papers.opening_td.settings import DEFAULTS, QUANTITIES, STONES, TDSettings
from tengen.players.simple import static_move_values
from tengen.statistics import Rate

_CLIP = 0.02  # targets of the sigmoid stay this far from 0 and 1, which it cannot reach
CHECKPOINT_EVERY = 250  # games between checkpoints
RANDOM_NAME = "random"
_BATCH = 50  # openings that the expert finishes in one call
_EDGE_STEPS = 4  # scalar distances to the edge are divided by this; binary ones end at this


# ----- Tables, weights and scratch arrays of the kernels -----


@cache
def layout_of(settings: TDSettings) -> kernels.Layout:
    """Return where each feature's inputs are."""
    rows, cols = settings.shape
    slots = np.full((kernels.N_FACTS, 4), -1, np.int64)
    offset = 2 * rows * cols + 1
    edges: list[list[tuple[int, float]]] = []  # of each cell
    for feature in settings.features[1:]:
        binary, width = settings.binary[feature], settings.nodes(feature)
        if feature == "B":
            edges = _edge_inputs(rows, cols, offset, binary)
        elif feature == "E":
            second = offset + width // 2
            slots[kernels.FRIENDS] = offset, width, binary, 0
            slots[kernels.ENEMIES] = second, width, binary, 0
        else:
            fact = kernels.LIBERTIES if feature == "C" else kernels.STONES
            slots[fact] = offset, width, binary, 1
        offset += rows * cols * width
    on_stones = edges if settings.edges == STONES else []
    fixed = [entry for cell in edges for entry in cell if entry[1]] if not on_stones else []
    of_stones = np.array(on_stones or np.zeros((rows * cols, 0, 2)), np.float64)
    return kernels.Layout(
        slots,
        np.array([i for i, _ in fixed], np.int64),
        np.array([v for _, v in fixed], np.float64),
        np.ascontiguousarray(of_stones[:, :, 0], np.int64),
        np.ascontiguousarray(of_stones[:, :, 1]),
    )


def _edge_inputs(rows: int, cols: int, offset: int, binary: bool) -> list[list[tuple[int, float]]]:
    """List the inputs of feature B of each cell: distance to the vertical edge, then horizontal."""
    inputs = []
    for cell in range(rows * cols):
        row, col = divmod(cell, cols)
        of_cell = []
        for side, distance in enumerate((min(col, cols - 1 - col), min(row, rows - 1 - row))):
            if binary:
                node = (2 * cell + side) * STEPS + min(distance, _EDGE_STEPS)
                of_cell.append((offset + node, 1.0))
            else:
                of_cell.append((offset + 2 * cell + side, distance / _EDGE_STEPS))
        inputs.append(of_cell)
    return inputs


@cache
def tables_of(rows: int, cols: int) -> kernels.Tables:
    """Return the tables of a board size."""
    cells = rows * cols
    points = np.array([point_at(i, rows, cols) for i in range(cells)], np.int64)
    cell_of = np.full((rows + 2) * (cols + 1) + 1, -1, np.int64)
    cell_of[points] = np.arange(cells)
    turned = np.array([permutation(rows, cols, e)[:-1] for e in elements(rows, cols)], np.int64)
    row, col = np.divmod(np.arange(cells), cols)
    distance = abs(row[:, None] - row) + abs(col[:, None] - col)
    close = (distance >= 1) & (distance <= 3)
    spread = np.stack([_bits(part) for part in (distance == 0, distance == 1, close)], axis=1)
    return kernels.Tables(points, cell_of, turned, spread)


def _bits(table: BoolArray) -> NDArray[np.uint64]:
    """Pack rows of booleans into words of 64 bits, the first column lowest."""
    padded = np.pad(table, ((0, 0), (0, -table.shape[1] % 64)))
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def make_net(settings: TDSettings) -> kernels.Net:
    """Return a network with weights drawn uniformly from within 1 / sqrt(fan-in)."""
    rng = np.random.default_rng([settings.seed, 2003])
    inputs, hidden = settings.n_inputs, settings.hidden

    def draw(fan_in: int, *shape: int) -> FloatArray:
        bound = 1 / math.sqrt(fan_in)
        return rng.uniform(-bound, bound, shape)

    return kernels.Net(
        draw(inputs, inputs, hidden), draw(inputs, hidden), draw(hidden, hidden, 1), draw(hidden, 1)
    )


def _most_active(settings: TDSettings, stones: int) -> int:
    """Return the maximum number of inputs that are active because of so many stones."""
    of_stones = [f for f in settings.features[1:] if f != "B" or settings.edges == STONES]
    return 1 + stones * (2 + sum(QUANTITIES[f] for f in of_stones))


def make_scratch(settings: TDSettings) -> kernels.Scratch:
    """Allocate the kernels' scratch space."""
    (rows, cols), hidden = settings.shape, settings.hidden
    cells, tables = rows * cols, tables_of(rows, cols)
    orientations, words = len(tables.turned), tables.spread.shape[2]
    active = _most_active(settings, cells)
    units = np.zeros((kernels.POWERS + 2, hidden))
    return kernels.Scratch(
        after=new_state(rows, cols),
        keys=np.zeros((orientations, (cells + 31) // 32), np.uint64),
        masks=np.zeros((3, words), np.uint64),
        blocks=np.zeros((cells + 1, kernels.BLOCK + 1), np.int64),
        spread=np.zeros((cells + 1, 3, words), np.uint64),
        index=np.zeros(active, np.int64),
        value=np.zeros(active),
        units=units,
        bits=units[kernels.POWERS :].view(np.int64),
        base=np.zeros((orientations, hidden)),
        known=np.zeros(orientations, np.bool_),
        shift=np.zeros((orientations, cells, 2, hidden)),
        shifted=np.zeros((orientations, cells, 2), np.int64),
        moves=np.zeros((cells, kernels.FACING + 1), np.int64),
        values=np.zeros(cells),
        hidden=np.zeros((cells, hidden)),
    )


def make_memory(settings: TDSettings) -> kernels.Memory:
    """Allocate the memory of one opening."""
    plies, hidden = settings.opening_plies, settings.hidden
    active = _most_active(settings, min(plies, math.prod(settings.shape)))
    return kernels.Memory(
        index=np.zeros((plies, active), np.int64),
        value=np.zeros((plies, active)),
        count=np.zeros(plies, np.int64),
        side=np.zeros(plies, np.int64),
        hashes=np.zeros(plies + 1, np.int64),
        activity=np.zeros((plies, hidden)),
        w2=np.zeros((plies, hidden)),
        slope=np.zeros(plies),
    )


def dense_inputs(board: Board, settings: TDSettings, *, friend: int, komi: float) -> FloatArray:
    """Return the full input vector of a position from `friend`'s view, canonically oriented."""
    tables, layout, scratch = (
        tables_of(*settings.shape),
        layout_of(settings),
        make_scratch(settings),
    )
    work = make_net(settings), tables, layout, scratch, scratch.index, scratch.value
    _, n = kernels.evaluate(board.state, friend, komi, *work)
    inputs = np.zeros(settings.n_inputs)
    inputs[scratch.index[:n]] = scratch.value[:n]
    inputs[layout.fixed_index] = layout.fixed_value
    return inputs


# ----- The estimator -----


class KernelArrays(NamedTuple):
    """The tables and arrays that the kernels work with for one player."""

    tables: kernels.Tables
    layout: kernels.Layout
    scratch: kernels.Scratch
    memory: kernels.Memory


class OpeningTD(StoredLearner):
    """An opening player that learns by temporal differences (Huang 2003); values are in points."""

    kind = "opening-td"
    view = View(
        "Opening by temporal differences",
        "A network that learned openings by self-play, from the final scores of games that an "
        "expert finished. Shades are the moves it prefers.",
        {"9x9": "td-best-9x9"}, order=2,
    )  # fmt: skip
    net_: kernels.Net
    games_: int  # number of openings trained on
    scale: float = 10.0  # lead in points that means a 73 % chance to win; a card may override it

    def __init__(self, *, settings: TDSettings = DEFAULTS) -> None:
        self.settings = settings

    @cached_property
    def kernel_arrays(self) -> KernelArrays:
        """The arrays that the kernels work with."""
        settings = self.settings
        tables, layout = tables_of(*settings.shape), layout_of(settings)
        return KernelArrays(tables, layout, make_scratch(settings), make_memory(settings))

    # ----- Learning -----

    def fit(
        self,
        expert: Expert,
        opponent: Player | None = None,
        *,
        referee: Expert | None = None,
        device: str = "auto",
        run: Run[TDSettings] | None = None,
        on_game: Callable[[int], None] = lambda games: None,
    ) -> Self:
        """Learn from openings that the expert finishes, by self-play unless there is an opponent.

        With `run`, training resumes from its checkpoint and records a learning curve, judged by
        `referee` (by default the expert). `on_game` gets the number of openings played so far.
        """
        only_processor(device)
        self.__dict__.pop("kernel_arrays", None)
        if run and run.start:
            self.net_ = kernels.Net(*(run.start.arrays[key].copy() for key in kernels.Net._fields))
            self.games_ = run.start.step
        else:
            self.draw()
            self._note_curve(referee or expert, run)
        while self.games_ < self.settings.games:
            self.one_game(expert, opponent)
            self._note_curve(referee or expert, run)
            last = self.games_ == self.settings.games
            if run and (last or self.games_ % CHECKPOINT_EVERY == 0):
                run.save(self.games_, self.net_._asdict())
            on_game(self.games_)
        return self

    def draw(self) -> Self:
        """Draw the initial weights; training does so itself."""
        self.net_, self.games_ = make_net(self.settings), 0
        return self

    def _note_curve(self, referee: Expert, run: Run[TDSettings] | None) -> None:
        """Write one point of the learning curve if it is due: games against random openings."""
        settings = self.settings
        if run is None or settings.curve_games == 0 or self.games_ % settings.curve_every:
            return
        seed = 1_000_003 * (settings.seed + 1) + self.games_
        rate = play_match(self, RANDOM_NAME, referee, games=settings.curve_games, seed=seed).rate
        row = {"win_rate": rate.win_rate, "interval": list(rate.interval)}
        run.note(self.games_, **row, mean_score=rate.mean_score)

    def one_game(self, expert: Expert, opponent: Player | None = None) -> tuple[Board, float]:
        """Play the next opening, learn from both sides' moves; return the board and its score."""
        settings, number, net = self.settings, self.games_, self.net_
        tables, layout, scratch, memory = self.kernel_arrays
        komi, trace, rate = float(settings.komi), float(settings.trace), settings.rate(number)
        rng = np.random.default_rng([settings.seed, number, 2])
        stream = _stream(settings.seed, number)
        if opponent is not None:
            stream[0] = rng.integers(0, 2**63, dtype=np.uint64)
        random_plies, against_random = self._draw_randomness(number)
        board = Board(*settings.shape, komi=settings.komi)
        memory.hashes[0] = board.state[SCALARS, HASH]
        for ply in range(settings.opening_plies):
            side = board.turn
            others = side == (WHITE if number % 2 == 0 else BLACK)
            if ply < random_plies or (others and against_random and opponent is None):
                move: int = _random_move(board, stream, region_of(settings))
            elif others and opponent is not None:
                move = _chosen(opponent, board, rng)
            else:
                move = self._explore(board, ply, stream)
            board.push(move)
            memory.side[ply] = side
            kernels.after_ply(
                board.state, ply, memory, komi, net, tables, layout, scratch, rate, trace
            )
        word = np.random.SeedSequence([settings.seed, number, 3]).generate_state(1, np.uint64)[0]
        score = float(expert.finish([board], [int(word >> np.uint64(1))])[0])
        target = min(max(0.5 + score / (2 * settings.largest), _CLIP), 1 - _CLIP)
        last = settings.opening_plies - 1
        kernels.learn(memory, last, target, net, layout, scratch, rate, trace)
        self.games_ += 1
        return board, score

    def _draw_randomness(self, number: int) -> tuple[int, bool]:
        """Draw a game's number of random first plies and whether one side plays at random."""
        settings = self.settings
        rng = np.random.default_rng([settings.seed, number, 1])
        plies = int(rng.integers(settings.random_plies + 1))
        return plies, bool(rng.random() < settings.random_opponent)

    def _explore(self, board: Board, ply: int, stream: NDArray[np.uint64]) -> int:
        """Choose a training move: usually the best, otherwise one drawn by softmax."""
        settings, scratch = self.settings, self.kernel_arrays.scratch
        count = self._rate(board, self.kernel_arrays.memory.hashes, ply + 1)
        count = self._keep(count, self._allowed(board, region_of(settings)))
        if count == 0:
            return PASS
        explore = float(settings.exploration(self.games_))
        temperature = settings.temperature / (2 * settings.largest)
        chosen = kernels.pick(scratch.values, count, explore, temperature, stream)
        return int(scratch.moves[chosen, kernels.MOVE])

    def _rate(self, board: Board, hashes: NDArray[np.int64], count: int) -> int:
        """Rate all moves but those that repeat a position; see `kernels.rate_moves`."""
        tables, layout, scratch, _ = self.kernel_arrays
        terms = float(self.settings.komi), tables, layout, hashes, count, scratch
        return int(kernels.rate_moves(board.state, self.net_, *terms))

    def _allowed(self, board: Board, region: BoolArray | None) -> BoolArray | None:
        """Return the cells to choose from: within a region, and the best by static rules."""
        best = self.settings.knowledge
        if best is None:
            return region
        values = static_move_values(board)
        if region is not None:
            values = np.where(region, values, -np.inf)
        chosen = np.zeros(len(values), np.bool_)
        chosen[np.argsort(-values, kind="stable")[:best]] = True
        return chosen & np.isfinite(values)

    def _keep(self, count: int, allowed: BoolArray | None) -> int:
        """Keep only the rated moves that are allowed; return how many there are."""
        if allowed is None:
            return count
        scratch = self.kernel_arrays.scratch
        kept = np.flatnonzero(allowed[scratch.moves[:count, kernels.CELL]])
        scratch.moves[: len(kept)] = scratch.moves[kept]
        scratch.values[: len(kept)] = scratch.values[kept]
        return len(kept)

    # ----- Evaluating and playing -----

    @property
    def name(self) -> str:
        """Features and encoding."""
        return self.settings.name

    @property
    def opening_plies(self) -> int:
        """The number of opening plies that it has learned to play."""
        return self.settings.opening_plies

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        return np.array([self._value(board) for board in boards], np.float64)

    def _value(self, board: Board) -> float:
        self._check_board(board)
        tables, layout, scratch, _ = self.kernel_arrays
        friend, komi = 3 - board.turn, float(self.settings.komi)
        output, _ = kernels.evaluate(
            board.state,
            friend,
            komi,
            self.net_,
            tables,
            layout,
            scratch,
            scratch.index,
            scratch.value,
        )
        value = ((output if friend == BLACK else 1 - output) - 0.5) * 2 * self.settings.largest
        # Learned with one komi; another komi shifts the score by the difference.
        return float(value - (board.white_bonus - komi))

    def priors(self, board: Board) -> FloatArray:
        """Return a softmax over the values of legal moves; pass only if there is no other move."""
        out = np.zeros(board.rows * board.cols + 1)
        allowed = self._allowed(board, region_of(self.settings))
        moves = [
            p
            for p in board.legal_moves
            if p and (allowed is None or allowed[index_of(p, board.rows, board.cols)])
        ]
        if not moves:
            out[-1] = 1.0
            return out
        values = np.empty(len(moves))
        for i, move in enumerate(moves):
            after = board.copy()
            after.push(move)
            values[i] = self._value(after) * (1 if board.turn == BLACK else -1)
        chances = np.exp((values - values.max()) / self.settings.temperature)
        for move, chance in zip(moves, chances / chances.sum(), strict=True):
            out[index_of(move, board.rows, board.cols)] = chance
        return out

    def best_move(self, board: Board, region: BoolArray | None = None) -> Point:
        """Return the legal move (superko included) after which it values the position most.

        A `region` is the cells to choose from, by default those of its settings.
        """
        self._check_board(board)
        region = region_of(self.settings) if region is None else region
        count = self._rate(board, np.zeros(1, np.int64), 0)
        count = self._keep(count, self._allowed(board, region))
        scratch = self.kernel_arrays.scratch
        order = np.argsort(-scratch.values[:count], kind="stable")
        liked = (board.to_point(raw) for raw in scratch.moves[order, kernels.MOVE])
        return next((move for move in liked if board.is_legal(move)), PASS)

    def _check_board(self, board: Board) -> None:
        rows, cols = self.settings.shape
        if (board.rows, board.cols) != (rows, cols):
            raise TengenError(
                f"{self.name} has learned {rows}x{cols}, not {board.rows}x{board.cols}"
            )
        if not hasattr(self, "net_"):
            raise TengenError(f"{self.name} has learned nothing yet: call fit")

    # ----- Files -----

    def _about(self) -> dict[str, Any]:
        settings = self.settings
        rows, cols = settings.shape
        return {
            "name": f"td-{settings.features.lower()}-{rows}x{cols}",
            "what": f"Opening player {self.name}, learned by temporal differences.",
            "recipe": {**to_plain(settings), "games_played": self.games_},
            "seed": settings.seed,
            "sizes": [(rows, cols)],
        }

    def _tensors(self) -> Tensors:
        """Return the weights as float32."""
        return {key: array.astype(np.float32) for key, array in self.net_._asdict().items()}

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        if card.recipe.get("target", "score") != "score":
            raise ModelError("only players that predict the score can be read")
        learner = cls(settings=from_recipe(TDSettings, card.recipe))
        hidden = learner.settings.hidden
        inputs = learner.settings.n_inputs
        shapes = {"w1": (inputs, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
        for key, shape in shapes.items():
            if tensors[key].shape != shape:
                raise ModelError(f"tensor {key!r} does not have the shape {shape}")
        learner.net_ = kernels.Net(*(tensors[key].astype(np.float64) for key in shapes))
        learner.games_ = int(card.recipe["games_played"])
        learner.scale = card.scale or learner.scale
        return learner


def _stream(seed: int, index: int) -> NDArray[np.uint64]:
    """Return a random generator for the kernels, at the start of stream `index` of a seed."""
    stream = np.empty(1, np.uint64)
    seed_stream(stream, seed, index)
    return stream


@cache
def region_of(settings: TDSettings) -> BoolArray | None:
    """Return the cells that moves are confined to; None for the whole board."""
    if settings.corner is None:
        return None
    cells = np.zeros(settings.shape, np.bool_)
    cells[: settings.corner, : settings.corner] = True
    return cells.ravel()


def _random_move(
    board: Board, stream: NDArray[np.uint64], region: BoolArray | None = None
) -> Point:
    """Draw a random legal move, within a region if given; pass only if there is no other."""
    legal = board.legal_mask()[:-1]
    cells = np.flatnonzero(legal if region is None else legal & region)
    if not len(cells):
        return PASS
    cell = int(cells[kernels.draw(stream, len(cells))])
    return board.to_point(point_at(cell, board.rows, board.cols))


def _chosen(player: Player, board: Board, rng: np.random.Generator) -> Point:
    """Return a player's move; raise `TengenError` if it resigns."""
    move = player.choose(board, rng)
    if move < PASS:
        raise TengenError(f"{player.name} resigned in the opening")
    return move


# ----- Matches -----

Side = OpeningTD | Player | str
"""A trained model (played greedily), a player, or "random" (any legal move)."""


@dataclass
class OpeningMatch:
    """A match that was played: the scores from side A's view, and the openings."""

    scores: list[float] = field(default_factory=list)
    openings: list[list[int]] = field(default_factory=list)

    @property
    def rate(self) -> Rate:
        """Side A's results; the games of a pair are treated as independent."""
        return Rate.of(self.scores)


def play_match(
    a: Side,
    b: Side,
    expert: Expert,
    *,
    games: int,
    seed: int,
    random_plies: int | None = None,
    terms: TDSettings | None = None,
) -> OpeningMatch:
    """Play openings between A, who has Black in even games, and B; the expert finishes them.

    `terms` give board, komi and length; by default those of the model that plays. Each random
    start (2 plies, none if a side plays at random anyway) is played with both colours.
    """
    if terms is None:
        models = [side for side in (a, b) if isinstance(side, OpeningTD)]
        if not models:
            raise TengenError("a match between players needs terms: board, komi and length")
        terms = models[0].settings
    if terms.corner is not None and not all(isinstance(side, OpeningTD | str) for side in (a, b)):
        raise TengenError("only opening players and random keep to a corner")
    if random_plies is None:
        random_plies = 0 if RANDOM_NAME in (a, b) else 2
    match = OpeningMatch()
    for first in range(0, games, _BATCH):
        numbers = range(first, min(first + _BATCH, games))
        boards = [_play_opening(a, b, terms, number, seed, random_plies) for number in numbers]
        words = [np.random.SeedSequence([seed, n, 4]).generate_state(1, np.uint64) for n in numbers]
        scores = expert.finish(boards, [int(word[0] >> np.uint64(1)) for word in words])
        match.scores += [float(s) * (-1) ** n for n, s in zip(numbers, scores, strict=True)]
        match.openings += [[int(move) for _, move in board.moves] for board in boards]
    return match


def _play_opening(
    a: Side, b: Side, terms: TDSettings, number: int, seed: int, random_plies: int
) -> Board:
    """Play one opening of a match."""
    board, region = Board(*terms.shape, komi=terms.komi), region_of(terms)
    # Both games of a pair have the same random first plies; all other draws are a game's own.
    draw: Callable[[Board, Any], Point] = random_point
    start: Any = np.random.default_rng([seed, number // 2, 5])
    rest: Any = np.random.default_rng([seed, number, 6])
    if all(isinstance(side, OpeningTD | str) for side in (a, b)):
        draw, start = partial(_random_move, region=region), _stream(seed, number // 2)
        rest = _stream(seed ^ 0x5DEECE66D if random_plies else seed, number)
    for ply in range(terms.opening_plies):
        side = a if (board.turn == BLACK) == (number % 2 == 0) else b
        if ply < random_plies:
            move = draw(board, start)
        elif isinstance(side, str):
            move = draw(board, rest)
        elif isinstance(side, OpeningTD):
            move = side.best_move(board, region)
        else:
            move = _chosen(side, board, rest)
        board.play(move)
    return board
