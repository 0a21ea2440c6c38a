"""Read the main lines of clean SGF games straight from bytes into arrays.

One pass, a state machine, no allocation. A game that is not plainly clean (anything
`sgf_grammar` would have to repair or guess, rectangles of stones, setup after moves, points off the
board) is not read here: the kernel stops at it and the exact reader takes that one game. So both
readers agree by construction on what the kernel accepts, and a test checks that they do.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.arrays import Arrays, Int8Array, Int16Array, IntArray, UInt8Array, UInt64Array
from tengen.board.kernels import mix, point_of, turned
from tengen.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

# Games beyond these sizes go to the exact reader, which refuses them (see `sgf_grammar`).
MAX_GAME_BYTES = 1 << 24
MAX_NODES = 400_000

# Columns of the table of games.
START, END = 0, 1  # bytes of the game: from its `(` to just after its `)`
MOVES, _N_MOVES = 2, 3  # first move and number of moves in the arrays of moves
SETUP, _N_SETUP = 4, 5
ROWS, COLS = 6, 7
KOMI = 8  # start and end of the values of KM, RE, RU, HA and PL; 0 when there is none
ENCODED = 18  # 1 when its encoding matters: bytes beyond ASCII, or a CA that is not UTF-8
FIELDS = 19

# Why the kernel returned.
DONE = 0  # no further game begins in the buffer
MORE = 1  # the game at the position touches the end of the buffer
UNCLEAN = 2  # the game at the position needs the exact reader
_FULL = 3  # no room for further games

# Property names as one or two packed letters.
_B, _W, _AB, _AW, _AE, _SZ, _GM, _FF, _CA, _PL = (
    int.from_bytes(name.encode())
    for name in ("B", "W", "AB", "AW", "AE", "SZ", "GM", "FF", "CA", "PL")
)
_INFORMATION = tuple(int.from_bytes(name) for name in (b"KM", b"RE", b"RU", b"HA", b"PL"))
_PASS = 1023  # other moves are 32 x row + column


@kernel
def _is_space(byte: int) -> bool:
    """Return whether a byte is white space."""
    return byte == 32 or (9 <= byte <= 13)


@kernel
def _skip_space(data: UInt8Array, position: int, size: int) -> int:
    """Return the first position that is not white space."""
    while position < size and _is_space(data[position]):
        position += 1
    return position


@kernel
def _utf8_length(data: UInt8Array, position: int, size: int) -> int:
    """Return the length in bytes of the UTF-8 character here, 0 if it is invalid or cut off."""
    byte = data[position]
    low, high = 0x80, 0xBF
    if 0xC2 <= byte <= 0xDF:
        length = 2
    elif 0xE0 <= byte <= 0xEF:
        length = 3
        low = 0xA0 if byte == 0xE0 else 0x80
        high = 0x9F if byte == 0xED else 0xBF
    elif 0xF0 <= byte <= 0xF4:
        length = 4
        low = 0x90 if byte == 0xF0 else 0x80
        high = 0x8F if byte == 0xF4 else 0xBF
    else:
        return 0
    if position + length > size or not low <= data[position + 1] <= high:
        return 0
    for i in range(position + 2, position + length):
        if not 0x80 <= data[i] <= 0xBF:
            return 0
    return length


@kernel
def _read_point(data: UInt8Array, start: int, end: int) -> int:
    """Return 32 x row + column of two letters, `a` to `y`, or -1."""
    if end - start != 2:
        return -1
    col, row = int(data[start]) - 97, int(data[start + 1]) - 97
    return row * 32 + col if 0 <= col < 25 and 0 <= row < 25 else -1


@kernel
def _read_size(data: UInt8Array, start: int, end: int) -> tuple[int, int]:
    """Return (rows, cols) of SZ, or (0, 0) when it is not plain."""
    first, second, digits, colons = 0, 0, 0, 0  # SZ writes columns first
    for i in range(start, end):
        byte = data[i]
        if 48 <= byte <= 57:
            digits += 1
            first = first * 10 + int(byte) - 48
        elif byte == 58 and colons == 0 and digits > 0:
            colons = 1
            second, first, digits = first, 0, 0
        else:
            return 0, 0
        if digits > 2:
            return 0, 0
    if digits == 0:
        return 0, 0
    rows = first
    cols = second if colons else first
    if rows < 2 or rows > 25 or cols < 2 or cols > 25:
        return 0, 0
    return rows, cols


@kernel
def read_main_lines(
    data: UInt8Array, position: int, size: int, final: bool, played: tuple[Int16Array, Int8Array],
    stones: tuple[Int16Array, Int8Array], games: IntArray,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Read games from `data[position:size]`; return (games, moves, stones, position, status).

    `played` and `stones` get points on the bordered board and their colours; both need room for a
    third of the bytes.
    """
    n_games, n_moves, n_setup = 0, 0, 0
    limit = games.shape[0]
    while True:
        # Find `(` followed by `;`. Everything else between games is text.
        while position < size and data[position] != 40:
            position += 1
        if position >= size:
            return n_games, n_moves, n_setup, position, DONE
        behind = _skip_space(data, position + 1, size)
        if behind >= size:
            return n_games, n_moves, n_setup, position, (DONE if final else MORE)
        if data[behind] != 59:
            # A game without its first `;` has a property here; anything else is text.
            i = behind
            while i < size and i < behind + 3 and 65 <= data[i] <= 90:
                i += 1
            letters = i - behind
            i = _skip_space(data, i, size)
            if i >= size and not final and letters > 0:
                return n_games, n_moves, n_setup, position, MORE
            if i < size and data[i] == 91 and 1 <= letters <= 2:
                return n_games, n_moves, n_setup, position, UNCLEAN
            position += 1
            continue
        if n_games >= limit:
            return n_games, n_moves, n_setup, position, _FULL
        game = games[n_games]
        game[:] = 0
        game[START] = position
        game[MOVES] = n_moves
        game[SETUP] = n_setup
        status, m, s = _read_main_line(data, behind, size, played, stones, game)
        if status == DONE:
            # The text after the game must not look like the rest of a value.
            i = game[END]
            while i < size and data[i] != 40 and data[i] != 41:
                if data[i] == 91 or data[i] == 93:
                    status = UNCLEAN
                    break
                i += 1
            if i >= size and not final:
                status = MORE
            elif game[END] - position > MAX_GAME_BYTES:
                status = UNCLEAN
        elif status == MORE and final:
            status = UNCLEAN
        if status != DONE:
            return n_games, n_moves, n_setup, position, status
        game[_N_MOVES] = m - n_moves
        game[_N_SETUP] = s - n_setup
        n_moves, n_setup = m, s
        position = game[END]
        n_games += 1


