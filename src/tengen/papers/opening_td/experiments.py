"""The paper's experiments and those that its open questions ask for; each returns rows.

Two kinds of rows: points of learning curves (games won against random openings, by the number of
openings learned from), and matches between players of one seed. `report` computes the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

from tengen.errors import TengenError
from tengen.gtp.client import find_program
from tengen.lab.evidence import NewRows
from tengen.lab.steps import Experiment, LabContext, Row
from tengen.models.runs import Run
from tengen.models.settings import CheckedSettings, setting, to_plain
from tengen.papers.opening_td.learner import OpeningTD
from tengen.papers.opening_td.settings import SETS, STONES, TDSettings
from tengen.papers.opening_td.training import MatchJob, Players, Trained, scores_of
from tengen.players import gnugo

ENCODINGS = ("scalar", "binary")
ALL = "ABCDE"
SMALL_SETS = ("A", "ABCD", "ABCE", "ABDE", "ACDE", ALL)
"""All inputs, all but one, and none: the fewest players that show what an input adds."""
SHIPPED = ("td-abcde-9x9", "td-best-9x9")
_FAST = "builtin:playouts=48"  # the expert of quick runs
_TRAINING = 0.7  # share of a step's time that trainings take where matches follow


@dataclass(frozen=True)
class Size(CheckedSettings):
    """How players are trained and matched, common to all experiments."""

    games: int = setting(3000, "Openings to learn from, per player.", least=1)
    trainings: int = setting(5, "Trainings of each player.", least=1, changeable=True)
    expert: str = setting("builtin", "Finishes the openings during training.")
    referee: str | None = setting(None, "Finishes those of curves and matches; the expert.")
    rows: int = setting(9, "Board size.", least=2, most=25)

    @property
    def judged_by(self) -> str:
        """The expert that finishes the openings of matches and learning curves."""
        return self.referee or self.expert

    def player(self, **settings: Any) -> TDSettings:
        """Return the settings of one player, which is not measured while it learns."""
        common: dict[str, Any] = {
            "rows": self.rows, "games": self.games, "expert": self.expert,
            "referee": self.judged_by, "curve_games": 0, "curve_every": self.games,
        }  # fmt: skip
        return TDSettings(**common | settings)


@dataclass(frozen=True)
class CurveSize(Size):
    """Learning curves against random openings."""

    encodings: tuple[str, ...] = setting(ENCODINGS, "Encodings of the inputs.")
    curve_every: int = setting(50, "Openings between two points.", least=1)
    curve_games: int = setting(100, "Games per point.", least=1)

    def measured(self, **settings: Any) -> TDSettings:
        """Return the settings of a player that is measured while it learns."""
        curve = {"curve_every": self.curve_every, "curve_games": self.curve_games}
        return self.player(**curve | settings)


@dataclass(frozen=True)
class MatchSize(Size):
    """Matches between players of the same seed."""

    pair_games: int = setting(100, "Games per match.", least=2)


@dataclass(frozen=True)
class InputsSize(MatchSize):
    """Round robins of players with different inputs."""

    features: tuple[str, ...] = setting((), "Only these players; all sixteen by default.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for letters in self.features:
            TDSettings(features=letters)

    @property
    def sets(self) -> tuple[str, ...]:
        """The players' features."""
        return self.features or SETS


def _seeds(context: LabContext, size: Size) -> list[int]:
    return list(range(context.seed, context.seed + size.trainings))


def _new(name: str, rows: Sequence[Row], context: LabContext, size: Size) -> NewRows:
    """Return rows with the settings that say how they were made."""
    settings = {**to_plain(size), "referee": size.judged_by}
    return NewRows(name, rows, _seeds(context, size), settings)


def _claim(context: LabContext, name: str, size: Size) -> tuple[Path, Run[Any]]:
    """Claim the folder of an experiment's trainings, which another size may not use."""
    place = context.place(name)
    return place, Run.open(place, f"{OpeningTD.kind} trainings", size, resume=True)


