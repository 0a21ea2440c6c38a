"""The review of a game as annotated SGF: comments, values, labels, better lines, territory.

Uses only FF[4] properties that viewers support (C, V, BM, DO, HO, LB, TB, TW) and keeps everything
that is in the record.
"""

from __future__ import annotations

from tengen.board import BLACK, COLOUR_NAMES, PASS, WHITE, format_gtp, format_sgf
from tengen.board.counting import format_result
from tengen.game.sgf import owner_marks, territory_marks
from tengen.records import GameRecord, loads
from tengen.records.sgf_grammar import GameTree, format_tree
from tengen.records.sgf_properties import format_number, format_text, parse_text
from tengen.reviews.game import LINE, EvaluatedPosition, MoveReview, Review

_Node = dict[str, list[bytes]]
LABELS = "ABCDE"
LABELLED = 0.03
"""Probability that a predicted move needs for a letter on the board."""
_OWNED = 0.6


def annotate(review: Review, *, top: int = 5, ownership: bool = False) -> bytes:
    """Return the game as SGF with the review in it, and with `ownership` each point's owner."""
    [record] = loads(review.record.utf8_sgf(), review.record.file or "game")
    tree = record.tree
    worst = {m.number for m in review.mistakes(top)}
    odd = {m.number for m in review.surprises(top)}
    unsure = {m.number for m in review.doubts(top)}
    better: dict[int, list[_Node]] = {}
    node_of = _node_of_moves(record)
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
        _comment(node, move_words(review, move))
        if move.verdict == "mistake":
            node["BM"] = [b"2" if move.number in worst else b"1"]
        elif move.number in unsure:
            node["DO"] = [b""]
        if move.verdict == "mistake" or move.number in unsure:
            better[index] = _better_line(review.positions[number - 1], move)
        if move.number in worst | odd | unsure:
            node["HO"] = [b"1"]
    if review.ending is not None:
        _mark_territory(tree.nodes[node_of[-1]], review)
    return format_tree(_with_variations(tree, better)) + b"\n"


def move_words(review: Review, move: MoveReview) -> str:
    """Describe the review of a move in a few lines."""
    position = review.positions[move.number]
    rows, cols = position.board.rows, position.board.cols
    lines = [f"{COLOUR_NAMES[move.colour]} {format_gtp(move.move, rows, cols)}"]
    if move.probability is not None:
        lines[0] += f": people play it with {100 * move.probability:.1f} %, choice {move.rank}"
    if move.points_lost > 0:
        name = move.verdict.capitalize() or "Lost"
        lines.append(f"{name}: {move.points_lost:.1f} points (± {move.error:.1f})")
        if move.verdict:
            line = " ".join(format_gtp(p, rows, cols) for p in move.line[:LINE])
            lines.append(f"Better: {line}")
    expected = format_result(round(position.score, 1))
    lines.append(f"Black wins {100 * position.winrate:.0f} %, expected {expected}")
    guesses = [(p, chance) for p, chance in position.guesses() if chance >= LABELLED]
    if guesses:
        named = ", ".join(
            f"{letter} {format_gtp(p, rows, cols)} {100 * chance:.0f} %"
            for letter, (p, chance) in zip(LABELS, guesses, strict=False)
        )
        lines.append(f"Next: {named}")
    return "\n".join(lines)


def _root_words(review: Review, top: int) -> str:
    """Summarise the review for the root node."""
    from tengen import __version__

    board = review.positions[0].board
    lines = [f"Reviewed by tengen {__version__}: {review.judge}"]
    for colour in (BLACK, WHITE):
        side = review.side(colour)
        text = f"{COLOUR_NAMES[colour]}: {side['mean_points_lost']:.2f} points lost per move"
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
            names = (f"{m.number} {format_gtp(m.move, board.rows, board.cols)}" for m in moves)
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
        format_sgf(point, rows, cols).encode("ascii") + b":" + letter.encode("ascii")
        for letter, (point, chance) in zip(LABELS, position.guesses(), strict=False)
        if point != PASS and chance >= LABELLED
    ]
    if labels:
        node["LB"] = labels


def _mark_territory(node: _Node, review: Review) -> None:
    """Mark territory and dead stones at the end, and add the count to the comment."""
    assert review.ending is not None
    board, count = review.positions[-1].board, review.ending.count
    rows, cols = board.rows, board.cols
    names = " ".join(format_gtp(p, rows, cols) for p in review.ending.dead) or "none"
    words = f"Counted by {review.ending.judge}.\nDead: {names}\n{count.explain()}"
    told = review.record.result
    if told.score is not None and abs(told.score - count.score) > 1e-9:
        words += f"\nThe record says {told}."
    _comment(node, words)
    node.pop("TB", None)
    node.pop("TW", None)
    node.update(territory_marks(count))


def _better_line(before: EvaluatedPosition, move: MoveReview) -> list[_Node]:
    """Return the nodes of the better line."""
    rows, cols = before.board.rows, before.board.cols
    nodes: list[_Node] = []
    colour = move.colour
    for point in move.line[:LINE]:
        value = format_sgf(point, rows, cols).encode("ascii")
        nodes.append({"B" if colour == BLACK else "W": [value]})
        colour = BLACK + WHITE - colour
    if nodes:
        played = format_gtp(move.move, rows, cols)
        _comment(nodes[0], f"Better by {move.points_lost:.1f} points than {played}")
    return nodes


def _node_of_moves(record: GameRecord) -> list[int]:
    """Return the index of the node of each position: the root's, then of move 1, 2, ..."""
    found = [0]
    for index in record.tree.main_line():
        node = record.tree.nodes[index]
        moves = len(node.get("B", ())) + len(node.get("W", ()))
        found.extend([index] * moves)
    return found


def _with_variations(tree: GameTree, better: dict[int, list[_Node]]) -> GameTree:
    """Return a copy of the tree with one more variation beside each of the given nodes."""
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
