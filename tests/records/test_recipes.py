"""Recipes: made-up repositories become collections, and what differs from the recipe is refused."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from tengen.errors import RecordError, SpecError, TengenError
from tengen.records import recipes
from tengen.records.recipes import Built, build, load_recipe, recipe_names

STRONG = b"(;GM[1]FF[4]SZ[9]PB[Ann]PW[Bob]BR[6d]WR[1p]DT[2001-02-03]KM[6.5]RU[Japanese]RE[%b]%b)"
RECIPE = """
title = "Two archives"
repository = "somebody/games"
sources = ["2001.tar.gz", "more"]
{more}
[[files]]
name = "all.sgf"
"""


def strong(result: bytes = b"B+3.5", moves: bytes = b";B[ee];W[cc];B[];W[]") -> bytes:
    return STRONG % (result, moves)


NAMES = ("one", "two", "weak", "even", "handicap")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with an archive of three games and a folder of one."""
    folder = tmp_path / "clone"
    (folder / "more").mkdir(parents=True)
    games = {
        "one": strong(),
        "two": strong(b"W+Resign", b";B[dd](;W[gg]C[hm];B[gc])(;W[gc])"),
        "weak": strong().replace(b"6d", b"5k"),
    }
    with tarfile.open(folder / "2001.tar.gz", "w:gz") as archive:
        for name, content in games.items():
            member = tarfile.TarInfo(f"kgs/{name}.sgf")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    handicap = strong(moves=b";W[ee];B[]").replace(b"KM", b"HA[2]AB[cc][gg]KM")
    (folder / "more" / "even.sgf").write_bytes(strong(moves=b";B[aa];TB[bb]W[]"))
    (folder / "more" / "handicap.sgf").write_bytes(handicap)
    return folder


def made(tmp_path: Path, text: str, *sources: Path) -> dict[str, list[bytes]]:
    """Build a recipe; return the lines of each file."""
    path = tmp_path / "mine.toml"
    path.write_text(text)
    built = build(load_recipe(path), sources, tmp_path / "out")
    for each in built:
        content = each.file.read_bytes()
        assert (each.games, each.sha256) == (
            content.count(b"\n"), hashlib.sha256(content).hexdigest()
        )  # fmt: skip
    return {each.file.name: each.file.read_bytes().splitlines() for each in built}


def moves(lines: list[bytes]) -> list[bytes]:
    return [line[line.index(b";", 2) : -1] for line in lines]


def test_games_become_lines_without_names_comments_and_variations(
    tmp_path: Path, clone: Path
) -> None:
    lines = made(tmp_path, RECIPE.format(more=""), clone)["all.sgf"]
    header = b"(;GM[1]FF[4]CA[UTF-8]SZ[9]DT[2001-02-03]RU[Japanese]KM[6.5]BR[6d]WR[1p]RE[%b]%b)"
    assert lines[0] == header % (b"B+3.5", b";B[ee];W[cc];B[];W[]")
    assert lines[1] == header % (b"W+Resign", b";B[dd];W[gg];B[gc]")
    assert b"KM[6.5]HA[2]BR[6d]WR[1p]RE[B+3.5]AB[cc][gg];W[ee]" in lines[4]
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ('min_rank = "6d"', "one two even handicap"),
        ("even = true", "one two weak even"),
        ("counted = true", "one weak even handicap"),
        ("passes = 2", "one weak"),
        ("min_moves = 3", "one two weak"),
        ("size = 9", "one two weak even handicap"),
        ('rules = ["JAPANESE", "AGA"]', "one two weak even handicap"),
        ('min_rank = "6d"\neven = true\ncounted = true\nmin_moves = 2', "one even"),
    ],
)
def test_filters(tmp_path: Path, clone: Path, filters: str, kept: str) -> None:
    everything = made(tmp_path, RECIPE.format(more=""), clone)["all.sgf"]
    names = dict(zip(NAMES, everything, strict=True))
    chosen = made(tmp_path, RECIPE.format(more=f"[filters]\n{filters}"), clone)["all.sgf"]
    assert chosen == [names[name] for name in kept.split()]


