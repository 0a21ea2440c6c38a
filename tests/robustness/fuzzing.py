"""Give damaged inputs to everything that reads: records, GTP, analysis, models, the web's API.

A fault is a traceback, an end of the process, an answer slower than ten seconds, a process larger
than 600 megabytes, or a web server that keeps a second client waiting for more than half a second.
All damage follows a seed.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import tarfile
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

from seen import SLOWEST, Seen, Talk, at_most, own_peak, peak_of
from victims import start_server

PLAYER = "mcts:playouts=30"
MOST = 1 << 16  # bytes that a damaged input has at most
ODD: tuple[Any, ...] = (  # values that programs stumble over
    *(None, True, False, 0, -1, 1.5, 2**31, 2**63, 2**64, -(2**63)),
    *(1e308, float("nan"), float("inf"), 10**400),
    *("", "0", "x" * 5000, "\x00", "\u202e\x1b[31m", "[/red]", "../../etc/passwd", "=1+1"),
    *([], {}, [[]], [None], {"": ""}),
)


def damage(
    data: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: random.Random
) -> bytes:
    """Change a few places: bits, pieces taken away, doubled, from elsewhere, or odd words."""
    text = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randint(0, len(text))
        end = min(len(text), at + rng.choice((1, 2, 5, 20, 200)))
        match rng.randrange(8):
            case 0 if text:
                place = rng.randrange(len(text))
                text[place] ^= 1 << rng.randrange(8)
            case 1:
                del text[at:end]
            case 2:
                text[at:at] = text[at:end] * rng.choice((1, 2, 50))
            case 3 | 4:
                text[at:at] = rng.choice(words) * rng.choice((1, 1, 1, 30))
            case 5:
                other = rng.choice(others)
                start = rng.randint(0, len(other))
                text[at:end] = other[start : start + rng.choice((2, 20, 200))]
            case 6:
                text[at:at] = rng.randbytes(rng.choice((1, 4, 40)))
            case _:
                del text[at:]
    return bytes(text[:MOST])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, part in value.items():
            found += places(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            found += places(part, (*path, number))
    return found


def odd_value(rng: random.Random) -> Any:
    kind = rng.randrange(12)
    if kind == 0:
        deep: Any = 0
        for _ in range(rng.choice((10, 200))):
            deep = [deep]
        return deep
    value = deepcopy(rng.choice(ODD))
    return [value] * rng.choice((2, 3000)) if kind == 1 else value


def bent(value: Any, rng: random.Random) -> Any:
    """Return a copy of a JSON value with a few parts replaced, dropped, doubled or moved."""
    copy = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 2, 3))):
        *way, last = rng.choice([p for p in places(copy) if p] or [(None,)])
        if last is None:
            return odd_value(rng)
        parent = copy
        for step in way:
            parent = parent[step]
        match rng.randrange(5):
            case 0:
                del parent[last]
            case 1 if isinstance(parent, list):
                parent.insert(last, deepcopy(parent[last]))
            case 2 if isinstance(parent, dict):
                name = rng.choice((last.upper(), last + " ", "", "id", last[::-1]))
                parent[name] = deepcopy(parent[last])
            case 3:
                parent[last] = [parent[last]]
            case _:
                parent[last] = odd_value(rng)
    return copy


GAMES = [
    b"(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[7.5]RU[Chinese]PB[a]PW[b]RE[B+3.5];B[ee];W[cc];B[gc];W[])",
    b"(;SZ[19]HA[2]AB[dd][pp]KM[0]RE[W+R]DT[2001-01-01];W[qd]C[hm \\] ok];B[dp]LB[aa:1][bb:2])",
    b"(;SZ[5:7]AB[aa:cc]AW[dd]PL[W];W[eg](;B[ab];W[ba])(;B[bb]N[v]))",
    "(;SZ[13]PB[\u6b66\u5bae]PW[\u0427]RE[0]KM[6,5];B[jj];W[dd];B[jd];W[tt];B[])".encode(),
    b"(;SZ[9];"
    + b";".join(b"%c[%c%c]" % (b"BW"[i % 2], 97 + i % 9, 97 + i // 9) for i in range(70)),
]
SGF_WORDS = (
    rb"""( ) ; [ ] \ : SZ[99] SZ[0] SZ[9:1] SZ[1e9] KM[1e400] KM[nan] AB[aa:ss] AE[aa:ii]
    HA[999] B[tt] W[zz] B[] CA[utf-16] CA[x] RE[B+ RE[Void] PL[X] FF[99] GM[2] \] B[aa]W[aa]
    AW[aa][aa] (;SZ[9] )( ;;;; TM[-1] OT[] gm%5d 9D4""".split()
    + [b"\xff\xfe", b"\x00", b"\xef\xbb\xbf"]
)


def attack_records(seen: Seen, count: int, rng: random.Random, folder: Path) -> None:
    """Read damaged SGF, replay it, write it, read it again; some with the commands, too."""
    from tengen.cli import run
    from tengen.errors import TengenError
    from tengen.records import loads, read_games
    from tengen.records.record import board_at, rules_named

    path = folder / "game.sgf"
    commands = (["games", "stat"], ["games", "check"], ["score"])
    path.write_bytes(GAMES[0])
    for words in commands:  # the first time they load, and compile, what they need
        with silence():
            run([*words, str(path)])
    while seen.go_on(count):
        number = seen.tried
        seen.tried += 1
        data = damage(rng.choice(GAMES), GAMES, SGF_WORDS, rng)
        path.write_bytes(data)
        with seen.watching(data):
            for record in read_games(path, on_fault=lambda fault: None):
                again = loads(record.utf8_sgf())[0]
                assert again.moves == record.moves, "written and read again it is another"
                with suppress(TengenError):
                    board_at(record, rules=rules_named(record.rules))
        if number % 50 == 0:
            words = commands[number // 50 % len(commands)]
            with seen.watching((words, data)), silence():
                status = run([*words, str(path)])
            if status not in (0, 1):
                seen.fault(f"{' '.join(words)} ended with {status}", data)
    seen.holds(own_peak())


@contextmanager
def silence() -> Iterator[None]:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


GTP_WORDS = (
    """b w B black white a1 T19 pass resign D4 i5 z99 0 1 -1 5 9 13 19 25 26 3.5 nan inf
    1e400 99999999999999999999999 true false dead alive seki interval ownership japanese {} [ # ☃ ９
    absolute none player seed maxmoves minmoves allow avoid""".encode().split()
    + [b"\x01", b"\x00"]
)


def attack_gtp(seen: Seen, count: int, rng: random.Random, folder: Path) -> None:
    """Send damaged lines; after each the engine must still answer."""
    from tengen.gtp.commands import COMMANDS

    names = sorted(name.encode() for name in set(COMMANDS) - {"quit"})
    talk = Talk(["gtp", "--player", PLAYER, "--seed", "1"], folder)
    # Each command once, not counted: the first time they load, and compile, what they need.
    talk.say(b"boardsize 7\n" + b"".join(b"%s b D4\n%s\n" % (name, name) for name in names))
    talk.say(b"77 known_command name\n")
    assert talk.wait_for([b"=77 true"], 600), talk.errors
    lines = [b"play b D4", b"genmove w", b"boardsize 9", b"undo", b"kata-analyze b 10", b"komi 6.5"]
    number = 0
    while seen.go_on(count):
        number += 1
        if rng.randrange(3):
            words = [rng.choice(names), *(rng.choice(GTP_WORDS) for _ in range(rng.randrange(5)))]
            line = b" ".join(words)
        else:
            line = damage(rng.choice(lines), lines, [*GTP_WORDS, *names], rng)
        line = line.replace(b"\n", b" ").replace(b"\r", b" ")
        # No file is named that is not in this folder.
        if b"quit" in line.lower() or (b"sgf" in line.lower() and b"/" in line):
            continue
        begun = time.monotonic()
        if b"time" in line:  # a clock with much time is no fault of who uses it
            line += b"\ntime_settings 0 1 0"
        talk.say(line + b"\n" + b"77%d known_command name\n" % number)
        answer = talk.wait_for([b"=77%d true" % number], 3 * SLOWEST)
        seen.tried += 1
        seen.took(time.monotonic() - begun, line)
        talk.check(answer, seen, line)
        if number % 40 == 0:
            talk.say(b"boardsize 7\nclear_board\nkomi 6.5\nkata-set-rules cgos\n")
            seen.holds(peak_of(talk.process.pid))
    seen.holds(peak_of(talk.process.pid))
    talk.end()


QUERIES: list[dict[str, Any]] = [
    {"id": "q", "moves": [["B", "D4"], ["W", "E5"], ["B", "pass"]], "rules": "tromp-taylor",
     "komi": 7.5, "boardXSize": 9, "boardYSize": 9, "maxVisits": 5, "analyzeTurns": [0, 2],
     "includeOwnership": True, "includePolicy": True},
    {"id": "q", "initialStones": [["B", "C3"], ["W", "G7"]], "initialPlayer": "W", "moves": [],
     "rules": {"ko": "SIMPLE", "scoring": "AREA", "tax": "NONE", "suicide": False},
     "boardXSize": 7, "boardYSize": 7, "maxVisits": 5, "priority": 3,
     "overrideSettings": {"playoutDoublingAdvantage": 0}, "reportDuringSearchEvery": 0.5,
     "allowMoves": [{"player": "W", "moves": ["D4", "E3"], "untilDepth": 3}]},
    {"id": "q", "action": "terminate", "terminateId": "q", "turnNumbers": [1, 2]},
    {"id": "q", "action": "query_models"},
    {"id": "q", "action": "clear_cache"},
]  # fmt: skip
JSON_WORDS = (
    rb"""{ } [ ] , : " null true NaN 1e999 "id" "moves" -0 \u0000 \ud800 /* {"id":"q"}
    """.split()
    + [b"\xff"]
)


def damaged_json(value: Any, others: list[bytes], rng: random.Random) -> bytes:
    if rng.randrange(4):
        return json.dumps(bent(value, rng)).encode()
    return damage(json.dumps(value).encode(), others, JSON_WORDS, rng)


def attack_analysis(seen: Seen, count: int, rng: random.Random, folder: Path) -> None:
    """Send damaged queries; after each the server must still analyse."""
    talk = Talk(["analysis", "--player", PLAYER, "--visits", "5"], folder)
    texts = [json.dumps(query).encode() for query in QUERIES]
    plain = {"moves": [], "rules": "cgos", "boardXSize": 5, "boardYSize": 5, "maxVisits": 1}
    talk.say(json.dumps({**plain, "id": "first"}).encode() + b"\n")
    assert talk.wait_for([b"first"], 600), talk.errors  # it loads, and compiles, what it needs
    while seen.go_on(count):
        number = seen.tried
        data = damaged_json(rng.choice(QUERIES), texts, rng).replace(b"\n", b" ")
        mark = f"after-{number}"
        begun = time.monotonic()
        talk.say(data + b"\n" + json.dumps({**plain, "id": mark}).encode() + b"\n")
        words = [f'"id":"{mark}"'.encode(), f'"id": "{mark}"'.encode()]
        answer = talk.wait_for(words, 2.0)
        if answer is None:  # it was asked for much; to stop is one of its duties
            talk.say(b'{"id":"stop","action":"terminate_all"}\n')
            answer = talk.wait_for(words, 3 * SLOWEST)
        seen.tried += 1
        seen.took(time.monotonic() - begun, data)
        talk.check(answer, seen, data)
        if number % 100 == 0:
            seen.holds(peak_of(talk.process.pid))
    seen.holds(peak_of(talk.process.pid))
    talk.end()


def attack_models(seen: Seen, count: int, rng: random.Random, folder: Path) -> None:
    """Load damaged models, models with damaged cards, and damaged checkpoints of a training."""
    from tengen.models.registry import load_learner, model_names
    from tengen.models.runs import Checkpoints
    from tengen.models.store import CARD_KEY, pack, unpack

    small = [path for path in model_names().values() if path.stat().st_size < 100_000]
    whole = {path: path.read_bytes() for path in small}
    cards = {path: unpack(path) for path in small}
    for path in small:  # the first time they load, and compile, what they need
        load_learner(path)
    words = rb'"F32" "shape":[ "data_offsets":[0, 99999999999 { } \\"'.split() + [b"\x00"]
    path = folder / "model.safetensors"
    states = Checkpoints(folder / "checkpoints")
    for step in (1, 2):
        states.save(step, cards[small[0]][0], {"step": step})
    state = states.path(2).read_bytes()

    def damaged(data: bytes) -> bytes:
        length = int.from_bytes(data[:8], "little") + 8
        head = damage(data[:length], list(whole.values()), words, rng)
        if rng.randrange(2):  # a length that fits the damaged header
            head = (len(head) - 8).to_bytes(8, "little", signed=True) + head[8:]
        return head + data[length:]

    while seen.go_on(count):
        seen.tried += 1
        chosen = rng.choice(small)
        kind = rng.choice(("model", "card", "checkpoint"))
        if kind == "model":
            data = damaged(whole[chosen])
        elif kind == "card":
            arrays, metadata = cards[chosen]
            card = bent(json.loads(metadata[CARD_KEY]), rng)
            if isinstance(card, dict) and rng.randrange(2):
                card = {**card, "sha256": json.loads(metadata[CARD_KEY])["sha256"]}
            data = pack(arrays, {CARD_KEY: json.dumps(card)})
        else:
            data = bytearray(state)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            data = bytes(data) if rng.randrange(2) else damaged(state)
        (states.path(2) if kind == "checkpoint" else path).write_bytes(data)
        with (
            seen.watching((kind, chosen.name, data[:2000])),
            at_most(6 * SLOWEST),
            warnings.catch_warnings(record=True) as told,
        ):
            warnings.simplefilter("always")
            if kind != "checkpoint":
                load_learner(path)
            elif (found := states.latest()) is None or (data != state and found.step != 1):
                seen.fault("a damaged checkpoint was used", data[:600])
            elif data != state and len(told) != 1:
                seen.fault("nothing was said of the damaged checkpoint", data[:600])
    seen.holds(own_peak())


def lying_archive(rng: random.Random) -> tuple[str, bytes]:
    """Return an archive that is damaged, or claims to hold what it does not, and its name."""
    name = rng.choice(("a.sgf", "b/c.sgf", "d.png", "../e.sgf", "f" * 90 + ".sgf"))
    size = rng.choice((0, 1, 2**31, 2**33, 2**36, 2**40, 8**11 - 1))
    content = rng.choice(GAMES) + bytes(rng.choice((0, 512, 3000, 1 << 22)))
    if rng.randrange(3):
        kinds = tarfile.REGTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.GNUTYPE_SPARSE
        member = tarfile.TarInfo(name)
        member.size, member.type = size, rng.choice(kinds)
        data, ending = member.tobuf(tarfile.GNU_FORMAT) + content, ".tar"
    else:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(rng.choice((1, 3, 100))):
                archive.writestr(f"{number}{name}", content)
        data, ending = buffer.getvalue(), ".zip"
        if rng.randrange(2):  # a central directory that lies of the size
            at = data.rfind(b"PK\x01\x02") + 24
            data = data[:at] + min(size, 2**32 - 1).to_bytes(4, "little") + data[at + 4 :]
    if not rng.randrange(3):
        data = damage(data[: 1 << 16], GAMES, SGF_WORDS, rng)
    pack, more = rng.choice(
        [(bytes, ""), (gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")]
    )
    data = pack(data)
    return f"upload{ending}{more}", data[: rng.choice((len(data), len(data), len(data) // 2))]


def attack_archives(seen: Seen, count: int, rng: random.Random, folder: Path) -> None:
    """Read archives that lie, as a file and as an upload."""
    from tengen.records import read_games
    from tengen.web.positions import packed, read_upload

    while seen.go_on(count):
        seen.tried += 1
        name, data = lying_archive(rng)
        path = folder / name
        path.write_bytes(data)
        with seen.watching((name, data[:200])), at_most(6 * SLOWEST):
            list(read_games(path, on_fault=lambda fault: None))
        with seen.watching((name, data[:200])), at_most(6 * SLOWEST):
            read_upload(**packed(data, name))
        path.unlink()
    seen.holds(own_peak())


def requests(keys: dict[str, str], described: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """List requests as the page makes them, and one for every route that is described."""
    stones = [".........", "..X......", "....O....", *["........."] * 6]
    position = {"size": 9, "moves": [["B", "D4"], ["W", "E5"]], "komi": 7.5, "rules": "cgos"}
    game = keys["game"]
    return [
        ("POST", "/api/games", {"size": 9, "colour": "white", "opponent": "level-1", "komi": 6.5}),
        ("POST", f"/api/games/{game}/moves", {"move": "D4", "version": 1}),
        ("POST", f"/api/games/{game}/undo", {"version": 2}),
        ("POST", f"/api/games/{game}/dead", {"vertex": "D4"}),
        ("GET", "/api/ladder?size=9", None),
        ("POST", "/api/games/upload?name=a.sgf&colour=black", GAMES[2]),
        ("POST", "/api/position", position),
        ("POST", "/api/position", {"stones": stones, "turn": "white", "rules": "japanese"}),
        ("POST", "/api/predict?top=5", position),
        ("POST", "/api/score", {**position, "dead": ["D4"], "alive": []}),
        ("POST", "/api/records?name=b.sgf", GAMES[0] + GAMES[1]),
        ("POST", "/api/reviews?name=c.sgf&visits=2", b"(;SZ[5];B[cc];W[bb])"),
        ("GET", "/api/arenas/0", None),
        ("GET", "/api/trainings/run", None),
        ("GET", "/api/reports/lab", None),
        ("GET", "/static/index.html", None),
        *described_requests(keys, described),
    ]


def described_requests(
    keys: dict[str, str], described: dict[str, Any]
) -> Iterator[tuple[str, str, Any]]:
    """Make a request for every route of the server's own description."""
    schemas = described["components"]["schemas"]
    samples = {"integer": 1, "number": 7.5, "string": "D4", "boolean": True, "array": []}
    for way, methods in described["paths"].items():
        kind = "review" if "/reviews/" in way else "game"
        path = way.replace("{key}", keys[kind]).replace("{machine}", "deep-network")
        path = path.replace("{number}", "1")
        for method, about in methods.items():
            if method == "delete":
                continue
            content = about.get("requestBody", {}).get("content", {})
            body: Any = GAMES[0] if content else None
            if "application/json" in content:
                name = content["application/json"]["schema"].get("$ref", "").rpartition("/")[2]
                fields = schemas.get(name, {}).get("properties", {})
                body = {key: samples.get(field.get("type")) for key, field in fields.items()}
            yield method.upper(), path, body


WEB_WORDS = b"/ .. %2e%2e/ %00 ? & = %ff size= \xc3\xa9 # //".split()


def attack_web(seen: Seen, count: int, rng: random.Random, folder: Path) -> None:
    """Send damaged requests to a server; it must answer, and never with a failure of its own."""
    import httpx

    server, client = start_server(seen, folder)
    assert server.process is not None
    keys = {"game": client.post("/api/games", json={"size": 5}).json()["id"]}
    made = client.post("/api/reviews?name=a.sgf&visits=2", content=b"(;SZ[5];B[cc])")
    keys["review"] = made.json()[0]["id"]
    asked = requests(keys, client.get("/api/openapi.json").json())
    for method, way, body in asked:  # the first time they load what they need
        form = {"content": body} if isinstance(body, bytes) else {"json": body}
        client.request(method, way, timeout=300, **form)
    url = str(client.base_url)
    threading.Thread(target=measure, args=(seen, url), daemon=True).start()
    while seen.go_on(count):
        method, way, body = damaged_request(rng.choice(asked), rng)
        begun = time.monotonic()
        seen.tried += 1
        try:
            kind = "application/x-go-sgf" if body[:1] == b"(" else "application/json"
            answer = client.request(method, way, content=body, headers={"content-type": kind})
        except (httpx.InvalidURL, httpx.LocalProtocolError, ValueError):
            seen.tried -= 1  # it cannot even be sent
            continue
        except httpx.HTTPError as failure:
            seen.fault(f"{type(failure).__name__}: {failure}", (method, way, body))
            continue
        seen.took(time.monotonic() - begun, (method, way, body))
        if answer.status_code >= 500:
            seen.fault(f"status {answer.status_code}", (method, way, body))
        if seen.tried % 100 == 0:
            seen.holds(peak_of(server.process.pid))
            if server.process.poll() is not None:
                seen.fault("the end", server.errors())
                return
    seen.holds(peak_of(server.process.pid))
    if "Traceback" in (folder / "errors").read_text(errors="replace"):
        seen.fault("traceback", server.errors())


def measure(seen: Seen, url: str) -> None:
    """Ask for nothing, again and again, and note how long the event loop kept us waiting."""
    import httpx

    with httpx.Client(base_url=url, timeout=3 * SLOWEST) as client, suppress(httpx.HTTPError):
        while True:
            begun = time.monotonic()
            client.get("/api/none")
            seen.waited(time.monotonic() - begun)
            time.sleep(0.02)


def damaged_request(asked: tuple[str, str, Any], rng: random.Random) -> tuple[str, str, bytes]:
    method, way, body = asked
    texts = [b"{}", b"[]", *GAMES]
    if isinstance(body, bytes):
        data = damage(body, GAMES, SGF_WORDS, rng)
    else:
        data = b"" if body is None else damaged_json(body, texts, rng)
    if body is None or not rng.randrange(4):
        raw = damage(way.encode()[1:], [b"api/games/0/sgf"], WEB_WORDS, rng)[:2000]
        way = "/" + raw.decode("latin-1")
    if not rng.randrange(20):
        method = rng.choice(("GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "BREW"))
    return method, way, data


Attack = Callable[[Seen, int, random.Random, Path], None]
ATTACKS: dict[str, Attack] = {
    "SGF": attack_records,
    "GTP": attack_gtp,
    "analysis": attack_analysis,
    "models": attack_models,
    "archives": attack_archives,
    "web": attack_web,
}
