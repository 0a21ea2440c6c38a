"""Damaged requests are refused by the server, which never fails itself."""

from __future__ import annotations

import json
from typing import Any

import httpx
from hypothesis import given
from hypothesis import strategies as st
from tests.robustness.damage import bent, damaged

RECORD = b"(;SZ[9]KM[7.5]RU[Chinese]PB[a]PW[b]RE[B+3.5];B[ee];W[cc](;B[gc])(;B[aa]C[x]))"
DRAWN = {"stones": [".........", "..X......", *["........."] * 7], "turn": "white"}
REQUESTS: list[tuple[str, Any]] = [
    ("games", {"size": 9, "colour": "black", "opponent": "person", "komi": 6.5, "minutes": 1}),
    ("games/{game}/moves", {"move": "D4", "version": 1}),
    ("games/{game}/dead", {"vertex": "D4"}),
    ("position", {"size": 9, "moves": [["B", "D4"], ["W", "E5"]], "komi": 7.5, "rules": "cgos"}),
    ("position", DRAWN),
    ("predict?top=5", DRAWN),
    ("games/upload?name=a.sgf&colour=black&opponent=person", RECORD),
    ("records?name=b.sgf", RECORD),
    ("problems/upload?name=c.sgf", RECORD),
]
PIECES = [b"../", b"%00", b"?", b"&", b"%ff", b"size=", b"ladder?size=9", b"arenas/0", b"reports/x"]


@given(st.data())
def test_a_damaged_request_is_no_failure_of_the_server(server: Any, data: st.DataObject) -> None:
    way, body = data.draw(st.sampled_from(REQUESTS))
    if isinstance(body, bytes):
        content = data.draw(damaged([body]))
    else:
        content = json.dumps(data.draw(bent([body]))).encode()
    with server.client() as client:
        if "{game}" in way:
            game = client.post("/api/games", json={"size": 9, "opponent": "person"}).json()
            way = way.format(game=game["id"])
        if data.draw(st.integers(0, 3)) == 0:
            way = data.draw(damaged([way.encode()], PIECES)).decode("latin-1")
        method = data.draw(st.sampled_from(["POST", "POST", "GET", "PUT", "DELETE"]))
        try:
            answer = client.request(method, f"/api/{way}", content=content)
        except (httpx.InvalidURL, httpx.LocalProtocolError, ValueError):
            return  # it cannot even be sent
        assert answer.status_code < 500
    assert "Traceback" not in server.database.with_suffix(".log").read_text()
