"""The commands `score`, `predict`, `review`, `explore` and `games`."""

from __future__ import annotations

import json as encoder
import time
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import typer

from tengen.commands.options import Records, Seed, WorkOptions, argument, command, flag, option
from tengen.commands.printing import Shown, table
from tengen.compiling import disable_jit_unless_cached
from tengen.errors import ModelError, RecordError, SpecError, TengenError
from tengen.files import refuse_inputs, write_atomic
from tengen.reviews import ReviewSettings

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.explorer import Answer
    from tengen.network import Evaluation
    from tengen.records import Corpus
    from tengen.records.corpus import PackedGame
    from tengen.reviews.game import Review
    from tengen.scoring import BlockScorer
    from tengen.scoring.judging import Judge

app = typer.Typer()
collections = typer.Typer(no_args_is_help=True)

_TOGETHER = 16  # games per job: one takes milliseconds
_ONE_GAME = 30_000  # bytes: a long game with comments


@command(app)
def score(
    files: Records,
    dead: list[str] | None = option(None, "Treat the block at this vertex as dead."),
    alive: list[str] | None = option(None, "Treat the block at this vertex as alive."),
    out: Path | None = option(None, "Write copies with TB and TW to this file."),
    model: str = option("scorer", "Name or file of the scorer."),
    boards: bool = flag("--boards", "Show the board of every game."),
    *,
    work: WorkOptions,
    shown: Shown,
) -> None:
    """Score finished games and estimate unfinished ones.

    One game is shown with its board, dead stones and both counts, several as a table. Games that
    cannot be read or scored are listed at the end.
    """
    if len(files) == 1 and _is_one_game(Path(files[0])):
        _do_without_compiling("scoring.kernels", shown)
    from tengen.parallel import map_jobs
    from tengen.records.corpus import packed_games
    from tengen.scoring import BlockScorer

    if out is not None:
        refuse_inputs(out, files)
    BlockScorer.load(model)  # reject a wrong name before the first game
    faults: list[str] = []
    games = list(packed_games(files, faults.append))
    unread = len(faults)
    scored: list[dict[str, Any]] = []
    jobs = (games[first : first + _TOGETHER] for first in range(0, len(games), _TOGETHER))
    pages = boards or len(games) == 1
    count = partial(_score, model, dead or (), alive or (), pages, out is not None)
    with shown.progress() as bar:
        for found in map_jobs(count, jobs, **vars(work)):
            bar.advance("games", len(found), len(games))
            faults += [one["fault"] for one in found if "fault" in one]
            scored += [one for one in found if "fault" not in one]
    if not scored:
        why = f" ({faults[0]}; {len(faults) - 1} more)" if faults else ""
        none = f"{', '.join(files)}: no game could be scored{why}"
        raise TengenError(faults[0] if len(faults) == 1 else none)
    texts, marked = ([one.pop(key) for one in scored] for key in ("text", "marked"))
    if out is not None:
        write_atomic(out, b"\n".join(marked) + b"\n")
    if not shown.as_json(scored):
        print("\n\n".join(texts)) if pages else _print_scores(scored)
    shown.faults(faults)
    if unread and len(files) > 1:
        raise TengenError(f"{unread} could not be read; the other games were scored")


def _do_without_compiling(module: str, shown: Shown) -> None:
    """Let a command with little to do run kernels as plain Python if they are not compiled."""
    if disable_jit_unless_cached(module):
        shown.remark("tengen: working without compiled kernels (tengen compile)")


def _is_one_game(path: Path) -> bool:
    """Return whether a file is the record of one game; archives are not."""
    try:
        small = path.is_file() and path.stat().st_size < _ONE_GAME  # a pipe can be read only once
        return small and path.read_bytes().count(b"SZ[") == 1
    except OSError:
        return False  # reported when it is read


