"""Whether a game is over: open boards, settled ones, seki, ko, and neutral points."""

from __future__ import annotations

import pytest

from tengen.board import Board
from tengen.players.network_search import SEARCHING_JUDGE, SearchNetwork, lead_by_search
from tengen.scoring.judging import Judge


def _rows(row: str, count: int, **others: str) -> str:
    """Return so many equal rows; `r2=...` replaces row 2 from the top."""
    return "/".join(others.get(f"r{n}", row) for n in range(count))


def _turned(position: str) -> str:
    """Return a position with colours exchanged."""
    return position.translate(str.maketrans("XO", "OX"))


CORNER = "XXXXOOO/OOOOOOO/O.O.OOO/OOOOOOO/OO.OOOO/OOOOOO."
"""Below a black group in the corner, all of it White's and alive."""
SHARED = ".X.O.OX/XXOOOOX/OOXXXXX/OOOOXXX/O.OOX.X/OOOOXXX/.OOOXX."
"""Each side has a group with one eye and the liberty at the top that both share."""

OPEN = {
    "empty": _rows(".........", 9),
    "three moves each": _rows(
        ".........", 9, r1=".....O...", r2="...O.X...", r3="..OX.....", r5="......X.."
    ),
    "half a wall": _rows(
        ".XXXXOOO.", 9, r5=".........", r6=".........", r7=".........", r8="........."
    ),
    "a cut kills": ".XO.O/.XOO./XXOOO/..XXO/O.XXX",
    "three in a row": f"...XO.O/{CORNER}",
    "both capture": "XXXOO/XO.XO/OOXXO/.OX.O/OOXXO",
    "a wide side": _rows(".....XO..", 9),
    "an unfinished border": _rows(".XXOO.", 6, r2=".X..O.", r3=".X..O.", r4="......", r5="......"),
    "a bent three": ".XXO.O/..XOOO/XXXO.O/OOOOOO/O.OO.O/OOOOOO",
}
OVERLOOKED = {  # positions of drawn games that the scorer alone calls finished
    "a weak group, 11x11": (
        "X.XXXXOO.../XXXXOOO.OO./XOX.XOXO.../XOOXXOXOOOO/OOXX.XXOXXO/..OXXOXOX.X/"
        "XOOX..XX.X./.OOXXO..X.O/OOXXX..OX../.OOXX.O.X../OOOOX...O.."
    ),
    "everything undecided, 6x6": "...XO./..OX../.OOXOX/..OXO./.O.OXX/..O.O.",
    "a race, 7x7": ".O...XO/OXO..XO/.X.XXOO/...XOO./OXXO.O./XXOOO../OOO....",
    "a liberty short, 8x8": (
        ".OOX.X../OX.OOOXX/.O.OXOX./O.OXXXX./XOOOOXO./.X.OXXX./OOXOOXX./O.OOXX.."
    ),
    "a group without eyes, 10x10": (
        "..XXX...../.OOXX...XX/.OX.XX.OX./.OXX.XXX.X/..OOX..XXX/...OOXXXOX/.OOOXOOOOO/"
        ".OXXXXXXOO/O.OX.XXOO./.OOOX.XO.O"
    ),
    "a vital point, 15x15": (
        "...X.XXOX..OOOX/....X.XOO.O.OX./..X.OXXO.OOOXXX/....OXOOOXXX.X./..XXXOOXOX.OXXX/"
        "..XXOO.XXXOOOOX/.X..XOOXXOXXO.O/..O.XXOOOOXO.O./.XXOXOO...XO..O/XXOOX.OXXXXXOOX/"
        "OX.XXXXOXOOXOXX/OOXXOOOOOOXXXXX/.OOO.....OXOX.X/.........OOOX.X/..........OXXX."
    ),
    "an open border, 9x9": (
        ".....X.../.O.OOX.../..OOXXX../.OXOOX.../OOXOXO.XX/XXXXXXXOX/.X.XXOOOO/..XOOOXO./..XO....."
    ),
    "a fight, 6x6": ".O..X./XXOO.O/.OXO.X/XXXOO./OOXXOO/.X..X.",
    "an attack, 13x13": (
        "OOOOOO......./OOOXXOOOX..../OXX.XO..OX.X./OX...XOO.O.../X.XXXXOXO.OO./.XXXX..XOOXX./"
        "XXOOX.XXXXOX./OO.O.XXXOOOO./O.OOOOOXOO.../OOXO.OOXO.O.O/OXXXOOOOXOOOX/XXOXXOOXXXXXX/"
        ".X.X.O.X....."
    ),
    "a weak corner, 13x13": (
        "....XXO....../.OX..XOO...../XXXXXO..O..../OXOOXO......./OOOOXXOOO.OO./XXXOOOXOXOO.O/"
        ".XOOXXXOXXOOO/.OO.OOXX.XOXO/OOOOOXOX..XXX/XXOXXXO..XX../.XX...X....../............./"
        "............."
    ),
    "a cut, 13x13": (
        "..XXOX.OOOOX./..XOOXOOOXOX./..XO.XO.XXXXX/..XO.XO.X..X./.XOO.OOXXXX../..XOOOXX....X/"
        ".XXXOOXOX.XX./XXOXXOOOXXOX./XOOXXXXX.XO../O.OXOO.OXXOOO/..OOXXX...XOX/.O..OOX...XXX/"
        "...OOXX......"
    ),
}
SETTLED = {
    "two armies": ".X.XO.O/XXXXOO./XX.XO.O/.XXXOOO/XX.XO.O/.XXXOO./X.XXO.O",
    "5x5": ".XXO./XXXOO/XXXO./.XXOO/XXXO.",
    "layers of one point each": "....X./XXXXXX/XXXXXX/OOOOOO/OO.OOO/OOOO..",
    "edges, 5x5": _rows(".XOO.", 5),
    "edges, 9x9": _rows(".XXXXOOO.", 9),
    "layers": "......./XXXXXXX/XXXXXXX/OOOOOOO/OOOOOOO/OOOOOOO/.......",
    "a dead stone": _rows(".XXXXOOO.", 9, r4="OXXXXOOO."),
    "two dead stones": _rows(".XXXOO.", 7, r1="OXXXOO.", r5=".XXXOOX"),
    "a dead corner": f".O.XO.O/{CORNER}",
    "two eyes in the corner": f".X.XO.O/{CORNER}",
}
KO = {
    "at the border, 6x6": _rows(".XXOO.", 6, r2=".X.XO."),
    "at the border, 8x8": _rows(".XXXOOO.", 8, r3=".XX.XOO."),
    "for White": _rows(".XXOO.", 6, r2=".XO.O."),
    "at the border, 9x9": _rows(".XXXXOOO.", 9, r6=".XXX.XOO."),
}
NEUTRAL = {
    "a column, 7x7": _rows(".XX.OO.", 7),
    "one point, 6x6": _rows(".XXOO.", 6, r0=".XX.O."),
    "one point, 9x9": _rows(".XXXXOOO.", 9, r8=".XXXX.OO."),
    "three points": _rows(".XXXOOO.", 8, r2=".XXX.OO.", r4=".XXX.OO.", r6=".XXX.OO."),
}
SEKI = {
    "one eye each": SHARED,
    "one eye each, colours exchanged": _turned(SHARED),
}


