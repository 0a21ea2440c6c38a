"""Move prediction (Araki 2007): the paper's tables in small on games of our own, and at full scale.

The experiments themselves are in `tengen.learners.move_prediction`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tengen.lab import papers
from tengen.lab.content import Figure, Picture, Plot, Result, Table, line, percent, table
from tengen.lab.pictures import EMPTY, ENEMY, OUTSIDE, OWN, UNKNOWN, heat, pattern
from tengen.lab.steps import Context
from tengen.lab.verdicts import Comparison, above, compare
from tengen.statistics import wald_difference

TRAIN, TEST = "tom9d-train.sgf", "tom9d-dev.sgf"
STRONG = ("kgs6d-train.sgf", "tom9d-train.sgf")
STRONG_TESTS = ("kgs6d-dev.sgf", "tom9d-dev.sgf")


@dataclass(frozen=True)
class Size:
    """How many games are made and learned from."""

    games: int = 400
    test_games: int = 80
    board: int = 9
    sizes: tuple[int, ...] = (50, 100, 200, 400)
    widths: tuple[float, ...] = (0.0, 0.5, 0.9)
    reranked: tuple[int, ...] = (0, 20, 40)
    patterns: int = 12


QUICK = Size()


def quick(context: Context, size: Size = QUICK) -> Result:
    """Repeat Tables I to III on games of the rule player; draw what was learned."""
    from tengen.lab import move_prediction as experiments

    train = sample_games(size.games, size.board, context.seed, context.between(0, 0.2, "game"))
    test = sample_games(size.test_games, size.board, context.seed + 1)
    context.at(0.25, "Table I: widths")
    most = max(size.sizes)
    tables = context.once(
        "move-prediction/tables",
        lambda: {
            "widths": _told(
                context, 0.25, experiments.widths(
                    train, test, games=most, seed=context.seed, values=size.widths
                ),
            ),
            "reranked": _told(
                context, 0.45, experiments.reranked(
                    train, test, games=most, seed=context.seed, values=size.reranked
                ),
            ),
            "sizes": _told(
                context, 0.65,
                (_sized(train, test, games, context.seed) for games in size.sizes),
            ),
        },
    )  # fmt: skip
    context.at(0.9, "patterns")
    last = tables["sizes"][-1]
    figures: list[Figure] = [
        Plot(
            "Table III in small: accuracy by the number of training games",
            "training games", "share of moves foreseen",
            [
                line(f"first {rank}" if rank > 1 else "first choice",
                     [row["games"] for row in tables["sizes"]],
                     [row[f"top{rank}"] for row in tables["sizes"]])
                for rank in (1, 5, 10)
            ],
            bottom=0.0, top=1.0,
        ),
        *telling_patterns(train, most, context.seed, size.patterns),
        *opinions(),
    ]  # fmt: skip
    return Result(
        text=f"The paper's recipe learns from {size.games} games of our rule player against "
        f"itself on {size.board}x{size.board} and foresees the moves of {size.test_games} others "
        f"({last['positions']} positions). The rule player is no expert and easier to foresee in "
        "some places, so these rates are not the paper's; how they move with W, n and the number "
        "of games can be compared. The small boards below are the patterns that tell most: the red "
        "point is the move, black stones are those of whoever moves.",
        tables=shown_tables(tables),
        figures=figures,
        comparisons=[*_small(tables), *rule_rows(tables["reranked"]), *card_rows()],
    )


def _told(context: Context, share: float, rows: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Collect rows of a table, saying how far it is."""
    found = []
    for row in rows:
        found.append({k: v for k, v in row.items() if k not in ("phases", *TIMES)})
        context.at(
            share + 0.03 * len(found), ", ".join(f"{k} {v}" for k, v in list(row.items())[:1])
        )
    return found


TIMES = ("seconds", "processor_seconds", "memory_gb")


def _sized(train: Any, test: Any, games: int, seed: int) -> dict[str, Any]:
    """Train the paper's recipe on so many games and measure it."""
    from tengen.lab import move_prediction as experiments

    return next(iter(experiments.reranked(train, test, games=games, seed=seed, values=(20,)))) | {
        "games": games
    }


def sample_games(games: int, size: int, seed: int, tell: Any = lambda done, of: None) -> Any:
    """Return games of the rule player against itself from random openings, as arrays."""
    from tengen.board import Board, play_random, play_to_end
    from tengen.players import make_player
    from tengen.records import GameRecord
    from tengen.records.arrays import from_records

    player = make_player("static")
    rng = np.random.default_rng(seed)
    records = []
    for number in range(games):
        board = play_random(Board(size), 4, rng)
        play_to_end(board, lambda b: player.choose(b, rng), limit=2 * size * size - 4)
        records.append(GameRecord(rows=size, cols=size, moves=list(board.moves), komi=board.komi))
        tell(number + 1, games)
    return from_records(records)


