"""Read, check and convert collections of game records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.options import Seed, Shown, command, flag, option
from tengen.cli.printing import emit, remark, show

if TYPE_CHECKING:
    from tengen.records import Corpus

app = typer.Typer(no_args_is_help=True)

_Paths = Annotated[
    list[str], typer.Argument(help="Files, folders, .zip, .tar.gz, .tar.bz2; - is standard input.")
]
_SHOWN = 20  # faults told one by one; the rest is only counted


@command(app)
def stat(
    paths: _Paths,
    *,
    shown: Shown,
) -> None:
    """Count games, moves, sizes, results and damage.

    Repaired games count as read; damaged ones are told on standard error with file, game and byte.
    """
    from tengen.records import Corpus
    from tengen.records.corpus import summarise

    corpus = Corpus(paths)
    summary = summarise(corpus)
    _report(corpus, summary.games, shown.quiet)
    value: dict[str, Any] = {
        "games": summary.games,
        "damaged": summary.damaged,
        "moves": summary.moves,
        "sizes": dict(summary.sizes.most_common()),
        "results": dict(summary.results.most_common()),
        "repairs": summary.repairs,
    }
    if shown.json:  # otherwise they are on standard error already
        value["faults"] = [str(fault) for fault in corpus.faults]
    show(value, json=shown.json)


@command(app)
def check(
    paths: _Paths,
    rules: str | None = option(
        None, "Rules to check by; default: each record's own, with simple ko."
    ),
    strict: bool = flag("--strict", "Exit with status 1 if anything is wrong."),
    *,
    shown: Shown,
) -> int:
    """Replay every game on the board and report the moves it refuses."""
    from tengen.board import Rules
    from tengen.records import Corpus
    from tengen.records.corpus import check as replay
    from tengen.records.record import Refusal

    corpus = Corpus(paths)
    games = moves = 0
    refusals: list[Refusal] = []
    for item in replay(corpus, Rules.preset(rules) if rules else None):
        if isinstance(item, Refusal):
            refusals.append(item)
            remark(str(item), quiet=shown.quiet)
        else:
            games, moves = games + len(item), moves + len(item.moves)
    _report(corpus, games, shown.quiet)
    value = {
        "games": games,
        "damaged": corpus.damaged,
        "moves": moves,
        "refused": len(refusals),
        "refusals": [
            {"file": r.file, "game": r.game, "move": r.move, "reason": r.reason} for r in refusals
        ],
    }
    show(value, json=shown.json)
    return 1 if strict and (refusals or corpus.damaged) else 0


@command(app)
def convert(
    paths: _Paths,
    out: str = option(
        ...,
        "Where to: .sgf (one collection), .txt (one line each), .npz (arrays), a folder "
        "(one file each; end it with /), or - for SGF on standard output.",
    ),
    main_line: bool = flag("--main-line", "Leave variations out."),
    unique: bool = flag("--unique", "Leave duplicates and mirror images out."),
    size: int | None = option(None, "Only games on square boards of this size."),
    limit: int | None = option(None, "At most this many games.", "--games", min=1),
    shuffle: bool = flag("--shuffle", "In an order by chance."),
    seed: Seed = 1,
    *,
    shown: Shown,
) -> None:
    """Write games in another form, in UTF-8, damaged ones repaired or left out."""
    from tengen.records import Corpus, writer

    corpus = Corpus(paths)
    if unique:
        corpus = corpus.unique()
    if size is not None:
        corpus = corpus.where(lambda games: (games.rows == size) & (games.cols == size))
    games = writer.write(
        corpus, out, main_line=main_line, limit=limit, shuffle_seed=seed if shuffle else None
    )
    of = f" on {size}x{size}" if size is not None else ""
    which = " (19x19, no stones set up)" if out.endswith(".txt") else ""
    _report(corpus, games, shown.quiet, missing=f"no game{of} to write{which}")
    remark(f"{games:,} games written to {out}", quiet=shown.quiet or out == "-")
    if out != "-":
        emit({"games": games, "damaged": corpus.damaged, "out": out}, json=shown.json)


def _report(
    corpus: Corpus, games: int, quiet: bool, missing: str = "no game could be read"
) -> None:
    """Tell the faults met; when not a single game was read, fail with the first of them."""
    from tengen.errors import RecordError

    refused = [fault for fault in corpus.faults if not fault.repaired]
    if games == 0 and len(refused) == 1:
        raise refused[0].error()
    for fault in corpus.faults[:_SHOWN]:
        remark(f"{fault} ({'repaired' if fault.repaired else 'refused'})", quiet=quiet)
    rest = corpus.damaged + corpus.repaired - min(len(corpus.faults), _SHOWN)
    if rest:
        remark(f"and {rest:,} more", quiet=quiet)
    if games == 0:
        raise RecordError(f"{', '.join(map(str, corpus.paths))}: {missing}")