def test_moves_behind_other_properties_can_be_left_out(tmp_path: Path, clone: Path) -> None:
    assert moves(made(tmp_path, RECIPE.format(more=""), clone)["all.sgf"])[3] == b";B[aa];W[]"
    text = RECIPE.format(more="leading_moves = true")
    assert moves(made(tmp_path, text, clone)["all.sgf"])[3] == b";B[aa]"


def test_lists_choose_and_order_games_and_the_rest_goes_where_no_list_is(
    tmp_path: Path, clone: Path
) -> None:
    everything = made(tmp_path, RECIPE.format(more=""), clone)["all.sgf"]
    (tmp_path / "dev.txt").write_text("even\none\n")
    (tmp_path / "more.txt.gz").write_bytes(gzip.compress(b"two\n"))
    text = RECIPE.format(more="") + (
        '[[files]]\nname = "dev.sgf"\ngames = "dev.txt"\ncount = 2\n'
        '[[files]]\nname = "more.sgf"\ngames = "more.txt.gz"\n'
    )
    files = made(tmp_path, text, clone)
    assert files["dev.sgf"] == [everything[3], everything[0]]
    assert files["more.sgf"] == [everything[1]]
    assert files["all.sgf"] == [everything[2], everything[4]]


def test_sources_may_lie_in_several_folders(tmp_path: Path, clone: Path) -> None:
    (tmp_path / "other").mkdir()
    (clone / "more").rename(tmp_path / "other" / "more")
    lines = made(tmp_path, RECIPE.format(more=""), clone, tmp_path / "other")["all.sgf"]
    assert len(lines) == 5
    with pytest.raises(RecordError, match=r"not in .*clone: more;.*somebody/games"):
        made(tmp_path, RECIPE.format(more=""), clone)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("count = 6", "4 games instead of 6"),
        (f'sha256 = "{"0" * 64}"', "instead of 0000"),
        ('games = "list.txt"', "1 of 2 games .*: none"),
        ('games = "nothing.txt"', "nothing.txt: not a list"),
        ('games = "damaged.txt.gz"', "damaged.txt.gz: not a list"),
    ],
)
def test_what_differs_from_the_recipe_is_refused_and_nothing_written(
    tmp_path: Path, clone: Path, more: str, complaint: str
) -> None:
    (tmp_path / "list.txt").write_text("one\nnone\n")
    (tmp_path / "damaged.txt.gz").write_bytes(gzip.compress(b"one\n")[:-5])
    text = RECIPE.format(more="") + more + '\n[[files]]\nname = "b.sgf"\ngames = "list.txt"\n'
    with pytest.raises(RecordError, match=complaint):
        made(tmp_path, text, clone)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("filters", ["size = 19", 'rules = ["AGA"]'])
def test_an_empty_collection_is_refused(tmp_path: Path, clone: Path, filters: str) -> None:
    with pytest.raises(RecordError, match=r"all.sgf: no game"):
        made(tmp_path, RECIPE.format(more=f"[filters]\n{filters}"), clone)


def test_two_games_of_one_name_are_refused(tmp_path: Path, clone: Path) -> None:
    (clone / "more" / "one.sgf").write_bytes(strong(moves=b";B[aa]"))
    with pytest.raises(RecordError, match="a second game one"):
        made(tmp_path, RECIPE.format(more=""), clone)


def test_a_source_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    source = tmp_path / "out" / "all.sgf"
    source.write_bytes(strong())
    text = RECIPE.format(more="").replace('"2001.tar.gz", "more"', '"all.sgf"')
    with pytest.raises(TengenError, match="what is read"):
        made(tmp_path, text, tmp_path / "out")
    assert source.read_bytes() == strong()


