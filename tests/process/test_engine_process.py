"""The engine as a process: it answers at once, in order, and ends when it should."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ENGINE = [sys.executable, "-c", "from tengen.cli import main; main()", "gtp", "--player", "random"]


def test_the_first_answer_needs_no_board() -> None:
    """Heavy imports would cost seconds; look at what is imported rather than at a clock."""
    code = (
        "import sys, io\n"
        "import tengen.cli.servers\n"
        "from tengen.gtp.commands import commands_of\n"
        "from tengen.gtp.engine import GtpEngine\n"
        "from tengen.players import make_player\n"
        "engine = GtpEngine(make_player, 'mcts')\n"
        "from tengen.gtp.protocol import Dispatcher\n"
        "talk = Dispatcher(commands_of(engine), lambda text: print(text, end=''))\n"
        "for line in ('name', 'version', 'protocol_version', 'list_commands', 'boardsize 99'):\n"
        "    talk.handle(line)\n"
        "heavy = {'numba', 'scipy', 'pydantic', 'matplotlib', 'tengen.board'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("= Tengen\n\n") and "? unacceptable size" in done.stdout


def test_a_pipelined_session_is_answered_in_order() -> None:
    lines = ["1 komi 5.5", "2 boardsize 5", "3 play b c3", "4 genmove w", "5 get_komi", "6 quit"]
    done = subprocess.run(
        ENGINE, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=300
    )
    heads = [line.split()[0] for line in done.stdout.splitlines() if line]
    assert heads == [f"={i}" for i in range(1, 7)]
    assert "=5 5.5" in done.stdout
    assert done.returncode == 0 and done.stderr == ""


def test_the_end_of_input_ends_an_analysis() -> None:
    lines = "boardsize 5\nlz-analyze 10\n"
    done = subprocess.run(ENGINE, input=lines, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.startswith("=\n\n")
    assert done.stdout.endswith("\n\n")


def test_a_wrong_player_is_reported_when_it_is_needed() -> None:
    command = [*ENGINE[:-1], "nobody"]
    done = subprocess.run(
        command, input="name\ngenmove b\n", capture_output=True, text=True, timeout=300
    )
    assert done.stdout.startswith("= Tengen\n\n? ") and "nobody" in done.stdout


class Conversation:
    """A running engine, line by line."""

    def __init__(self, player: str) -> None:
        self.process = subprocess.Popen(
            [*ENGINE[:-1], player], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdin and self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def send(self, *lines: str) -> None:
        self.stdin.write("".join(line + "\n" for line in lines).encode())
        self.stdin.flush()

    def answer(self) -> list[str]:
        """Read one answer up to its empty line."""
        lines = []
        while line := self.stdout.readline().decode().rstrip("\n"):
            lines.append(line)
        return lines

    def line(self) -> str:
        return self.stdout.readline().decode().rstrip("\n")

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=240)


def test_any_input_stops_an_analysis_and_an_interrupt_stops_a_move() -> None:
    with Conversation("mcts:seconds=300") as engine:
        engine.send("boardsize 9")
        assert engine.answer() == ["="]
        engine.send("7 kata-analyze b interval 5 ownership true rootInfo true")
        assert engine.line() == "=7"
        reports = [engine.line() for _ in range(2)]
        assert all(report.startswith("info move ") for report in reports)
        assert len(reports[0].split("ownership ")[1].split()) == 81
        engine.send("8 name")
        rest = engine.answer()
        assert all(report.startswith("info move ") for report in rest)
        assert engine.answer() == ["=8 Tengen"]
        begun = time.monotonic()
        # An interrupt is for what was sent before it, also where that has not begun.
        engine.send("genmove b", "# interrupt")
        (move,) = engine.answer()
        assert move.startswith("= ") and move != "= pass"
        engine.send("kata-genmove_analyze w interval 5")
        assert engine.line() == "="
        while not engine.line().startswith("info move "):
            pass
        engine.send("# interrupt")
        *_, move = engine.answer()
        assert move.startswith("play ") and time.monotonic() - begun < 120
        engine.send("gomill-explain_last_move", "9 quit")
        assert "visits, win rate" in engine.answer()[0]
        assert engine.answer() == ["=9"]


def test_players_keep_to_the_clock_that_a_program_sets() -> None:
    with Conversation("mcts:seconds=300") as engine:
        engine.send("boardsize 9", "time_settings 20 0 0", "time_left b 20 0", "genmove b")
        begun = time.monotonic()
        answers = [engine.answer() for _ in range(4)]
        assert [a[0][0] for a in answers] == ["="] * 4
        # About 20 s for 28 moves; a busy machine may compile first.
        assert time.monotonic() - begun < 60
        engine.send("quit")


def test_quit_with_the_input_still_open_ends_cleanly() -> None:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(ENGINE, **pipes)  # type: ignore[call-overload]
    with process.stdin, process.stdout, process.stderr:
        process.stdin.write(b"name\nquit\n")
        process.stdin.flush()
        assert process.wait(240) == 0
        assert process.stderr.read() == b""
        assert b"Tengen" in process.stdout.read()


def test_a_safe_engine_is_given_no_program(tmp_path: Path) -> None:
    unsafe = [*ENGINE[:-1], "GTP :touch made", "--safe"]
    done = subprocess.run(unsafe, input=b"", cwd=tmp_path, capture_output=True, timeout=240)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert not list(tmp_path.iterdir())
