"""The wire: ids, comments, order, flushes, long answers, and what ends a session."""

from __future__ import annotations

import io
import os
import re
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tengen.gtp.commands import COMMANDS
from tengen.gtp.protocol import (
    MAX_LINE,
    Call,
    Dispatcher,
    GtpFailure,
    Quit,
    Request,
    format_answer,
    parse_request,
    serve,
)


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("name", Request("", "name")),
        ("  name  \r\n", Request("", "name")),
        ("20 name", Request("20", "name")),
        ("00020\tplay\tB  d4", Request("00020", "play", ("B", "d4"))),
        ("99999999999999999999999 name", Request("99999999999999999999999", "name")),
        ("play b d4#comment", Request("", "play", ("b", "d4"))),
        ("5", Request("5", "")),
        ("\x00na\x07me\x7f", Request("", "name")),
        ("٣ name", Request("", "٣", ("name",))),
        ("-3 name", Request("", "-3", ("name",))),
        ("", None),
        ("   \t ", None),
        ("# 3 name", None),
        ("\x01\x02", None),
    ],
)
def test_lines_are_read_as_the_standard_says(line: str, request_: Request | None) -> None:
    assert parse_request(line) == request_


def test_answers_end_with_the_only_empty_line() -> None:
    assert format_answer("", "") == "=\n\n"
    assert format_answer("3", "no", ok=False) == "?3 no\n\n"
    assert format_answer("", "\n a\n\n b\r\n") == "=\n a\n b\n\n"
    assert format_answer("", "a\x00\x1bb") == "= ab\n\n"


def leave(call: Call) -> str:
    raise Quit


def table() -> dict[str, object]:
    def fail(call: Call) -> str:
        raise GtpFailure("as asked")

    def bug(call: Call) -> str:
        raise KeyError("a bug")

    def stream(call: Call) -> str:
        call.stream("one")
        call.stream("two")
        return "end"

    words = {"echo": lambda call: " ".join(call.args), "fail": fail, "bug": bug}
    return {**words, "stream": stream, "quit": leave}


def test_every_command_gets_one_answer(capsys: pytest.CaptureFixture[str]) -> None:
    written: list[str] = []
    dispatcher = Dispatcher(table(), written.append)  # type: ignore[arg-type]
    lines = ["1 echo a b", "# silence", "2 fail", "3 bug", "4 nonsense", "5", "6 stream", "7 quit"]
    going_on = [dispatcher.handle(line) for line in lines]
    assert "".join(written) == (
        "=1 a b\n\n?2 as asked\n\n?3 internal error: KeyError: 'a bug'\n\n?4 unknown command\n\n"
        "?5 unknown command\n\n=6\none\ntwo\nend\n\n=7\n\n"
    )
    assert going_on == [True] * 7 + [False]
    assert "KeyError" in capsys.readouterr().err


LONG = b"x" * (2 * MAX_LINE)


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        (b"1 echo a\n\n2 echo b\r\n3 quit\n4 echo never\n", b"=1 a\n\n=2 b\n\n=3\n\n"),
        (b"echo \xff\xfe", "= \ufffd\ufffd\n\n".encode()),  # a last line needs no newline
        (b"3 echo " + LONG + b" echo y\necho z\n", b"?3 unknown command\n\n= z\n\n"),
    ],
    ids=["in order until quit", "until the end of input", "a line without end is refused as one"],
)
def test_a_session(lines: bytes, answers: bytes) -> None:
    target = io.BytesIO()
    serve(table(), io.BytesIO(lines), target)  # type: ignore[arg-type]
    assert target.getvalue() == answers


def test_input_is_seen_while_a_command_runs_and_idleness_once() -> None:
    read_end, write_end = os.pipe()
    idle = threading.Event()
    seen = threading.Event()

    def wait(call: Call) -> str:
        while not call.waiting():
            seen.wait(0.01)
        return "stopped"

    target = io.BytesIO()
    with os.fdopen(read_end, "rb") as source, os.fdopen(write_end, "wb", buffering=0) as sink:
        runner = threading.Thread(
            target=serve,
            args=({"wait": wait, **table()}, source, target),
            kwargs={"when_idle": idle.set},
        )
        runner.start()
        sink.write(b"echo early\n")
        assert idle.wait(60)
        sink.write(b"wait\n")
        sink.write(b"9 echo late\nquit\n")
        runner.join(60)
    assert target.getvalue() == b"= early\n\n= stopped\n\n=9 late\n\n=\n\n"