def _score(
    model: str,
    dead: Sequence[str],
    alive: Sequence[str],
    pages: bool,
    marks: bool,
    games: list[PackedGame],
) -> list[dict[str, Any]]:
    """Score some games: values, text and marked copy of each, or a fault; runs in a worker."""
    from tengen.records.sgf_grammar import format_tree
    from tengen.scoring.game_score import score_record

    scorer, judge = _tools(model)
    found: list[dict[str, Any]] = []
    for game in games:
        try:
            score = score_record(scorer, game.record(), dead=dead, alive=alive, judge=judge)
        except TengenError as wrong:
            place = "" if game.file in str(wrong) else f"{game.file}: game {game.game}: "
            found.append({"fault": f"{place}{wrong}"})
        else:
            text = str(score) if pages else ""
            marked = format_tree(score.marked()) if marks else b""
            found.append({**score.to_dict(), "text": text, "marked": marked})
    return found


@lru_cache(maxsize=2)
def _tools(model: str) -> tuple[BlockScorer, Judge]:
    """Load a model once per process."""
    from tengen.scoring import BlockScorer
    from tengen.scoring.judging import Judge

    scorer = BlockScorer.load(model)
    return scorer, Judge(scorer)


def _print_scores(values: list[dict[str, Any]]) -> None:
    """Print one line per game, and how many were finished, safe, and as recorded."""
    rows = [
        (
            f"{Path(value['file']).name}, {value['game']}",
            value["result"] or "{result} ± {spread:.0f}".format(**value["estimate"]),
            "" if value["recorded"] in ("", "?") else value["recorded"],
            "safe" if value["safe"] else "" if value["finished"] else "unfinished",
            f"{value['safe_probability']:.0%}",
            len(value["dead"]),
        )
        for value in values
    ]
    table("", ["game", "score", "recorded", "", "sure", "dead stones"], rows)
    done = [value for value in values if value["finished"]]
    recorded = [value for value in done if value["recorded"] not in ("", "?")]
    same = sum(value["result"] == value["recorded"] for value in recorded)
    print(
        f"{len(values):,} games: {len(done):,} finished, {sum(v['safe'] for v in values):,} safe"
        + (f", {same:,} of {len(recorded):,} as recorded" if recorded else "")
        + ("; scores with ± are estimates" if len(done) < len(values) else "")
    )


@command(app)
def predict(
    file: str = argument("A game record; - reads standard input."),
    move: int | None = option(None, "The position before this move (the last one).", min=1),
    game: int = option(1, "Which game of the file.", min=1),
    model: str | None = option(None, "Name or path; by default the best one for the board."),
    top: int = option(10, "Number of moves to list.", min=1),
    ownership: bool = flag(
        "--ownership", "Also show who will own each point, and each group's chance of survival."
    ),
    out: Path | None = option(None, "With --ownership: write a picture (SVG)."),
    *,
    shown: Shown,
) -> None:
    """Print the board before move N with the likely moves, best first as a, b, c, ..."""
    if model is None:
        _do_without_compiling("network.engine_kernels", shown)
    import numpy as np

    from tengen.board import BLACK, format_gtp, point_at
    from tengen.models import load_policy
    from tengen.models.registry import policy_for
    from tengen.network import DeepNetwork
    from tengen.records import read_game
    from tengen.records.record import board_at

    if out is not None:
        refuse_inputs(out, [file])
        if not ownership:
            raise SpecError("--out needs --ownership")
    record = read_game(file, game)
    board = board_at(record, move)
    number = move or len(record.moves) + 1
    played = record.moves[number - 1][1] if number <= len(record.moves) else None
    rows, cols = board.rows, board.cols
    name = model or policy_for(rows, cols)
    policy = load_policy(name)
    view = policy.evaluate([board])[0] if isinstance(policy, DeepNetwork) else None
    priors = policy.priors(board) if view is None else view.priors
    order = [int(i) for i in np.argsort(-priors, kind="stable")[:top] if priors[i] > 0]
    vertices = [format_gtp(point_at(index, rows, cols), rows, cols) for index in order]
    side = "black" if board.turn == BLACK else "white"
    moves = zip(vertices, map(float, priors[order]), strict=True)
    position = {"file": file, "game": game, "move": number, "to_play": side, "model": name}
    result: dict[str, Any] = {
        **position,
        "played": None if played is None else format_gtp(played, rows, cols),
        "moves": [{"move": vertex, "probability": chance} for vertex, chance in moves],
        "win_probability": None if view is None else view.win_probability,
        "score": None if view is None else view.score,
    }
    if ownership:
        if view is None:
            raise ModelError(f"{name} does not predict ownership")
        result |= _survival(board, view, out, shown)
    if not shown.as_json(result):
        _print_prediction(board, order, result)


