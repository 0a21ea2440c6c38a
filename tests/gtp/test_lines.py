"""Whatever a program sends, each line gets a well-formed answer and the engine stays usable."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tengen.gtp.commands import COMMANDS
from tengen.gtp.protocol import parse_request

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


def run(make_talk, examples: int) -> None:
    talk = make_talk("any", seed=3)
    talk("boardsize 5")
    count = 0

    @settings(
        max_examples=examples,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
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


def test_five_hundred_lines(make_talk) -> None:
    run(make_talk, 500)


@pytest.mark.slow
def test_ten_thousand_lines(make_talk) -> None:
    run(make_talk, 10_000)
