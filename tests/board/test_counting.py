"""Counting by rule, on pictures drawn for these tests, on random grids, and on the oracle's."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.board.reference import around, spread

from tengen.board import Board, Rules
from tengen.board.counting import (
    BLACK,
    WHITE,
    count_area,
    count_board,
    count_both,
    count_by_rules,
    count_territory,
    format_result,
    overruled,
    territory_margins,
    tromp_taylor,
)
from tengen.board.counting_kernels import careful_kinds, eye_value
from tengen.errors import TengenError

STONES = {".": 0, "x": 1, "b": 1, "o": 2, "w": 2}


def read(picture: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a picture: x black, o white, b and w dead stones of theirs."""
    lines = picture.split()
    grid = np.array([[STONES[c] for c in line] for line in lines], np.int8)
    dead = np.array([[c in "bw" for c in line] for line in lines])
    return grid, dead


def draw(picture: str, method: str = "careful") -> str:
    """Return the picture with z and a for territory, upper case for seki, F for false eyes."""
    grid, dead = read(picture)
    count = count_territory(grid, dead, method=method)  # type: ignore[arg-type]
    out = np.array([list(line) for line in picture.split()])
    out[count.territory(BLACK)] = "z"
    out[count.territory(WHITE)] = "a"
    out[count.false_eyes] = "F"
    seki = count.seki
    out[seki & (grid > 0)] = np.char.upper(out[seki & (grid > 0)])
    out[seki & (grid == 0)] = "S"
    return "\n".join("".join(row) for row in out)


def block(text: str) -> str:
    return "\n".join(text.split())


def test_dame_and_borders() -> None:
    before = """
        ..x.o..
        ..x.o..
        ..xxo..
        ..x.o..
        """
    after = """
        zzx.oaa
        zzx.oaa
        zzxxoaa
        zzx.oaa
        """
    assert draw(before) == block(after)
    assert draw(before, "plain") == block(after)


def test_dead_stones_give_their_points() -> None:
    picture = """
        .w.x.o.
        ..wx.ob
        ...x.o.
        ...x.o.
        """
    assert draw(picture) == block("zzzx.oa\nzzzx.oa\nzzzx.oa\nzzzx.oa")
    grid, dead = read(picture)
    count = count_territory(grid, dead, komi=0.5, prisoners=(3, 1))
    # Black: 12 points, 2 dead, 3 prisoners. White: 4 points, 1 dead, 1 prisoner, komi.
    assert (count.black, count.white) == (17, 6.5)
    assert count.result == "B+10.5"


HANGING = """
    .......
    xxx.xxx
    oooxooo
    .oo.oo.
    o.o.o.o
    """


def test_a_hanging_stone_makes_its_connection_false() -> None:
    # The lone stone hangs on the point above it; White can put it in atari from below.
    assert draw(HANGING) == block("zzzzzzz xxxFxxx oooxooo aoo.ooa oao.oao")
    assert draw(HANGING, "plain") == block("zzzzzzz xxxzxxx oooxooo aoo.ooa oao.oao")
    # Joined on both sides it needs no filling.
    assert draw(HANGING.replace("oooxooo", "oxxxxxo")).split()[1] == "xxxzxxx"


def test_two_ended_groups_need_not_fill_their_joints() -> None:
    # Both ends of the upper chain have an eye, so the joint in the middle may stay open ...
    assert draw("""
        .xx.xx.
        xxoxxxx
        ooo.ooo
        o.o.o.o
        """) == block("zxxzxxz xxoxxxx ooo.ooo oao.oao")
    # ... but with one end cut short the whole chain has one eye only and lives in seki.
    assert draw("""
        .xx.xx.
        xxoxxxo
        ooo.ooo
        o.o.o.o
        """) == block("SXXSXX. XXoXXXo ooo.ooo oao.oao")