# ----- Tables -----


def shown_tables(tables: dict[str, list[dict[str, Any]]]) -> list[Table]:
    """Return Tables I, II and III with the paper's figures beside ours."""
    out = []
    if tables.get("widths"):
        rows = [
            [f"{row['width']:g}", percent(row["top1"], row["interval"]),
             percent(papers.MP_WIDTHS[row["width"]])]
            for row in tables["widths"]
        ]  # fmt: skip
        out.append(table("Table I: width factor W", ["W", "first choice", "paper"], rows))
    if tables.get("reranked"):
        columns = ["n"]
        for rank in (1, 5, 10, 20):
            columns += [f"first {rank}", "paper"]
        ranked: list[list[object]] = []
        for row in tables["reranked"]:
            paper = papers.MP_RERANKED.get(row["top"])
            cells: list[object] = [row["top"] or "none"]
            for k, rank in enumerate((1, 5, 10, 20)):
                cells += [percent(row[f"top{rank}"]), percent(paper[k]) if paper else ""]
            ranked.append(cells)
        out.append(table("Table II: candidates re-ranked", columns, ranked))
    if tables.get("sizes"):
        rows = []
        for row in tables["sizes"]:
            paper = papers.MP_SIZES.get(row["games"])
            rows.append(
                [
                    f"{row['games']:,}", percent(row["top1"], row["interval"]),
                    percent(row["top5"]), percent(row["top10"]),
                    " / ".join(f"{100 * p:.1f}" for p in paper[:3]) if paper else "",
                ]
            )  # fmt: skip
        columns = ["training games", "first choice", "first five", "first ten", "paper, %"]
        out.append(table("Tables III and IV: training games", columns, rows))
    return out


def _small(tables: dict[str, list[dict[str, Any]]]) -> list[Comparison]:
    """Set the small tables beside the paper's; other games, so no verdict on the rates."""
    widths = {row["width"]: row for row in tables["widths"]}
    best = max(widths.values(), key=lambda row: row["top1"])
    plain, chosen = tables["reranked"][0], tables["reranked"][1]
    first, last = tables["sizes"][0], tables["sizes"][-1]
    return [
        compare(
            "Table I", "best width factor", None, None, paper_text="0.9 (0.5 to 1.0 tied)",
            our_text=f"{best['width']:g}: {percent(best['top1'], best['interval'])}",
            why="Other games and fewer: the rates cannot be compared.",
        ),
        compare(
            "Table II", "re-ranking 20 candidates helps the first choice", None, None,
            holds=_better(chosen, plain), full=False, paper_text="21.05 to 28.24 %",
            our_text=f"{percent(plain['top1'])} to {percent(chosen['top1'])}",
            why="The re-ranker is told the last four moves, the frequencies are not.",
        ),
        compare(
            "Table III", "more games, better predictions", None, None, holds=_better(last, first),
            paper_text="31.04 to 33.94 % (5,000 to 20,000)", full=False,
            our_text=f"{percent(first['top1'])} to {percent(last['top1'])} ({first['games']} to "
            f"{last['games']})", why="The same direction, on other games.",
        ),
    ]  # fmt: skip


def _better(row: dict[str, Any], other: dict[str, Any]) -> bool | None:
    """Tell whether one row's first choice is the better: None where chance may have made it so."""
    counts = [(each["top1"] * each["positions"], each["positions"]) for each in (row, other)]
    return above(wald_difference(*counts), 0.0)


def rule_rows(rows: list[dict[str, Any]]) -> list[Comparison]:
    """Check the rule behind Table II's equal entries: n candidates change nothing from rank n."""
    worst = max((row["beyond"] for row in rows if row["beyond"] is not None), default=None)
    if worst is None:
        return []
    return [
        compare(
            "Table II",
            "re-ranking n moves changes nothing from rank n on",
            None,
            None,
            holds=worst < 0.005,
            paper_text="equal entries",
            our_text=f"{100 * worst:.2f} points",
            why="Moves of equal frequency share credit, which is all that may differ.",
        )
    ]


def card_rows() -> list[Comparison]:
    """Return what the cards of the shipped predictors say of experts' games."""
    from tengen.models import list_models

    rows = []
    for info in list_models():
        if info.name != "predictor-19x19" or info.card is None:
            continue
        for got in info.card.results:
            for rank, paper in zip((1, 5, 10, 20), papers.MP_SIZES[20000], strict=True):
                if got.what.startswith(f"top{rank} on"):
                    rows.append(
                        compare(
                            "Table IV", f"rank {rank}: {info.name}{got.what[4:].strip('0')}, "
                            "from its card", paper, got.value, got.interval, unit="%",
                            why=f"The full recipe, {got.count:,} moves of other experts; not "
                            "measured in this run but when the model was made.",
                        )
                    )  # fmt: skip
    return rows