@kernel
def _skip_value(data: UInt8Array, position: int, size: int) -> tuple[int, int, bool]:
    """Skip a value from behind its `[`; return (status, place of its `]`, whether all ASCII)."""
    ascii_only = True
    while position < size and data[position] != 93:
        byte = data[position]
        if byte == 92:
            if position + 1 < size and data[position + 1] < 128:
                position += 1
        elif byte >= 128:
            ascii_only = False
            length = _utf8_length(data, position, size)
            if length == 0:
                return UNCLEAN, position, ascii_only
            position += length - 1
        elif byte == 40:  # may be the next game, swallowed by a missing `]`
            i = _skip_space(data, position + 1, size)
            if i < size and data[i] == 59:
                return UNCLEAN, position, ascii_only
        position += 1
    return (DONE if position < size else MORE), position, ascii_only


@kernel
def _keep_stone(
    data: UInt8Array, start: int, end: int, colour: int, stones: tuple[Int16Array, Int8Array],
    game: IntArray, n_moves: int, n_setup: int,
) -> bool:  # fmt: skip
    """Store a stone that is set up before the first move; return whether that was clean."""
    setup, setup_colours = stones
    point = _read_point(data, start, end)
    if point < 0 or n_moves > game[MOVES] or n_setup - game[SETUP] > 60:
        return False
    for i in range(game[SETUP], n_setup):
        if setup[i] == point:
            return False
    setup[n_setup] = point
    setup_colours[n_setup] = colour
    return True