def _survival(board: Board, view: Evaluation, out: Path | None, shown: Shown) -> dict[str, Any]:
    """Return owners and groups with their chances, and draw them."""
    from tengen.scoring.judging import draw_survival, survival

    groups = survival(board, view.ownership)
    if out is not None:
        write_atomic(out, draw_survival(board, groups) + "\n")
        shown.remark(f"picture: {out}")
    return {
        "ownership": view.ownership.reshape(board.rows, board.cols).tolist(),
        "groups": [group.to_dict() for group in groups],
    }


def _print_prediction(board: Board, order: list[int], result: dict[str, Any]) -> None:
    """Print the board with letters on the likely moves, whose indices are `order`."""
    from tengen.board.counting import format_result
    from tengen.board.drawing import format_ascii

    letters = dict(zip(order, ascii_lowercase, strict=False))
    on_board = {index: letter for index, letter in letters.items() if index < board.grid().size}
    print(format_ascii(board.grid(), on_board))
    print(f"move {result['move']}, {result['to_play']} to play")
    for index, each in zip(order, result["moves"], strict=True):
        mark = "  played" if each["move"] == result["played"] else ""
        chance = f"{100 * each['probability']:6.2f} %"
        print(f"{letters.get(index, ' ')} {each['move']:>4} {chance}{mark}")
    if result["score"] is not None:
        expected = format_result(round(result["score"], 1))
        chance = f"{100 * result['win_probability']:.0f} %"
        print(f"Black's chance {chance}, expected score {expected}")
    if "groups" in result:
        cells = [
            (g["stones"][0], g["colour"], len(g["stones"]), f"{g['survival']:.0%}")
            for g in result["groups"]
        ]
        table("Survival", ["group", "colour", "stones", "chance"], cells)


@command(app)
def review(
    files: Records,
    settings: ReviewSettings,
    game: int | None = option(None, "Only this game of the file.", min=1),
    out: Path | None = option(
        None,
        "One game: the SGF or the page to write, the other is written next to it; "
        "FILE.review.sgf. Several games: the folder; FILE.review.",
    ),
    resume: bool = flag("--resume", "Continue the reviews in the folder."),
    player_name: str | None = option(
        None,
        "Several games: also write the worst positions of this player, as a page to print "
        "and as problems.",
    ),
    *,
    work: WorkOptions,
    shown: Shown,
) -> None:
    """Review games: points lost by each move, better moves, surprises, the final score.

    A first pass evaluates every position once; then the doubtful moves are searched, with --quick
    only what would be a mistake, by few visits. One game gives an annotated SGF and a page that
    opens in any browser; a first version of the page is written after the first pass. Several games
    fill a folder with one page per game, an index, a table of all moves and a summary of the
    players; --resume continues.
    """
    from tengen.reviews.batch import review_library
    from tengen.reviews.player import write_player
    from tengen.web.tasks import review_page

    jobs, faults = _read_games(files, game)
    if len(jobs) == 1 and not faults and not Path(files[0]).is_dir() and not resume:
        if player_name is not None:
            raise TengenError("--player-name is for the reviews of several games")
        _review_one(jobs[0], files[0], settings, out, shown)
        return
    folder = _review_folder(files, out)
    begin = time.monotonic()
    with shown.progress() as bar:
        games = review_library(
            jobs, folder, settings, review_page, unread=faults, resume=resume, **vars(work),
            on_game=lambda title: bar.advance("games", 1, len(jobs), title),
        )  # fmt: skip
    shown.faults([*faults, *(each["fault"] for each in games if each["fault"])])
    seconds = round((time.monotonic() - begin) / len(games), 2)
    good = [each for each in games if "summary" in each]
    values = []
    for each in good:
        place = folder / "games" / f"{each['number']:06}"
        files_ = {"sgf": f"{place}.sgf", "page": f"{place}.html"}
        found = {key: each[key] for key in ("file", "game", "summary")}
        values.append({**found, **files_, "moves": each["rows"], "seconds": seconds})
    pages = [] if player_name is None else write_player(folder, good, player_name)
    if not shown.as_json(values):
        _print_reviews(len(values), folder, pages)