# ----- Pictures -----


def telling_patterns(train: Any, games: int, seed: int, count: int) -> list[Picture]:
    """Draw the patterns of the paper's dictionary that say most about where one plays."""
    from tengen.board import Board
    from tengen.learners.move_prediction.paper import PaperSettings, halves, learn_frequencies
    from tengen.learners.move_prediction.pattern_kernels import RING_LIMITS

    settings = PaperSettings(seed=seed, games=games)
    part, _ = halves(train, settings)
    model = learn_frequencies(train, part, settings)
    number = {int(key): i + 1 for i, key in enumerate(model.dictionary.keys)}
    seen: dict[int, int] = {}
    shown: dict[int, list[str]] = {}
    for game in part[:200]:
        record = train.record(int(game))
        board = Board(record.rows, record.cols)
        keys = iter(_keys(train, int(game), settings.templates))
        for colour, point in record.moves:
            if point:
                row, col = point // (record.cols + 1) - 1, point % (record.cols + 1) - 1
                known = [
                    (number[int(key)], ring)
                    for key, ring in zip(next(keys), settings.templates, strict=True)
                    if int(key) in number
                ]
                # The largest known pattern is the one that counts; whole boards tell nobody much.
                if known and known[-1][1] <= LARGEST_SHOWN:
                    feature, ring = known[-1]
                    seen[feature] = seen.get(feature, 0) + 1
                    if feature not in shown:
                        limit = int(RING_LIMITS[ring])
                        shown[feature] = _cells(board.grid(), row, col, colour, limit)
            board.push(point, colour)
    worth = sorted(
        (f for f in shown if seen[f] >= 3), key=lambda f: (-model.frequency[f], -seen[f], f)
    )
    return [
        Picture(f"played {percent(float(model.frequency[f]))} of the time", pattern(shown[f]))
        for f in worth[:count]
    ]


LARGEST_SHOWN = 5
"""The largest template that is drawn, as a ring: up to three points away."""


def _keys(games: Any, game: int, templates: tuple[int, ...]) -> Any:
    """Return the keys of all templates at every move of one game, passes left out."""
    from tengen.learners.move_prediction import paper_kernels
    from tengen.learners.move_prediction.tables import Tables

    rows, cols = int(games.rows[game]), int(games.cols[game])
    tables = Tables.of(rows, cols)
    out = np.zeros((int(games.lengths()[game]), len(templates)), np.int64)
    n = paper_kernels.expert_patterns(
        games.moves, games.colours, games.offsets, np.array([game]), rows, cols,
        tables.empty, tables.hash_keys, tables.ring_of, np.array(templates, np.int64), out,
    )  # fmt: skip
    return out[: int(n)]


def _cells(board: Any, row: int, col: int, mover: int, limit: int) -> list[str]:
    """Return the pattern around a point as lines of cells; the template is d <= `limit`."""
    rows, cols = board.shape
    reach = max(d for d in range(1, 8) if 2 * d <= limit)
    lines = []
    for dr in range(-reach, reach + 1):
        text = ""
        for dc in range(-reach, reach + 1):
            r, c = row + dr, col + dc
            if abs(dr) + abs(dc) + max(abs(dr), abs(dc)) > limit:
                text += UNKNOWN
            elif not (0 <= r < rows and 0 <= c < cols):
                text += OUTSIDE
            else:
                stone = int(board[r, c])
                text += EMPTY if stone == 0 else OWN if stone == mover else ENEMY
        lines.append(text)
    return lines


def opinions() -> list[Picture]:
    """Draw what the shipped predictor expects in a position."""
    from tengen.board import Board
    from tengen.lab.sections.symmetry_network import POSITION
    from tengen.models import has_model, load_policy

    if not has_model("predictor-small"):
        return []
    board = Board(9, moves=POSITION)
    chances = np.asarray(load_policy("predictor-small").priors(board))[:-1]
    order = np.argsort(-chances)[:5]
    labels = {int(i): f"{100 * chances[i]:.0f}" for i in order if chances[i] >= 0.02}
    svg = heat(board, np.sqrt(chances), cell=22)
    text = "".join(
        f'<text x="{22 * (1 + i % 9)}" y="{22 * (1 + i // 9) + 3.5}" font-size="9.5" fill="#fff" '
        f'text-anchor="middle">{label}</text>'
        for i, label in labels.items()
    )
    svg = svg.replace("</svg>", text + "</svg>")
    return [Picture("predictor-small: chances of Black's next move, in %", svg)]
