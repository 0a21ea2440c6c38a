"""What the paper leaves open: weaker players' games, the engine's own moves, forward pruning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import PASS, RESIGN, Board, Point, index_of, point_at
from tengen.lab.evidence import NewRows
from tengen.lab.steps import Experiment, LabContext, Row
from tengen.models.settings import fingerprint, to_plain
from tengen.papers.move_prediction import MovePredictor, optimum
from tengen.papers.move_prediction.model import PredictionModel
from tengen.papers.move_prediction.sources import GameSource, games_of_ranks, sample_games
from tengen.papers.move_prediction.training import halves, learn_frequencies
from tengen.papers.move_prediction.trainings import (
    PLACE,
    WIDTH,
    Training,
    compile_kernels,
    hit_row,
    hits_by_game,
    play,
    train,
)
from tengen.players import make_player
from tengen.players.evaluators import make_evaluator
from tengen.players.simple import best_by_policy, scores_after
from tengen.records.arrays import GameArrays
from tengen.records.record import positions

# ----- Games of weaker players -----


@dataclass(frozen=True)
class RankSize:
    """Groups of games by the rank of the weaker player, weakest first.

    Of made games a group is the share of moves played at random, as "0.3".
    """

    made: int = 0  # games to make for each group
    board: int = 19
    train: str = "kgs6d-train.sgf"
    test: str = "kgs6d-dev.sgf"
    groups: tuple[str, ...] = ("6d", "7d", "8d")  # the last one has stronger players, too
    games: int = 2000  # training games of each group
    test_games: int = 500  # at most, of each group
    trainings: int = 3  # seeds
    solver: str = "optimum"

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read."""
        return () if self.made else (self.train, self.test)

    def read(self, context: LabContext) -> dict[str, tuple[GameArrays, GameArrays]]:
        """Return the games of each group to learn from and to measure on."""
        found = {}
        for number, (group, stronger) in enumerate(pairwise([*self.groups, None])):
            assert group is not None
            if self.made:
                seed = context.seed + 2 * number
                train, test = (
                    sample_games(count, self.board, seed + i, random_share=float(group))
                    for i, count in enumerate((self.made, self.test_games))
                )
            else:
                train, test = (
                    games_of_ranks(context, name, self.board, group, stronger)
                    for name in (self.train, self.test)
                )
            found[group] = train, test.take(np.arange(min(self.test_games, len(test))))
        return found


def ranks(context: LabContext, size: RankSize) -> Sequence[NewRows]:
    """Train on as many games of each group, and measure on the games of all groups."""
    groups = size.read(context)
    compile_kernels(groups[size.groups[0]][0], size.solver)
    seeds = range(context.seed, context.seed + size.trainings)
    jobs = [(seed, group) for seed in seeds for group in groups]
    rows: list[Row] = []
    for done, (seed, group) in enumerate(jobs):
        context.at(0.1 + 0.9 * done / len(jobs), f"games of {group}, seed {seed}")
        found = context.once(
            f"{group} {seed}", partial(_train_group, context, size, groups, *jobs[done])
        )
        rows += [{"group": group, "seed": seed, **row} for row in found]
    return [NewRows("move-prediction-ranks", rows, list(seeds), to_plain(size))]


def _train_group(
    context: LabContext,
    size: RankSize,
    groups: dict[str, tuple[GameArrays, GameArrays]],
    seed: int,
    group: str,
) -> list[Row]:
    settings = Training(size.games, solver=size.solver, seed=seed).settings()
    model = train(context, groups[group][0], settings, f"rank-{group}-{seed}").model
    rows = []
    for other, (_, test) in groups.items():
        hits, counts = hits_by_game(model, test, workers=context.workers)
        rows += [
            {"tested": other, "test": game, **hit_row(counts[game].sum(), hits[game].sum(axis=0))}
            for game in range(len(test))
        ]
    return rows


# ----- The engine's own previous moves -----


@dataclass(frozen=True)
class OwnMoves(GameSource):
    """Two predictors, with previous moves as features and without, and the positions to compare.

    From ply `start` of every test game, the predictor with previous moves plays both sides. In its
    positions, and in those of the game, `expert` says which move is right.
    """

    games: int = 2000
    expert: str = "greedy:policy=tengen-large"
    start: int = 30
    plies: int = 100  # of each line
    every: int = 10  # plies between two positions


