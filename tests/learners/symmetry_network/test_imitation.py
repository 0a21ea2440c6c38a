"""Experts' moves ranked by the board after them, and stacks of any width in play."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tengen.board import BLACK, EMPTY, PASS, Board, index_of, point_at
from tengen.cli import run
from tengen.errors import RunError, SpecError
from tengen.learners.symmetry_network import Categories, SymmetryNetwork, SymmetrySettings
from tengen.learners.symmetry_network.imitation import ImitationReport, Ranking
from tengen.learners.symmetry_network.imitation_kernels import choices
from tengen.learners.symmetry_network.network import Architecture, equivariance_error, forward
from tengen.learners.symmetry_network.settings import ImitationSettings, mixture_of
from tengen.learners.symmetry_network.wide import WideNetwork, WidePosition
from tengen.records.arrays import from_records
from tengen.records.record import GameRecord

SIZE = 5
CATS = Categories(mode="liberties").packed()


@pytest.fixture(autouse=True)
def one_thread():
    """Keep PyTorch from dividing tiny work among busy processors."""
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def played(seed: int, plies: int, size: int = SIZE) -> Board:
    """Return a board after random moves that fill no room of its own."""
    rng = np.random.default_rng(seed)
    board = Board(size)
    for _ in range(plies):
        legal = np.flatnonzero(board.legal_mask()[:-1])
        if len(legal) == 0:
            break
        board.play(board.answer(point_at(int(rng.choice(legal)), size, size)))
    return board


def seen(board: Board, mover: int) -> np.ndarray:
    """Return the input numbers of a board, written down from the definition."""
    grid = board.grid()
    out = np.full(grid.shape, 12)
    for row in range(board.rows):
        for col in range(board.cols):
            colour = grid[row, col]
            if colour == EMPTY:
                continue
            block, liberties, todo = {(row, col)}, set(), [(row, col)]
            while todo:
                r, c = todo.pop()
                for a, b in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                    if not (0 <= a < board.rows and 0 <= b < board.cols):
                        continue
                    if grid[a, b] == EMPTY:
                        liberties.add((a, b))
                    elif grid[a, b] == colour and (a, b) not in block:
                        block.add((a, b))
                        todo.append((a, b))
            out[row, col] = min(len(liberties), 6) - 1 + (0 if colour == mover else 6)
    return out


def record(seed: int, plies: int = 20, size: int = SIZE) -> GameRecord:
    """Return a game of random moves, passed to an end."""
    rng = np.random.default_rng(seed)
    board, moves = Board(size), []
    for _ in range(plies):
        legal = np.flatnonzero(board.legal_mask()[:-1])
        move = point_at(int(rng.choice(legal)), size, size) if len(legal) else PASS
        board.play(board.answer(move))
        moves.append(board.moves[-1])
    for _ in range(2):
        moves.append((board.turn, PASS))
        board.play(PASS)
    return GameRecord(rows=size, cols=size, moves=moves)


def test_boards_to_rank_are_those_after_the_moves():
    games = from_records([record(seed) for seed in range(6)])
    draws, others = 30, 40
    boards = np.zeros((6 * draws, 1 + others, SIZE * SIZE), np.uint8)
    counts = np.full(6 * draws, -1)
    which = np.arange(6)
    choices(
        *(games.moves, games.colours, games.offsets, which, SIZE, SIZE, draws, True, CATS, 3, 0),
        *(boards, counts),
    )
    captures = passes = 0
    for g in range(6):
        a, b = games.offsets[g : g + 2]
        board, wanted = Board(SIZE), {}
        for ply in range(a, b):
            mover, move = board.turn, board.answer(games.moves[ply])
            after = {}
            for i in np.flatnonzero(board.legal_mask()[:-1]):
                trial = board.copy()
                trial.play(trial.answer(point_at(int(i), SIZE, SIZE)))
                after[int(i)] = seen(trial, mover).tobytes()
                captures += trial.grid().astype(bool).sum() <= board.grid().astype(bool).sum()
            if move != PASS:
                wanted[after[index_of(move, SIZE, SIZE)]] = sorted(after.values())
            board.play(move)
        for place in range(g * draws, (g + 1) * draws):
            if counts[place] == 0:
                passes += 1
                continue
            rows = boards[place, : counts[place]].astype(np.int64)
            assert rows[0].tobytes() in wanted
            assert set(wanted[rows[0].tobytes()]) <= {row.tobytes() for row in rows}
    assert captures > 10
    assert passes > 0


def test_own_eyes_are_no_alternatives_and_broken_records_are_left_out():
    # Black has two eyes in the corner; White plays elsewhere, Black then too.
    black, white = [5, 6, 7, 8, 9, 1, 3], [24, 23, 22, 21, 20, 19]
    moves = []
    for i, point in enumerate(black):
        moves.append((1, divmod(point, SIZE)))
        if i < len(white):
            moves.append((2, divmod(white[i], SIZE)))
    moves += [(1, divmod(12, SIZE)), (1, divmod(12, SIZE))]  # the second: occupied
    moves += [(2, divmod(13, SIZE))]
    games = from_records([GameRecord(rows=SIZE, cols=SIZE, moves=moves)])
    draws = 60
    boards = np.zeros((draws, 25, SIZE * SIZE), np.uint8)
    counts = np.zeros(draws, np.int64)
    choices(
        *(games.moves, games.colours, games.offsets, np.array([0]), SIZE, SIZE, draws, False),
        *(CATS, 1, 0, boards, counts),
    )
    stones = (boards[:, 0] < 12).sum(1)
    last = np.flatnonzero((counts > 0) & (stones == stones[counts > 0].max()))
    assert len(last)  # the move at 12 was drawn, and two eyes (0, 2, 4 are three) were not filled
    for place in last:
        rows = boards[place, : counts[place]]
        assert (rows[:, [0, 2, 4]] == 12).all()
    assert (counts == 0).any()  # what follows the illegal move


@pytest.mark.parametrize("size", [5, 9])
@pytest.mark.parametrize(("layers", "units"), [(1, 16), (2, 8), (4, 14)])
def test_moves_of_wide_stacks_are_valued_as_the_definition_says(layers, units, size):
    settings = SymmetrySettings(
        layers=layers,
        mixture=mixture_of(units),
        turn=True,
        single=True,
        categories="liberties",
    )
    rng = np.random.default_rng(layers)
    free = rng.normal(0, 0.25, settings.architecture.size)
    network = SymmetryNetwork.from_free(free, settings)
    assert network.wide is not None
    assert equivariance_error(settings.architecture, free, size=size) < 1e-12
    for plies in (0, 9, 30, 55):
        board = played(plies, plies, size)
        mover = board.turn
        rated = network.move_values(board)
        assert np.array_equal(rated[:-1] > -np.inf, board.legal_mask()[:-1])
        for i in np.flatnonzero(board.legal_mask()[:-1]):
            after = board.copy()
            after.play(after.answer(point_at(int(i), size, size)))
            outputs, _ = forward(settings.architecture, free, seen(after, mover))
            value = (2 * outputs[..., 0] - 1).sum()
            assert rated[i] == pytest.approx(value, abs=2e-4)
            ours = network.values([after])[0] + after.komi
            assert ours == pytest.approx(value if mover == BLACK else -value, abs=2e-4)
        outputs, _ = forward(settings.architecture, free, seen(board, 3 - mover))
        owned = (2 * outputs[..., 0] - 1).reshape(-1) * (1 if 3 - mover == BLACK else -1)
        assert network.ownership(board) == pytest.approx(owned, abs=1e-4)


def test_wide_positions_are_seen_by_their_mover():
    settings = SymmetrySettings(layers=2, mixture=mixture_of(14), turn=True, categories="liberties")
    free = np.random.default_rng(1).normal(0, 0.25, settings.architecture.size)
    stack = WideNetwork(settings.architecture, free, CATS)
    board = played(4, 14)
    position = WidePosition(stack, board.state, board.turn, SIZE + 1)
    outputs, _ = forward(settings.architecture, free, seen(board, board.turn))
    ours = position.outputs[:-1].reshape(SIZE + 2, SIZE + 1, -1)[1:-1, 1:, :7]
    assert ours == pytest.approx(outputs, abs=1e-4)
    with pytest.raises(SpecError, match="recurrence"):
        WideNetwork(Architecture(steps=1), free, CATS)


def test_seven_outputs_and_captures_count_in_wide_stacks_too():
    settings = SymmetrySettings(
        layers=2,
        mixture=mixture_of(8),
        turn=True,
        categories="liberties",
    )
    rng = np.random.default_rng(5)
    network = SymmetryNetwork.from_free(
        rng.normal(0, 0.2, settings.architecture.size), settings, games=1
    )
    board = played(3, 30)
    wide = network.move_values(board)
    network.__dict__["wide"] = None  # the kernels of twelve units, whole boards
    plain = network.move_values(board)
    legal = board.legal_mask()
    assert wide[legal] == pytest.approx(plain[legal], abs=1e-4)


def games_of(first: int, last: int):
    return from_records([record(seed) for seed in range(first, last)])


def trainer(workers: int = 1, **change):
    pytest.importorskip("torch")
    from tengen.learners.symmetry_network.imitation import Imitator

    return Imitator(tiny(**change), games_of(0, 10), workers=workers)


def tiny(**change) -> ImitationSettings:
    plan = {"layers": 2, "units": 8, "size": SIZE, "positions": 64, "negatives": 5, "batch": 16}
    return ImitationSettings(**{**plan, "rate": 1e-2, "seed": 4, **change})


def test_a_training_is_a_function_of_its_seed_and_resumes_exactly(tmp_path):
    from_start = trainer()
    from tengen.learners.symmetry_network.imitation import imitate, open_run

    whole = imitate(from_start)
    assert np.array_equal(whole, imitate(trainer(workers=3)))
    assert not np.array_equal(whole, imitate(trainer(seed=5)))

    class Stop(Exception):
        pass

    def stop(report):
        assert isinstance(report, ImitationReport) and report.positions > 0
        if report.step == 3:
            raise Stop

    games, every = from_start.games, {"checkpoint_every": 1, "report_every": 1}
    with open_run(tmp_path, tiny(), games, resume=False) as run, pytest.raises(Stop):
        imitate(trainer(), run=run, watch=stop, **every)
    with pytest.raises(RunError, match="--resume"):
        open_run(tmp_path, tiny(), games, resume=False)
    with pytest.raises(RunError, match="other settings"):
        open_run(tmp_path, tiny(rate=1e-3), games, resume=True)
    # As many games, but others.
    with pytest.raises(RunError, match="other games"):
        open_run(tmp_path, tiny(), games_of(1, 11), resume=True)
    resumed = trainer()
    with open_run(tmp_path, tiny(), games, resume=True) as run:
        assert run.start is not None and run.start.step == 2
        assert np.array_equal(whole, imitate(resumed, run=run))
    assert resumed.beta == from_start.beta != 2.0


def test_it_learns_to_prefer_what_experts_play():
    # These experts play at the edge.
    pytest.importorskip("torch")
    from tengen.learners.symmetry_network.imitation import Imitator, imitate

    def edge_game(seed: int) -> GameRecord:
        rng = np.random.default_rng(seed)
        board, moves = Board(SIZE), []
        for _ in range(10):
            legal = np.flatnonzero(board.legal_mask()[:-1])
            edge = [i for i in legal if i // SIZE in (0, SIZE - 1) or i % SIZE in (0, SIZE - 1)]
            board.play(board.answer(point_at(int(rng.choice(edge)), SIZE, SIZE)))
            moves.append(board.moves[-1])
        return GameRecord(rows=SIZE, cols=SIZE, moves=moves)

    games = from_records([edge_game(seed) for seed in range(30)])
    test = from_records([edge_game(seed) for seed in range(100, 110)])
    plan = tiny(layers=1, positions=1600, negatives=7, rate=0.02, seed=0)
    learner = Imitator(plan, games)
    before = learner.rank(test, 60)
    free = imitate(learner)
    after = learner.rank(test, 60)
    assert isinstance(after, Ranking) and after.top1 <= after.top5
    assert after.loss < before.loss - 0.15
    assert 0 <= after.top1 <= after.top5 <= 1
    network = SymmetryNetwork.from_free(free, plan.network)
    values = network.move_values(Board(SIZE))[:-1].reshape(SIZE, SIZE)
    assert values[0].mean() > values[1:-1, 1:-1].mean() + 0.05
    # What PyTorch trains is what is played.
    import torch

    board = played(2, 12)
    with torch.no_grad():
        value = learner.values(torch.as_tensor(seen(board, 3 - board.turn)[None]))
    ours = network.values([board])[0] + board.komi
    assert float(value) == pytest.approx(ours if board.turn != BLACK else -ours, abs=1e-3)


def test_the_recipe_tells_nothing_of_self_play():
    settings = ImitationSettings(layers=3, units=24, seed=7).network
    assert "rate" not in settings.recipe and "rate" in SymmetrySettings().recipe
    assert SymmetrySettings.from_recipe(settings.recipe) == settings


def test_recipes_of_older_files_are_understood():
    old = {"categories": {"mode": "both", "eyes": [0.3, 1.0], "openings": [0.5, 1.5]}}
    settings = SymmetrySettings.from_recipe({**old, "augment": False, "taught": True, "turn": True})
    assert settings == SymmetrySettings(categories="both", eyes=(0.3, 1.0), turn=True)
    assert SymmetrySettings.from_recipe(settings.recipe) == settings


def test_mistakes_are_told():
    pytest.importorskip("torch")
    from tengen.learners.symmetry_network.imitation import Imitator

    games = games_of(1, 2)
    with pytest.raises(SpecError, match="size 9"):
        Imitator(tiny(size=9), games)
    with pytest.raises(SpecError, match="multiple"):
        ImitationSettings(batch=20)
    with pytest.raises(SpecError, match="device"):
        Imitator(tiny(), games, device="abacus")


def test_the_command_imitates(tmp_path, capsys):
    pytest.importorskip("torch")
    from tengen.records.writer import write_sgf

    path = tmp_path / "games.sgf"
    write_sgf((record(seed) for seed in range(8)), path)
    out = tmp_path / "run"
    command = ["symmetry-network", "imitate", str(path), "--out", str(out), "--size", str(SIZE)]
    command += ["--layers", "2", "--units", "14", "--positions", "32", "--negatives", "3"]
    command += ["--batch", "16", "--measured", "8", "--json", "--quiet"]
    assert run(command) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["positions"] == 32
    assert value["held_out"]["games"] == 1
    network = SymmetryNetwork.load(value["model"])
    assert network.wide is not None
    assert run([*command, "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == value["model"]
    assert run(command) == 1, "what was trained is not thrown away"
    assert "--resume" in capsys.readouterr().err
    write_sgf((record(seed) for seed in range(1, 9)), path)
    assert run([*command, "--resume"]) == 1, "a model must not name games that it never saw"
    assert "other games" in capsys.readouterr().err
    assert np.array_equal(network.free_, SymmetryNetwork.load(value["model"]).free_)
    from tengen.players import make_player

    player = make_player(f"greedy:model={value['model']}")
    move = player.choose(Board(SIZE), np.random.default_rng(0))
    assert Board(SIZE).is_legal(move)
