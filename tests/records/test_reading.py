"""Reading records: what properties mean, bad input, both readers agreeing, archives, formats."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tengen.board import BLACK, EMPTY, WHITE
from tengen.errors import RecordError
from tengen.records import (
    Fault,
    GameRecord,
    arrays,
    kernels,
    loads,
    read_game,
    read_games,
    sgf_grammar,
    sgf_properties,
)
from tengen.records.record import read_stream

GOOD = b"(;GM[1]FF[4]SZ[9]KM[5.5]RE[B+2];B[ee];W[cc];B[])\n"


def read(data: bytes) -> tuple[list[GameRecord], list[Fault]]:
    faults: list[Fault] = []
    return list(read_stream(io.BytesIO(data), "x.sgf", faults.append)), faults


def in_bulk(data: bytes) -> tuple[list[GameRecord], list[Fault]]:
    faults: list[Fault] = []
    batches = arrays.read_in_bulk(io.BytesIO(data), "x.sgf", faults.append)
    return [record for batch in batches for record in batch.records()], faults


def test_a_record_holds_what_the_file_says() -> None:
    [record] = loads(
        "(;GM[1]FF[4]CA[UTF-8]SZ[9:13]KM[0.5]HA[2]RU[Japanese]RE[W+3.5]PB[柯洁]PL[W]"
        "AB[aa][im];W[ba];B[];W[tt]C[a \\] b](;B[ab])(;B[cc];W[dd]))"
    )
    assert (record.rows, record.cols) == (13, 9)
    assert (record.komi, record.handicap, record.rules) == (0.5, 2, "Japanese")
    assert record.setup == [(BLACK, 11), (BLACK, 13 * 10 + 9)]
    assert record.moves == [(WHITE, 12), (BLACK, 0), (WHITE, 0), (BLACK, 21)]
    assert (record.result.winner, record.result.margin) == (WHITE, 3.5)
    assert record.properties["PB"] == ["柯洁"]
    assert record.turn == record.first == WHITE
    assert len(record.tree.nodes) == 7


def test_setup_may_be_spread_compressed_and_taken_back() -> None:
    [record] = loads("(;SZ[5]AB[aa:bb];AE[ab]AW[ee];B[cc];AW[dd]AE[cc];W[de])")
    assert record.setup == [(BLACK, 7), (BLACK, 8), (BLACK, 14), (WHITE, 35)]
    assert record.edits == [(1, WHITE, 28), (1, EMPTY, 21)]
    assert record.moves == [(BLACK, 21), (WHITE, 34)]


def test_whose_turn_it_is() -> None:
    turns = [
        loads(f"(;SZ[9]{text})")[0].turn for text in ("", "AB[aa][bb]", "AB[aa]AW[bb]", "PL[W]")
    ]
    assert turns == [BLACK, WHITE, BLACK, WHITE]


# Bad input: (bytes, what the message must say, its byte offset). The good game behind must be read.
BAD = [
    (b"(;SZ[9];B[ee];W[jj])", "move 2, W 'jj': no point of a board of 9x9", 13),
    (b"(;SZ[9];B[e5])", "move 1", 7),
    (b"(;SZ[9];B[eeee])", "move 1", 7),
    (b"(;SZ[9]AB[aa]AW[aa];B[bb])", "two setup stones on one point", 1),
    (b"(;SZ[9]AB[aa][aa];B[bb])", "two setup stones on one point", 1),
    (b"(;SZ[9]AB[aa:bb][bb])", "two setup stones on one point", 1),
    (b"(;SZ[9]AB[zz];B[bb])", "AB 'zz'", 1),
    (b"(;SZ[52];B[aa])", "wrong size SZ '52'", 1),
    (b"(;SZ[1];B[aa])", "wrong size", 1),
    (b"(;SZ[x];B[aa])", "wrong size", 1),
    (b"(;GM[2]SZ[8];B[aa])", "not a game of Go", 1),
    (b"(;x" + b";x" * 60 + b")", "more than 50 errors", 2),
    (b"(;" * 100_001, "nested more than 100,000 deep", 200_000),
]


@pytest.mark.parametrize(("bad", "reason", "offset"), BAD, ids=[row[1][:20] for row in BAD])
@pytest.mark.parametrize("reader", [read, in_bulk])
def test_bad_games_are_reported_and_the_good_ones_beside_them_read(
    reader: object, bad: bytes, reason: str, offset: int
) -> None:
    records, faults = reader(GOOD + bad + b"\n" + GOOD)  # type: ignore[operator]
    assert [record.game for record in records] == [1, 3]
    [fault] = faults
    assert not fault.repaired
    assert str(fault).startswith(f"x.sgf: game 2, byte {len(GOOD) + offset}: ")
    assert reason in fault.reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "an empty file"),
        (b"\x00\xff\x13 not a record", "no SGF game"),
        (b"(" * 1_000_000, "no SGF game"),
        (b"(())" * 1_000_000, "no SGF game"),
        (b"PK\x03\x04 (not) [really]", "no SGF game"),
    ],
)
@pytest.mark.parametrize("reader", [read, in_bulk])
def test_a_file_that_is_no_record_is_reported(reader: object, data: bytes, reason: str) -> None:
    records, [fault] = reader(data)  # type: ignore[operator]
    assert records == []
    assert (fault.game, fault.offset) == (None, 0)
    assert reason in fault.reason


def test_a_damaged_game_raises_unless_faults_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes(GOOD + b"(;SZ[9];B[zz])")
    with pytest.raises(RecordError, match=r"games.sgf: game 2, byte \d+: move 1"):
        list(read_games(path))
    assert read_game(path).komi == 5.5
    with pytest.raises(RecordError, match="game 2, byte"):
        read_game(path, 2)
    with pytest.raises(RecordError, match="there is no game 3"):
        read_game(path, 3)
    with pytest.raises(RecordError, match="move 1"):
        loads("(;SZ[9];B[zz])")


@pytest.mark.parametrize(
    ("text", "codec", "declared"),
    [
        ("柯洁 黑中盘胜", "gb18030", "GB2312"),
        ("柯洁 黑中盘胜", "gb18030", ""),
        ("井山裕太 表示 ソ十申", "cp932", "Shift_JIS"),  # second bytes that are backslashes
        ("張栩 ボ]クサー", "cp932", "Shift_JIS"),
        ("이세돌", "cp949", "EUC-KR"),
        ("이세돌", "cp949", ""),
        ("日本棋院", "utf-8", ""),
        ("Jürgen", "latin-1", ""),
    ],
)
def test_encodings_are_followed_or_guessed(text: str, codec: str, declared: str) -> None:
    name = text.replace("]", "\\]").encode(codec)
    ca = f"CA[{declared}]".encode() if declared else b""
    data = b"(;" + ca + b"SZ[9]PB[" + name + b"];B[ee]C[" + name + b"];W[dd])"
    for records, faults in (read(data), in_bulk(data)):
        [record] = records
        assert not faults
        assert record.properties["PB"] == [text]
        assert len(record.moves) == 2
    [again] = loads(record.utf8_sgf())
    assert again.properties["PB"] == [text]
    assert again.moves == record.moves
    [same] = loads(record.sgf())
    assert same.tree.nodes == record.tree.nodes


def key(record: GameRecord) -> tuple[object, ...]:
    """Everything a reader says about a game."""
    return (
        (record.rows, record.cols, record.moves, record.setup, record.edits, record.turn),
        (np.float32(record.komi), record.handicap, record.result, record.rules),
        (record.game, record.offset, record.encoding),
        (record.tree.nodes, record.tree.parents),
    )


SEEDS = [
    b"(;GM[1]FF[4]CA[UTF-8]SZ[19]KM[6.5]RE[B+R]PB[\xe6\x9f\xaf];B[pd];W[dp];B[];W[tt]"
    b"(;B[aa]C[hi [there\\] :) ok])(;B[bb];W[cc]))\n",
    b"(;SZ[9]AB[aa][bb]AW[cc]HA[2]PL[W]KM[0.5];W[ee]C[x\\\\];B[dd])",
    b"(;GM[1]SZ[9:13];B[ia];W[am])\n",
    b"(;FF[3]GaMe[1]SiZe[9];Black[aa];White[bb])",
    b"(;SZ[9]PB[\xb0\xd7\xba\xda]C[\x95\x5c\x95\x5d];B[aa])",
    b"(;CA[Shift_JIS]SZ[9]PB[\x95\x5c];B[aa]C[\x95\x5d])",
    b"text (not a game) [x]\n",
    b"(;SZ[5];B[aa];AB[bb];W[cc])",
]
PIECES = (
    rb"( ) [ ] ; \ B[aa] W[] SZ[9] GM[1] (; (;GM[1] AB[aa:cc] AE[aa] C[ x CA[GBK] tt zz (B[ KM[375]"
).split() + [b"\n", b" ", b"\xff", b"\x81", b"\xe3\x81\x82", b"\x00", b"RE[\xe9\xbb\x91]"]


def damaged(rng: random.Random) -> bytes:
    data = b"".join(rng.choices(SEEDS, k=rng.randint(1, 4)))
    for _ in range(rng.choice((0, 1, 1, 2, 3, 8))):
        i = rng.randrange(len(data) + 1)
        change = rng.random()
        if change < 0.4:
            data = data[:i] + rng.choice(PIECES) + data[i:]
        elif change < 0.7:
            data = data[:i] + data[i + rng.randint(1, 4) :]
        else:
            data = data[:i] + rng.randbytes(1) + data[i + 1 :]
    return data


def test_the_fast_and_the_exact_reader_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    clean = 0
    for _ in range(800):
        data = damaged(rng)
        monkeypatch.setattr(sgf_grammar, "CHUNK", 1 << 20)
        exact, faults = read(data)
        monkeypatch.setattr(sgf_grammar, "CHUNK", rng.choice((16, 64, 1 << 20)))
        fast, fast_faults = in_bulk(data)
        assert [key(record) for record in fast] == [key(record) for record in exact], data
        assert fast_faults == faults, data
        clean += sum(record.raw is not None for record in fast)
    assert clean > 250  # the kernel itself must have read many of them


def test_moves_that_share_a_node_are_read_alike() -> None:
    for nodes in (b";B[aa]W[bb]B[cc];W[dd]", b";B[aa][bb]B[cc]", b"B[aa];W[bb]"):
        [exact], [fast] = (reader(b"(;SZ[9]" + nodes + b")")[0] for reader in (read, in_bulk))
        assert fast.moves == exact.moves == loads(fast.sgf())[0].moves


def test_both_readers_have_the_same_limits() -> None:
    assert kernels.MAX_GAME_BYTES == sgf_grammar.MAX_GAME_BYTES
    assert kernels.MAX_NODES == sgf_grammar.MAX_NODES
    long = b"(;SZ[9]C[" + b"x" * sgf_grammar.MAX_GAME_BYTES + b"])"
    for data in (long, b"(;SZ[9]" + b";B[]" * sgf_grammar.MAX_NODES + b")"):
        records, [fault] = in_bulk(GOOD + data + GOOD)
        assert (len(records), fault.game) == (2, 2)


def test_what_was_repaired_is_written_sound() -> None:
    rng = random.Random(6)
    for _ in range(300):
        for record in read(damaged(rng))[0]:
            if any(sgf_grammar.ROOT_NAMES & set(node) for node in record.tree.nodes[1:]):
                continue  # a root property inside a tree begins a new game when read again
            [again] = loads(record.utf8_sgf())
            assert not again.repaired
            assert (again.moves, again.setup) == (record.moves, record.setup)
            assert again.tree.parents == record.tree.parents


def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream of many games is read through a window that does not grow with it."""
    monkeypatch.setattr(sgf_grammar, "CHUNK", 1 << 12)
    largest = 0

    class Endless(io.RawIOBase):
        left = 3000

        def read(self, size: int = -1) -> bytes:
            self.left -= 1
            return GOOD * 20 if self.left > 0 else b""

    stream = Endless()
    count = 0
    for batch in arrays.read_in_bulk(stream, "x", lambda fault: None):  # type: ignore[arg-type]
        largest = max(largest, len(batch.raw))
        count += len(batch.arrays)
    assert count == 2999 * 20
    assert largest < 1 << 16