ONE_LINE = """
title = "One line each"
repository = "somebody/games"
sources = ["2003-09", "2005-11.zip"]
[index]
files = ["index.txt", "index.zip"]
columns = { DT = 1, KM = 2, RE = 3 }
header = { BR = "9d", WR = "9d" }
[[files]]
name = "all.sgf"
"""


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A repository in the one-line form: a text file and an archive, each with its index."""
    (tmp_path / "2003-09").write_bytes(
        b"1\t;B[qd];W[dd];B[]\r\n2\t;B[qd](;W[dd])\n3\t;B[qd]\nno tab\n"
    )
    (tmp_path / "index.txt").write_bytes(
        b"1\t2003.09.25 20:21\t7.5\tB+0.5 \n2\t2003.09.26 20:21\t6.5\tW+R\n"
    )
    for name, content in (
        ("2005-11", b"75\t;B[pd];W[pp]\r\n"),
        ("index", b"75\tC2005.11.02 10:48\t6.5\tW+Resign\r\n"),
    ):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr(name, content)
    return tmp_path


def test_one_line_games_get_their_header_from_the_index(tmp_path: Path, lines: Path) -> None:
    """A game without a line in the index, or with other than plain moves, is left out."""
    start = b"(;GM[1]FF[4]CA[UTF-8]SZ[19]"
    assert made(tmp_path, ONE_LINE, lines)["all.sgf"] == [
        start + b"DT[2003-09-25]KM[7.5]BR[9d]WR[9d]RE[B+0.5];B[qd];W[dd];B[])",
        start + b"DT[2005-11-02]KM[6.5]BR[9d]WR[9d]RE[W+Resign];B[pd];W[pp])",
    ]


def test_damaged_indices_are_refused(tmp_path: Path, lines: Path) -> None:
    (lines / "index.txt").write_bytes(b"1\t2003.09.25 20:21\n")
    with pytest.raises(RecordError, match=r"index.txt: a line of 2 columns"):
        made(tmp_path, ONE_LINE, lines)
    (lines / "index.txt").write_bytes(b"")
    (lines / "index.zip").write_bytes(b"PK")
    with pytest.raises(RecordError, match=r"index.zip: damaged archive"):
        made(tmp_path, ONE_LINE, lines)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("title", "titel"), "title"),
        (('"all.sgf"', '"../all.sgf"'), "name"),
        (("[[files]]", "[filters]\nranks = 1\n[[files]]"), "filters.ranks"),
        (('title = "Two', "title = Two"), "not TOML"),
    ],
)
def test_wrong_recipes_are_refused(tmp_path: Path, change: tuple[str, str], complaint: str) -> None:
    (tmp_path / "mine.toml").write_text(RECIPE.format(more="").replace(*change))
    with pytest.raises(SpecError, match=rf"mine.toml: .*{complaint}"):
        load_recipe(tmp_path / "mine.toml")


def test_unknown_names_list_the_recipes() -> None:
    with pytest.raises(SpecError) as wrong:
        load_recipe("kgs6")
    assert all(name in str(wrong.value) for name in recipe_names())


@pytest.mark.parametrize("name", recipe_names())
def test_shipped_recipes_are_complete(name: str) -> None:
    """Every file has a list of different games, as many as its count, and a sum."""
    recipe = load_recipe(name)
    assert re.fullmatch(r"[0-9a-f]{40}", recipe.commit)
    assert len(set(recipe.sources)) == len(recipe.sources)
    lists = [recipe.games_of(output) for output in recipe.files]
    for output, games in zip(recipe.files, lists, strict=True):
        assert games is not None and output.sha256 is not None
        assert output.count == len(games) == len(set(games))
    together = [game for games in lists for game in games or ()]
    assert len(set(together)) == len(together)  # train and dev share no game


def test_every_list_belongs_to_a_recipe() -> None:
    used = {output.games for name in recipe_names() for output in load_recipe(name).files}
    assert used == {path.name for path in recipes.RECIPES.glob("*.gz")}


def test_checked_means_that_the_recipe_has_the_sum(tmp_path: Path, clone: Path) -> None:
    made(tmp_path, RECIPE.format(more=""), clone)
    [first] = build(load_recipe(tmp_path / "mine.toml"), [clone], tmp_path / "a")
    assert isinstance(first, Built) and not first.checked
    text = RECIPE.format(more="") + f'count = 5\nsha256 = "{first.sha256}"\n'
    (tmp_path / "mine.toml").write_text(text)
    [second] = build(load_recipe(tmp_path / "mine.toml"), [clone], tmp_path / "b")
    assert second.checked and second.sha256 == first.sha256
