"""What speaks for a predicted move."""

from __future__ import annotations

from tengen.board import Board
from tengen.learners.move_prediction import MovePredictor
from tengen.learners.move_prediction.family_kernels import PLAIN, salt
from tengen.learners.move_prediction.model import FullModel
from tengen.learners.move_prediction.patterns import PatternHasher, template_size
from tengen.learners.move_prediction.reasons import GROUPS, reasons_of
from tengen.models import load_policy


def test_patterns_and_groups_speak_for_a_capture() -> None:
    predictor = load_policy("predictor-small")
    assert isinstance(predictor, MovePredictor) and isinstance(predictor.model_, FullModel)
    board = Board(9)
    for move in ("E5", "D5", "D6", "C3", "D4", "G7"):
        board.play(move)
    capture, far = board.point("C5"), board.point("A1")
    [why, nothing] = reasons_of(predictor, board, [capture, far], count=3)
    assert why.weights[0][0] == "patterns" and why.weights[0][1] > 1
    assert [w for _, w in why.weights] == sorted((w for _, w in why.weights), reverse=True)
    assert {name for name, _ in why.weights} <= {name for _, name in GROUPS}
    assert sum(w for _, w in nothing.weights) < sum(w for _, w in why.weights)
    # The template is the largest that the dictionary knows by the hasher's own hashes.
    known = set(predictor.model_.dictionary.keys.tolist())
    hashes = PatternHasher.of(board).hashes(4, 2, board.turn)
    rings = [r for r, h in enumerate(hashes) if int(h) ^ int(salt(PLAIN, r)) in known]
    assert why.pattern == template_size(rings[-1])
