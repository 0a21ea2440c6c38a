"""The grammar: trees, repairs with their offsets, limits, round trips."""

from __future__ import annotations

import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.records import sgf_grammar
from tengen.records.sgf_grammar import (
    Damage,
    GameTree,
    format_tree,
    parse_game,
    parse_slices,
    protect,
)


def games(data: bytes) -> list[sgf_grammar.ParsedGame | Damage]:
    return [game for game, _ in parse_slices(io.BytesIO(data))]


def written(data: bytes) -> list[bytes]:
    return [format_tree(game.tree) for game in games(data) if not isinstance(game, Damage)]


# What is read, what it is written as, and the offsets of the repairs it took.
CASES = [
    (b"(;B[aa];W[bb])", b"(;B[aa];W[bb])", []),
    (b" \n(; B [aa]\n[bb] ; W[])", b"(;B[aa][bb];W[])", []),
    (b"(;A[1](;B[2])(;C[3];D[4](;E[5])(;F[6])))", None, []),
    (b"(;A[1](;B[2](;C[3])))", b"(;A[1];B[2];C[3])", []),
    (b"(;C[a\\]b\\\\];N[x])", b"(;C[a\\]b\\\\];N[x])", []),
    (b"(;Black[aa];WhiTe[bb]CoPyright[me])", b"(;B[aa];WT[bb]CP[me])", []),
    (b"(GM[1];B[aa])", b"(;GM[1];B[aa])", [1]),
    (b"(;GM[1];B[aa]", b"(;GM[1];B[aa])", [13]),
    (b"(;GM[1](;B[aa](;W[bb])", b"(;GM[1];B[aa];W[bb])", [22]),
    (b"(;C[see [this] here];B[aa])", b"(;C[see [this\\] here];B[aa])", [13]),
    (b"(;C[smile :] (x :])];B[aa])", b"(;C[smile :\\] (x :\\])];B[aa])", [11, 17]),
    (b"(;B[aa]x;W[bb])", b"(;B[aa];W[bb])", [7]),
    (b"(;B[aa];W[bb]C[cut off", b"(;B[aa];W[bb])", [14, 22]),
    (b"(;[aa]B[bb])", b"(;B[bb])", [2]),
    (b"(;C[\\(;GM[1];B[aa])", b"(;C[\\(;GM[1];B[aa])", []),
    (b"((;B[aa])", b"(;B[aa])", []),
]


@pytest.mark.parametrize(("data", "expected", "offsets"), CASES)
def test_reads_and_repairs(data: bytes, expected: bytes | None, offsets: list[int]) -> None:
    [game] = games(data)
    assert not isinstance(game, Damage)
    assert format_tree(game.tree) == (data if expected is None else expected)
    assert [repair.offset for repair in game.repairs] == offsets


def test_yields_every_game_with_its_place() -> None:
    data = b"text (not a game)\n(;B[aa])\n)) more [text]\n(;W[bb])"
    found = games(data)
    assert [data[g.start : g.end] for g in found if not isinstance(g, Damage)] == [
        b"(;B[aa])",
        b"(;W[bb])",
    ]


@pytest.mark.parametrize(
    "broken", [b"(;SZ[9];B[aa];W[bb]\n", b"(;SZ[9];B[aa]C[no end\n", b"(;SZ[9](;B[aa](;W[bb])\n"]
)
def test_the_game_behind_a_broken_one_is_read(broken: bytes) -> None:
    assert written(broken + b"(;GM[1]FF[4];B[cc])\n(;FF[4];B[dd])")[1:] == [
        b"(;GM[1]FF[4];B[cc])",
        b"(;FF[4];B[dd])",
    ]


def test_a_bracket_in_a_double_byte_character_does_not_end_the_value() -> None:
    data = b"(;PB[\x95\x5d\x95\x5c];B[aa])"
    game = parse_game(data, lead=rb"\x81-\x9f\xe0-\xfc")
    assert game.tree.nodes[0] == {"PB": [b"\x95\x5d\x95\x5c"]}
    assert not game.repairs