def test_folders_and_archives(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.sgf").write_bytes(GOOD)
    (folder / "deep" / "b.SGF").write_bytes(GOOD * 2)
    (folder / "README.txt").write_text("nothing here")
    (folder / "c.sgf.gz").write_bytes(gzip.compress(GOOD))
    (folder / "d.sgf.bz2").write_bytes(bz2.compress(GOOD))
    with zipfile.ZipFile(folder / "e.zip", "w") as archive:
        archive.writestr("in/side.sgf", GOOD * 3)
        archive.writestr("in/notes.md", "(;B[aa])")
    for name, mode in (("f.tar.gz", "w:gz"), ("g.tar.bz2", "w:bz2"), ("h.tar", "w")):
        with tarfile.open(folder / name, mode) as bundle:
            bundle.add(folder / "a.sgf", "x/a.sgf")
            bundle.add(folder / "deep", "x/deep")
    names = [record.file for record in read_games(folder)]
    assert len(names) == 1 + 2 + 1 + 1 + 3 + 3 * 3
    assert str(folder / "e.zip") + "/in/side.sgf" in names


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz", "x.tar.bz2", "x.sgf.gz", "x.sgf.xz"])
def test_a_broken_archive_is_reported(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"this is no archive (;B[aa])")
    with pytest.raises(RecordError, match="damaged archive"):
        list(read_games(tmp_path / name))


def test_an_archive_cut_off_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as bundle:
        for number in range(3):
            info = tarfile.TarInfo(f"{number}.sgf")
            info.size = len(GOOD)
            bundle.addfile(info, io.BytesIO(GOOD))
    path.write_bytes(path.read_bytes()[: 2 * 1024 + 512 + 10])
    faults: list[Fault] = []
    assert len(list(read_games(path, on_fault=faults.append))) == 2
    assert "damaged archive" in faults[0].reason


def claim(name: str, **fields: object) -> bytes:
    """Return a tar header that claims what it likes."""
    info = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(info, key, value)
    return info.tobuf(tarfile.GNU_FORMAT)


def zipped(name: str) -> bytes:
    """Return a zip file of one game."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(name, GOOD)
    return whole.getvalue()


LYING = {
    "without-its-start.zip": zipped("a.sgf")[10:],
    "terabyte.tar": claim("a.sgf", size=2**40) + GOOD + bytes(2000),
    "terabyte.tar.gz": gzip.compress(claim("a.sgf", size=2**40) + GOOD + bytes(2000)),
    "skipped.tar": claim("a.txt.png", size=2**40) + bytes(3000),
    "long-name.tar": claim("a.sgf", size=2**36, type=tarfile.GNUTYPE_LONGNAME) + bytes(3000),
    "pax.tar.xz": lzma.compress(claim("a.sgf", size=2**36, type=tarfile.XHDTYPE) + bytes(3000)),
    "zeros.sgf.gz": gzip.compress(bytes(1 << 27), 9),
    "zeros.tar.bz2": bz2.compress(claim("a.sgf", size=1 << 28) + bytes(1 << 28)),
}


@pytest.mark.parametrize("name", LYING)
def test_an_archive_with_false_sizes_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(LYING[name])
    faults: list[Fault] = []
    assert list(read_games(tmp_path / name, on_fault=faults.append)) == []
    assert faults and all("damaged archive" in fault.reason for fault in faults)


def test_overlapping_members_of_a_zip_share_one_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tengen.records.reader.FREE_UNPACKED", 1 << 16)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(4):
            archive.writestr(f"{number}.sgf", GOOD + bytes(1 << 20))
    faults: list[Fault] = []
    read = list(read_games(tmp_path / "bomb.zip", on_fault=faults.append))
    assert len(read) < 4 and "damaged archive" in faults[-1].reason


def test_devices_are_refused_and_pipes_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link.sgf").symlink_to("/dev/zero")
    for path in ("/dev/zero", tmp_path / "link.sgf"):
        with pytest.raises(RecordError, match="neither a file, a folder nor a pipe"):
            list(read_games(path))
    assert list(read_games(tmp_path)) == []
    monkeypatch.setattr("tengen.records.reader.MAX_PIPE_BYTES", 10_000)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for content, games in ((GOOD, 1), (GOOD * 1000, 0)):
        writer = subprocess.Popen(
            [sys.executable, "-c", "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"]
            + [str(pipe), content.decode()],
            stderr=subprocess.DEVNULL,
        )
        faults: list[Fault] = []
        assert len(list(read_games(pipe, on_fault=faults.append))) == games
        assert [fault.reason for fault in faults] == (
            [] if games else ["a pipe: more than 10,000 bytes in it"]
        )
        writer.wait()


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD)))
    assert [record.file for record in read_games("-")] == ["standard input"]


def test_the_one_line_form(tmp_path: Path) -> None:
    path = tmp_path / "tygem.txt"
    path.write_bytes(b"id-1\t;B[qd];W[dp];B[]\n\nid-2\t;B[zz]\nnothing\nid-3\t;W[aa]\n")
    faults: list[Fault] = []
    records = list(read_games(path, on_fault=faults.append))
    assert [record.moves for record in records] == [[(1, 97), (2, 324), (1, 0)], [(2, 21)]]
    assert [record.game for record in records] == [1, 4]
    assert records[0].komi == 6.5
    assert [(fault.game, fault.offset) for fault in faults] == [(2, 28), (3, 35)]


GIB = r"""\HS
\[GAMEBLACKNAME=Black (9D)\]
\[GAMEWHITENAME=White (8D)\]
\[GAMEINFOMAIN=GBKIND:3,GTYPE:0,GCDT:1,GTIME:600,GRLT:1,ZIPSU:75,DUM:0,GONGJE:65,\]
\HE
\GS
2 1 0
INI 0 1 0 &4
STO 0 2 1 15 3
STO 0 3 2 3 15
\GE
"""
NGF = """Rating game
19
white 9D
black 9D
www.cyberoro.com
0
0
6
20100101 [10:10]
5
White wins by resign
3
PMABBQDQD
PMACWDPDP
PMADBAAAA
"""


@pytest.mark.parametrize(("name", "text"), [("x.gib", GIB), ("x.ngf", NGF)])
def test_gib_and_ngf(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    [record] = read_games(tmp_path / name)
    assert record.komi == 6.5
    assert record.result.winner == WHITE
    assert record.moves[0][0] == BLACK
    assert len(record.moves) == (2 if name == "x.gib" else 3)
    (tmp_path / name).write_bytes(b"\x00\xff" * 100)
    with pytest.raises(RecordError, match=name):
        list(read_games(tmp_path / name))


def test_a_short_file_that_was_named_is_read_without_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = "(;SZ[9]KM[5.5]RU[Japanese];B[ee];W[ce];B[])"
    (tmp_path / "short.sgf").write_text(game)
    (tmp_path / "long.sgf").write_text("\n".join([game] * 1000))
    [from_folder, *_] = [
        record for record in read_games(tmp_path) if record.file.endswith("short.sgf")
    ]
    monkeypatch.setattr(arrays, "read_in_bulk", lambda *source: pytest.fail("kernels were asked"))
    alone, other = read_game(tmp_path / "short.sgf"), from_folder
    assert (alone.moves, alone.komi, alone.rules) == (other.moves, other.komi, other.rules)
    with pytest.raises(pytest.fail.Exception):
        read_game(tmp_path / "long.sgf")


@pytest.mark.parametrize(
    ("codec", "words"),
    [
        ("gb18030", "中国围棋职业九段，白中盘胜。"),
        ("cp932", "井山裕太九段、名人戦第三局、黒中押勝ち。"),
        ("euc_jp", "井山裕太九段、名人戦第三局、黒中押勝ち。"),
        ("cp949", "이세돌 구단 백 불계승"),
        ("latin-1", "René joue très bien"),
    ],
)
def test_the_encoding_of_a_long_text_is_guessed(codec: str, words: str) -> None:
    raw = b"(;SZ[9]C[" + words.encode(codec) * 2000 + b"];B[ee])"
    assert sgf_properties.guess_encoding(raw) == codec
    [record] = loads(raw)
    assert record.encoding == codec and words in record.properties["C"][0]
    cut = raw.replace(b"];B", b"\xff];B")  # a byte that belongs to no encoding here
    assert sgf_properties.guess_encoding(cut) in ("latin-1", codec)


def test_sources_are_opened_in_order_and_a_torn_one_says_so(tmp_path: Path) -> None:
    (tmp_path / "b.sgf").write_bytes(GOOD)
    (tmp_path / "a.sgf.gz").write_bytes(gzip.compress(GOOD))
    (tmp_path / "c.txt.png").write_bytes(b"no game")
    assert [Path(record.file).name for record in read_games(tmp_path)] == ["a.sgf.gz", "b.sgf"]
    torn = tmp_path / "torn.sgf.gz"
    torn.write_bytes(gzip.compress(GOOD)[:-12])
    with pytest.raises(RecordError, match="damaged archive"):
        list(read_games(torn))
