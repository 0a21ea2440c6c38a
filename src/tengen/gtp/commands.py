"""GTP commands for the session, the game, its end, and GoGui's displays."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen import __version__
from tengen.arrays import FloatArray
from tengen.contracts import Analyser, Status
from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.game.clock import Clock
from tengen.gtp import protocol
from tengen.gtp.engine import COMMANDS, GtpEngine, command
from tengen.gtp.protocol import Call, GtpFailure, need, read_colour, read_integer, read_number

if TYPE_CHECKING:
    from tengen.board import Point, Rules

BLACK, WHITE, PASS, RESIGN = protocol.BLACK, protocol.WHITE, protocol.PASS, protocol.RESIGN
# Limits of what is accepted: bytes of a game, seconds of a clock, points.
_LARGEST_RECORD, _LONGEST_TIME, _LARGEST_KOMI = 1 << 26, 1e9, 1000.0
_seed: Callable[[str], int] = partial(read_integer, least=-(2**63))


def commands_of(engine: GtpEngine) -> dict[str, protocol.Command]:
    """Return all commands, bound to an engine."""
    return {name: partial(function, engine) for name, function in COMMANDS.items()}


# ----- The session -----

COMMANDS |= {
    "protocol_version": lambda engine, _: "2",
    "name": lambda engine, _: "Tengen",
    "version": lambda engine, _: __version__,
    "list_commands": lambda engine, _: "\n".join(COMMANDS),
    "get_random_seed": lambda engine, _: str(engine.seed),
    "set_random_seed": lambda engine, call: engine.change_seed(_seed(need(call.args, 1)[0])),
    "gomill-explain_last_move": lambda engine, _: engine.explanation,
    "gomill-describe_engine": lambda engine, _: (
        f"Tengen {__version__}\nplayer {engine.spec}\nseed {engine.seed}"
    ),
    "gogui-title": lambda engine, _: f"Tengen {engine.spec}",
    "gogui-analyze_commands": lambda engine, _: "\n".join(ANALYZE_COMMANDS),
    "kata-list_time_settings": lambda engine, _: "none absolute byoyomi canadian fischer",
    "get_komi": lambda engine, _: f"{engine.game.board.komi:g}",
    "known_command": lambda engine, call: str(need(call.args, 1)[0] in COMMANDS).lower(),
    "cputime": lambda engine, _: f"{time.process_time():.3f}",
    "gomill-cpu_time": lambda engine, _: f"{time.process_time():.3f}",
    "final_score": lambda engine, _: protocol.format_score(
        engine.judge.score(engine.game.board).score
    ),
    "estimate_score": lambda engine, _: protocol.format_score(
        round(engine.judge.estimate(engine.game.board).score, 1)
    ),
    "kata-get-rules": lambda engine, _: json.dumps(
        {"hasButton": False, "friendlyPassOk": True, **kata_rules(engine.game.board.rules)}
    ),
    "tengen-safe": lambda engine, _: "yes" if engine.status().safe else "no",
    "tengen-dead": lambda engine, _: engine.vertices(engine.status().stones(Status.DEAD)),
}


@command("quit")
def _quit(engine: GtpEngine, call: Call) -> str:
    raise protocol.Quit


@command(
    "stop", "clear_cache", "gogui-interrupt", "kgs-game_over", "cgos-gameover",
    "cgos-opponent_name", "cgos-opponent_rating",
)  # fmt: skip
def _nothing(engine: GtpEngine, call: Call) -> None:
    """Accept commands that need no work: any input stops an analysis, and there is no cache."""


# ----- The board -----


@command("boardsize", "rectangular_boardsize")
def _boardsize(engine: GtpEngine, call: Call) -> None:
    """Start a new game on N x N, or on X columns by Y rows."""
    words = need(call.args, 1)
    try:
        cols, rows = read_integer(words[0]), read_integer(words[min(1, len(words) - 1)])
    except GtpFailure:
        raise GtpFailure("boardsize not an integer") from None
    # Checked before a player is made: a wrong size is refused at once.
    if not all(protocol.SMALLEST <= side <= protocol.LARGEST for side in (cols, rows)):
        raise GtpFailure("unacceptable size")
    engine.check_size(rows, cols)
    _start(engine, rows, cols)


@command("clear_board")
def _clear_board(engine: GtpEngine, call: Call) -> None:
    _start(engine, engine.game.board.rows, engine.game.board.cols)
    engine.explanation = ""


def _start(engine: GtpEngine, rows: int, cols: int) -> None:
    """Start a new game; komi, rules and time settings stay, since controllers send them first."""
    from tengen.board import Board

    old = engine.game.board
    engine.game.board = Board(rows, cols, rules=old.rules, komi=old.komi)
    engine.game.clock.restart()


@command("komi")
def _komi(engine: GtpEngine, call: Call) -> None:
    try:
        komi = read_number(need(call.args, 1)[0])
    except GtpFailure:
        raise GtpFailure("komi not a float") from None
    if abs(komi) > _LARGEST_KOMI:
        raise GtpFailure(f"komi must be between {-_LARGEST_KOMI:g} and {_LARGEST_KOMI:g}")
    engine.game.board.komi = komi
    engine.komi_was_set = True


@command("play")
def _play(engine: GtpEngine, call: Call) -> None:
    """Play a move of either colour, regardless of whose turn it is."""
    words = need(call.args, 2)
    colour, point = read_colour(words[0]), engine.point(words[1])
    try:
        engine.game.board.play(point, colour)
    except TengenError as failure:
        raise GtpFailure(f"illegal move: {failure}") from None


@command("gogui-play_sequence")
def _play_sequence(engine: GtpEngine, call: Call) -> None:
    """Play many moves at once, or none if one is illegal."""
    trial = engine.game.board.copy()
    for colour, point in engine.pairs(call.args):
        trial.play(point, colour)
    engine.game.board = trial


@command("undo", "gg-undo")
def _undo(engine: GtpEngine, call: Call) -> None:
    """Take back one move, or the given number of moves for gg-undo."""
    many = call.request.name == "gg-undo" and call.args
    count = read_integer(call.args[0], least=1, most=10**6) if many else 1
    board = engine.game.board
    if count > len(board.moves):
        raise GtpFailure("cannot undo")
    for _ in range(count):
        board.undo()


@command("fixed_handicap", "place_free_handicap")
def _usual_handicap(engine: GtpEngine, call: Call) -> str:
    """Place stones on the usual points; a free handicap may have fewer than requested."""
    wanted = read_integer(need(call.args, 1)[0])
    _need_empty(engine)
    free = call.request.name == "place_free_handicap"
    for count in range(min(wanted, 9), 1, -1) if free else (wanted,):
        with suppress(TengenError):
            return engine.vertices(engine.game.board.place_handicap(count))
    raise GtpFailure("invalid number of stones")


@command("set_free_handicap")
def _set_free_handicap(engine: GtpEngine, call: Call) -> None:
    words = need(call.args, 2)
    _need_empty(engine)
    try:
        points = [engine.point(word) for word in words]
        if len(set(points)) != len(points) or PASS in points:
            raise GtpFailure("a point twice, or a pass")
        _set_stones(engine, points, [], WHITE)
    except TengenError:
        raise GtpFailure("bad vertex list") from None
    engine.game.board.handicap = len(points)


def _need_empty(engine: GtpEngine) -> None:
    if engine.game.board.moves or engine.game.board.grid().any():
        raise GtpFailure("board not empty")


def _set_stones(engine: GtpEngine, black: list[Point], white: list[Point], turn: int) -> None:
    """Replace the game with a position without history, or leave it unchanged on failure."""
    from tengen.records.from_board import start_of

    fresh = start_of(engine.game.board, empty=True)
    fresh.set_stones(black=black, white=white, to_play=turn)
    engine.game.board = fresh


@command("set_position", "gogui-setup")
def _set_position(engine: GtpEngine, call: Call) -> None:
    stones = engine.pairs(call.args)
    if any(point == PASS for _, point in stones):
        raise GtpFailure("invalid coordinate")
    black, white = ([p for c, p in stones if c == colour] for colour in (BLACK, WHITE))
    try:
        _set_stones(engine, black, white, BLACK)
    except TengenError as failure:
        raise GtpFailure(f"illegal position: {failure}") from None


@command("gogui-setup_player")
def _setup_player(engine: GtpEngine, call: Call) -> None:
    engine.game.board.turn = read_colour(need(call.args, 1)[0])


@command("showboard")
def _showboard(engine: GtpEngine, call: Call) -> str:
    board = engine.game.board
    by_black, by_white = board.prisoners
    last = engine.vertex(board.last_move) if board.last_move is not None else "none"
    return (
        f"\n{board.ascii()}\n{'-BW'[board.turn]} to play, move {len(board.moves) + 1}, "
        f"last {last}, captured by B {by_black}, by W {by_white}, komi {board.komi:g}"
    )


# ----- Files -----


@command("loadsgf")
def _loadsgf(engine: GtpEngine, call: Call) -> None:
    """Load a game, up to the position before a move number if one is given."""
    from tengen.records import read_game
    from tengen.records.record import board_at, rules_named

    words = need(call.args, 1)
    _refuse_when_safe(engine)
    move = read_integer(words[1], least=1) if len(words) > 1 else None
    try:
        # A device or a pipe may never end, and `-` is the stream of commands itself.
        if os.path.exists(words[0]) and not os.path.isfile(words[0]):
            raise GtpFailure(f"{words[0]}: no plain file")
        if words[0] == "-" or os.path.getsize(words[0]) > _LARGEST_RECORD:
            raise GtpFailure(f"{words[0]}: no file of one game")
        record = read_game(words[0])
        move = move if move and move <= len(record.moves) else None
        board = board_at(record, move, rules=rules_named(record.rules, engine.game.board.rules))
    except (OSError, TengenError) as failure:
        raise GtpFailure(f"cannot load file: {failure}") from None
    engine.check_size(board.rows, board.cols)
    engine.game.board = board


@command("printsgf")
def _printsgf(engine: GtpEngine, call: Call) -> str | None:
    """Answer with the game as SGF, or write it to a file."""
    from tengen.records.from_board import sgf_of_board

    text = sgf_of_board(engine.game.board)
    if not call.args:
        return text
    _refuse_when_safe(engine)
    path = Path(call.args[0])
    try:
        if not path.parent.is_dir():
            raise GtpFailure(f"{path.parent}: no such folder")
        if path.exists() and not _is_record(path):
            raise GtpFailure(f"{path}: exists and is no game record")
        write_atomic(path, text)
    except (OSError, TengenError) as failure:
        raise GtpFailure(f"cannot write file: {failure}") from None
    return None


def _refuse_when_safe(engine: GtpEngine) -> None:
    if engine.safe:
        raise GtpFailure("no files in safe mode")


def _is_record(path: Path) -> bool:
    """Return whether a file is empty or starts like SGF: only such a file is overwritten."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return re.match(rb"(\xef\xbb\xbf)?\s*(\(\s*;|\Z)", file.read(1 << 12)) is not None


# ----- The clock -----


@command("time_settings")
def _time_settings(engine: GtpEngine, call: Call) -> None:
    """Set main time, period and stones per period."""
    words = need(call.args, 3)
    _set_clock(engine, read_number(words[0]), read_number(words[1]), read_integer(words[2]))


@command("kgs-time_settings", "kata-time_settings")
def _named_time_settings(engine: GtpEngine, call: Call) -> None:
    words = need(call.args, 1)
    numbers = [read_number(word) for word in words[1:]]
    match words[0].lower(), numbers:
        case "none", []:
            engine.game.clock = Clock()
        case "absolute", [main]:
            _set_clock(engine, main)
        case "byoyomi", [main, period, _]:
            # Each move within a period keeps it: a Canadian period of one stone.
            _set_clock(engine, main, period, 1)
        case "canadian", [main, period, stones]:
            _set_clock(engine, main, period, int(stones))
        case "fischer", [main, increment]:
            _set_clock(engine, main, increment)
            engine.game.clock = Clock.fischer(main, increment)
        case _:
            raise GtpFailure("unknown time settings")


def _set_clock(engine: GtpEngine, main: float, period: float = 0, stones: int = 0) -> None:
    if min(main, period, stones) < 0 or max(main, period, stones) > _LONGEST_TIME:
        raise GtpFailure("unacceptable time settings")
    engine.game.clock = Clock.settings(main, period, stones)


@command("time_left")
def _time_left(engine: GtpEngine, call: Call) -> None:
    words = need(call.args, 3)
    colour, left = read_colour(words[0]), read_number(words[1])
    if left > _LONGEST_TIME:
        raise GtpFailure("unacceptable time")
    engine.game.clock.set_left(colour, max(left, 0.0), read_integer(words[2], most=10**6))


# ----- Rules -----


def kata_rules(rules: Rules) -> dict[str, object]:
    """Return rules in the form of KataGo's JSON object."""
    return {
        "ko": rules.ko.upper(),
        "scoring": rules.scoring.upper(),
        "suicide": rules.suicide,
        "tax": "SEKI" if rules.scoring == "territory" else "NONE",
        "whiteHandicapBonus": rules.handicap_bonus.upper().replace("NONE", "0"),
    }


def changed_rules(rules: Rules, wanted: Mapping[str, object]) -> Rules:
    """Return rules changed by entries of KataGo's JSON object."""
    for key, value in wanted.items():
        match key, str(value).upper():
            case ("ko", "SIMPLE" | "POSITIONAL" | "SITUATIONAL" as word):
                rules = rules.with_(ko=word.lower())
            case ("scoring", "AREA" | "TERRITORY" as word):
                rules = rules.with_(scoring=word.lower())
            case "suicide", "TRUE" | "FALSE" as word:
                rules = rules.with_(suicide=word == "TRUE")
            case "whiteHandicapBonus", "0" | "N" | "N-1" as word:
                rules = rules.with_(handicap_bonus=word.lower().replace("0", "none"))
            # Tax follows from scoring here; nothing else can be chosen.
            case ("tax", "NONE" | "SEKI") | ("friendlyPassOk", _) | ("hasButton", "FALSE"):
                pass
            case _:
                raise GtpFailure(f"rule {key} {value} is not supported")
    return rules


@command("kata-set-rules", "kgs-rules")
def _kata_set_rules(engine: GtpEngine, call: Call) -> None:
    """Set the rules by a name or by KataGo's JSON."""
    from tengen.board import Rules

    text = " ".join(need(call.args, 1))
    try:
        wanted = dict(json.loads(text)) if text.startswith("{") else None
    except (ValueError, RecursionError):
        raise GtpFailure("rules are no JSON object") from None
    old = engine.game.board.rules
    _set_rules(engine, Rules.preset(text) if wanted is None else changed_rules(old, wanted))


@command("kata-set-rule")
def _kata_set_rule(engine: GtpEngine, call: Call) -> None:
    key, value = need(call.args, 2)[:2]
    _set_rules(engine, changed_rules(engine.game.board.rules, {key: value}))


def _set_rules(engine: GtpEngine, rules: Rules) -> None:
    """Change the rules and keep the game; komi becomes the rules' own unless one was set."""
    from tengen.board import IllegalMoveError
    from tengen.records.from_board import start_of

    old = engine.game.board
    fresh = start_of(old, rules=rules, komi=old.komi if engine.komi_was_set else rules.komi)
    try:
        for colour, point in old.moves:
            fresh.play(point, colour)
    except IllegalMoveError as failure:
        raise GtpFailure(f"the game so far breaks these rules: {failure}") from None
    fresh.turn = old.turn
    engine.game.board = fresh


# ----- The end of the game -----

_TERRITORY = {"black_territory": BLACK, "white_territory": WHITE}


@command("final_status")
def _final_status(engine: GtpEngine, call: Call) -> str:
    point = engine.point(need(call.args, 1)[0])
    if point == PASS:
        raise GtpFailure("invalid coordinate")
    for block in engine.status().blocks:
        if point in block.stones:
            return block.status.value
    for name, colour in _TERRITORY.items():
        if point in _territory(engine, colour):
            return name
    return "dame"


@command("final_status_list")
def _final_status_list(engine: GtpEngine, call: Call) -> str:
    """List the stones of one status, one block per line, or the points of one territory."""
    word = need(call.args, 1)[0].lower()
    if word in _TERRITORY:
        return engine.vertices(_territory(engine, _TERRITORY[word]))
    if word not in list(Status):
        raise GtpFailure("unknown status")
    return "\n".join(engine.vertices(b.stones) for b in engine.status().blocks if b.status == word)


def _territory(engine: GtpEngine, colour: int) -> list[int]:
    """Return the points that count as one side's territory, dead stones' points included."""
    from tengen.board import point_at
    from tengen.scoring.judging import count_without

    board = engine.game.board
    places = count_without(board, engine.status().stones(Status.DEAD)).territory(colour)
    return [point_at(int(index), board.rows, board.cols) for index in np.flatnonzero(places)]


# ----- GoGui -----

_EYES = ("white_eye", "black_eye", "black_eye_by_capture", "white_eye_by_capture")
MAPS = ("territory", "white_lives", "black_dies", *_EYES)
ANALYZE_COMMANDS: tuple[str, ...] = (
    "dboard/Ownership/tengen-ownership",
    *(f"dboard/Network: {name.replace('_', ' ')}/tengen-map {name}" for name in MAPS),
    "pspairs/Candidate Moves/tengen-candidates",
    "pspairs/Experts' Moves/tengen-prediction",
    "plist/Dead Stones/tengen-dead",
    "string/Safe to Score/tengen-safe",
    "string/Final Score/final_score",
    "string/Estimated Score/estimate_score",
    "string/Explain Last Move/gomill-explain_last_move",
    "param/Parameters/tengen-param",
)
"""What GoGui shows in its menu: `type/label/command`."""
_CANDIDATES_SHOWN = 20
_LEAST_CHANCE = 0.001


@command("tengen-param")
def _param(engine: GtpEngine, call: Call) -> str | None:
    """List the parameters, or set one."""
    match call.args:
        case ():
            return f"[string] player {engine.spec}\n[string] seed {engine.seed}"
        case "player", _, *_:
            engine.change_player(" ".join(call.args[1:]))
        case "seed", word:
            engine.change_seed(_seed(word))
        case name, *_:
            raise GtpFailure(f"no parameter {name} with such a value")
    return None


@command("tengen-ownership")
def _ownership(engine: GtpEngine, call: Call) -> str:
    """Draw the owner of each point: by the scorer once the game is over, by the network before."""
    owners = engine.judge.estimate(engine.game.board).ownership
    if owners is None:
        raise GtpFailure("the scorer gives no ownership")
    return _picture(engine, np.asarray(owners))


@command("tengen-map")
def _network_map(engine: GtpEngine, call: Call) -> str:
    """Draw one of the symmetry network's seven maps; 0 where it has no value."""
    from tengen.models import load_evaluator

    name = call.args[0] if call.args else MAPS[0]
    if name not in MAPS:
        raise GtpFailure(f"no map {name}; there are {' '.join(MAPS)}")
    network: Any = getattr(engine.player, "model", None)
    if not hasattr(network, "heat_maps"):
        network = load_evaluator("isn-best", shared=True)
    return _picture(engine, np.nan_to_num(network.heat_maps(engine.view())[name]))


def _picture(engine: GtpEngine, values: FloatArray) -> str:
    """Write one number per point, one row per line from the top."""
    rows = np.asarray(values, float).reshape(engine.game.board.rows, -1)
    return "\n" + "\n".join(" ".join(f"{value:.3f}" for value in row) for row in rows)


@command("tengen-candidates")
def _candidates(engine: GtpEngine, call: Call) -> str:
    """List the player's candidate moves with their share of the visits."""
    board, rng = engine.view(), engine.game.generator()
    if not isinstance(engine.player, Analyser):
        move = engine.player.choose(board, rng)
        return "" if move == RESIGN else f"{engine.vertex(int(move))} 1"
    *_, info = engine.player.analyse(board, rng, interval=1e6, limited=True)
    total = max(1, sum(c.visits for c in info.candidates))
    shown = info.candidates[:_CANDIDATES_SHOWN]
    return "\n".join(f"{engine.vertex(c.move)} {c.visits / total:.3f}" for c in shown)


@command("tengen-prediction")
def _prediction(engine: GtpEngine, call: Call) -> str:
    """List the moves that experts are likely to play, regardless of the engine's player."""
    from tengen.board import point_at
    from tengen.models import load_policy
    from tengen.models.registry import policy_for

    board = engine.view()
    rows, cols = board.rows, board.cols
    priors = load_policy(policy_for(rows, cols), shared=True).priors(board)
    best = np.argsort(-priors, kind="stable")[:_CANDIDATES_SHOWN]
    shown = (int(i) for i in best if i < rows * cols and priors[i] >= _LEAST_CHANCE)
    return "\n".join(f"{engine.vertex(point_at(i, rows, cols))} {priors[i]:.3f}" for i in shown)
