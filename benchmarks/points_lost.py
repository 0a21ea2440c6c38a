"""Compare the points lost by move that two analysis engines find in the same games.

    python benchmarks/points_lost.py ask GAMES.sgf --games 20 --moves 8 --seconds 2 > ask.jsonl
    tengen analysis < ask.jsonl > ours.jsonl
    katago analysis -config analysis.cfg -model MODEL.bin.gz < ask.jsonl > katago.jsonl
    python benchmarks/points_lost.py compare ours.jsonl katago.jsonl

`ask` draws moves at random from each game and writes one query a game in KataGo's analysis
protocol, which `tengen analysis` speaks too: the positions before and after each drawn move. The
same seed draws the same moves, so that the engines may be given different visits or seconds. Both
count area unless `--rules` says otherwise, since the network that searches on 9x9 knows no other.
`compare` reads answers, one JSON object a line with `id`, `turnNumber` and `rootInfo` (`scoreLead`,
Black's; `currentPlayer`, who is to move), in any order; other lines and keys are passed over. A
move has lost the lead before it less the lead after it, as its player sees it. The lead is the
position's; with `--first` it is that of the move that the engine puts first (`moveInfos`, `order`
0), since engines differ in how much of what they looked at is in a position's: KataGo's is a mean
over all moves, ours the best of those looked at most. Printed are Spearman's rank correlation over
all moves that both files know, and an interval at 95 % from games drawn anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tengen.board import BLACK, format_gtp
from tengen.errors import TengenError
from tengen.records import loads
from tengen.statistics import spearman

RESAMPLES = 2000
Losses = dict[str, dict[int, float]]
"""Game -> number of the move -> points lost."""


def ask(
    path: Path,
    games: int,
    moves: int,
    seed: int,
    visits: int,
    rules: str,
    seconds: float | None = None,
) -> None:
    """Print a query for each game."""
    rng = np.random.default_rng(seed)
    records = (
        r for r in loads(path.read_bytes(), str(path)) if len(r.moves) > moves and not r.setup
    )
    for number, record in enumerate(islice(records, games), 1):
        drawn = rng.choice(len(record.moves), moves, replace=False)
        played = [
            ["B" if colour == BLACK else "W", format_gtp(move, record.rows, record.cols)]
            for colour, move in record.moves
        ]
        query: dict[str, Any] = {
            "id": f"game-{number}",
            "moves": played,
            "initialPlayer": played[0][0],
            "rules": rules,
            "komi": record.komi,
            "boardXSize": record.cols,
            "boardYSize": record.rows,
            "analyzeTurns": sorted({int(turn) for m in drawn for turn in (m, m + 1)}),
            "maxVisits": visits,
            "overrideSettings": {"reportAnalysisWinratesAs": "BLACK"},
        }
        if seconds is not None:
            query["overrideSettings"]["maxTime"] = seconds
        print(json.dumps(query))


def losses(path: Path, first: bool = False) -> Losses:
    """Read what each move lost by an engine's answers, by the lead of its first moves or in all.

    Raises
    ------
    TengenError
        If no answer is in the file.
    """
    leads: dict[str, dict[int, tuple[float, str]]] = {}
    for line in path.read_text().splitlines():
        try:
            answer = json.loads(line)
            root = answer["rootInfo"]
            place = str(answer["id"]), int(answer["turnNumber"])
            told = _first(answer["moveInfos"]) if first else root
            lead = float(told["scoreLead"]), str(root["currentPlayer"])
        except (ValueError, TypeError, KeyError):
            continue  # a log, a warning, an error
        if not answer.get("isDuringSearch"):
            leads.setdefault(place[0], {})[place[1]] = lead
    if not leads:
        raise TengenError(f"{path}: has no answer with id, turnNumber and rootInfo")
    return {
        game: {
            turn: (lead - turns[turn + 1][0]) * (1 if player == "B" else -1)
            for turn, (lead, player) in turns.items()
            if turn + 1 in turns
        }
        for game, turns in leads.items()
    }


def _first(moves: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the move that an engine puts first."""
    return min(moves, key=lambda move: int(move["order"]))


def compare(one: Path, other: Path, first: bool = False, seed: int = 0) -> dict[str, Any]:
    """Return Spearman's correlation of two files of answers, with an interval; see `losses`.

    Raises
    ------
    TengenError
        If they have fewer than three moves in common.
    """
    ours, theirs = losses(one, first), losses(other, first)
    games = [
        [(lost, theirs[game][turn]) for turn, lost in turns.items() if turn in theirs[game]]
        for game, turns in ours.items()
        if game in theirs
    ]
    games = [pairs for pairs in games if pairs]
    everything = np.array([pair for pairs in games for pair in pairs]).reshape(-1, 2)
    found = spearman(everything[:, 0], everything[:, 1]) if len(everything) > 2 else None
    if found is None:
        raise TengenError(f"{one}, {other}: have {len(everything)} moves in common, too few")
    rng = np.random.default_rng(seed)
    again = []
    for _ in range(RESAMPLES):
        drawn = [pair for game in rng.integers(len(games), size=len(games)) for pair in games[game]]
        a, b = np.array(drawn).T
        if (drawn_anew := spearman(a, b)) is not None:
            again.append(drawn_anew.r)
    low, high = np.percentile(again, [2.5, 97.5])
    return {
        "games": len(games),
        "moves": len(everything),
        "spearman": found.r,
        "interval": [float(low), float(high)],
        "mean_lost": [float(mean) for mean in everything.mean(0)],
        "gained": [float(share) for share in (everything < 0).mean(0)],
    }


def main() -> None:
    """Ask or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    asking = parts.add_parser("ask")
    asking.add_argument("file", type=Path)
    asking.add_argument("--games", type=int, default=20)
    asking.add_argument("--moves", type=int, default=8, help="drawn from each game")
    asking.add_argument("--visits", type=int, default=100_000)
    asking.add_argument("--seconds", type=float, help="of the wall's clock, for each position")
    asking.add_argument("--rules", default="chinese", help="for both engines, by KataGo's names")
    asking.add_argument("--seed", type=int, default=0)
    comparing = parts.add_parser("compare")
    comparing.add_argument("ours", type=Path)
    comparing.add_argument("theirs", type=Path)
    comparing.add_argument("--first", action="store_true", help="leads of the moves put first")
    options = parser.parse_args()
    try:
        if options.part == "ask":
            ask(
                options.file, options.games, options.moves, options.seed, options.visits,
                options.rules, options.seconds,
            )  # fmt: skip
        else:
            print(json.dumps(compare(options.ours, options.theirs, options.first), indent=1))
    except (TengenError, OSError) as mistake:
        sys.exit(f"points_lost: {mistake}")


if __name__ == "__main__":
    main()
