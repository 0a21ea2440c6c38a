"""What controllers rely on: order of set-up, either colour, handicap, rules, clocks, scores."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tengen.gtp.engine import GtpEngine


def test_sessions_start_with_names(talk) -> None:
    assert talk("name") == "Tengen"
    assert talk("protocol_version") == "2"
    listed = talk("list_commands").split()
    assert len(listed) == len(set(listed))
    assert {"play", "genmove", "lz-analyze", "final_status_list"} <= set(listed)
    assert talk("known_command genmove") == "true"
    assert talk("known_command nonsense") == "false"
    assert talk.raw("42 nonsense") == "?42 unknown command\n\n"
    assert "player first" in talk("gomill-describe_engine")
    assert float(talk("cputime")) > 0


def test_komi_comes_before_boardsize_and_stays(talk) -> None:
    talk("komi 3.5", "boardsize 9", "clear_board")
    assert talk("get_komi") == "3.5"
    for bad in ("nan", "inf", "1e9", "1_0", "six", ""):
        assert talk.refused(f"komi {bad}")
    assert talk("get_komi") == "3.5"


@pytest.mark.parametrize(
    "size", ["1", "26", "0", "-9", "9999999999999999999999999", "9 1", "x", "9 x", "٩", ""]
)
def test_sizes_that_no_board_has_are_refused_and_change_nothing(talk, size: str) -> None:
    talk("boardsize 5", "play b c3")
    reasons = ("unacceptable size", "boardsize not an integer", "syntax error: wrong number of ")
    assert talk.refused(f"boardsize {size}").startswith(reasons)
    assert "X" in talk("showboard")


def test_rectangles_count_columns_first(talk) -> None:
    talk("rectangular_boardsize 5 9", "play b E9")
    assert talk.refused("play b F1") == "invalid coordinate"
    talk("boardsize 3 2", "play w C2")
    assert talk.refused("play w A3") == "invalid coordinate"


def test_either_colour_may_move_again_and_moves_are_taken_back(talk) -> None:
    talk("boardsize 5", "play b a1", "play BLACK B1", "play white c3", "play b pass")
    assert talk.refused("play w a1").startswith("illegal move")
    assert talk.refused("play w resign") == "invalid coordinate"
    assert talk.refused("play red a2") == "invalid color"
    talk("undo", "gg-undo 2")
    assert talk("showboard").count("X") == 1
    assert talk.refused("gg-undo 9") == "cannot undo"
    talk("undo")
    assert talk.refused("undo") == "cannot undo"


def test_genmove_plays_and_reg_genmove_does_not(talk) -> None:
    talk("boardsize 3")
    assert talk("reg_genmove w") == "A3"
    assert talk("genmove w") == "A3"
    assert talk("genmove w") == "B3"
    assert talk("genmove b") == "C3"
    assert talk.refused("genmove")
    assert talk.refused("genmove x") == "invalid color"


def test_the_same_seed_gives_the_same_moves(make_talk) -> None:
    def game(seed: int) -> list[str]:
        talk = make_talk("any", seed=seed)
        talk("boardsize 9")
        return [talk(f"genmove {'bw'[i % 2]}") for i in range(6)]

    assert game(1) == game(1) != game(2)
    talk = make_talk("any", seed=2)
    talk("boardsize 9", "set_random_seed 1")
    assert talk("get_random_seed") == "1"
    assert talk("genmove b") == game(1)[0]


def test_handicap_goes_on_an_empty_board(talk) -> None:
    talk("boardsize 9")
    assert len(talk("fixed_handicap 4").split()) == 4
    assert talk.refused("fixed_handicap 2") == "board not empty"
    talk("clear_board")
    assert talk.refused("fixed_handicap 99") == "invalid number of stones"
    for second in ("a1", "pass", "z9"):
        assert talk.refused(f"set_free_handicap a1 {second}") == "bad vertex list"
    talk("set_free_handicap a1 b2 c3")
    assert "W to play" in talk("showboard")
    talk("clear_board")
    stones = talk("place_free_handicap 12").split()
    assert 2 <= len(stones) == len(set(stones)) <= 12


def test_positions_are_set_whole_or_not_at_all(talk) -> None:
    talk("boardsize 3", "play b b2")
    for bad in ("b a1 w a1", "b a1 w", "b pass", "w a1 b a2 b b1", "green a1"):
        assert talk.refused(f"set_position {bad}")
    assert talk.engine.game.board.moves
    talk("set_position b a1 w c3")
    assert not talk.engine.game.board.moves
    talk("gogui-setup_player w")
    assert talk.engine.game.board.turn == 2
    assert talk.refused("gogui-play_sequence b b2 w b2").startswith("White may not play B2")
    assert not talk.engine.game.board.moves
    talk("gogui-play_sequence b b2 w b3")
    assert len(talk.engine.game.board.moves) == 2


def test_games_are_saved_and_loaded_up_to_a_move(talk, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    talk("boardsize 5", "komi 0.5", "play b c3", "play w b2", "play b pass", f"printsgf {path}")
    assert "B[cc]" in talk("printsgf")
    talk("boardsize 9", f"loadsgf {path} 3")
    assert len(talk.engine.game.board.moves) == 2
    assert talk("get_komi") == "0.5"
    path.write_text("(;SZ[5];B[aa];AE[aa]AB[cc];W[dd])")
    talk(f"loadsgf {path}")  # stones put down between moves, as `score` reads them
    assert talk.engine.game.board["C3"] == 1 and talk.engine.game.board["A5"] == 0
    assert talk.refused(f"loadsgf {tmp_path}/none.sgf").startswith("cannot load file")
    assert talk.refused("loadsgf")
    assert talk.refused(f"printsgf {tmp_path}/no/such/folder.sgf").startswith("cannot write file")


def test_a_saved_game_keeps_rules_that_have_no_name(talk, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    talk("boardsize 5", 'kata-set-rules {"ko": "SIMPLE", "suicide": true}')
    talk("gogui-play_sequence w a3 w b2 w c1 b a2 b b1 b a1", f"printsgf {path}")
    rules = talk("kata-get-rules")
    talk("clear_board", "kata-set-rules japanese", f"loadsgf {path}")
    assert talk("kata-get-rules") == rules and len(talk.engine.game.board.moves) == 6


def test_rules_are_reported_and_changed_in_katagos_words(talk) -> None:
    talk("boardsize 5", "kata-set-rules japanese")
    rules = json.loads(talk("kata-get-rules"))
    assert (rules["ko"], rules["scoring"]) == ("SIMPLE", "TERRITORY")
    talk('kata-set-rules {"ko": "SITUATIONAL", "scoring": "AREA", "suicide": true}')
    talk("kata-set-rule whiteHandicapBonus N-1")
    rules = json.loads(talk("kata-get-rules"))
    assert rules["suicide"] is True and rules["whiteHandicapBonus"] == "N-1"
    talk("gogui-play_sequence w a3 w b2 w c1 b a2 b b1")
    talk("play b a1")  # suicide of three stones, allowed now
    assert talk.refused("kata-set-rule suicide false").startswith("the game so far breaks")
    for bad in ("martian", "{", "[1]", '{"ko": "SPIGHT"}', '{"hasButton": true}', '{"x": 1}'):
        assert talk.refused(f"kata-set-rules {bad}")
    talk("clear_board", "kgs-rules chinese-ogs")
    assert json.loads(talk("kata-get-rules"))["whiteHandicapBonus"] == "N"
    for name in ("stone-scoring", "ancient-area", "ancient-territory", "aga-button"):
        assert name in talk.refused(f"kata-set-rules {name}")
    assert json.loads(talk("kata-get-rules"))["whiteHandicapBonus"] == "N"


@pytest.mark.parametrize(
    ("name", "ko", "suicide", "bonus"),
    [
        ("tromp-taylor", "POSITIONAL", True, "0"),
        ("chinese", "SIMPLE", False, "N"),
        ("chinese-ogs", "POSITIONAL", False, "N"),
        ("chinese-kgs", "POSITIONAL", False, "N"),
        ("japanese", "SIMPLE", False, "0"),
        ("korean", "SIMPLE", False, "0"),
        ("aga", "SITUATIONAL", False, "N-1"),
        ("bga", "SITUATIONAL", False, "N-1"),
        ("new-zealand", "SITUATIONAL", True, "0"),
        ("goe", "POSITIONAL", True, "0"),
    ],
)
def test_katagos_names_of_rules(talk, name: str, ko: str, suicide: bool, bonus: str) -> None:
    talk("boardsize 5", f"kata-set-rules {name}")
    rules = json.loads(talk("kata-get-rules"))
    assert (rules["ko"], rules["suicide"], rules["whiteHandicapBonus"]) == (ko, suicide, bonus)
    assert rules["scoring"] == ("TERRITORY" if name in ("japanese", "korean") else "AREA")
    assert "martian" in talk.refused("kgs-rules martian")


def test_players_hear_of_the_clock_and_explain_themselves(make_talk) -> None:
    talk = make_talk("any")
    kind = type(talk.engine.player)
    kind.asked = None
    talk("boardsize 9", "genmove b")
    assert kind.asked is None
    assert "looked nice" in talk("gomill-explain_last_move")
    talk("time_settings 60 0 0", "genmove w")
    assert 0 < kind.asked < 60
    talk("time_left b 0.5 0", "genmove b")
    assert 0 < kind.asked < 0.5
    for good in ("none", "absolute 60", "byoyomi 60 10 3", "canadian 60 300 25"):
        talk(f"kgs-time_settings {good}")
    for bad in ("", "absolute", "absolute -1", "martian 3", "canadian 1 2", "absolute 1e30"):
        assert talk.refused(f"kgs-time_settings {bad}")
    assert talk.refused("time_left b 1")
    assert talk.refused("time_settings 1 2")


FINISHED = ["boardsize 5"] + [f"play b c{i}" for i in range(1, 6)]
FINISHED += [f"play w d{i}" for i in range(1, 6)]


def test_without_a_scorer_playouts_judge(talk, monkeypatch, tmp_path: Path) -> None:
    from tengen.models import store

    monkeypatch.setattr(store, "SHIPPED", tmp_path)
    monkeypatch.delenv("TENGEN_MODELS", raising=False)
    talk(*FINISHED, "komi 0.5", "play w a1")
    assert talk("final_score") == "B+4.5"
    assert talk("final_status_list dead") == "A1"
    for vertex, status in (("a1", "dead"), ("c3", "alive"), ("b2", "black_territory")):
        assert talk(f"final_status {vertex}") == status
    assert set(talk("final_status_list white_territory").split()) == {f"E{i}" for i in range(1, 6)}
    assert talk("final_status_list seki") == ""
    assert talk("tengen-dead") == "A1"
    assert len(talk("tengen-ownership").split()) == 25
    assert talk.refused("final_status_list undead") == "unknown status"
    assert talk.refused("final_status pass") == "invalid coordinate"
    talk("kata-set-rules japanese", "komi 0.5")
    # 10 points and the dead stone's own, against 5, minus komi.
    assert talk("final_score") == "B+5.5"


def test_gogui_gets_the_commands_it_can_show(talk) -> None:
    for line in talk("gogui-analyze_commands").split("\n"):
        kind, label, command = line.split("/")
        assert kind and label
        assert talk(f"known_command {command.split()[0]}") == "true"
    talk("boardsize 5", "tengen-param seed 7")
    assert "seed 7" in talk("tengen-param")
    assert talk("tengen-candidates") == "A5 1"
    talk("tengen-param player any")
    assert talk("tengen-candidates").endswith("1.000")
    assert talk.refused("tengen-param player nobody") == "no player called 'nobody'"
    assert talk.refused("tengen-param nothing 3")


def test_gogui_shows_what_experts_would_play_whoever_plays(talk) -> None:
    talk("boardsize 7", "play b d4")
    lines = [line.split() for line in talk("tengen-prediction").split("\n")]
    chances = [float(chance) for _, chance in lines]
    assert 1 < len(lines) <= 20 and "D4" not in dict(lines)
    assert chances == sorted(chances, reverse=True) and 0.5 < sum(chances) <= 1.001


def test_a_player_that_plays_nonsense_is_our_bug_and_the_engine_goes_on(
    talk, capsys: pytest.CaptureFixture[str]
) -> None:
    talk("boardsize 5", "play b a5")
    talk.engine.player.choose = lambda board, rng: 7
    assert talk.refused("genmove w").startswith("internal error")
    assert "illegal move" in capsys.readouterr().err
    assert talk("name") == "Tengen"


def test_only_game_records_are_written_over(talk, tmp_path) -> None:
    path = tmp_path / "file"
    for text, allowed in [("", True), (" (;SZ[9])", True), ("key = 1", False), ("(a)", False)]:
        path.write_text(text)
        if allowed:
            talk(f"printsgf {path}")
            assert "GM[1]" in path.read_text()
        else:
            assert "no game record" in talk.refused(f"printsgf {path}")
            assert path.read_text() == text
    assert "no game record" in talk.refused(f"printsgf {tmp_path}")


def test_what_never_ends_is_not_loaded(talk, tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large.sgf").open("wb") as file:
        file.truncate(1 << 40)
    for name in ("/dev/zero", "/dev/stdin", f"{tmp_path}/pipe", f"{tmp_path}/large.sgf", "-"):
        assert talk.refused(f"loadsgf {name}").startswith("cannot load file")


def test_a_safe_engine_touches_no_files(make_talk, tmp_path) -> None:
    talk = make_talk(safe=True)
    path = tmp_path / "a.sgf"
    path.write_text("(;SZ[9])")
    for line in (f"loadsgf {path}", f"printsgf {path}", f"printsgf {tmp_path}/new.sgf"):
        assert talk.refused(line) == "no files in safe mode"
    assert path.read_text() == "(;SZ[9])" and not (tmp_path / "new.sgf").exists()
    assert "SZ[19]" in talk("printsgf")


def test_another_player_takes_over_and_the_first_is_closed() -> None:
    closed: list[str] = []
    make = lambda spec: SimpleNamespace(spec=spec, close=lambda: closed.append(spec))  # noqa: E731
    engine = GtpEngine(make, "one")
    assert engine.player.spec == "one"
    engine.change_player("two")
    assert (engine.player.spec, engine.spec, closed) == ("two", "two", ["one"])


@pytest.mark.parametrize("left", ["1e300", "1e10", "nan", "inf"])
def test_a_clock_that_cannot_be_is_refused(talk, left: str) -> None:
    assert talk.refused(f"time_left b {left} 0") and talk.refused(f"time_settings {left} 0 0")
    assert talk("time_left b 1e9 0") == ""


def test_a_game_in_the_order_of_gtp2ogs(talk) -> None:
    offered = set(talk("list_commands").split())
    assert {"kgs-time_settings", "place_free_handicap", "showboard", "time_left"} <= offered
    talk("boardsize 9\r", "clear_board\r", "komi 0.5\r")
    stones = talk("place_free_handicap 3\r").split()
    assert len(stones) == 3 and len(set(stones)) == 3 and "pass" not in stones
    talk(
        "kgs-time_settings byoyomi 600 30 5\r", "time_left black 600 0\r", "time_left white 28 5\r"
    )
    assert talk("genmove white\r") not in stones
    # The connection broke: a new process gets the game again.
    talk("boardsize 9\r", "clear_board\r", "komi 0.5\r", f"set_free_handicap {' '.join(stones)}\r")
    talk("time_settings 600 30 1\r", "time_left white 600 0\r")
    assert talk("genmove white\r") not in stones
