"""Analyses as Sabaki, Lizzie, LizGoban and CGOS read them."""

from __future__ import annotations

import json

import pytest

from tengen.gtp.commands import commands_of
from tengen.gtp.engine import AnalysisOptions, parse_options
from tengen.gtp.protocol import Call, GtpFailure, Request


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ("", AnalysisOptions()),
        ("10", AnalysisOptions(interval=0.1)),
        ("B 50", AnalysisOptions(colour=1, interval=0.5)),
        ("white interval 20", AnalysisOptions(colour=2, interval=0.2)),
        ("interval 20 b", AnalysisOptions(colour=1, interval=0.2)),
        ("ownership true 100 w", AnalysisOptions(colour=2, interval=1.0, ownership=True)),
        ("rootInfo true maxmoves 3", AnalysisOptions(root_info=True, max_moves=3)),
        ("0", AnalysisOptions(interval=0.05)),
        (
            "ownershipStdev true movesOwnership true pvVisits true",
            AnalysisOptions(ownership_spread=True, moves_ownership=True, pv_visits=True),
        ),
    ],
)
def test_arguments_come_in_any_order(args: str, options: AnalysisOptions) -> None:
    assert parse_options(args.split()) == options


def test_what_is_unknown_is_refused() -> None:
    wrong = ("allow b D4", "avoid x D4 1", "avoid b D4 0", "ownership", "ownership maybe")
    for args in (*wrong, "interval x", "maxmoves -1"):
        with pytest.raises(GtpFailure):
            parse_options(args.split())


def analyse(talk, line: str, reports: int = 1) -> list[str]:
    """Run an analysis that is stopped after some looks at the input."""
    looks = iter([False] * reports + [True] * 100)
    talk.written.clear()
    talk.dispatcher.handle(line, lambda: next(looks))
    text = "".join(talk.written)
    assert text.endswith("\n\n") and text.count("\n\n") == 1, text
    return text[:-2].split("\n")


def test_leela_zeros_words(any_talk) -> None:
    any_talk("play b c3")
    head, line = analyse(any_talk, "12 lz-analyze 10")
    assert head == "=12"
    words = line.split()
    assert words[:2] == ["info", "move"]
    assert words[3:7] == ["visits", "10", "winrate", "7500"]
    assert words[words.index("pv") + 1 :] == [words[2], "pass"]


def test_katagos_words(any_talk) -> None:
    any_talk("play b c3")
    _, line = analyse(any_talk, "kata-analyze w 10 ownership true rootInfo true")
    assert "winrate 0.75 " in line and "scoreLead 3.5" in line and "rootInfo visits 10" in line
    ownership = line.split("ownership ")[1].split()
    assert len(ownership) == 25
    # White is to move, so Black's corner of the toy's map turns negative.
    assert (float(ownership[0]), float(ownership[-1])) == (1.0, -1.0)


def test_an_analysis_that_is_stopped_at_once_is_still_an_answer(any_talk) -> None:
    assert any_talk.raw("3 lz-analyze") == "=3\n\n"
    assert any_talk.refused("lz-analyze b interval 20 colours 1") == "unknown key colours"


def test_an_analysis_that_has_ended_waits_for_input(make_talk) -> None:
    talk = make_talk("first")
    talk("boardsize 5")
    head, line = analyse(talk, "analyze b 5", reports=4)
    assert head == "=" and line.startswith("info move A5 visits 1 ")


@pytest.mark.parametrize("spec", ["first", "any"])
@pytest.mark.parametrize(
    "dialect", ["lz-genmove_analyze", "kata-genmove_analyze", "genmove_analyze"]
)
def test_moves_with_reports_end_with_the_move(make_talk, spec: str, dialect: str) -> None:
    talk = make_talk(spec)
    talk("boardsize 5")
    text = talk.raw(f"8 {dialect} w 50")
    head, *reports, last = text.removesuffix("\n\n").split("\n")
    assert head == "=8" and all(r.startswith("info move") for r in reports) and reports
    assert last.split()[0] == "play"
    assert last.split()[1] == reports[-1].split()[2]
    assert [c for c, _ in talk.engine.game.board.moves] == [2]


def test_cgos_gets_one_line_of_json(any_talk) -> None:
    head, line, last = any_talk.raw("cgos-genmove_analyze b").removesuffix("\n\n").split("\n")
    report = json.loads(line)
    assert head == "=" and last == f"play {report['moves'][0]['move']}"
    assert len(report["ownership"]) == 25
    assert report["ownership"][0] == "A" and report["ownership"][-1] == "+"


def test_gogui_interrupts_stop_a_search(any_talk) -> None:
    call = Call(Request("", "lz-analyze"), lambda text: None, lambda: False, lambda: True)
    assert commands_of(any_talk.engine)["lz-analyze"](call) == ""


def test_allow_and_avoid_are_read_and_refused_by_players_that_cannot(any_talk) -> None:
    options = parse_options(["b", "avoid", "b", "D4,E5", "3", "avoid", "w", "C3", "1"])
    assert options.avoid == ((1, ("D4", "E5")), (2, ("C3",)))
    assert analyse(any_talk, "lz-analyze b allow b C3,D4 1")[0].startswith("? allow and avoid")
