"""Compare our reading of a KataGo network with KataGo's own `kata-raw-nn`.

    python benchmarks/katago_raw.py katago MODEL.bin.gz GAMES.sgf... --positions 200

Positions come from the games given and from 7x7 and 13x13 games drawn from the policy of
`tengen-small`, under five rule sets and several komi. Printed are the largest distances of policy,
lead, win probability and ownership. `katago` is the program; its configuration is made here.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from tengen.board import BLACK, PASS, Board, Rules, format_gtp, index_of, point_at
from tengen.errors import TengenError
from tengen.network import DeepNetwork
from tengen.network.inputs_kernels import HISTORY, NOWHERE
from tengen.network.katago import Teacher, TeacherPositions, inputs_of
from tengen.network.katago_kernels import LADDER_BIT, encode_for_teacher
from tengen.records import Corpus

RULES = ("japanese", "chinese", "tromp_taylor", "aga", "new_zealand")
KATAGO_RULES = {"tromp_taylor": "tromp-taylor", "new_zealand": "new-zealand"}
CONFIG = """
logAllGTPCommunication = false
logSearchInfo = false
logToStderr = false
logFile = /dev/null
ponderingEnabled = false
maxVisits = 1
numSearchThreads = 1
numEigenThreadsPerModel = 1
nnMaxBatchSize = 1
rules = chinese
"""


class Katago:
    """KataGo over GTP."""

    def __init__(self, program: str, model: Path) -> None:
        config = Path(tempfile.mkdtemp()) / "gtp.cfg"
        config.write_text(CONFIG)
        command = [program, "gtp", "-model", str(model), "-config", str(config)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip

    def ask(self, command: str) -> list[str]:
        """Send one command and return the lines of its answer."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(command, file=self.process.stdin, flush=True)
        lines: list[str] = []
        while line := self.process.stdout.readline():
            if not line.strip() and lines:
                break
            if line.strip():
                lines.append(line.strip())
        if not lines or not lines[0].startswith("="):
            raise SystemExit(f"{command}: {lines}")
        return lines

    def raw(self, board: Board, rules: str) -> tuple[np.ndarray, dict[str, float], np.ndarray]:
        """Return policy (NaN where illegal, pass last), single figures and White's ownership."""
        self.ask(f"boardsize {board.rows}")
        self.ask("clear_board")
        self.ask(f"kata-set-rules {KATAGO_RULES.get(rules, rules)}")
        self.ask(f"komi {board.komi}")
        for colour, move in board.moves:
            vertex = format_gtp(move, board.rows, board.cols)
            self.ask(f"play {'B' if colour == BLACK else 'W'} {vertex}")
        tables: dict[str, list[float]] = {"policy": [], "whiteOwnership": []}
        figures: dict[str, float] = {}
        table = ""
        for line in self.ask("kata-raw-nn 0"):
            words = line.lstrip("= ").split()
            if words and words[0] in tables:
                table, words = words[0], words[1:]
            elif words and words[0][0].isalpha() and words[0].lower() != "nan":
                table = ""
                if len(words) == 2:
                    figures[words[0]] = float(words[1])
            if table:
                tables[table] += [float(word) for word in words]
        policy = np.array([*tables["policy"], figures["policyPass"]])
        return policy, figures, np.array(tables["whiteOwnership"])


def positions(paths: list[Path], count: int, seed: int) -> Iterator[tuple[Board, str]]:
    """Yield positions of all kinds in turn, each with the name of its rules."""
    chance = np.random.default_rng(seed)
    records = [[r for r in Corpus(path) if not r.setup and len(r.moves) > 1] for path in paths]
    drawn = DeepNetwork.load("tengen-small")
    for number in range(count):
        kind = number % (len(paths) + 2)
        rules = RULES[int(chance.integers(len(RULES)))]
        komi = float(chance.choice([0.5, 5.5, 6.5, 7.0, 7.5]))
        if kind < len(paths):
            record = records[kind][int(chance.integers(len(records[kind])))]
            board = Board(record.rows, komi=komi, rules=Rules.preset(rules))
            for colour, move in record.moves[: int(chance.integers(1, len(record.moves)))]:
                board.play(move, colour)
        else:
            side = (7, 13)[kind - len(paths)]
            board = Board(side, komi=komi, rules=Rules.preset(rules))
            for _ in range(int(chance.integers(1, side * side))):
                priors = np.asarray(drawn.evaluate([board])[0].priors, np.float64)
                choice = int(chance.choice(len(priors), p=priors / priors.sum()))
                point = PASS if choice == side * side else point_at(choice, side, side)
                if point == PASS and board.last_move == PASS:
                    break
                board.push(point)
        yield board, rules