def _read_games(files: list[str], game: int | None) -> tuple[list[PackedGame], list[str]]:
    """Return the games, or one of a file by its number, and what is wrong with the others."""
    from tengen.records.corpus import packed_games

    faults: list[str] = []
    if game is not None and len(files) != 1:
        raise TengenError(f"--game {game}: of which file? {', '.join(files)}")
    jobs = list(packed_games(files, faults.append))
    if game is not None:
        jobs, faults = [job for job in jobs if job.game == game][:1], []
        if not jobs:
            raise TengenError(f"{files[0]}: there is no game {game}")
    if not jobs:
        raise TengenError(f"{', '.join(files)}: no game could be read")
    return jobs, faults


def _print_reviews(games: int, folder: Path, pages: Sequence[Path]) -> None:
    """Print the summary of the reviews in a folder."""
    from tengen.reviews.strength import LEAST_GAMES

    summary = encoder.loads((folder / "summary.json").read_text(encoding="utf-8"))
    everybody = summary["all"]
    lost = everybody["mean_points_lost"] or 0.0
    print(f"{games} games, {everybody['moves']} moves: {lost:.2f} points lost per move")
    for player in summary["players"]:
        told = [each["told"] for each in player["estimates"] if each["games"] >= LEAST_GAMES]
        if told:
            print(f"{player['name']}: estimated rank {'; '.join(told)}")
    written = [folder / "index.html", folder / "moves.csv", folder / "games", *pages]
    print(f"written: {', '.join(map(str, written))}")


def _review_one(
    job: PackedGame, file: str, settings: ReviewSettings, out: Path | None, shown: Shown
) -> None:
    from tengen.reviews.annotate import annotate
    from tengen.reviews.game import find_reviewer, review_game
    from tengen.web.tasks import review_page

    begin = time.monotonic()
    record = job.record()
    path = Path("Review" if file == "-" else file)
    title = f"{path.name}, game {job.game}" if job.game > 1 else path.name
    out = out or path.with_name(f"{path.stem if file != '-' else 'review'}.review.sgf")
    is_page = out.suffix.lower() in (".html", ".htm")
    sgf = out.with_suffix(".sgf") if is_page else out
    page = out if is_page else out.with_suffix(".html")
    for place in (sgf, page):
        refuse_inputs(place, [file])

    def show_first(found: Review) -> None:
        write_atomic(page, review_page(found, title))
        shown.remark(f"first pass: {found.sides()}; written: {page}")

    with shown.progress() as step:
        reviewer = find_reviewer(record.rows, record.cols, settings)
        found = review_game(record, reviewer, seed=settings.seed, on_step=step, on_first=show_first)
    write_atomic(sgf, annotate(found, top=settings.top, ownership=settings.ownership))
    write_atomic(page, review_page(found, title))
    place_of = {"file": file, "game": job.game, "sgf": str(sgf), "page": str(page)}
    moves = [move.to_dict() for move in found.moves]
    seconds = round(time.monotonic() - begin, 2)
    value = {**place_of, "moves": moves, "summary": found.summary(), "seconds": seconds}
    if not shown.as_json([value]):
        print(f"{found.words(settings.top)}\nwritten: {sgf} and {page}")


def _review_folder(files: list[str], out: Path | None) -> Path:
    """Return the folder for the reviews of several games; fail if it is an input or inside one."""
    first = Path("review" if files[0] == "-" else files[0]).resolve()
    name = first.name if first.is_dir() else first.name.split(".")[0]
    folder = out or (Path(files[0]).parent if files[0] != "-" else Path()) / f"{name}.review"
    if out is not None and out.suffix.lower() in (".sgf", ".html", ".htm"):
        raise TengenError(f"--out {out}: reviews of several games go to a folder")
    for file in files:
        if file != "-" and Path(file).resolve() in (folder.resolve(), *folder.resolve().parents):
            raise TengenError(f"--out {folder}: lies in what is read; name another folder")
    return folder


