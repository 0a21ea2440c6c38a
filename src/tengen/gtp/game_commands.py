"""Answer commands that set up and change the game; choose no move and judge no stone."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.game.clock import Clock
from tengen.gtp.arguments import (
    BLACK,
    COLOUR_LETTERS,
    LARGEST,
    PASS,
    SMALLEST,
    WHITE,
    need,
    read_colour,
    read_integer,
    read_number,
)
from tengen.gtp.engine import Engine
from tengen.gtp.protocol import Call, GtpFailure

_LARGEST_RECORD = 1 << 26
"""Bytes; no game is so long."""
_LONGEST_TIME = 1e9
"""Seconds; more is a mistake."""
_KGS_RULES = ("japanese", "chinese", "aga", "new_zealand")
# KataGo's words for rules, and ours.
_KO_WORDS = {"SIMPLE": "simple", "POSITIONAL": "positional", "SITUATIONAL": "situational"}
_SCORING_WORDS = {"AREA": "area", "TERRITORY": "territory"}
_BONUS_WORDS = {"0": "none", "N": "n", "N-1": "n-1"}


def boardsize(engine: Engine, call: Call) -> str:
    """Start anew on N x N, or on X columns by Y rows; keep komi."""
    words = need(call.args, 1)
    try:
        cols = read_integer(words[0])
        rows = read_integer(words[1]) if len(words) > 1 else cols
    except GtpFailure:
        raise GtpFailure("boardsize not an integer") from None
    return _resize(engine, cols, rows)


def rectangular_boardsize(engine: Engine, call: Call) -> str:
    """Start anew on so many columns by so many rows."""
    words = need(call.args, 2)
    return _resize(engine, read_integer(words[0]), read_integer(words[1]))


def _resize(engine: Engine, cols: int, rows: int) -> str:
    # Judged before a player is made: a wrong size is refused at once.
    if not (SMALLEST <= cols <= LARGEST and SMALLEST <= rows <= LARGEST):
        raise GtpFailure("unacceptable size")
    engine.check_size(cols, rows)
    engine.game.resize(cols, rows)
    return ""


def clear_board(engine: Engine, call: Call) -> str:
    """Empty the board for a new game."""
    engine.game.clear()
    engine.explanation = ""
    return ""


def komi(engine: Engine, call: Call) -> str:
    """Set komi."""
    try:
        value = read_number(need(call.args, 1)[0])
    except GtpFailure:
        raise GtpFailure("komi not a float") from None
    engine.game.set_komi(value)
    return ""


def get_komi(engine: Engine, call: Call) -> str:
    """Say komi."""
    return f"{engine.game.board.komi:g}"


def play(engine: Engine, call: Call) -> str:
    """Play a move of either colour, whoever's turn it is."""
    words = need(call.args, 2)
    colour, point = read_colour(words[0]), engine.point(words[1])
    try:
        engine.game.board.play(point, colour)
    except TengenError as failure:
        raise GtpFailure(f"illegal move: {failure}") from None
    return ""


def undo(engine: Engine, call: Call) -> str:
    """Take back one move."""
    engine.game.take_back()
    return ""


def undo_many(engine: Engine, call: Call) -> str:
    """Take back several moves, one if not told how many."""
    engine.game.take_back(read_integer(call.args[0], least=1, most=10**6) if call.args else 1)
    return ""


def fixed_handicap(engine: Engine, call: Call) -> str:
    """Put handicap stones on their usual points and say where."""
    count = read_integer(need(call.args, 1)[0])
    try:
        points = engine.game.fixed_handicap(count)
    except TengenError as failure:
        text = str(failure)
        raise GtpFailure(
            text if text == "board not empty" else "invalid number of stones"
        ) from None
    return " ".join(map(engine.vertex, points))


def place_free_handicap(engine: Engine, call: Call) -> str:
    """Choose handicap points: the usual ones, as many as the board has."""
    from tengen.board import handicap_points

    game = engine.game
    wanted = read_integer(
        need(call.args, 1)[0], least=2, most=game.board.rows * game.board.cols - 1
    )
    # The engine may place fewer stones than asked for when the board has no more usual points.
    for count in range(min(wanted, 9), 1, -1):
        try:
            points = handicap_points(game.board.rows, game.board.cols, count)
        except TengenError:
            continue
        game.free_handicap(points)
        return " ".join(map(engine.vertex, points))
    raise GtpFailure("invalid number of stones")