def test_a_ring_joined_twice_has_two_real_eyes() -> None:
    # Each of the two joints is an eye because the other one connects.
    assert draw("""
        xxx.xxx
        xooxxox
        xooooox
        xo.o.ox
        xooooox
        xooxxox
        xxx.xxx
        """) == block("xxxzxxx xooxxox xooooox xoaoaox xooooox xooxxox xxxzxxx")
    # With one joint open to White the other is false, and Black has no eye at all.
    assert draw("""
        xxx.xxx
        xoooxox
        xooooox
        xo.o.ox
        xooooox
        xooxxox
        xxx.xxx
        """) == block("XXX.XXX XoooXoX XoooooX XoaoaoX XoooooX XooXXoX XXXSXXX")


@pytest.mark.parametrize(
    ("picture", "seki"),
    [
        # A three-point eye lives; with an enemy stone on its vital point it is one eye: seki.
        ("...xo..\nxxxxo..\nooooo..", False),
        (".w.xo..\nxxxxo..\nooooo..", True),
        # A square of four is one eye, whoever moves.
        ("..xo...\n..xo...\nxxxo...\noooo...", True),
        # Five in a row and a bulky five live untouched; a bulky five with its heart taken does not.
        (".....xo..\nxxxxxxo..\nooooooo..", False),
        ("..xo...\n...xo..\nxxxxo..\nooooo..", False),
        ("..xo...\n.w.xo..\nxxxxo..\nooooo..", True),
        # Seven points are too many for one stone.
        ("...xo...\n.w.xo...\n.xxxo...\nxxooo...\nooo.....", False),
    ],
)
def test_eye_shapes(picture: str, seki: bool) -> None:
    grid, dead = read(picture)
    count = count_territory(grid, dead)
    assert bool(count.seki[(grid == BLACK) & ~dead].any()) == seki
    assert bool(count.territory(BLACK).any()) != seki
    assert count.territory(WHITE).any()


def test_a_simple_seki_gives_nothing_and_plain_counting_misses_it() -> None:
    picture = """
        .ox.xo.
        oox.xoo
        xxoooxx
        .xo.ox.
        .xoooxx
        .xxxxx.
        """
    grid, _ = read(picture)
    careful = count_territory(grid)
    plain = count_territory(grid, method="plain")
    assert careful.seki[2, 2] and careful.seki[3, 3]
    assert not careful.territory(WHITE)[3, 3]
    assert plain.territory(WHITE)[3, 3]


def test_bamboo_joints_hold() -> None:
    # White's halves have one eye each. A black bamboo joint keeps them apart: seki.
    apart = """
        xxxxxxxxxx
        xoooxxooox
        xo.o..o.ox
        xoooxxooox
        xxxxxxxxxx
        ..........
        """
    grid, _ = read(apart)
    assert count_territory(grid).seki[grid == WHITE].all()
    assert not count_territory(grid).territory(WHITE).any()
    # Without the lower half of the joint they reach one another and live with two eyes.
    grid[3, 4:6] = 0
    assert not count_territory(grid).seki.any()
    assert count_territory(grid).territory(WHITE).sum() == 2


def test_an_open_border_is_not_counted_but_gives_eyes() -> None:
    # Nobody has closed the middle: no territory, but nobody is in seki either.
    grid, _ = read("""
        ...x.o...
        ...x.o...
        .........
        ...x.o...
        ...x.o...
        """)
    count = count_territory(grid)
    assert not count.owner.any()
    assert not count.seki.any()
    assert count.dame.sum() == 45 - 8


def test_area_counts_false_eyes() -> None:
    grid, dead = read(HANGING)
    count = count_area(grid, dead, komi=1.5, handicap=2)
    # Black: 7 stones and 8 points; White: 14 stones and 4 points; two dame.
    assert (count.black, count.white) == (15, 21.5)
    assert count.result == "W+6.5"
    assert "2 for handicap stones" in count.explain()
    assert int(np.count_nonzero(count.owner == BLACK)) == 15


def test_tromp_taylor_takes_nothing_off() -> None:
    grid, dead = read("...\nxxx\n.w.")
    assert tromp_taylor(grid, 0.5).score == 6 - 1 - 0.5
    assert count_area(grid, dead, komi=0.5).score == 9 - 0.5
    assert tromp_taylor(np.zeros((4, 4), np.int8)).result == "0"


