"""Damaged records, archives, models and queries give one error, and work goes on.

`make test-hostile` draws thousands. Lines of GTP are in `tests/gtp/test_protocol.py`, requests to
the server in `tests/web/test_damaged_requests.py`.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.robustness.damage import bent, damaged

from tengen.cli import run
from tengen.errors import TengenError
from tengen.gtp.analysis import AnalysisServer
from tengen.models import find_model, load_learner
from tengen.models.store import CARD_KEY, pack, unpack
from tengen.players import make_player
from tengen.records import loads, read_games
from tengen.records.record import board_at, rules_named
from tengen.web.positions import packed, read_upload

GAMES = [
    b"(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[7.5]RU[Chinese]PB[a]PW[b]RE[B+3.5];B[ee];W[cc];B[gc];W[])",
    b"(;SZ[19]HA[2]AB[dd][pp]KM[0]RE[W+R]DT[2001-01-01];W[qd]C[hm \\] ok];B[dp]LB[aa:1][bb:2])",
    b"(;SZ[5:7]AB[aa:cc]AW[dd]PL[W];W[eg](;B[ab];W[ba])(;B[bb]N[v]))",
    "(;SZ[13]PB[\u6b66\u5bae]PW[\u0427]RE[0]KM[6,5];B[jj];W[dd];B[jd];W[tt];B[])".encode(),
]
WORDS = rb"""( ) ; [ ] \ : SZ[99] SZ[0] SZ[9:1] SZ[1e9] KM[1e400] KM[nan] AB[aa:ss] AE[aa:ii]
    HA[999] B[tt] W[zz] B[] CA[utf-16] CA[x] RE[B+ PL[X] FF[99] B[aa]W[aa] (;SZ[9] )(""".split()


@given(damaged(GAMES, WORDS))
def test_records(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.sgf"
        path.write_bytes(data)
        with suppress(TengenError):
            for record in read_games(path, on_fault=lambda fault: None):
                [again] = loads(record.utf8_sgf())
                assert again.moves == record.moves
                with suppress(TengenError):
                    board_at(record, rules=rules_named(record.rules))
        assert run(["games", "check", str(path), "--quiet"]) in (0, 1)


def archives() -> list[tuple[str, bytes]]:
    """Return archives of one game each; some claim a size that they do not have."""
    made = [("a.sgf.gz", gzip.compress(GAMES[0])), ("a.sgf.xz", lzma.compress(GAMES[0]))]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in/side.sgf", GAMES[0] * 20)
    made.append(("a.zip", buffer.getvalue()))
    for size in (len(GAMES[0]), 2**33, 8**11 - 1):
        for kind in (tarfile.REGTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE):
            member = tarfile.TarInfo("a.sgf")
            member.size, member.type = size, kind
            made.append(("a.tar", member.tobuf(tarfile.GNU_FORMAT) + GAMES[0] + bytes(1024)))
    return made


@given(st.sampled_from(archives()).flatmap(lambda a: st.tuples(st.just(a[0]), damaged([a[1]]))))
def test_archives(archive: tuple[str, bytes]) -> None:
    name, data = archive
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        with suppress(TengenError):
            list(read_games(path, on_fault=lambda fault: None))
    with suppress(TengenError):
        read_upload(**packed(data, name))


MODELS = ["isn-best", "td-best-9x9", "scorer", "evolved-spatial-13x13"]
STORED = {name: unpack(find_model(name)) for name in MODELS}


@given(st.data())
def test_cards_of_models(data: st.DataObject) -> None:
    tensors, metadata = STORED[data.draw(st.sampled_from(MODELS))]
    whole = json.loads(metadata[CARD_KEY])
    card = data.draw(bent([whole]))
    if isinstance(card, dict) and data.draw(st.booleans()):
        card["sha256"] = whole["sha256"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(pack(tensors, {CARD_KEY: json.dumps(card)}))
        with suppress(TengenError):
            load_learner(path)


QUERIES: list[dict[str, Any]] = [
    {"id": "q", "moves": [["B", "D4"], ["W", "E5"], ["B", "pass"]], "rules": "tromp-taylor",
     "komi": 7.5, "boardXSize": 9, "boardYSize": 9, "maxVisits": 5, "analyzeTurns": [0, 2],
     "includeOwnership": True, "includePolicy": True},
    {"id": "q", "initialStones": [["B", "C3"], ["W", "G7"]], "initialPlayer": "W", "moves": [],
     "rules": {"ko": "SIMPLE", "scoring": "AREA", "tax": "NONE", "suicide": False},
     "boardXSize": 7, "boardYSize": 7, "maxVisits": 5, "priority": 3,
     "allowMoves": [{"player": "W", "moves": ["D4", "E3"], "untilDepth": 3}]},
    {"id": "q", "action": "terminate", "terminateId": "q", "turnNumbers": [1, 2]},
    {"id": "q", "action": "query_models"},
]  # fmt: skip
LINES = [json.dumps(query).encode() for query in QUERIES]
LAST = {"id": "last", "moves": [], "rules": "cgos", "boardXSize": 5, "boardYSize": 5}


@given(bent(QUERIES).map(lambda value: json.dumps(value).encode()) | damaged(LINES))
def test_queries_of_an_analysis(line: bytes) -> None:
    asked = line.replace(b"\n", b" ") + b"\n" + json.dumps(LAST).encode() + b"\n"
    out = io.BytesIO()
    AnalysisServer(lambda: make_player("mcts:playouts=5"), visits=5).run(io.BytesIO(asked), out)
    answers = [json.loads(answer) for answer in out.getvalue().splitlines()]
    assert not any("internal error" in answer.get("error", "") for answer in answers)
    assert any(answer.get("id") == "last" and answer.get("moveInfos") for answer in answers)
