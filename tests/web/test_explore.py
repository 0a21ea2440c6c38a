"""The openings of collections, over HTTP and in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tengen.board import Board
from tengen.compiling import cache_folder
from tengen.errors import TengenError
from tengen.web.artifacts import collections, explore_openings
from tengen.web.positions import to_value
from tengen.web.settings import Settings

SGF = {"content-type": "application/x-go-sgf"}
GAMES = (
    "(;SZ[9]RE[B+R]DT[2001-02-03];B[ee];W[cg];B[gc])"
    "(;SZ[9]RE[W+R]DT[2003];B[ee];W[gg];B[cc])"
    "(;SZ[9]RE[W+2.5];B[ee];W[ge];B[cc])"
    "(;SZ[9];B[cc];W[gg])"
)


@pytest.fixture(scope="module")
def exploring(
    make_server: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A server that was given a collection, with a cache of its own."""
    folder = tmp_path_factory.mktemp("collection")
    (folder / "four.sgf").write_text(GAMES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(cache_folder()))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield make_server("--collection", str(folder / "four.sgf"))


@pytest.fixture
def asking(exploring: Any) -> Iterator[httpx.Client]:
    with exploring.client() as client:
        yield client


def moves_of(answer: dict[str, Any]) -> dict[str, int]:
    return {move["move"]: move["count"] for move in answer["moves"]}


def test_next_moves_fold_mirror_images(asking):
    [collection] = asking.get("/api/collections").json()
    assert collection["name"] == "four.sgf"
    place = f"/api/explore/{collection['id']}"
    first = asking.post(place, json={"size": 9}).json()
    assert moves_of(first) == {"E5": 3, "G7": 1}
    assert sorted(first["moves"][1]["same"]) == ["C3", "C7", "G3"]
    second = asking.post(place, json={"size": 9, "moves": [["B", "E5"]]}).json()
    corner, side = second["moves"]
    assert (corner["count"], corner["wins_black"], corner["wins_white"]) == (2, 1, 1)
    assert (corner["first"], corner["last"]) == ("2001-02-03", "2003")
    assert corner["example"] == {"file": "four.sgf", "game": 2}
    assert (side["count"], side["win_rate_black"], side["letter"]) == (1, 0.0, "b")
    assert second["stones"][4] == "....X...." and second["turn"] == "white"
    assert corner["network"] > 0 and second["models"]["opening"] == "td-best-9x9"
    assert len(second["liked"]["network"]) == 3
    unseen = asking.post(place, json={"size": 9, "moves": [["B", "A1"]]}).json()
    assert unseen["moves"] == [] and unseen["liked"]["network"]
    inside = asking.post(place, json={"size": 9, "moves": [["B", "G7"]], "corner": True}).json()
    assert inside["corner"] == "top right"


def test_a_dropped_collection_is_kept_and_bad_ones_are_reported(asking):
    data = "(;SZ[13];B[gg])(;SZ[13];B[gg])"
    made = asking.post(
        "/api/collections", params={"name": "../../my <b>games.sgf"}, content=data, headers=SGF
    )
    assert made.status_code == 201
    assert made.json()["games"] == 2 and made.json()["sizes"] == {"13x13": 2}
    assert made.json()["name"] == "my _b_games.sgf, 2 games"
    names = [one["name"] for one in asking.get("/api/collections").json()]
    assert "my _b_games.sgf, 2 games" in names
    place = f"/api/explore/{made.json()['id']}"
    assert moves_of(asking.post(place, json={"size": 13}).json()) == {"G7": 2}
    for data, reason in ((" ", "bad.sgf: an empty file"), ("no game at all", "bad.sgf: ")):
        refused = asking.post(
            "/api/collections", params={"name": "bad.sgf"}, content=data, headers=SGF
        )
        assert refused.status_code == 422 and refused.json()["detail"].startswith(reason)
    assert asking.post("/api/explore/nobody", json={"size": 9}).status_code == 404
    wrong = {"size": 9, "moves": [["B", "E5"], ["W", "E5"]]}
    assert asking.post(place, json=wrong).status_code == 422


def test_games_of_levels_can_be_explored_out_of_the_box(asking):
    made = asking.post("/api/collections/levels").json()
    assert set(made["sizes"]) == {"9x9", "13x13", "19x19"}
    assert asking.post("/api/collections/levels").json()["id"] == made["id"]
    empty = {"size": 9, "moves": []}
    answer = asking.post(f"/api/explore/{made['id']}", json=empty).json()
    assert answer["games"] == made["sizes"]["9x9"]
    # Games begin as people begin them, not with random moves on the edge.
    played = [move["move"] for move in answer["moves"]]
    assert played and not any(move[0] in "AJ" or move[1:] in ("1", "9") for move in played[:5])


def test_a_damaged_index_is_listed_and_told(tmp_path):
    folder = tmp_path / "openings"
    folder.mkdir()
    (folder / "old.openings").write_bytes(b"nothing of the kind")
    settings = Settings(database=tmp_path / "games.sqlite")
    assert "old.openings" in [one.name for one in collections(settings)]
    arguments = {
        "board": to_value(Board(9)),
        "path": str(folder / "old.openings"),
        "corner": False,
        "top": 5,
    }
    with pytest.raises(TengenError, match="not an index of openings"):
        explore_openings(arguments, None)  # type: ignore[arg-type]


def test_exploring_by_clicks_and_keys(exploring, open_page, click, assert_accessible):
    page = open_page(f"{exploring.url}/#/explore")
    page.get_by_role("radio", name="9×9").check()
    page.get_by_text("Black to move: 4 of 4 games.").wait_for()
    assert_accessible(page)
    page.locator(".next-moves .row", has_text="E5").click()
    page.get_by_text("White to move: 3 of 4 games.").wait_for()
    assert page.locator(".board .shudan-vertex.shudan-sign_1").count() == 1
    assert page.locator(".board .shudan-marker_label").count() == 8
    click(page, "G3", 9)
    page.get_by_text("Black to move: 2 of 4 games.").wait_for()
    page.locator(".board").focus()
    page.keyboard.press("Backspace")
    page.get_by_text("White to move: 3 of 4 games.").wait_for()
    page.get_by_role("button", name="Corner only").click()
    page.get_by_role("alert").get_by_text("is in no corner").wait_for()
    assert page.get_by_role("button", name="Corner only").get_attribute("aria-pressed") == "false"
    file = {"name": "own.sgf", "mimeType": "text/plain", "buffer": b"(;SZ[19];B[pd];W[dd])"}
    page.locator(".drop input").set_input_files(file)
    page.get_by_text("Black to move: 1 of 1 games.").wait_for()
    page.locator(".next-moves .row", has_text="Q16").wait_for()
    assert_accessible(page)