@kernel
def _keep_information(
    data: UInt8Array, name: int, start: int, end: int, first: bool, ascii_only: bool,
    has_moves: bool, game: IntArray,
) -> bool:  # fmt: skip
    """Store where the value of a property lies, or what it says; return whether it was clean.

    `first` says whether it is the property's first value.
    """
    if name == _AE:
        return False
    if name == _SZ:
        if game[ROWS] != 0:
            return False
        game[ROWS], game[COLS] = _read_size(data, start, end)
        return game[ROWS] != 0
    if name == _GM:
        return end - start == 1 and data[start] == 49
    if first:
        for i in range(5):
            if name == _INFORMATION[i]:
                field = KOMI + 2 * i
                again = game[field] != 0 or (name == _PL and has_moves)
                if again or not ascii_only:
                    return False
                game[field] = start
                game[field + 1] = end
    return True


@kernel
def _read_main_line(
    data: UInt8Array, position: int, size: int, played: tuple[Int16Array, Int8Array],
    stones: tuple[Int16Array, Int8Array], game: IntArray,
) -> tuple[int, int, int]:  # fmt: skip
    """Read one game from its first `;`; return (status, end of moves, end of setup).

    Moves are kept as 32 x row + column until the size is known.
    """
    moves, colours = played
    n_moves, n_setup = game[MOVES], game[SETUP]
    depth = 1
    nodes = 0  # so far, variations included
    since = 0  # nodes since the last parenthesis
    main = True  # the first `)` ends the main line
    encoded, strange = False, False
    before = n_moves  # moves before this node
    while True:
        position = _skip_space(data, position, size)
        if position >= size:
            return MORE, n_moves, n_setup
        byte = data[position]
        if byte == 59:
            since += 1
            nodes += 1
            before = n_moves
            position += 1
            if nodes > MAX_NODES:
                return UNCLEAN, n_moves, n_setup
            continue
        if byte == 40:
            depth += 1
            since = 0
            position = _skip_space(data, position + 1, size)
            if position >= size:
                return MORE, n_moves, n_setup
            if data[position] != 59 or depth > 1000:
                return UNCLEAN, n_moves, n_setup
            continue
        if byte == 41:
            depth -= 1
            main = False
            position += 1
            since = 2
            if depth == 0:
                game[END] = position
                break
            position = _skip_space(data, position, size)
            if position < size and data[position] != 40 and data[position] != 41:
                return UNCLEAN, n_moves, n_setup
            continue
        # A property: one or two capital letters, then values.
        name = 0
        while position < size and 65 <= data[position] <= 90:
            if name > 255:
                return UNCLEAN, n_moves, n_setup
            name = name * 256 + int(data[position])
            position += 1
        if name == 0 or since == 0:
            return UNCLEAN, n_moves, n_setup
        position = _skip_space(data, position, size)
        if position >= size:
            return MORE, n_moves, n_setup
        if data[position] != 91:
            return UNCLEAN, n_moves, n_setup
        if (name == _GM or name == _FF or name == _SZ) and (nodes > 1 or depth > 1):
            return UNCLEAN, n_moves, n_setup
        values = 0
        while position < size and data[position] == 91:
            start = position + 1
            status, end, ascii_only = _skip_value(data, start, size)
            if status != DONE:
                return status, n_moves, n_setup
            position = _skip_space(data, end + 1, size)
            values += 1
            encoded = encoded or not ascii_only
            if not main:
                continue
            clean = True
            if name == _B or name == _W:
                point = _PASS if end == start else _read_point(data, start, end)
                # No moves of another property in this node.
                clean = point >= 0 and (values > 1 or n_moves == before)
                if clean:
                    moves[n_moves] = point
                    colours[n_moves] = 1 if name == _B else 2
                    n_moves += 1
            elif name == _AB or name == _AW:
                colour = 1 if name == _AB else 2
                clean = _keep_stone(data, start, end, colour, stones, game, n_moves, n_setup)
                n_setup += clean
            elif name == _CA:
                utf = end - start >= 4 and (data[start] | 32) == 117
                strange = strange or not (utf and (data[start + 1] | 32) == 116)
            else:
                has_moves = n_moves > game[MOVES]
                clean = _keep_information(
                    data, name, start, end, values == 1, ascii_only, has_moves, game
                )
            if not clean:
                return UNCLEAN, n_moves, n_setup
    if encoded and strange:
        return UNCLEAN, n_moves, n_setup
    game[ENCODED] = 1 if encoded or strange else 0
    if game[ROWS] == 0:
        game[ROWS] = 19
        game[COLS] = 19
    ok = _to_points(moves, game[MOVES], n_moves, game[ROWS], game[COLS], True)
    ok = _to_points(stones[0], game[SETUP], n_setup, game[ROWS], game[COLS], False) and ok
    return (DONE if ok else UNCLEAN), n_moves, n_setup