@command(app)
def explore(
    games: Records,
    moves: str = option("", 'The position: "Q16 D4", Black first; `pass` too.'),
    corner: bool = flag("--corner", "Only the corner of the moves."),
    size: str | None = option(None, "Board: 9, or 9x13 (rows x columns). Default: most games'."),
    top: int = option(12, "Number of moves to list.", min=1),
    plies: int = option(60, "Moves of each game to index.", min=1, max=400),
    index: Path | None = option(None, "File of the index; made if it does not exist."),
    rebuild: bool = flag("--rebuild", "Make the index again."),
    models: bool = option(True, "Show the models' probabilities.", "--models/--no-models"),
    out: Path | None = option(None, "Write the picture to this file (SVG)."),
    csv: Path | None = option(None, "Write the moves to this file (CSV)."),
    *,
    shown: Shown,
) -> None:
    """Show the next moves of a position with counts, results, dates and the models' predictions.

    Mirror images, rotations and swapped colours count together. The first query of a collection
    builds an index, which is used until the files change.
    """
    from tengen.arena.match import parse_board_size
    from tengen.board import Board, Rules
    from tengen.explorer import explore as ask
    from tengen.explorer import index_of_games, picture
    from tengen.models.registry import Opinions, opinions_on

    if index is not None:
        refuse_inputs(index, games)
    for written in filter(None, (out, csv)):
        refuse_inputs(written, [*games, *filter(None, [index])])
    faults: list[str] = []
    remarks: list[str] = []
    with shown.progress() as bar:
        openings = index_of_games(
            games, index, plies=plies, rebuild=rebuild, on_games=partial(bar.advance, "games read"),
            on_fault=faults.append, on_remark=remarks.append,
        )  # fmt: skip
    shown.faults(faults)
    for words in remarks:
        shown.remark(words)
    rows, cols = parse_board_size(size or next(iter(openings.about.sizes)))
    board = Board(rows, cols, rules=Rules.preset("japanese"))
    for number, name in enumerate(moves.replace(",", " ").split(), 1):
        try:
            board.play(name)
        except TengenError as wrong:
            raise TengenError(f"--moves, move {number}: {wrong}") from None
    asked = opinions_on(rows, cols) if models else Opinions()
    answer = ask(
        openings, board, corner=corner, policies=asked.policies, evaluators=asked.evaluators,
        limit=top,
    )  # fmt: skip
    if out is not None:
        write_atomic(out, picture(answer) + "\n")
        shown.remark(f"picture: {out}")
    if csv is not None:
        write_atomic(csv, answer.csv())
        shown.remark(f"table: {csv}")
    if not shown.as_json({**answer.to_dict(), "models": asked.names}):
        _print_openings(answer, asked.names)


def _print_openings(answer: Answer, names: dict[str, str]) -> None:
    from tengen.board import BLACK
    from tengen.explorer.answers import cells

    side = "Black" if answer.board.turn == BLACK else "White"
    print(answer.ascii())
    if not answer.moves:
        games = f"{answer.collection:,} games was here within {answer.plies} moves"
        print(f"{side} to play: none of {games}")
        return
    letters = {id(move): letter for letter, move in answer.marks().items()}
    rows = []
    for move in answer.moves:
        vertex, *numbers = cells(move, list(names))
        marked = f"{letters.get(id(move), ' ')} {vertex}"  # one column, to fit 80 characters
        years = dict.fromkeys(filter(None, (move.first[:4], move.last[:4])))
        rows.append([marked, *numbers, "-".join(years)])
    where = f" in the {answer.corner} corner" if answer.corner else ""
    games = "times" if answer.corner else "games"
    print(
        f"{side} to play{where}: {answer.games:,} {games} (collection: {answer.collection:,} games)"
    )
    table("", ["move", games, "share", "Black\nwins", *names, "years"], rows)
    if answer.corner:
        print(f"{side} played elsewhere at first {answer.elsewhere:,} times")
    if names:
        print("; ".join(f"{asked}: {name}" for asked, name in names.items()))


