"""Who may ask: hosts, origins, tokens, sizes, headers."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import Any

import httpx
import pytest

from tengen.errors import RecordError, TengenError
from tengen.records import GameRecord
from tengen.web import positions
from tengen.web.machines import list_opponents
from tengen.web.tasks import STATIC

SGF = {"content-type": "application/x-go-sgf"}


def read(data: bytes, name: str) -> list[GameRecord]:
    return positions.read_upload(**positions.packed(data, name))[0]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_foreign_hosts_are_refused(client, host):
    assert client.get("/api/games", headers={"host": host}).status_code == 421
    assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://[x"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_are_refused(client, headers):
    assert client.post("/api/games", json={}, headers=headers).status_code == 403
    assert client.get("/api/games", headers=headers).status_code == 403


def test_the_own_page_is_answered(client):
    origin = str(client.base_url).rstrip("/")
    headers = {"origin": origin, "sec-fetch-site": "same-origin"}
    assert client.get("/api/games", headers=headers).status_code == 200


def test_headers_keep_the_page_to_itself(client):
    for path in ("/", "/static/app.js", "/api/games", "/api/nothing"):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy.replace("'wasm-unsafe-eval'", "")  # which runs the kernels
        assert answer.headers["x-content-type-options"] == "nosniff"
    page = client.get("/").text
    assert "<script>" not in page and "onload=" not in page and "style=" not in page


def test_the_page_is_small(client):
    files = [path for path in STATIC.iterdir() if path.is_file()]
    assert {path.name for path in files} == {
        *("app.css", "app.js", "index.html", "sw.js", "manifest.webmanifest"),
        *("icon.svg", "icon-192.png", "icon-512.png", "tengen.wasm", "tengen-relaxed.wasm"),
        *("alone.html", "alone.js", "worker.js"),
    }
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in files}
    alone = [sizes.pop(name) for name in ("alone.html", "alone.js", "worker.js")]
    assert sizes.pop("tengen.wasm") < 80_000
    assert sizes.pop("tengen-relaxed.wasm") < 80_000
    assert sum(alone) < 180_000
    assert sum(sizes.values()) < 160_000


def test_static_files_stay_in_their_folder(client):
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"):
        assert client.get(path).status_code == 404


def test_large_bodies_are_refused(client):
    much = b"(" * 9_000_000
    answer = client.post("/api/games/upload", content=much, headers=SGF)
    assert answer.status_code == 413

    def pieces() -> Any:
        for _ in range(90):
            yield b"(" * 100_000

    answer = client.post("/api/games/upload", content=pieces(), headers=SGF)
    assert answer.status_code == 413


def test_bad_files_are_reported_in_words(client):
    for data in (b"", b"hello", b"\x1f\x8b\x08broken", b"PK\x03\x04broken", b"(;SZ[99])"):
        answer = client.post("/api/games/upload", content=data, headers=SGF)
        assert answer.status_code == 422 and answer.json()["detail"], data


def test_packed_files_cannot_grow_without_end(monkeypatch):
    monkeypatch.setattr(positions, "_UNPACKED_BYTES", 80_000)
    bomb = gzip.compress(b"(;C[" + b"a" * 1_000_000 + b"])")
    with pytest.raises(RecordError, match="grows beyond"):
        read(bomb, "a.sgf.gz")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.sgf", b"(;C[" + b"a" * 1_000_000 + b"])")
    with pytest.raises(RecordError, match="grows beyond"):
        read(buffer.getvalue(), "a.zip")
    many = b"(;SZ[9];B[aa])" * 500
    assert len(read(many, "../../etc/passwd")) == positions.UPLOAD_GAMES
    long = b"(;SZ[9]" + b";B[]" * 3000 + b")"
    with pytest.raises(RecordError, match="moves"):
        read(long, "a.sgf")


def test_archives_and_old_files_are_read():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("one.sgf", "(;SZ[9];B[aa])")
        archive.writestr("two.sgf", "(;SZ[13];B[aa])(;SZ[19])")
    assert [r.rows for r in read(buffer.getvalue(), "x.zip")] == [9, 13, 19]
    packed = gzip.compress(b"(;GaMe[1]SiZe[9];Black[aa];White[bb])")
    [record] = read(packed, "old.mgt.gz")
    assert len(record.moves) == 2


def test_any_token_opens_the_printed_address_and_stays_in_the_cookie(make_server):
    token = 'a;b+c#1, quote " & space, 100 %, größer als 7 字'
    server = make_server("--host", "0.0.0.0", "--token", token)
    base = f"http://127.0.0.1:{server.port}"
    with httpx.Client(base_url=base, timeout=60) as client:
        assert client.get("/").status_code == client.get("/api/games").status_code == 401
        assert client.get("/?token=wrong").status_code == 401
        assert client.get("/api/games", headers={"authorization": "Bearer no"}).status_code == 401
        bearer = {"authorization": f"Bearer {token}".encode()}
        assert client.get("/api/games", headers=bearer).status_code == 200
        answer = client.get("/", params=httpx.URL(server.url).params)
        assert answer.status_code == 303 and "HttpOnly" in answer.headers["set-cookie"]
        assert client.get("/api/games").status_code == 200  # by the cookie
        assert client.get("/api/games", headers={"host": "evil.example"}).status_code == 421


def test_another_host_needs_a_token():
    from tengen.cli import run

    for token in ([], ["--token", ""], ["--token", "a"]):
        assert run(["web", "--host", "0.0.0.0", "--no-browser", *token]) == 1


def test_only_the_command_line_brings_specs():
    found = list_opponents(["mcts:playouts=5"])
    assert found["own-1"].spec == "mcts:playouts=5"
    assert all(not one.spec.startswith(("gtp:", "python:")) for one in found.values())
    with pytest.raises(TengenError):
        list_opponents(["nobody"])
