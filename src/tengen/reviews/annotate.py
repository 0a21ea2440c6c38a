"""The review of a game as annotated SGF: comments, values, labels, better lines, territory.

Uses only FF[4] properties that viewers support (C, V, BM, DO, HO, LB, TB, TW) and keeps everything
that is in the record.
"""

from __future__ import annotations

from tengen import __version__
from tengen.board import COLOUR_NAMES, PASS, WHITE, format_sgf
from tengen.records import loads
from tengen.records.from_board import owner_marks, territory_marks
from tengen.records.sgf_grammar import GameTree, format_tree
from tengen.records.sgf_properties import format_number, format_text, parse_text
from tengen.reviews.game import LABELLED, LABELS, LINE, EvaluatedPosition, MoveReview, Review

_Node = dict[str, list[bytes]]
_OWNED = 0.6


def annotate(review: Review, *, top: int = 5, ownership: bool = False) -> bytes:
    """Return the game as SGF with the review in it, and with `ownership` each point's owner."""
    [record] = loads(review.record.utf8_sgf(), review.record.file or "game")
    tree = record.tree
    worst = {m.number for m in review.mistakes(top)}
    odd = {m.number for m in review.surprises(top)}
    unsure = {m.number for m in review.doubts(top)}
    better: dict[int, list[_Node]] = {}
    node_of = [0]  # the node of each position: the root, then those of move 1, 2, ...
    for index in tree.main_line():
        node = tree.nodes[index]
        node_of.extend([index] * (len(node.get("B", ())) + len(node.get("W", ()))))
    _comment(tree.nodes[0], _root_words(review, top))
    for number, position in enumerate(review.positions):
        index = node_of[number]
        node = tree.nodes[index]
        node["V"] = [format_number(round(position.score, 1))]
        _label(node, position)
        if ownership and position.ownership is not None and not {"TB", "TW"} & node.keys():
            owner = position.ownership.reshape(position.board.rows, position.board.cols)
            node.update(owner_marks(owner > _OWNED, owner < -_OWNED))
        if number == 0:
            continue
        move = review.moves[number - 1]
        _comment(node, review.describe(move))
        if move.verdict == "mistake":
            node["BM"] = [b"2" if move.number in worst else b"1"]
        elif move.number in unsure:
            node["DO"] = [b""]
        if move.verdict == "mistake" or move.number in unsure:
            better[index] = _better_line(review, move)
        if move.number in worst | odd | unsure:
            node["HO"] = [b"1"]
    if review.ending is not None:
        _mark_territory(tree.nodes[node_of[-1]], review)
    return format_tree(_with_variations(tree, better)) + b"\n"


def _root_words(review: Review, top: int) -> str:
    """Summarise the review for the root node."""
    lines = [f"Reviewed by tengen {__version__}: {review.judge}"]
    if review.remark:
        lines.append(review.remark)
    for colour, name in COLOUR_NAMES.items():
        side = review.side(colour)
        text = f"{name}: {side['mean_points_lost']:.2f} points lost per move"
        text += f", {side['mistakes']} mistakes"
        if side["top1"] is not None:
            text += f", {100 * float(side['top1']):.0f} % of moves were people's likeliest"
        lines.append(text)
    for title, moves in (
        ("Largest mistakes", review.mistakes(top)),
        ("Doubtful", review.doubts(top)),
        ("Largest surprises", review.surprises(top)),
    ):
        if moves:
            names = (f"{move.number} {move.move}" for move in moves)
            lines.append(f"{title}: {', '.join(names)}")
    return "\n".join(lines)


def _comment(node: _Node, text: str) -> None:
    """Append text to a node's comment."""
    old = parse_text(node["C"][0], "utf-8").rstrip() + "\n\n" if node.get("C") else ""
    node["C"] = [format_text(old + text)]


def _label(node: _Node, position: EvaluatedPosition) -> None:
    """Label the likeliest next moves, unless the record has labels of its own."""
    if "LB" in node:
        return
    rows, cols = position.board.rows, position.board.cols
    labels = [
        f"{format_sgf(point, rows, cols)}:{letter}".encode("ascii")
        for letter, (point, chance) in zip(LABELS, position.guesses(), strict=False)
        if point != PASS and chance >= LABELLED
    ]
    if labels:
        node["LB"] = labels


def _mark_territory(node: _Node, review: Review) -> None:
    """Mark territory and dead stones at the end, and add the count to the comment."""
    assert review.ending is not None
    count, dead = review.ending.count, " ".join(map(str, review.ending.dead)) or "none"
    words = f"Counted by {review.ending.judge}.\nDead: {dead}\n{count.explain()}"
    recorded = review.record.result
    if recorded.score is not None and abs(recorded.score - count.score) > 1e-9:
        words += f"\nThe record says {recorded}."
    _comment(node, words)
    node.pop("TB", None)
    node.pop("TW", None)
    node.update(territory_marks(count))


def _better_line(review: Review, move: MoveReview) -> list[_Node]:
    """Return the nodes of the better line."""
    nodes: list[_Node] = []
    for number, point in enumerate(move.line[:LINE], move.colour == WHITE):
        value = format_sgf(point, review.record.rows, review.record.cols).encode("ascii")
        nodes.append({"BW"[number % 2]: [value]})
    if nodes:
        played = move.move
        _comment(nodes[0], f"Better by {move.points_lost:.1f} points than {played}")
    return nodes


def _with_variations(tree: GameTree, better: dict[int, list[_Node]]) -> GameTree:
    """Return a copy of the tree with the better lines as alternatives to the given nodes."""
    children: list[list[int]] = [[] for _ in tree.nodes]
    for index, parent in enumerate(tree.parents):
        if parent >= 0:
            children[parent].append(index)
    twin = GameTree()
    todo: list[tuple[int, int | list[_Node]]] = [(-1, 0)]
    while todo:
        parent, item = todo.pop()
        if isinstance(item, list):
            for node in item:
                parent = twin.add(parent, node)
            continue
        here = twin.add(parent, tree.nodes[item])
        for child in reversed(children[item]):
            if better.get(child):
                todo.append((here, better[child]))
            todo.append((here, child))
    return twin
