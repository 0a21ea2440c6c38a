"""Make the games that *Explore* offers before there is a collection: two levels play each other.

    python scripts/make_openings.py [FOLDER]

The databases of the matches lie in the folder, `build/openings` by default; what was played there
before is kept. The games begin on the empty board: those of ladders begin with random moves, which
are no openings.
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

from tengen.records import read_games

ROOT = Path(__file__).parents[1]
OUT = ROOT / "src" / "tengen" / "web" / "levels.sgf.gz"
LEVELS = ("tengen:level=6", "tengen:level=5")
GAMES = {9: 300, 13: 100, 19: 40}  # by the size of the board


def tengen(*arguments: str) -> None:
    """Run a command of this version."""
    subprocess.run([sys.executable, "-m", "tengen", *arguments], check=True)


def played(size: int, folder: Path) -> list[str]:
    """Return the games of one board as SGF, without the comments on times."""
    database, record = folder / f"{size}.sqlite", folder / f"{size}.sgf"
    rules = ["--size", str(size), "--games", str(GAMES[size]), "--openings", "none", "--seed", "1"]
    tengen("arena", "match", *LEVELS, *rules, "--out", str(database))
    tengen("arena", "export", str(database), "--out", str(record))
    texts = [game.utf8_sgf().decode("utf-8") for game in read_games(record)][: GAMES[size]]
    plain = [re.sub(r"(?<![A-Z])C\[(?:\\.|[^\\\]])*\]", "", text) for text in texts]
    return [text.replace("tengen:level=", "Level ") for text in plain]


def main() -> None:
    """Play what is missing, and write all games into one file."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "openings"
    folder.mkdir(parents=True, exist_ok=True)
    games = [game for size in GAMES for game in played(size, folder)]
    OUT.write_bytes(gzip.compress("\n".join(games).encode("utf-8"), mtime=0))
    print(f"{len(games)} games, {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