def test_main_line_takes_first_children() -> None:
    tree = parse_game(b"(;A[0];B[1](;C[2];D[3])(;E[4]))").tree
    assert list(tree.main_line()) == [0, 1, 2, 3]
    assert tree.parents == [-1, 0, 1, 2, 1]
    assert tree.offsets == [1, 6, 12, 17, 24]


@pytest.mark.parametrize("chunk", [1, 3, 7, 1 << 20])
def test_reading_does_not_depend_on_the_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (
        b" junk ".join(case[0] for case in CASES if case[0].count(b"(") <= case[0].count(b")")) * 3
    )
    expected = written(data)
    monkeypatch.setattr(sgf_grammar, "CHUNK", chunk)
    assert written(data) == expected
    assert len(expected) > 20


# Hostile input: (piece, times, what closes it, damaged games told).
HOSTILE = [
    (b"(", 5_000_000, b"", 0),
    (b"()", 1_000_000, b"", 0),
    (b"(;", 1_000_000, b"", 1),
    (b"(;", 1_000_000, b")" * 1_000_000, 1),
    (b"(;B[aa]", 300_000, b"", 1),
    (b";", 1_000_000, b"", 0),
    (b";", 1_000_000, b")", 1),
    (b"(;C[a]b", 100_000, b"", 1),
    (b"[", 17_000_000, b"]", 1),
    (b"\\", 17_000_000, b"", 1),
    (b"(A", 1_000_000, b"", 0),
    (b"(;C[x](;GM[", 20_000, b"", None),
]


@pytest.mark.parametrize(("piece", "times", "tail", "damaged"), HOSTILE)
def test_hostile_input_ends_soon(
    piece: bytes, times: int, tail: bytes, damaged: int | None
) -> None:
    head = b"(;C[" if piece in (b"[", b"\\") else b"(" if tail == b")" else b""
    start = time.process_time()
    found = games(head + piece * times + tail)
    assert time.process_time() - start < 40  # a second or two where nobody else is at work
    if damaged is not None:
        assert sum(isinstance(game, Damage) for game in found) == damaged


def test_deep_trees_do_not_recurse() -> None:
    depth = 20_000
    data = b"(;A[1]" * depth + b")" * depth
    [game] = games(data)
    assert not isinstance(game, Damage)
    assert len(game.tree.nodes) == depth
    branching = b"(;A[1](;B[2])" * depth + b")" * depth
    assert written(branching) == [branching.replace(b"(;A[1](;B[2]))", b"(;A[1];B[2])")]


names = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=1, max_size=2).filter(
    lambda name: name not in sgf_grammar.ROOT_NAMES
)
values = st.binary(max_size=12).map(lambda raw: raw.replace(b"\\", b"").replace(b"]", rb"\]"))
nodes = st.dictionaries(names, st.lists(values, min_size=1, max_size=3), max_size=3)


@st.composite
def trees(draw: st.DrawFn) -> GameTree:
    tree = GameTree()
    path = [tree.add(-1, draw(nodes))]
    for node in draw(st.lists(nodes, max_size=12)):
        del path[draw(st.integers(1, len(path))) :]
        path.append(tree.add(path[-1], node))
    return tree


@given(trees())
def test_writing_and_reading_gives_the_same_tree(tree: GameTree) -> None:
    [game] = games(format_tree(tree))
    assert not isinstance(game, Damage)
    assert game.tree.nodes == tree.nodes
    assert game.tree.parents == tree.parents
    assert not game.repairs


@given(st.binary(max_size=300))
def test_noise_never_crashes(noise: bytes) -> None:
    for game in games(b"(;" + noise):
        if not isinstance(game, Damage):
            format_tree(game.tree)


@given(
    st.lists(st.sampled_from([b"(", b")", b";", b"[", b"]", b"\\", b"B", b"GM[1]", b"x", b"\n"]))
)
def test_scrambled_syntax_never_crashes(pieces: list[bytes]) -> None:
    for game in games(b"".join(pieces)):
        if not isinstance(game, Damage):
            assert 0 <= game.start < game.end <= len(b"".join(pieces))


def test_a_value_that_looks_like_a_game_is_escaped() -> None:
    assert protect(b"see (;FF[") == b"see \\(;FF["
    assert protect(b"see (this)") == b"see (this)"