# ----- Figure 4, and the same on other boards -----


def learning_curves(name: str, players: Callable[[Any], Players]) -> Callable[..., Any]:
    """Return an experiment that trains players and measures them against random openings."""

    def run(context: LabContext, size: CurveSize) -> list[NewRows]:
        place, claimed = _claim(context, name, size)
        with claimed:
            trained = Trained.of(place, players(size), _seeds(context, size)).train(context, 1.0)
            return [_new(name, trained.curves(), context, size)]

    return run


def encodings(size: CurveSize) -> Players:
    """Return the players of Figure 4."""
    return {f"{ALL}-{e}": size.measured(features=ALL, encoding=e) for e in size.encodings}


@dataclass(frozen=True)
class BoardsSize(CurveSize):
    """Learning curves on several boards."""

    boards: tuple[int, ...] = setting((13, 19), "Board sizes.")


def _boards(size: BoardsSize) -> Players:
    return {
        f"{rows}x{rows}-{e}": size.measured(features=ALL, encoding=e, rows=rows)
        for rows, e in product(size.boards, size.encodings)
    }


# ----- Matches -----


def contest(
    name: str,
    players: Callable[[Any], Players],
    pairs: Callable[[Any], Sequence[tuple[str, str]]],
) -> Callable[..., Any]:
    """Return an experiment that trains players and lets pairs of the same seed meet."""

    def run(context: LabContext, size: MatchSize) -> list[NewRows]:
        place, claimed = _claim(context, name, size)
        with claimed:
            trained = Trained.of(place, players(size), _seeds(context, size))
            trained.train(context, _TRAINING)
            rows = trained.matches(
                context, pairs(size), size.pair_games, size.judged_by, since=_TRAINING
            )
            return [_new(name, rows, context, size)]

    return run


def _inputs(size: InputsSize) -> Players:
    return {
        f"{features}-{e}": size.player(features=features, encoding=e)
        for features, e in product(size.sets, ENCODINGS)
    }


def _input_pairs(size: InputsSize) -> list[tuple[str, str]]:
    """Return two round robins, and each binary player against its scalar twin."""
    robins = [(f"{a}-{e}", f"{b}-{e}") for e in ENCODINGS for a, b in combinations(size.sets, 2)]
    return robins + [(f"{features}-binary", f"{features}-scalar") for features in size.sets]


# The paper's own suggestion: scalar inputs for B and E, binary ones for C and D.


def _mixed(size: MatchSize) -> Players:
    return {e: size.player(features=ALL, encoding=e) for e in ("mixed", *ENCODINGS)}


# Other sizes of the hidden layer.


@dataclass(frozen=True)
class HiddenSize(MatchSize):
    """Hidden layers that meet the paper's."""

    hidden: tuple[int, ...] = setting((10, 20, 80, 160), "Numbers of hidden units.")
    encoding: str = setting("binary", "Encoding of the inputs.", choices=ENCODINGS)


PAPER_HIDDEN = 40


def hidden_name(units: int) -> str:
    """Return the name of the player with so many hidden units."""
    return f"hidden-{units}"


def _hidden(size: HiddenSize) -> Players:
    return {
        hidden_name(units): size.player(features=ALL, encoding=size.encoding, hidden=units)
        for units in (*size.hidden, PAPER_HIDDEN)
    }


def _hidden_pairs(size: HiddenSize) -> list[tuple[str, str]]:
    return [(hidden_name(units), hidden_name(PAPER_HIDDEN)) for units in size.hidden]


# Prior knowledge: static rules choose the candidates, or teach by playing the other side.


@dataclass(frozen=True)
class PriorSize(MatchSize):
    """Learning together with static rules."""

    knowledge: int = setting(8, "Best moves by static rules to choose from.", least=1)
    encoding: str = setting("binary", "Encoding of the inputs.", choices=ENCODINGS)