@kernel
def _to_points(
    points: Int16Array, start: int, end: int, rows: int, cols: int, passes: bool
) -> bool:
    """Turn 32 x row + column into points of the board, in place; False when one is not on it."""
    for i in range(start, end):
        row, col = int(points[i]) >> 5, int(points[i]) & 31
        if row < rows and col < cols:
            points[i] = point_of(row, col, cols)
        elif passes and (
            points[i] == _PASS or (row == 19 and col == 19 and rows < 20 and cols < 20)
        ):
            points[i] = 0
        else:
            return False
    return True


@kernel
def _stir(h: int, value: int) -> int:
    """Mix a number into a hash; order matters."""
    return mix((h ^ np.uint64(value)) + _GOLDEN)


@kernel
def _turned(point: int, rows: int, cols: int, symmetry: int) -> int:
    """Return a number for the point seen through one of eight symmetries; 0 for a pass."""
    if point == 0:
        return 0
    width = cols + 1
    row, col = turned(point // width - 1, point % width - 1, rows, cols, symmetry)
    return 1 + row * 32 + col


@kernel
def canonical_hashes(games: Arrays, out: UInt64Array) -> None:
    """Fill `out` with a hash per game that is the same for all its mirror images and rotations.

    `games` has their moves, colours, offsets, rows and columns, and the same three of the setup.
    Setup counts as a set, moves in order; passes at the end are ignored: servers differ in them.
    """
    moves, colours, offsets, rows, cols, setup, setup_colours, setup_offsets = games
    for game in range(rows.shape[0]):
        last = offsets[game + 1]
        while last > offsets[game] and moves[last - 1] == 0:
            last -= 1
        best = np.uint64(0xFFFFFFFFFFFFFFFF)
        for symmetry in range(8):
            n_rows, n_cols = rows[game], cols[game]
            if symmetry & 4:
                n_rows, n_cols = n_cols, n_rows
            h = _stir(np.uint64(1), n_rows * 64 + n_cols)
            stones = np.uint64(0)
            for i in range(setup_offsets[game], setup_offsets[game + 1]):
                place = _turned(setup[i], rows[game], cols[game], symmetry)
                stones ^= _stir(np.uint64(2), place * 4 + setup_colours[i])
            h = _stir(h, stones)
            for i in range(offsets[game], last):
                place = _turned(moves[i], rows[game], cols[game], symmetry)
                h = _stir(h, place * 4 + colours[i])
            best = min(best, h)
        out[game] = best