@command(collections)
def stat(paths: Records, *, shown: Shown) -> None:
    """Count games, moves, sizes, results and damage; repaired games count as read."""
    from tengen.records import Corpus
    from tengen.records.corpus import summarise

    corpus = Corpus(paths)
    summary = summarise(corpus)
    _report(corpus, summary.games, shown)
    names = ("games", "damaged", "moves", "sizes", "results", "repairs")
    value = {name: getattr(summary, name) for name in names}
    for name in ("sizes", "results"):
        value[name] = dict(value[name].most_common())
    if shown.json:  # otherwise they are on standard error already
        value["faults"] = [str(fault) for fault in corpus.faults]
    shown.result(value)


@command(collections)
def check(
    paths: Records,
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
            shown.remark(str(item))
        else:
            games, moves = games + len(item), moves + len(item.moves)
    _report(corpus, games, shown)
    counts = {"games": games, "damaged": corpus.damaged, "moves": moves, "refused": len(refusals)}
    shown.result({**counts, "refusals": [vars(refusal) for refusal in refusals]})
    return 1 if strict and (refusals or corpus.damaged) else 0


@command(collections)
def convert(
    paths: Records,
    out: str = option(
        ...,
        "Output: .sgf (one collection), a folder (one file each; end it with /), "
        "or - for standard output.",
    ),
    main_line: bool = flag("--main-line", "Leave out variations."),
    unique: bool = flag("--unique", "Leave out duplicates and mirror images."),
    size: int | None = option(None, "Only games on square boards of this size."),
    limit: int | None = option(None, "At most this many games.", "--games", min=1),
    shuffle: bool = flag("--shuffle", "In random order."),
    seed: Seed = 1,
    *,
    shown: Shown,
) -> None:
    """Convert games to SGF in UTF-8; damaged ones are repaired or left out."""
    from tengen.records.corpus import Corpus, write

    corpus = Corpus(paths)
    if unique:
        corpus = corpus.unique()
    if size is not None:
        corpus = corpus.where(lambda games: (games.rows == size) & (games.cols == size))
    games = write(
        corpus, out, main_line=main_line, limit=limit, shuffle_seed=seed if shuffle else None
    )
    of = f" on {size}x{size}" if size is not None else ""
    _report(corpus, games, shown, none=f"no game{of} to write")
    if out != "-":
        shown.remark(f"{games:,} games written to {out}")
        shown.as_json({"games": games, "damaged": corpus.damaged, "out": out})


@command(collections)
def build(
    recipe: str = argument("A recipe that comes with Tengen, such as kgs6d, or a .toml file."),
    source: list[str] = option(..., "Folder with a clone of the recipe's repository; repeatable."),
    out: Path = option(..., "Folder for the files of the collection."),
    *,
    shown: Shown,
) -> None:
    """Build a collection of games from clones of public repositories.

    The number of games and the SHA-256 of each file are checked; nothing is written if they are
    not those of the recipe.
    """
    from tengen.records.recipes import build as build_collection
    from tengen.records.recipes import load_recipe

    with shown.progress() as bar:
        built = build_collection(
            load_recipe(recipe), source, out, on_source=partial(bar, "sources")
        )
    value = [{**vars(each), "file": str(each.file)} for each in built]
    shown.result(value, columns={"file": "file", "games": "games", "sha256": "SHA-256"})
    if unchecked := [str(each.file) for each in built if not each.checked]:
        shown.remark(f"the recipe has no SHA-256 for {', '.join(unchecked)}")


def _report(corpus: Corpus, games: int, shown: Shown, none: str = "no game could be read") -> None:
    """Report the faults; fail if no game was read."""
    refused = [fault for fault in corpus.faults if not fault.repaired]
    if games == 0 and len(refused) == 1:
        raise refused[0].error()
    faults = [f"{f} ({'repaired' if f.repaired else 'refused'})" for f in corpus.faults]
    shown.faults(faults, corpus.damaged + corpus.repaired)
    if games == 0:
        raise RecordError(f"{', '.join(map(str, corpus.paths))}: {none}")