def _cases() -> list[tuple[str, str, str, bool]]:
    cases = []
    cases += [(f"overlooked: {n}", where, "chinese", False) for n, where in OVERLOOKED.items()]
    # Under area scoring a neutral point is worth a point.
    for kind, positions, by_area, by_territory in (
        ("open", OPEN, False, False),
        ("settled", SETTLED, True, True),
        ("ko", KO, False, False),
        ("neutral", NEUTRAL, False, True),
        ("seki", SEKI, True, True),
    ):
        for name, position in positions.items():
            cases.append((f"{kind}: {name}", position, "chinese", by_area))
            cases.append((f"{kind}: {name}", position, "japanese", by_territory))
    return cases


def _by_size(cases: list[tuple[str, str, str, bool]]) -> list[object]:
    """Mark those on large boards, whose searches take seconds."""
    large = [position.count("/") >= 12 for _, position, _, _ in cases]
    marks = [[pytest.mark.slow] if each else [] for each in large]
    return [pytest.param(*case, marks=mark) for case, mark in zip(cases, marks, strict=True)]


@pytest.mark.parametrize(("name", "position", "rules", "over"), _by_size(_cases()))
def test_the_judge_tells_when_a_game_is_over(
    name: str, position: str, rules: str, over: bool
) -> None:
    board = Board.from_ascii(position.replace("/", "\n"), rules=rules)
    assert SEARCHING_JUDGE.is_over(board) is over


def test_a_position_is_confirmed_once() -> None:
    searches: list[Board] = []

    def search(network: SearchNetwork, board: Board) -> float:
        searches.append(board)
        return lead_by_search(network, board)

    own = Judge(search=search)
    board = Board.from_ascii(SETTLED["edges, 5x5"].replace("/", "\n"))
    assert own.is_over(board) and own.is_over(board.copy())
    assert len(searches) == 2  # one for each side to move