def set_free_handicap(engine: Engine, call: Call) -> str:
    """Put handicap stones on the points given."""
    game = engine.game
    try:
        points = [engine.point(word) for word in need(call.args, 2)]
        game.free_handicap(points)
    except TengenError as failure:
        text = str(failure)
        raise GtpFailure(text if text == "board not empty" else "bad vertex list") from None
    return ""


def set_position(engine: Engine, call: Call) -> str:
    """Replace the game by a position of `colour vertex` pairs, without history."""
    stones = engine.pairs(call.args)
    if any(point == PASS for _, point in stones):
        raise GtpFailure("invalid coordinate")
    black = [point for colour, point in stones if colour == BLACK]
    white = [point for colour, point in stones if colour == WHITE]
    try:
        engine.game.set_stones(black, white, BLACK)
    except TengenError as failure:
        raise GtpFailure(f"illegal position: {failure}") from None
    return ""


def loadsgf(engine: Engine, call: Call) -> str:
    """Load a game, up to the position before a move number if one is given."""
    from tengen.records import read_game
    from tengen.records.record import board_at, rules_of

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
        if move is not None and move > len(record.moves):
            move = None
        board = board_at(record, move, rules=rules_of(record, engine.game.board.rules))
    except (OSError, TengenError) as failure:
        raise GtpFailure(f"cannot load file: {failure}") from None
    engine.check_size(board.cols, board.rows)
    engine.game.board = board
    return ""


def printsgf(engine: Engine, call: Call) -> str:
    """Answer the game as SGF, or write it to a file."""
    from tengen.game.sgf import sgf_of_board

    text = sgf_of_board(engine.game.board)
    if not call.args:
        return text
    _refuse_when_safe(engine)
    path = Path(call.args[0])
    try:
        if not path.parent.is_dir():
            raise GtpFailure(f"{path.parent}: no such folder")
        if path.exists() and not _is_record(path):
            raise GtpFailure(f"{path}: is there and no game record")
        write_atomic(path, text)
    except (OSError, TengenError) as failure:
        raise GtpFailure(f"cannot write file: {failure}") from None
    return ""


def _refuse_when_safe(engine: Engine) -> None:
    if engine.safe:
        raise GtpFailure("no files in safe mode")


def _is_record(path: Path) -> bool:
    """Tell whether a file begins as SGF does, or is empty: only that may be written over."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return re.match(rb"(\xef\xbb\xbf)?\s*(\(\s*;|\Z)", file.read(1 << 12)) is not None


def showboard(engine: Engine, call: Call) -> str:
    """Draw the board, with turn, prisoners, komi and rules below."""
    board = engine.game.board
    by_black, by_white = board.prisoners
    last = engine.vertex(board.last_move) if board.last_move is not None else "none"
    return (
        f"\n{board.ascii()}\n{COLOUR_LETTERS[board.turn]} to play, move {len(board.moves) + 1}, "
        f"last {last}, captured by B {by_black}, by W {by_white}, komi {board.komi:g}"
    )


def time_settings(engine: Engine, call: Call) -> str:
    """Set main time, period and stones per period."""
    words = need(call.args, 3)
    main, period = read_number(words[0]), read_number(words[1])
    _set_clock(engine, main, period, read_integer(words[2]))
    return ""


def kgs_time_settings(engine: Engine, call: Call) -> str:
    """Set the clock by the name of a time system; `kata-list_time_settings` lists them."""
    words = need(call.args, 1)
    system, numbers = words[0].lower(), [read_number(word) for word in words[1:]]
    if system == "none" and not numbers:
        engine.game.clock = Clock()
    elif system == "absolute" and len(numbers) == 1:
        _set_clock(engine, numbers[0], 0, 0)
    elif system == "byoyomi" and len(numbers) == 3:
        # Each move within a period keeps it, so a period is a Canadian one of one stone.
        _set_clock(engine, numbers[0], numbers[1], 1)
    elif system == "canadian" and len(numbers) == 3:
        _set_clock(engine, numbers[0], numbers[1], int(numbers[2]))
    elif system == "fischer" and len(numbers) == 2:
        if min(numbers) < 0 or max(numbers) > _LONGEST_TIME:
            raise GtpFailure("unacceptable time settings")
        engine.game.clock = Clock.fischer(*numbers)
    else:
        raise GtpFailure("unknown time settings")
    return ""


def kata_list_time_settings(engine: Engine, call: Call) -> str:
    """List the time systems of kata-time_settings."""
    return "none absolute byoyomi canadian fischer"


def _set_clock(engine: Engine, main: float, period: float, stones: int) -> None:
    if min(main, period, stones) < 0 or max(main, period, stones) > _LONGEST_TIME:
        raise GtpFailure("unacceptable time settings")
    engine.game.clock = Clock.settings(main, period, stones)


def time_left(engine: Engine, call: Call) -> str:
    """Set one side's clock to what the controller says."""
    words = need(call.args, 3)
    colour, left = read_colour(words[0]), read_number(words[1])
    if left > _LONGEST_TIME:
        raise GtpFailure("unacceptable time")
    engine.game.clock.set_left(colour, max(left, 0.0), read_integer(words[2], most=10**6))
    return ""