def own_moves(context: LabContext, size: OwnMoves) -> Sequence[NewRows]:
    """Measure both predictors after experts' moves and after the predictor's own."""
    train_games, test = size.read(context)
    models = _with_and_without_history(context, size, train_games)
    predictors = {
        name: MovePredictor.of(model, Training(size.games).settings())
        for name, model in models.items()
    }
    expert = make_player(size.expert)
    rows: list[Row] = []
    for game in range(len(test)):
        context.at(0.4 + 0.6 * game / len(test), f"game {game}/{len(test)}")
        work = partial(_compare_lines, test, game, predictors, expert, size, context.seed)
        rows += context.once(f"game {game}", work)
    return [NewRows("move-prediction-own-moves", rows, [context.seed], to_plain(size))]


def _with_and_without_history(
    context: LabContext, size: OwnMoves, games: GameArrays
) -> dict[str, PredictionModel]:
    """Return two models that differ in the re-ranker's features alone."""
    settings = Training(size.games, seed=context.seed).settings()
    part_a, part_b = halves(games, settings)
    plain = learn_frequencies(games, part_a, settings, workers=context.workers)
    models = {}
    for name in ("history", "none"):
        context.at(0.2, f"training: {name}")
        samples = optimum.gather(
            games, part_b, plain, settings.top, workers=context.workers, history=name == "history"
        )
        found = optimum.fit(samples, len(plain.weights), WIDTH, workers=context.workers)
        models[name] = replace(plain, weights=found.weights, top=settings.top)
    return models


def _compare_lines(
    test: GameArrays,
    game: int,
    predictors: dict[str, MovePredictor],
    expert: Any,
    size: OwnMoves,
    seed: int,
) -> list[Row]:
    """Return the hits of each predictor in the positions of the game and of its own line."""
    rng = np.random.default_rng([seed, game])
    rows = []
    for line, boards in _lines(test, game, predictors["history"], size).items():
        hits = {name: np.zeros(2) for name in predictors}
        count = 0
        for board in boards:
            move = expert.choose(board.copy(), rng)
            if move in (PASS, RESIGN):
                continue
            count += 1
            for name, predictor in predictors.items():
                index = index_of(move, board.rows, board.cols)
                hits[name] += [_credit(predictor.priors(board), index, top) for top in (1, 5)]
        rows += [
            {"test": game, "line": line, "features": name, "moves": count,
             "hits1": round(float(found[0]), 3), "hits5": round(float(found[1]), 3)}
            for name, found in hits.items()
        ]  # fmt: skip
    return rows


def _lines(
    test: GameArrays, game: int, predictor: MovePredictor, size: OwnMoves
) -> dict[str, list[Board]]:
    """Return positions of the game after the start, and as many of the predictor's own play."""
    record = test.record(game)
    places = range(size.start + size.every, size.start + size.plies + 1, size.every)
    expert: list[Board] = []
    played: list[Board] = []
    own: Board | None = None
    for ply, (board, _) in enumerate(positions(record)):
        if ply == size.start:
            own = board.copy()
        if ply in places:
            expert.append(board.copy())
    for ply in range(size.start + 1, size.start + size.plies + 1):
        if own is None or len(played) == len(expert):
            break
        own.push(_first_choice(predictor.priors(own), own))
        if ply in places:
            played.append(own.copy())
    return {"expert": expert, "own": played}


def _first_choice(priors: FloatArray, board: Board) -> Point:
    """Return the likeliest move; a pass only if there is no other."""
    best = int(priors[:-1].argmax())
    return board.to_point(point_at(best, board.rows, board.cols) if priors[best] > 0 else PASS)


def _credit(priors: FloatArray, index: int, top: int) -> float:
    """Return the share of a hit among the best `top`; equal moves share it."""
    better = int((priors > priors[index]).sum())
    equal = int((priors == priors[index]).sum())
    return float(np.clip((top - better) / equal, 0.0, 1.0))


# ----- Forward pruning -----


