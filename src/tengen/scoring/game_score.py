"""The score of a game record: both counts, dead stones, remarks, territory marks; and accuracy.

An unfinished game is not counted: it gets an estimate with its spread. Accuracy is measured on
finished games: a count is exact if it equals the recorded score under the record's rules (RU).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray
from tengen.board import BLACK, PASS, WHITE, Board, Point, Rules, point_at
from tengen.board.counting import (
    Count,
    Method,
    count_both,
    count_by_rules,
    format_result,
    overruled,
)
from tengen.errors import TengenError
from tengen.records import Corpus, GameArrays, GameRecord
from tengen.records.corpus import last_positions
from tengen.records.from_board import territory_marks
from tengen.records.record import board_at, rules_named
from tengen.records.sgf_grammar import GameTree
from tengen.scoring.judging import Judge, Outlook
from tengen.scoring.learner import BlockScorer
from tengen.statistics import wilson

# Least probability of a right count for a game that ended by two passes to count as finished. All
# of 141 training games are above 0.34; all of 281 cut to 65 % of their moves are below 0.13.
_LEAST_PASSED = 0.2
# Least probability of a pass, by the network, for a settled game without passes to have ended. Of
# 300 training games without their last passes, 92 % are above it; of the same games cut to 85 % of
# their moves, and of 300 self-made ones on 9x9, none whose count equals the recorded score is.
LEAST_PASS = 0.01


@dataclass
class GameScore:
    """The scored last position of a game."""

    record: GameRecord
    board: Board
    territory: Count
    area: Count
    seki: BoolArray
    safe: bool
    safe_probability: float
    remarks: list[str]
    estimate: Outlook | None = None
    """The expected outcome of an unfinished game; None for a finished one."""

    @property
    def count(self) -> Count:
        """Return the count under the game's own rules."""
        return self.area if self.board.rules.scoring == "area" else self.territory

    @property
    def score(self) -> float:
        """The score for Black, komi included: the count, or the estimate of an unfinished game."""
        return self.count.score if self.estimate is None else self.estimate.score

    @property
    def result(self) -> str:
        """The score as SGF writes it, such as `B+3.5`; with ± where it is an estimate."""
        if self.estimate is None:
            return self.count.result
        return f"{format_result(round(self.score, 1))} ± {self.estimate.spread:.0f}"

    @property
    def dead(self) -> list[Point]:
        """The dead stones."""
        return self._points(self.territory.dead)

    def _points(self, mask: BoolArray) -> list[Point]:
        rows, cols = mask.shape
        marked = np.flatnonzero(mask.ravel()).tolist()
        return [self.board.to_point(point_at(i, rows, cols)) for i in marked]

    def __repr__(self) -> str:
        return f"<GameScore: {self.result}, {'safe' if self.safe else 'not safe'} to score>"

    def __str__(self) -> str:
        facts = self.to_dict()
        lines = [f"{facts['file']}, game {facts['game']}"] if self.record.file else []
        lines += [
            self.picture(),
            f"dead: {' '.join(facts['dead']) or 'none'}",
            f"seki: {' '.join(facts['seki']) or 'none'}",
        ]
        both = f"by territory {self.territory.result}, by area {self.area.result}"
        recorded = f"recorded: {facts['recorded']}"
        if self.estimate is None:
            safe = "safe to score" if self.safe else "not safe to score"
            lines += [self.count.explain(), both, recorded]
            lines.append(f"{safe} ({self.safe_probability:.0%} sure)")
        else:
            lines += [
                f"not finished; estimate: {self.result} points, one standard deviation, "
                f"by {self.estimate.by}",
                f"if it ended here: {both}",
                recorded,
            ]
        return "\n".join(lines + self.remarks)

    def _repr_html_(self) -> str:
        """Show the board with the owner of each point in a notebook."""
        estimate = None if self.estimate is None else self.estimate.ownership
        counted = (self.area.owner == BLACK) * 1.0 - (self.area.owner == WHITE)
        owners = counted.ravel() if estimate is None else estimate
        return f"<p>{self.result}</p>{self.board.svg(ownership=owners, dead=self.dead)}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "file": self.record.file,
            "game": self.record.game,
            "finished": self.estimate is None,
            "result": self.count.result if self.estimate is None else None,
            "estimate": None
            if self.estimate is None
            else {
                "score": self.estimate.score,
                "spread": self.estimate.spread,
                "result": format_result(round(self.estimate.score, 1)),
                "by": self.estimate.by,
            },
            "recorded": str(self.record.result),
            "territory": _totals(self.territory),
            "area": _totals(self.area),
            "dead": [str(point) for point in self.dead],
            "seki": [str(point) for point in self._points(self.seki)],
            "safe": self.safe,
            "safe_probability": self.safe_probability,
            "remarks": self.remarks,
        }

    def picture(self) -> str:
        """Draw the counted board: dead stones in small letters, territory by + and -, seki *."""
        grid, dead = self.territory.grid, self.territory.dead
        drawn = np.full(grid.shape, ".", dtype="<U1")
        drawn[self.count.territory(BLACK)] = "+"
        drawn[self.count.territory(WHITE)] = "-"
        drawn[self.territory.seki & (grid == 0)] = "*"
        for colour, living, dying in ((BLACK, "X", "x"), (WHITE, "O", "o")):
            drawn[(grid == colour) & ~dead] = living
            drawn[(grid == colour) & dead] = dying
        return "\n".join(" ".join(row) for row in drawn)

    def marked(self) -> GameTree:
        """Return a copy of the game's tree with TB and TW at the end of its main line."""
        tree = self.record.tree
        twin = GameTree()
        for index, node in enumerate(tree.nodes):
            twin.add(tree.parents[index], dict(node))
        last = twin.nodes[list(tree.main_line())[-1]]
        for name in ("TB", "TW"):
            last.pop(name, None)
        last.update(territory_marks(self.count))
        return twin