def test_bad_input_is_named() -> None:
    with pytest.raises(TengenError, match="rows and columns"):
        count_territory(np.zeros(9, np.int8))
    with pytest.raises(TengenError, match="only EMPTY"):
        count_area(np.full((3, 3), 7, np.int8))
    with pytest.raises(TengenError, match="dead stones of shape"):
        count_area(np.zeros((3, 3), np.int8), np.zeros((2, 3), bool))
    with pytest.raises(TengenError, match="no counting method"):
        count_territory(np.zeros((3, 3), np.int8), method="quick")  # type: ignore[arg-type]
    with pytest.raises(TengenError, match="handicap"):
        Rules(handicap_bonus="some")  # type: ignore[arg-type]
    assert Rules(handicap_bonus="n").compensation(1) == 0
    assert format_result(0.5) == "B+0.5"


def test_a_dead_mark_on_an_empty_point_is_no_prisoner() -> None:
    grid, _ = read("..x.\n..x.\n..x.")
    everywhere = np.ones(grid.shape, bool)
    assert count_territory(grid, everywhere).dead_stones(WHITE) == 0
    assert count_territory(grid, everywhere).white == 3


# ----- Properties on random grids -----

grids = st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(
    lambda size: st.lists(
        st.lists(st.sampled_from("..xxoobw"), min_size=size[1], max_size=size[1]),
        min_size=size[0],
        max_size=size[0],
    ).map(lambda rows: "\n".join("".join(row) for row in rows))
)


def slow_plain(grid: np.ndarray, dead: np.ndarray) -> np.ndarray:
    """Flood from every empty point anew: obviously right."""
    board = np.where(dead, 0, grid)
    owner = np.zeros_like(grid)
    for start in map(tuple, np.argwhere(board == 0)):
        touched = {board[q] for p in spread(board, start) for q in around(board, p)} - {0}
        if len(touched) == 1:
            owner[start] = touched.pop()
    return owner


@settings(max_examples=150)
@given(grids)
def test_plain_is_a_flood_fill(picture: str) -> None:
    grid, dead = read(picture)
    count = count_territory(grid, dead, method="plain")
    assert np.array_equal(count.owner, slow_plain(grid, dead))


@settings(max_examples=150)
@given(grids)
def test_careful_never_gives_more_than_plain(picture: str) -> None:
    grid, dead = read(picture)
    careful = count_territory(grid, dead)
    plain = count_territory(grid, dead, method="plain")
    assert np.all((careful.owner == 0) | (careful.owner == plain.owner))
    stones = (grid > 0) & ~dead
    # Every point plays one part: stones stay stones, empty points are counted or not.
    assert not (stones & (careful.dame | careful.false_eyes)).any()
    assert not (careful.owner.astype(bool) & (careful.seki | careful.false_eyes)).any()


@settings(max_examples=100)
@given(grids)
def test_careful_counting_is_the_same_for_both_colours_and_all_sides(picture: str) -> None:
    grid, dead = read(picture)
    kinds = count_territory(grid, dead).owner
    swapped = count_territory(np.array([0, 2, 1], np.int8)[grid], dead).owner
    assert np.array_equal(np.array([0, 2, 1], np.int8)[swapped], kinds)
    turned = count_territory(np.rot90(grid), np.rot90(dead)).owner
    assert np.array_equal(np.rot90(turned, -1), kinds)
    flipped = count_territory(grid[:, ::-1], dead[:, ::-1]).owner
    assert np.array_equal(flipped[:, ::-1], kinds)


@settings(max_examples=50)
@given(grids)
def test_bulk_margins_agree_with_single_counts(picture: str) -> None:
    grid, dead = read(picture)
    for method in ("careful", "plain"):
        count = count_territory(grid, dead, method=method)  # type: ignore[arg-type]
        margins = territory_margins(grid[None], dead[None], method=method)  # type: ignore[arg-type]
        assert margins.tolist() == [count.score]
    kinds = np.zeros(grid.shape, np.int8)
    careful_kinds(grid, dead, kinds)
    assert np.array_equal(kinds, count_territory(grid, dead).kinds)
    with pytest.raises(TengenError, match="do not fit"):
        territory_margins(grid, dead)


