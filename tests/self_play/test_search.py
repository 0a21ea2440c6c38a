"""Gumbel search of many games at once against the same search, written down for one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.needs import need

torch = need("torch")

from tengen.network.inputs_kernels import HISTORY, PASSES, PLY, SCORE, SIDE
from tengen.network.settings import Design
from tengen.network.torch_network import (
    FoldedNetwork,
    Network,
    Output,
    Seen,
    plane_table,
    planes_of,
)
from tengen.self_play.parallel_games import traced
from tengen.self_play.search import Boards, Search, legal, visit_plan

CPU = torch.device("cpu")
LINES, MOVES = 5, 26


def test_half_of_the_moves_are_looked_at_again() -> None:
    assert visit_plan(8, 15) == [0] * 8 + [1] * 4 + [2, 2, 3]
    assert visit_plan(2, 5) == [0, 0, 1, 1, 2]
    assert visit_plan(1, 3) == [0, 1, 2]


class Fixed:
    """A network with an answer of its own for every position, always the same."""

    def __call__(self, seen: Seen) -> Output:
        seeds = (seen.codes.long() * torch.arange(1, seen.codes.shape[1] + 1)).sum(1)
        seeds = seeds + 7 * seen.passed
        weights = torch.linspace(0.1, 0.9, MOVES)
        logits = torch.sin(seeds[:, None] * weights) * 2
        score = seen.komi + torch.cos(seeds * 0.3) * 5
        return Output(logits, torch.sin(seeds * 0.7) * 2, score, score, logits)


def seen_on(boards: Boards, komi: torch.Tensor) -> Seen:
    """Return what a network reads of all slots."""
    passed = boards.facts[:, PASSES] > 0
    nothing = torch.zeros_like(passed)
    return Seen(boards.lines, boards.lines, boards.codes, boards.history, passed, komi, nothing)


class Node:
    """One position of the search for one game."""

    def __init__(self, board: Boards, komi: float, limit: int, share: float) -> None:
        self.board, self.visits, self.totals = board, np.zeros(MOVES), np.zeros(MOVES)
        self.children: dict[int, Node] = {}
        sign = 1.0 if int(board.facts[0, SIDE]) == 1 else -1.0
        said = Fixed()(seen_on(board, torch.tensor([-sign * komi])))
        self.legal = legal(board.codes)[0].numpy()
        self.logits = np.where(self.legal, said.moves[0].double().numpy(), -1e9)
        self.over = int(board.facts[0, PASSES]) >= 2 or int(board.facts[0, PLY]) >= limit
        lead, win = float(said.score[0]), math.tanh(float(said.winner[0]) / 2)
        if self.over:
            lead = sign * (int(board.facts[0, SCORE]) - komi)
            win = float(np.sign(lead))
        self.value = (1 - share) * win + share * math.tanh(lead / 10)

    def play(self, move: int) -> Boards:
        after = Boards(LINES, 2, CPU)
        for mine, theirs in (
            (after.codes, self.board.codes),
            (after.history, self.board.history),
            (after.facts, self.board.facts),
        ):
            mine[:1] = theirs[:1]
        after.play(torch.tensor([0]), torch.tensor([move]), torch.tensor([0]))
        return after

    def gains(self) -> tuple[np.ndarray, np.ndarray]:
        odds = np.exp(self.logits - self.logits.max())
        odds /= odds.sum()
        seen = self.visits > 0
        means = np.where(seen, self.totals / np.maximum(self.visits, 1), 0)
        count = self.visits.sum()
        found = (odds * means).sum() / max((odds * seen).sum(), 1e-6)
        values = np.where(seen, means, (self.value + count * found) / (1 + count))
        return (50 + self.visits.max()) * (values + 1) / 2, values


def search_one(board: Boards, noise: np.ndarray, komi: float, limit: int) -> tuple[int, np.ndarray]:
    """Search one game the plain way, by recursion."""
    make = lambda b: Node(b, komi, limit, 0.1)  # noqa: E731
    root = make(board)

    def visit(node: Node, move: int) -> float:
        child = node.children.get(move)
        if child is None:
            child = node.children[move] = make(node.play(move))
            value = child.value
        elif child.over:
            value = child.value
        else:
            hopes = child.logits + child.gains()[0]
            odds = np.exp(hopes - hopes.max())
            lacking = odds / odds.sum() - child.visits / (1 + child.visits.sum())
            value = visit(child, int(np.where(child.legal, lacking, -np.inf).argmax()))
        node.visits[move] += 1
        node.totals[move] -= value
        return -value

    drawn = noise + root.logits
    top = np.argsort(-drawn, kind="stable")[:4]
    considered = np.zeros(MOVES, bool)
    considered[top] = True
    considered &= root.legal
    for due in visit_plan(4, 11):
        ready = considered & (root.visits == due)
        ready = ready if ready.any() else considered
        visit(root, int(np.where(ready, drawn + root.gains()[0], -np.inf).argmax()))
    gains, _ = root.gains()
    most = root.visits[considered].max()
    best = np.where(considered & (root.visits == most), drawn + gains, -np.inf)
    odds = np.exp(root.logits + gains - (root.logits + gains).max())
    return int(best.argmax()), odds / odds.sum()


@pytest.mark.parametrize("plies", [0, 9, 30])
def test_all_games_are_searched_as_each_alone(plies: int) -> None:
    games, generator = 6, torch.Generator().manual_seed(plies)
    search = Search(
        LINES, games, Fixed(), device=CPU, evaluations=12, considered=4, score_share=0.1
    )
    boards, roots = search.boards, search.roots
    for _ in range(plies):
        weights = legal(boards.codes[roots]).float()
        weights[:, -1] *= 0.05
        boards.play(roots, torch.multinomial(weights, 1, generator=generator)[:, 0], roots)
    search.komi.copy_(torch.arange(games) * 3.0 - 6)
    search.limit.copy_(boards.facts[roots, PLY] + torch.tensor([1, 2, 3, 9, 9, 9]))
    search.noise.copy_(torch.randn((games, MOVES), generator=generator))
    search.run(search.nodes)
    for game in range(games):
        alone = Boards(LINES, 1, CPU)
        alone.codes[0] = boards.codes[roots[game]]
        alone.history[0] = boards.history[roots[game]]
        alone.facts[0] = boards.facts[roots[game]]
        noise = search.noise[game].double().numpy()
        komi, limit = float(search.komi[game]), int(search.limit[game])
        move, policy = search_one(alone, noise, komi, limit)
        assert int(search.chosen[game]) == move
        assert np.allclose(search.policy[game].numpy(), policy, atol=2e-3)


def test_the_folded_network_answers_as_the_network() -> None:
    torch.manual_seed(1)
    network = Network(Design(fields=2, blocks=3, head_fields=3, value_hidden=5, ladders=False))
    with torch.no_grad():
        for name, value in network.state_dict().items():
            value += torch.rand_like(value) if "variance" in name else 0.1 * torch.randn_like(value)
    network.eval()
    boards, everyone = Boards(7, 4, CPU), torch.arange(4)
    for _ in range(20):
        moves = torch.multinomial(legal(boards.codes).float(), 1)[:, 0]
        boards.play(everyone, moves, everyone)
    folded = FoldedNetwork(network, CPU, torch.float32)
    seen = seen_on(boards, torch.tensor([-7.0, 0.0, 3.5, 7.0]))
    with torch.no_grad():
        said = folded(seen)
        output = network(planes_of(seen, plane_table(CPU)))
    assert torch.allclose(said.moves, output.moves, atol=1e-4)
    assert torch.allclose(said.winner, output.winner, atol=1e-4)
    assert torch.allclose(said.score, output.score, atol=1e-3)
    assert boards.history.shape[1] == HISTORY


def test_temporal_differences_mix_what_came_after() -> None:
    """Against the sum written out, games of several lengths side by side."""
    generator = np.random.default_rng(3)
    judged, trace = generator.uniform(-1, 1, (4, 7)), 0.7
    plies, result = [1, 3, 6, 7], [1.0, -1.0, 0.0, 1.0]
    found = traced(
        torch.tensor(judged), torch.tensor(plies), torch.tensor(result).double(), trace
    ).numpy()
    for game, (length, won) in enumerate(zip(plies, result, strict=True)):
        for ply in range(length):
            later = judged[game, ply + 1 : length]
            weights = (1 - trace) * trace ** np.arange(len(later))
            expected = weights @ later + trace ** len(later) * won
            assert found[game, ply] == pytest.approx(expected)