def score_record(
    scorer: BlockScorer,
    record: GameRecord,
    *,
    dead: Sequence[str] = (),
    alive: Sequence[str] = (),
    judge: Judge | None = None,
) -> GameScore:
    """Score a record's last position; `dead` and `alive` overrule the blocks at those vertices.

    `judge` estimates unfinished games; one with overruled blocks is treated as finished.
    """
    board = board_at(record)
    reading = scorer.read(board.grid())
    dead_mask = overruled(reading.dead, board, dead=dead, alive=alive)
    territory, area = count_both(board, dead_mask)
    remarks = _remarks(record, board)
    safe = reading.safe and not remarks
    remarks += _about_rules(record)
    if dead or alive:
        remarks.append("some blocks were judged by you")
    score = GameScore(
        record, board, territory, area, territory.seki & (board.grid() > 0) & ~dead_mask,
        safe, reading.safe_probability, remarks,
    )  # fmt: skip
    judge = judge or Judge(scorer)
    if not (dead or alive or _is_finished(score, reading.safe, judge.pass_chance)):
        score.estimate = judge.outlook(board)
    return score


def _is_finished(
    score: GameScore, settled: bool, pass_chance: Callable[[Board], float | None]
) -> bool:
    """Return whether a game was played to its end rather than broken off.

    Two passes end a game, unless the position is wide open. A position without moves is finished if
    its count is more likely right than not. Otherwise the scorer must trust its count (`settled`),
    the record must give the same score, and `pass_chance`, unless None, be at least LEAST_PASS.
    """
    record = score.record
    if _passed_twice(record):
        return score.safe_probability >= _LEAST_PASSED
    if not record.moves:
        return score.safe_probability > 0.5
    recorded = record.result.score if settled else None
    counts = (score.territory.score, score.area.score)
    if recorded is None or all(abs(recorded - count) >= 0.01 for count in counts):
        return False
    chance = pass_chance(score.board)
    return chance is None or chance >= LEAST_PASS


def _passed_twice(record: GameRecord) -> bool:
    return len(record.moves) >= 2 and all(point == PASS for _, point in record.moves[-2:])


def _remarks(record: GameRecord, board: Board) -> list[str]:
    """Return what makes a count doubtful regardless of the stones."""
    remarks = []
    if record.result.kind in ("resign", "time", "forfeit"):
        how = {"resign": "resignation", "time": "loss on time"}.get(record.result.kind, "forfeit")
        remarks.append(f"the game ended by {how}, not by counting")
    if not record.moves:
        remarks.append("there are no moves, only a position")
    elif not _passed_twice(record):
        remarks.append("the game did not end by two passes")
    if not board.grid().any():
        remarks.append("the board is empty")
    return remarks