# ----- Eyes alone -----


def eye(cells: str) -> int:
    """Value a row of cells with a wall along it: w enemy, F open, f open with an enemy stone."""
    n = len(cells)
    nbr = np.zeros(12, np.int64)
    for i in range(n):
        nbr[i] = sum(1 << j for j in (i - 1, i + 1) if 0 <= j < n)
    mask = {c: sum(1 << i for i in range(n) if cells[i] in c) for c in ("wf", "Ff")}
    spent = 0
    for i in range(n):
        if cells[i] == "f":
            spent |= 1 << i | int(nbr[i])
    return int(eye_value(n, mask["wf"], (1 << n) - 1, mask["Ff"], spent, nbr))


# With one open end four points must be left, with two of them five; a throw-in costs one more.
@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ("F FF F.F", 0),
        (". .. .w. F. F..F F... F....F f.... .www.", 1),
        ("... w.. F.... F.....F f..... .wwww.", 2),
    ],
)
def test_rows_of_cells(rows: str, value: int) -> None:
    for row in rows.split():
        assert eye(row) == eye(row[::-1]) == value, row


# ----- The pictures of goscorer, where they are at hand -----

ORACLES = os.environ.get("TENGEN_ORACLES", "")
PICTURES = sorted(Path(ORACLES, "territory").glob("*.txt")) if ORACLES else []


@pytest.mark.skipif(not PICTURES, reason="set TENGEN_ORACLES to the folder of the pictures")
def test_oracle_pictures() -> None:
    wrong = []
    for path in PICTURES:
        sections: dict[str, list[str]] = {}
        for line in path.read_text().splitlines():
            if line.endswith(":"):
                sections[line[:-1]] = []
            elif line.strip():
                sections[list(sections)[-1]].append(line)
        board = sections["BOARD"]
        grid, dead = read("\n".join(board))
        count = count_territory(grid, dead)
        territory = np.array([list(line) for line in board])
        territory[count.territory(BLACK)] = "z"
        territory[count.territory(WHITE)] = "a"
        owner = np.where(count.kinds % 2 == 1, "x", "o")  # Black's kinds are odd
        seki = np.full(grid.shape, ".")
        inside = count.seki
        seki[inside] = owner[inside]
        empty = inside & (grid == 0)
        seki[empty] = np.where(owner[empty] == "x", "z", "a")
        for name, ours in (("TERRITORY", territory), ("SEKI", seki)):
            if ["".join(row) for row in ours] != sections[name]:
                wrong.append(f"{path.stem} {name}")
    assert not wrong


def test_whole_blocks_are_called_dead_or_alive() -> None:
    board = Board.from_ascii(". X O .\n. X O .\nX . O .")
    mask = board.grid() == WHITE
    turned = overruled(mask, board, dead=["A1"], alive=["c2"])
    assert np.argwhere(turned).tolist() == [[2, 0]] and mask.sum() == 3
    for words, message in (
        ({"dead": ["A2"]}, "no stone on A2"),
        ({"alive": ["Z9"]}, "Z9"),
        ({"dead": ["B2"], "alive": ["B3"]}, "B3 is called dead and alive"),
    ):
        with pytest.raises(TengenError, match=message):
            overruled(mask, board, **words)


def test_a_position_is_counted_as_its_rules_say_or_in_both_ways() -> None:
    board = Board.from_ascii(". X O .\n" * 3, rules="chinese", komi=0.5)
    board.handicap = 2
    assert count_board(board, None).score == -2.5
    japanese = Rules.preset("japanese")
    assert count_board(board, None, japanese).score == -0.5
    taken = count_by_rules(board.grid(), None, japanese, prisoners=(2, 0), handicap=2)
    assert (taken.scoring, taken.score) == ("territory", 2.0)
    territory, area = count_both(board, None, (3, 1))
    assert (territory.scoring, territory.score) == ("territory", 3 - 1 - 0.5)
    assert (area.scoring, area.score) == ("area", -0.5 - 2)