@dataclass(frozen=True)
class Pruning(GameSource):
    """A search of all moves, and searches of the predictor's best moves alone."""

    games: int = 2000
    test_games: int = 100
    evaluator: str = "tengen-small"
    widths: tuple[int, ...] = (1, 5, 10, 20, 40, 80)
    every: int = 40  # plies between two positions of a test game
    match_games: int = 100
    match_width: int = 10
    match_depth: int = 2  # of the pruned search, against all moves to one ply
    solver: str = "optimum"


def pruning(context: LabContext, size: Pruning) -> Sequence[NewRows]:
    """Measure what pruning loses in a search of one ply, and what a deeper pruned search gains."""
    train_games, test = size.read(context)
    each = Training(size.games, solver=size.solver, seed=context.seed)
    path = context.place(PLACE) / f"pruning-{fingerprint(to_plain(size))}.safetensors"
    if not path.is_file():
        model = train(context, train_games, each.settings(), "pruning").model
        MovePredictor.of(model, each.settings()).save(path, name="pruning")
    predictor, evaluator = MovePredictor.load(path), make_evaluator(size.evaluator)
    rows: list[Row] = []
    for game in range(len(test)):
        context.at(0.2 + 0.3 * game / len(test), f"game {game}/{len(test)}")
        work = partial(_prune_positions, test, game, predictor, evaluator, size)
        rows += context.once(f"game {game}", work)
    context.at(0.5, "match")
    games = _pruning_match(context, size, path)
    settings = to_plain(size)
    made = [
        NewRows("move-prediction-pruning", rows, [context.seed], settings),
        NewRows("move-prediction-pruning-match", games, [context.seed], settings),
    ]
    return [each for each in made if each.rows]


def _prune_positions(
    test: GameArrays, game: int, predictor: MovePredictor, evaluator: Any, size: Pruning
) -> list[Row]:
    """Return what the best of the predictor's moves loses against the best of all, by width."""
    rows = []
    for ply, board in _every(test, game, size.every):
        moves = best_by_policy(predictor, board, board.rows * board.cols)
        if not moves:
            continue
        values = scores_after(evaluator, board, moves)
        for width in size.widths:
            lost = float(values.max() - values[:width].max())
            rows.append(
                {"test": game, "ply": ply, "moves": len(moves), "width": width,
                 "kept": int(lost <= 0), "lost": round(lost, 3)}
            )  # fmt: skip
    return rows


def _every(test: GameArrays, game: int, plies: int) -> Iterator[tuple[int, Board]]:
    """Yield the positions of a game before every so many plies."""
    for ply, (board, _) in enumerate(positions(test.record(game))):
        if ply and ply % plies == 0:
            yield ply, board.copy()


def _pruning_match(context: LabContext, size: Pruning, model: Path) -> list[Row]:
    """Play the deeper pruned search against all moves to one ply."""
    if not size.match_games:
        return []
    search = f"alphabeta:model={size.evaluator}"
    pruned = f'{search},policy="{model}",depth={size.match_depth},width={size.match_width}'
    return play(
        context, model.with_suffix(".sqlite"), {"pruned": pruned, "all": f"{search},depth=1"},
        games=size.match_games, size=size.board,
    )  # fmt: skip


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "move-prediction-ranks", "Games of weaker players", ranks,
        quick=RankSize(
            made=100, board=9, groups=("0.3", "0"), games=100, test_games=30, trainings=1
        ),
        full=RankSize(), minutes=(0.08, 60), needs=lambda size: size.files,
    ),
    Experiment(
        "move-prediction-own-moves", "The engine's own previous moves", own_moves,
        quick=OwnMoves(
            made=150, board=9, games=150, test_games=40, expert="static", start=8, plies=24,
            every=4,
        ),
        full=OwnMoves(), minutes=(0.1, 60), needs=lambda size: size.files,
    ),
    Experiment(
        "move-prediction-pruning", "Forward pruning of a search", pruning,
        quick=Pruning(
            made=100, board=9, games=100, test_games=20, every=10, match_games=6,
            evaluator="isn-9x9",
        ),
        full=Pruning(), minutes=(0.2, 600), needs=lambda size: size.files,
    ),
)  # fmt: skip
