"""Measure what KataGo knows of score and owners half way through games, as half_way.py does ours.

    tengen train network --shards-only kgs6d-scored-dev.sgf --out shards/scored
    python benchmarks/half_way_katago.py shards/scored --katago katago --net MODEL.bin.gz

The same games, positions, labels and averages. KataGo is asked through its analysis engine and
sees the moves before, as our network does. With `--end` it is asked about the last position
instead, where nearly all it says must be right: that checks sides, signs and the board's corners.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tengen.board import PASS, format_gtp
from tengen.network import Shard, read_shards
from tengen.network.evaluation import HALF

_SETTINGS = {
    "logToStderr": "false",
    "reportAnalysisWinratesAs": "BLACK",
    "numAnalysisThreads": 2,
    "numSearchThreadsPerAnalysisThread": 1,
    "nnMaxBatchSize": 2,
    "nnCacheSizePowerOfTwo": 16,
    "nnMutexPoolSizePowerOfTwo": 12,
    "nnRandomize": "false",
    "wideRootNoise": 0,
    "ignorePreRootHistory": "false",
}


def query(shard: Shard, game: int, visits: int, at_end: bool) -> dict[str, Any]:
    """Return the question about one game."""
    record = shard.record(game)
    rows, cols, moves = record.rows, record.cols, record.moves
    asked = len(moves) if at_end else min(int(len(moves) * HALF), len(moves) - 1)
    while at_end and moves[asked - 1][1] == PASS:
        asked -= 1
    return {
        "id": str(game),
        "moves": [["BW"[c - 1], format_gtp(p, rows, cols)] for c, p in moves[:asked]],
        "initialStones": [["BW"[c - 1], format_gtp(p, rows, cols)] for c, p in record.setup],
        "initialPlayer": "BW"[moves[0][0] - 1],
        "rules": "japanese" if shard.territory[game] else "chinese",
        "komi": float(shard.komi[game]),
        "boardXSize": cols,
        "boardYSize": rows,
        "maxVisits": visits,
        "includeOwnership": True,
    }


def ask(queries: list[dict[str, Any]], katago: str, net: str) -> dict[str, dict[str, Any]]:
    """Return KataGo's answers by the id of the question."""
    with TemporaryDirectory() as folder:
        config = Path(folder) / "analysis.cfg"
        lines = [f"{name} = {value}\n" for name, value in {**_SETTINGS, "logDir": folder}.items()]
        config.write_text("".join(lines))
        done = subprocess.run(
            [katago, "analysis", "-config", config, "-model", net],
            input="".join(json.dumps(one) + "\n" for one in queries),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for answer in answers:
        if "ownership" not in answer:
            raise SystemExit(f"KataGo: {answer}")
    return {answer["id"]: answer for answer in answers}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards", type=Path)
    parser.add_argument("--katago", default="katago")
    parser.add_argument("--net", required=True)
    parser.add_argument("--visits", type=int, default=1)
    parser.add_argument("--end", action="store_true", help="the last position, as a check")
    options = parser.parse_args()
    rows = []
    for shard in read_shards([options.shards]):
        games = np.flatnonzero(shard.labelled).tolist()
        queries = [query(shard, game, options.visits, options.end) for game in games]
        answers = ask(queries, options.katago, options.net)
        for game, truth in zip(games, shard.ownership[games], strict=True):
            said = answers[str(game)]
            decided = truth != 0
            right = (np.array(said["ownership"])[decided] > 0) == (truth[decided] > 0)
            error = abs(said["rootInfo"]["scoreLead"] - float(shard.score[game]))
            rows.append((100 * float(right.mean()), error))
    table = np.array(rows)
    (owners, score), off = table.mean(0), 1.96 * table.std(0) / len(table) ** 0.5
    print(
        f"{Path(options.net).name}, visits {options.visits}: {len(table)} games, owners "
        f"{owners:.1f} ± {off[0]:.1f} %, score off by {score:.2f} ± {off[1]:.2f} points"
    )


if __name__ == "__main__":
    main()