def _prior(size: PriorSize) -> Players:
    plain = size.player(features=ALL, encoding=size.encoding)
    return {
        "plain": plain,
        "pruned": replace(plain, knowledge=size.knowledge),
        "taught": replace(plain, opponent="static"),
    }


# Feature B on stones only: read literally it is the same in every position.


def _edges(size: MatchSize) -> Players:
    without = {"A": "A", "ACDE": "ACDE"}
    players = {
        f"{features}-{e}": size.player(features=features, encoding=e)
        for features, e in product((*without, "AB", ALL), ENCODINGS)
    }
    on_stones = {
        f"{features}-{e}-stones": size.player(features=features, encoding=e, edges=STONES)
        for features, e in product(("AB", ALL), ENCODINGS)
    }
    return players | on_stones


def _edge_pairs(size: MatchSize) -> list[tuple[str, str]]:
    """Return each player with B on stones against the literal one, and both against none."""
    pairs = []
    for (features, without), e in product((("AB", "A"), (ALL, "ACDE")), ENCODINGS):
        stones, literal, none = f"{features}-{e}-stones", f"{features}-{e}", f"{without}-{e}"
        pairs += [(stones, literal), (stones, none), (literal, none)]
    return pairs


# Joseki: sequences in one corner instead of whole openings.


@dataclass(frozen=True)
class JosekiSize(CurveSize):
    """Sequences in one corner."""

    rows: int = setting(13, "Board size.", least=2, most=25)
    corner: int = setting(7, "Lines of the corner that moves are confined to.", least=2)
    plies: int = setting(12, "Plies of a sequence.", least=1)
    encodings: tuple[str, ...] = setting(("binary",), "Encodings of the inputs.")
    curve_every: int = setting(500, "Openings between two points.", least=1)
    pair_games: int = setting(100, "Games per match.", least=2)


def joseki(context: LabContext, size: JosekiSize) -> list[NewRows]:
    """Train players in a corner, measure them there, and match them with whole-board players."""
    name = "opening-td-joseki"
    players: dict[str, TDSettings] = {}
    for e in size.encodings:
        own = {"features": ALL, "encoding": e}
        players[f"corner-{e}"] = size.measured(**own, corner=size.corner, plies=size.plies)
        players[f"whole-{e}"] = size.player(**own)
    pairs = [(f"corner-{e}", f"whole-{e}") for e in size.encodings]
    place, claimed = _claim(context, name, size)
    with claimed:
        trained = Trained.of(place, players, _seeds(context, size)).train(context, _TRAINING)
        rows = trained.matches(context, pairs, size.pair_games, size.judged_by, since=_TRAINING)
        return [
            _new(name, rows, context, size),
            _new(f"{name}-curve", trained.curves(), context, size),
        ]


# ----- GNU Go as the expert -----


@dataclass(frozen=True)
class GnuGoSize(InputsSize):
    """The scalar players, judged by GNU Go."""

    expert: str = setting(gnugo(1), "Finishes the openings during training.")
    curve_every: int = setting(500, "Openings between two points.", least=1)
    curve_games: int = setting(100, "Games per point.", least=1)


def with_gnugo(context: LabContext, size: GnuGoSize) -> list[NewRows]:
    """Train the scalar players once with GNU Go as the expert, and ABCDE with every seed."""
    if "gnugo" in size.expert and find_program("gnugo") is None:
        raise TengenError("GNU Go is not installed; --set expert=SPEC takes another expert")
    name, curve = "opening-td-gnugo", {
        "curve_every": size.curve_every, "curve_games": size.curve_games,
    }  # fmt: skip
    players = {
        f"{features}-scalar": size.player(
            features=features, encoding="scalar", **curve if features == ALL else {}
        )
        for features in size.sets
    }
    pairs = [(f"{a}-scalar", f"{b}-scalar") for a, b in combinations(size.sets, 2)]
    first, followed = context.seed, f"{ALL}-scalar"
    place, claimed = _claim(context, name, size)
    with claimed:
        trained = Trained.of(place, players, _seeds(context, size))
        trained = trained.only(lambda seed, player: seed == first or player == followed)
        trained.train(context, _TRAINING)
        curves = trained.only(lambda seed, player: player == followed).curves()
        once = trained.only(lambda seed, player: seed == first)
        rows = once.matches(context, pairs, size.pair_games, size.judged_by, since=_TRAINING)
        return [
            replace(_new(name, rows, context, size), seeds=[first]),
            _new(f"{name}-curve", curves, context, size),
        ]