def rule_inputs(rules: Rules) -> list[float]:
    """Return ko, suicide and scoring inputs: globals 6 to 11."""
    territory = rules.scoring == "territory"
    ko = {"simple": (0.0, 0.0), "positional": (1.0, 0.5), "situational": (1.0, -0.5)}[rules.ko]
    return [*ko, float(rules.suicide), float(territory), float(territory), 0.0]


def positions_of(boards: list[Board]) -> TeacherPositions:
    """Pack boards of one size, each seen from its side to move."""
    rows, cols = boards[0].rows, boards[0].cols
    codes = np.zeros((len(boards), rows * cols), np.int16)
    earlier = np.zeros((len(boards), 2, rows * cols), np.bool_)
    history = np.full((len(boards), HISTORY), NOWHERE, np.int16)
    passes = np.zeros((len(boards), HISTORY), np.bool_)
    for i, board in enumerate(boards):
        area = board.rules.scoring == "area"
        encode_for_teacher(board.state, board.turn, area, codes[i])
        earlier[i] = (codes[i] & LADDER_BIT) > 0
        before = board.copy()
        expected = 3 - board.turn
        for ago, (colour, point) in enumerate(reversed(board.moves[-HISTORY:])):
            if colour != expected:
                break
            expected = 3 - expected
            if point == PASS:
                passes[i, ago] = True
            else:
                history[i, ago] = index_of(point, rows, cols)
            if ago < 2:
                before.undo()
                packed = np.zeros(rows * cols, np.int16)
                encode_for_teacher(before.state, before.turn, False, packed)
                earlier[i, ago:] = (packed & LADDER_BIT) > 0
    komi = [
        (-1 if board.turn == BLACK else 1) * (board.white_bonus + _chill(board)) for board in boards
    ]

    return TeacherPositions(
        rows, cols, torch.tensor(codes), torch.tensor(earlier), torch.tensor(history),
        torch.tensor(passes), torch.tensor(komi, dtype=torch.float32),
        torch.tensor([rule_inputs(board.rules) for board in boards]),
    )  # fmt: skip


def _chill(board: Board) -> int:
    """Return the points that KataGo gives White under territory scoring: one per move of Black.

    White pays likewise, so only moves that one side played more than the other count.
    """
    if board.rules.scoring != "territory":
        return 0
    grid = board.grid()
    by_black, by_white = board.prisoners
    on_board = int((grid == BLACK).sum()) - int((grid == 3 - BLACK).sum())
    return on_board + by_white - by_black


def compare(teacher: Teacher, katago: Katago, board: Board, rules: str) -> list[float]:
    """Return the distances of policy, lead, win probability and ownership."""
    policy, figures, ownership = katago.raw(board, rules)
    said = teacher(*inputs_of(positions_of([board])))
    logits = np.where(np.isnan(policy), -np.inf, said.moves[0].numpy())
    ours = np.exp(logits - logits.max())
    ours /= ours.sum()
    black = board.turn == BLACK
    white = -1.0 if black else 1.0
    win = float(said.winner[0])
    return [
        float(np.abs(ours - np.nan_to_num(policy)).max()),
        abs(white * float(said.lead[0]) - figures["whiteLead"]),
        abs((1 - win if black else win) - figures["whiteWin"]),
        float(np.abs(white * said.ownership[0].numpy() - ownership).max()),
    ]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("katago")
    parser.add_argument("model", type=Path)
    parser.add_argument("games", type=Path, nargs="+")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    teacher, katago = Teacher(chosen.model).eval(), Katago(chosen.katago, chosen.model)
    found = []
    for board, rules in positions(chosen.games, chosen.positions, chosen.seed):
        try:
            found.append(compare(teacher, katago, board, rules))
        except TengenError as error:
            raise SystemExit(str(error)) from None
        print(board.rows, rules, board.komi, len(board.moves), *(f"{x:.5f}" for x in found[-1]))
    most = np.array(found).max(0)
    names = ("policy", "lead", "win", "ownership")
    print(len(found), "positions;", *(f"{n} {x:.5f}" for n, x in zip(names, most, strict=True)))


if __name__ == "__main__":
    main()
