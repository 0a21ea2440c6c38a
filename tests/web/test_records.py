"""Games as pages show them: every position, as far as the rules allow."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tengen.board import Board
from tengen.errors import IllegalMoveError
from tengen.records import GameRecord, loads
from tengen.records.record import board_at
from tengen.web import look_routes, positions, reviews
from tengen.web.app import Services, make_app
from tengen.web.settings import LOOPBACK, Settings

GOOD = "(;SZ[9]AB[aa]PL[W];W[ee];B[cc];W[gg];B[])"
ILLEGAL = "(;SZ[9];B[ee];W[cc];B[gg];W[ee];B[cg];W[gc])"
"""The fourth of six moves is on a stone."""


def slowly(record: GameRecord) -> list[Board]:
    """Replay the game from its start for each position."""
    boards = []
    for number in range(1, len(record.moves) + 2):
        try:
            boards.append(board_at(record, number))
        except IllegalMoveError:
            break
    return boards


@pytest.mark.parametrize(
    ("sgf", "count"), [(GOOD, 5), (ILLEGAL, 4), ("(;SZ[9];B[ee];W[ee])", 2), ("(;SZ[9])", 1)]
)
def test_positions_are_those_of_a_replay_from_the_start(sgf: str, count: int) -> None:
    [record] = loads(sgf)
    boards, remark = positions.replayed(record)
    assert boards == slowly(record) and len(boards) == count
    assert [b.turn for b in boards] == [b.turn for b in slowly(record)]
    assert [b.moves for b in boards] == [b.moves for b in slowly(record)]
    assert ("taken" in remark) == (count <= len(record.moves))


def test_a_game_is_replayed_once_whatever_is_wrong_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def counting(*arguments: Any) -> Board:
        asked.append(arguments)
        return board_at(*arguments)

    monkeypatch.setattr(positions, "board_at", counting)
    for sgf in (GOOD, ILLEGAL):
        asked.clear()
        positions.replayed(loads(sgf)[0])
        assert len(asked) <= 1


def test_a_game_without_a_first_position_is_refused() -> None:
    [record] = loads("(;SZ[2]AB[aa][ab][ba][bb])")
    with pytest.raises(IllegalMoveError):
        positions.replayed(record)


def test_others_are_answered_while_a_game_is_replayed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def replay(record: GameRecord) -> dict[str, Any]:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        return {"moves": len(record.moves)}

    for routes in (look_routes, reviews):
        monkeypatch.setattr(routes, "whole", replay)
    services = Services(Settings(tmp_path / "web.sqlite"))
    body = {"sgf": GOOD, "headline": {}, "playouts": 1}
    body |= {"status": "done", "trouble": "", "summary": None}
    services.store.put("review", "mine", {}, body)

    async def ask() -> list[int]:
        transport = httpx.ASGITransport(app=make_app(services))
        base = f"http://{LOOPBACK[0]}:8361"
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            kind = {"content-type": "application/x-go-sgf"}
            dropped = await client.post("/api/records", content=GOOD, headers=kind)
            shown = await client.get("/api/reviews/mine")
        return [dropped.json()["moves"], shown.json()["game"]["moves"]]

    with ThreadPoolExecutor(1) as pool:  # a browser's tests may have left a loop on this thread
        assert pool.submit(asyncio.run, ask()).result() == [4, 4]
    services.close()