def _about_rules(record: GameRecord) -> list[str]:
    """Return a remark on the rules of the count if the record names none or unknown ones."""
    if not record.rules:
        return ["the record names no rules: counted by Japanese ones"]
    try:
        Rules.preset(record.rules)
    except TengenError:
        counted = rules_named(record.rules).name.capitalize()
        return [f"the rules {record.rules!r} are not known here: counted by {counted} ones"]
    return []


def _totals(count: Count) -> dict[str, Any]:
    return {"black": count.black, "white": count.white, "result": count.result}


# ----- Accuracy -----

Grid = NDArray[np.int8]
Progress = Callable[[str, int, int], None]
"""Called with the name of a scorer, the games done and their number."""
_ROUNDING = 0.01  # scores that differ by less are equal


@dataclass
class ScoredGame:
    """A finished game: its last position and its recorded score."""

    grid: Grid
    taken: tuple[int, int]
    komi: float
    handicap: int
    rules: Rules
    score: float
    record: Callable[[], GameRecord]  # returns its record

    def margin(self, dead: BoolArray, method: Method) -> float:
        """Return the score for Black, komi included, given the dead stones."""
        return count_by_rules(
            self.grid, dead, self.rules, method=method, komi=self.komi, prisoners=self.taken,
            handicap=self.handicap,
        ).score  # fmt: skip


def read_scored_games(files: Sequence[str | Path]) -> list[ScoredGame]:
    """Read the last positions of all games with a counted result."""
    games: GameArrays = Corpus(list(files)).as_arrays()
    games = games.where(np.isfinite(games.score))
    if not len(games):
        raise TengenError(f"{', '.join(map(str, files))}: no games with a counted result")
    grids, taken = last_positions(games)
    return [
        ScoredGame(
            np.ascontiguousarray(grids[i][: games.rows[i], : games.cols[i]]),
            (int(taken[i, 0]), int(taken[i, 1])),
            float(games.komi[i]),
            int(games.handicap[i]),
            rules_named(str(games.rules[i])),
            float(games.score[i]),
            lambda i=i: games.record(i),  # type: ignore[misc]
        )
        for i in range(len(games))
    ]


@dataclass
class Accuracy:
    """The accuracy of counts against recorded results."""

    off: list[float] = field(default_factory=list)
    """The error of each count in points; infinite if there is none."""
    winners: int = 0  # games with the right winner
    seconds: float = 0.0

    @property
    def games(self) -> int:
        """The number of games, including those without a count."""
        return len(self.off)

    def add(self, margin: float, game: ScoredGame) -> bool:
        """Compare one count with the record; return whether it is exact."""
        self.off.append(abs(margin - game.score))
        self.winners += bool(np.sign(margin) == np.sign(game.score))
        return self.off[-1] < _ROUNDING

    def within(self, points: int) -> int:
        """Return how many counts are off by at most this many points."""
        return sum(off < points + _ROUNDING for off in self.off)

    def rates(self) -> dict[str, Any]:
        """Return the fractions of exact games (with Wilson's interval) and right winners."""
        n = max(self.games, 1)
        return {
            "exact": self.within(0) / n,
            "exact_interval": list(wilson(self.within(0), self.games)),
            "winner": self.winners / n,
            "seconds_per_game": self.seconds / n,
        }


def evaluate(
    scorer: BlockScorer,
    games: Sequence[ScoredGame],
    *,
    method: Method = "careful",
    progress: Progress = lambda name, done, of: None,
) -> dict[str, Any]:
    """Score games and compare with their recorded results."""
    scorer.read(np.array([[0, 1, 2], [1, 1, 2], [0, 1, 2]], np.int8))  # compile before timing
    ours = Accuracy()
    begin = time.process_time()
    safe = exact_when_safe = 0
    for number, game in enumerate(games, 1):
        reading = scorer.read(game.grid)
        exact = ours.add(game.margin(reading.dead, method), game)
        safe += reading.safe
        exact_when_safe += reading.safe and exact
        progress("tengen", number, len(games))
    ours.seconds = time.process_time() - begin
    return {
        "games": ours.games,
        **ours.rates(),
        "within1": ours.within(1) / ours.games,
        "safe": safe / ours.games,
        "exact_when_safe": exact_when_safe / safe if safe else None,
        "count": method,
    }