# ----- Shipped players -----


@dataclass(frozen=True)
class ShippedSize:
    """Games of shipped players."""

    games: int = 400
    expert: str = "builtin"
    models: tuple[str, ...] = SHIPPED
    opponents: tuple[str, ...] = ("random", "maxlib")


def shipped(context: LabContext, size: ShippedSize) -> list[NewRows]:
    """Play the openings of the shipped players."""
    name = "opening-td-shipped"
    rows: list[Row] = []
    pairs = list(product(size.models, size.opponents))
    for number, (model, opponent) in enumerate(pairs):
        context.at(number / len(pairs), f"{model} against {opponent}")
        job = MatchJob(model, opponent, size.expert, size.games, context.seed)
        play = partial(scores_of, job, workers=context.workers, ray=context.ray)
        scores: list[float] = context.once(f"{name} {model} {opponent}", play)
        rows += [
            {"model": model, "opponent": opponent, "game": game, "score": score}
            for game, score in enumerate(scores)
        ]
    return [NewRows(name, rows, [context.seed], to_plain(size))]


_CURVE, _INPUTS = "opening-td", "opening-td-inputs"

EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        _CURVE, "Learning by self-play", learning_curves(_CURVE, encodings),
        quick=CurveSize(500, 3, _FAST, curve_every=250),
        full=CurveSize(), minutes=(0.4, 12),
    ),
    Experiment(
        _INPUTS, "What the inputs add", contest(_INPUTS, _inputs, _input_pairs),
        quick=InputsSize(200, 2, _FAST, pair_games=20, features=SMALL_SETS),
        full=InputsSize(), minutes=(0.4, 75),
    ),
    Experiment(
        "opening-td-shipped", "The shipped opening players", shipped,
        quick=ShippedSize(100, models=SHIPPED[:1], opponents=("random",)),
        full=ShippedSize(), minutes=(0.1, 0.5),
    ),
    Experiment(
        "opening-td-mixed", "Scalar and binary inputs together",
        contest(
            "opening-td-mixed", _mixed, lambda size: [("mixed", each) for each in ENCODINGS]
        ),
        full=MatchSize(trainings=10), minutes=(1, 15),
    ),
    Experiment(
        "opening-td-hidden", "Other sizes of the hidden layer",
        contest("opening-td-hidden", _hidden, _hidden_pairs),
        full=HiddenSize(trainings=10), minutes=(1, 35),
    ),
    Experiment(
        "opening-td-boards", "Larger boards", learning_curves("opening-td-boards", _boards),
        full=BoardsSize(curve_every=500), minutes=(1, 30),
    ),
    Experiment(
        "opening-td-prior", "Learning with prior knowledge",
        contest(
            "opening-td-prior", _prior,
            lambda size: [
                ("pruned", "plain"), ("taught", "plain"), ("pruned", "static"), ("plain", "static")
            ],
        ),
        full=PriorSize(trainings=10), minutes=(1, 20),
    ),
    Experiment(
        "opening-td-edges", "Feature B on stones only",
        contest("opening-td-edges", _edges, _edge_pairs),
        full=MatchSize(), minutes=(1, 30),
    ),
    Experiment(
        "opening-td-joseki", "Joseki instead of whole openings", joseki,
        full=JosekiSize(), minutes=(1, 15),
    ),
    Experiment(
        "opening-td-gnugo", "The scalar players with GNU Go as the expert", with_gnugo,
        full=GnuGoSize(), minutes=(1, 650), named_only=True,
    ),
)  # fmt: skip