def test_gogui_interrupts_are_for_the_commands_before_them_and_get_no_answer() -> None:
    read = threading.Event()

    class Source(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            if not line:
                read.set()
            return line

    def ask(call: Call) -> str:
        assert read.wait(60)
        return str(call.interrupted())

    lines = b"# interrupt\nask\nask\n# interrupt\nask\nquit\n"
    target = io.BytesIO()
    serve({"ask": ask, "quit": leave}, Source(lines), target)
    assert target.getvalue() == b"= True\n\n= True\n\n= False\n\n=\n\n"


@pytest.mark.parametrize(("ending", "stops"), [(b"", True), (b"quit\n", False)])
def test_a_search_stops_when_the_input_closes_without_quit(ending: bytes, stops: bool) -> None:
    found: list[bool] = []

    def think(call: Call) -> str:
        end = time.monotonic() + (60.0 if stops else 0.3)
        while not call.interrupted() and time.monotonic() < end:
            time.sleep(0.01)
        found.append(call.interrupted())
        return "done"

    answers = io.BytesIO()
    serve({"think": think, "quit": leave}, io.BytesIO(b"think\n" + ending), answers)
    assert found == [stops] and answers.getvalue().startswith(b"= done\n\n")


ANSWER = re.compile(r"[=?][0-9]*(?:[ \n][^\n]+(?:\n[^\n]+)*)?\n?\n\n?\Z")

WORDS = st.sampled_from(
    """b w B black white a1 T19 pass resign D4 i5 z99 0 1 -1 5 9 19 25 26 3.5 nan inf 1e400
    99999999999999999999999 2147483648 true false dead alive seki interval ownership japanese
    {"ko":"SIMPLE"} {} [ /dev/null # \x01 ☃ ９ ٣ \x7f absolute none player seed""".split()  # noqa: SIM905
)
ANYTHING = st.text(max_size=8)
# Commands that write files or end the session are left out: the first by kindness.
NAMES = st.sampled_from(sorted(set(COMMANDS) - {"quit", "printsgf", "loadsgf"}))
IDS = st.sampled_from(["", "", "1 ", "007 ", "4294967296 ", "-5 ", "1.5 ", "99999999999999999999 "])


@st.composite
def lines(draw: st.DrawFn) -> str:
    """Make a line: mostly commands with odd arguments, sometimes noise."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.text(max_size=60))
    name = draw(st.one_of(NAMES, NAMES, NAMES, ANYTHING))
    args = draw(st.lists(st.one_of(WORDS, WORDS, WORDS, ANYTHING), max_size=6))
    separator = draw(st.sampled_from([" ", "  ", "\t", "\x01 "]))
    return draw(IDS) + separator.join([name, *args])


def check(talk, line: str) -> None:
    answer = talk.raw(line.replace("\n", " "))
    request = parse_request(line)
    if request is None:
        assert answer == ""
        return
    assert ANSWER.fullmatch(answer), (line, answer)
    assert answer.endswith("\n\n") and answer.count("\n\n") == 1, (line, answer)
    assert answer[1:].startswith(request.id), (line, answer)
    assert "internal error" not in answer, (line, answer)


@pytest.mark.parametrize("examples", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_any_line_gets_one_answer(make_talk, examples: int) -> None:
    talk = make_talk("any", seed=3)
    talk("boardsize 5")
    count = 0

    quiet = list(HealthCheck)

    @settings(max_examples=examples, database=None, derandomize=True, suppress_health_check=quiet)
    @given(lines())
    def each(line: str) -> None:
        nonlocal count
        count += 1
        check(talk, line)
        # A board of a fixed size keeps the judges fast.
        if count % 20 == 0:
            talk("boardsize 5", "clear_board", "komi 6.5", "kata-set-rules cgos")
            assert talk("genmove b") != "resign"

    each()
    assert count >= examples
    assert talk("name") == "Tengen"
