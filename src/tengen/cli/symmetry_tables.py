"""Run and print the tables of `tengen symmetry-network experiment`; parse no command line."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tengen.cli.common import emit, progress, remark, table

if TYPE_CHECKING:
    from tengen.lab.symmetry_network import Tournament


def figure_1(
    folder: Path, tournament: Tournament, *, workers: int, as_json: bool, quiet: bool
) -> None:
    """Let all snapshots of a training play each other."""
    from tengen.lab import symmetry_network
    from tengen.learners.symmetry_network.learner import load_snapshots

    players = load_snapshots(folder)
    pairs = len(players) * (len(players) - 1) // 2
    with progress("pairs", pairs, quiet=quiet) as bar:
        curve = symmetry_network.figure_1(
            *(players, tournament), workers=workers, watch=lambda _done, _of: bar.advance()
        )
    emit(asdict(curve), as_json=as_json)
    if not as_json:
        rows = zip(curve.games, curve.rates, curve.intervals, strict=True)
        shown = [
            (g, f"{100 * r:.1f} %", f"{100 * a:.1f} to {100 * b:.1f}") for g, r, (a, b) in rows
        ]
        table("Figure 1", ("games", "won", "95 %"), shown)
        if curve.correlation is not None and curve.p_value is not None:
            print(f"Spearman {curve.correlation:.2f}, p = {curve.p_value:.2g}")
        print(f"best after {curve.best} games")


def compare(
    which: str,
    train_games: int,
    rate: float,
    size: int,
    seeds: range,
    games: int,
    out: Path | None,
    only: list[str],
    workers: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train the designs of a table and print how they fare."""
    from tengen.lab.symmetry_network import compare_designs
    from tengen.learners.symmetry_network import Settings

    base = Settings(
        games=train_games, linear_games=train_games // 5, rate=rate, anneal=0.4, size=size
    )
    rows = compare_designs(
        which,
        base,
        seeds=list(seeds),
        games=games,
        folder=out,
        only=only,
        workers=workers,
        watch=lambda text: remark(text, quiet=quiet),
    )
    value = {
        "table": which,
        "train_games": train_games,
        "rate": rate,
        "size": size,
        "match_games": games * len(seeds),
        "rows": [asdict(row) for row in rows],
    }
    emit(value, as_json=as_json)
    if not as_json:
        shown = [
            (
                row.name,
                row.weights,
                _share(row.against_first, row.first_interval),
                _share(row.against_maxlib, row.maxlib_interval),
                f"{row.seconds:.0f}",
            )
            for row in rows
        ]
        columns = ("network", "weights", "against the first", "against maxlib", "seconds")
        table(f"{which}, {train_games} games each", columns, shown)


def _share(rate: float | None, interval: tuple[float, float] | None) -> str:
    """Write a share with its interval in percent."""
    if rate is None or interval is None:
        return ""
    return f"{100 * rate:.1f} % [{100 * interval[0]:.0f}, {100 * interval[1]:.0f}]"
