"""Review a game: write an annotated record and a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.common import Json, Quiet, Seed, emit, progress, remark

if TYPE_CHECKING:
    from tengen.lab.review import MoveReview, Review

app = typer.Typer(add_completion=False)

DEFAULT_PLAYER = "tengen"


@app.command()
def review(
    file: Annotated[str, typer.Argument(help="A game record; - reads standard input.")],
    game: Annotated[int, typer.Option("--game", min=1, help="Which game of the file.")] = 1,
    playouts: Annotated[
        int, typer.Option("--playouts", min=1, help="Playouts a position; more scatter less.")
    ] = 200,
    player: Annotated[
        str, typer.Option("--player", help="Who judges positions; must be able to analyse.")
    ] = DEFAULT_PLAYER,
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="Model that predicts moves; by the board's size; or none."),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Mistakes and surprises to show.")] = 5,
    ownership: Annotated[
        bool, typer.Option("--ownership", help="Mark ownership on every node of the SGF (TB, TW).")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="The SGF or the page to write; the other lies beside it. FILE.review.sgf."
        ),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Annotate a game: surprises, points lost, final score.

    Writes an SGF that any viewer opens and an HTML page with the curve. Nothing is written when it
    is interrupted.
    """
    from tengen.gtp.analysis_server import limit_visits
    from tengen.lab.review import find_policy, review_game, with_policy
    from tengen.lab.review_page import make_page
    from tengen.lab.review_sgf import annotate
    from tengen.models import write_atomic
    from tengen.players import make_player
    from tengen.records import read_game

    record = read_game(file, game)
    name = "review" if file == "-" else Path(file).stem
    sgf = out or (Path() if file == "-" else Path(file).parent) / f"{name}.review.sgf"
    sgf, page = _side_by_side(sgf, file)
    model, model_name, missing = find_policy(record.rows, record.cols, policy)
    if missing:
        remark(missing, quiet=quiet)
    plain = limit_visits(make_player(player), playouts)
    thinker: Any = with_policy(plain, model)
    guide = "" if thinker is plain else f" and {model_name}"
    thinker.name = f"{player} with {playouts} playouts{guide}"
    with progress("positions", len(record.moves) + 1, quiet=quiet) as bar:
        found = review_game(
            record,
            thinker,
            policy=model,
            policy_name=model_name,
            seed=seed,
            on_position=bar.advance,
        )
    title = f"{Path(file).name}, game {game}" if game > 1 else Path(file).name
    write_atomic(sgf, annotate(found, top=top, ownership=ownership))
    write_atomic(page, make_page(found, title="Review" if file == "-" else title, top=top))
    value = _summary(found, file, game, sgf, page, top)
    emit(value, json=json, text=_words(found, value, top))


def _side_by_side(out: Path, file: str) -> tuple[Path, Path]:
    """Return the names of the record and of the page; neither may be what is read."""
    from tengen.files import refuse_inputs

    if out.suffix.lower() in (".html", ".htm"):
        sgf, page = out.with_suffix(".sgf"), out
    else:
        sgf, page = out, out.with_suffix(".html")
    for place in (sgf, page):
        refuse_inputs(place, [file])
    return sgf, page


def _summary(
    found: Review, file: str, game: int, sgf: Path, page: Path, top: int
) -> dict[str, Any]:
    """Return what was found as plain values."""
    from tengen.board import format_gtp

    rows, cols = found.record.rows, found.record.cols

    def plain(move: MoveReview) -> dict[str, Any]:
        return {
            "move": move.number,
            "colour": {1: "black", 2: "white"}[move.colour],
            "vertex": format_gtp(move.move, rows, cols),
            "lost": round(move.lost, 3),
            "error": round(move.error, 3),
            "winrate_lost": round(move.winrate_lost, 4),
            "best": format_gtp(move.best, rows, cols),
            "line": [format_gtp(p, rows, cols) for p in move.line],
            "probability": move.probability,
            "rank": move.rank,
        }

    ending = found.ending
    return {
        "file": file,
        "game": game,
        "sgf": str(sgf),
        "page": str(page),
        "player": found.player,
        "policy": found.policy or None,
        "seed": found.seed,
        "black": found.side(1),
        "white": found.side(2),
        "mistakes": [plain(m) for m in found.mistakes(top)],
        "doubts": [plain(m) for m in found.doubts(top)],
        "surprises": [plain(m) for m in found.surprises(top)],
        "moves": [plain(m) for m in found.moves],
        "winrates": [round(p.winrate, 4) for p in found.positions],
        "scores": [round(p.score, 3) for p in found.positions],
        "final": None
        if ending is None
        else {
            **ending.count.to_dict(),
            "judge": ending.judge,
            "dead": [format_gtp(p, rows, cols) for p in ending.dead],
        },
    }


def _words(found: Review, value: dict[str, Any], top: int) -> str:
    """Say what was found in a few lines."""
    from tengen.lab.review_sgf import move_words

    lines = []
    for name in ("black", "white"):
        side = value[name]
        text = f"{name}: {side['mean_lost']:.2f} points lost a move, {side['mistakes']} mistakes"
        if side["top1"] is not None:
            text += f", {100 * side['top1']:.0f} % predicted first"
        lines.append(text)
    for title, moves in (
        ("mistake", found.mistakes(top)),
        ("doubtful", found.doubts(top)),
        ("surprise", found.surprises(top)),
    ):
        for move in moves:
            text = move_words(found, move).replace("\n", "; ")
            lines.append(f"{title} at move {move.number}: {text}")
    if value["final"] is not None:
        final = value["final"]
        dead = " ".join(final["dead"]) or "none"
        lines.append(f"counted by {final['judge']}: {final['result']}, dead: {dead}")
    lines.append(f"written: {value['sgf']} and {value['page']}")
    return "\n".join(lines)