def kata_get_rules(engine: Engine, call: Call) -> str:
    """Say the rules in KataGo's JSON."""
    rules = engine.game.board.rules
    return json.dumps(
        {
            "hasButton": False,
            "ko": _word(_KO_WORDS, rules.ko),
            "scoring": _word(_SCORING_WORDS, rules.scoring),
            "suicide": rules.suicide,
            "tax": "SEKI" if rules.scoring == "territory" else "NONE",
            "whiteHandicapBonus": _word(_BONUS_WORDS, rules.handicap_bonus),
            "friendlyPassOk": True,
        }
    )


def kata_set_rules(engine: Engine, call: Call) -> str:
    """Set the rules by a name or by KataGo's JSON."""
    from tengen.board import Rules

    text = " ".join(need(call.args, 1)).strip()
    if not text.startswith("{"):
        engine.game.set_rules(Rules.preset(text))
        return ""
    try:
        wanted = json.loads(text)
    except (ValueError, RecursionError):
        raise GtpFailure("rules are no JSON object") from None
    if not isinstance(wanted, dict):
        raise GtpFailure("rules are no JSON object")
    changes: dict[str, object] = {}
    for key, value in wanted.items():
        changes.update(rule_change(key, value))
    engine.game.set_rules(engine.game.board.rules.with_(**changes))
    return ""


def kata_set_rule(engine: Engine, call: Call) -> str:
    """Change one rule."""
    key, value = need(call.args, 2, 2)
    changes = rule_change(key, value)
    engine.game.set_rules(engine.game.board.rules.with_(**changes))
    return ""


def kgs_rules(engine: Engine, call: Call) -> str:
    """Set the rules by one of KGS's names."""
    from tengen.board import Rules

    word = need(call.args, 1)[0].lower()
    if word not in _KGS_RULES:
        raise GtpFailure("unknown rules")
    engine.game.set_rules(Rules.preset(word))
    return ""


def rule_change(key: str, value: object) -> dict[str, object]:
    """Translate one of KataGo's rules; fail for what this board does not know."""
    word = str(value).upper()
    if key == "ko" and word in _KO_WORDS:
        return {"ko": _KO_WORDS[word]}
    if key == "scoring" and word in _SCORING_WORDS:
        return {"scoring": _SCORING_WORDS[word]}
    if key == "suicide" and word in ("TRUE", "FALSE"):
        return {"suicide": word == "TRUE"}
    if key == "whiteHandicapBonus" and word in _BONUS_WORDS:
        return {"handicap_bonus": _BONUS_WORDS[word]}
    # Tax follows from scoring here; nothing else can be chosen.
    if (key == "tax" and word in ("NONE", "SEKI")) or key == "friendlyPassOk":
        return {}
    if key == "hasButton" and word == "FALSE":
        return {}
    raise GtpFailure(f"rule {key} {value} is not supported")


def _word(words: dict[str, str], ours: str) -> str:
    """Find KataGo's word for ours."""
    return next(theirs for theirs, mine in words.items() if mine == ours)
