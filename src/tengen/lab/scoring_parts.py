"""Find by cross-validation on training games what each part of the scorer is worth.

Every game is judged by networks that did not learn from it. Made positions, where there are some,
are cut into the same folds, so that both kinds of unseen games are measured. No test file is seen.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tengen.arrays import BoolArray
from tengen.errors import SpecError
from tengen.lab.steps import Context
from tengen.learners.scoring.features import BlockTable
from tengen.learners.scoring.safety import judge_games
from tengen.learners.scoring.self_labelling import LabelledBlocks, learn_from_scores
from tengen.learners.scoring.settings import FAMILIES, ScorerSettings
from tengen.models.settings import fingerprint
from tengen.statistics import wilson

_ALL = "all families"


@dataclass
class _Validation:
    """Which games came out right when they were not trained on."""

    exact: list[int]
    made: dict[str, list[int]]
    """The same for made positions, by board size."""

    def row(self, name: str, base: _Validation | None = None) -> dict[str, Any]:
        """Return the shares right, with Wilson's intervals, and what changed against another.

        `gained` and `lost` are the games that only this one, or only the other, counts right.
        """
        row: dict[str, Any] = {"name": name, **_share("", self.exact)}
        for size, right in self.made.items():
            row |= _share(f"made_{size}x{size}_", right)
        if base is not None:
            ours, theirs = np.array(self.exact, np.bool_), np.array(base.exact, np.bool_)
            row["gained"] = int((ours & ~theirs).sum())
            row["lost"] = int((~ours & theirs).sum())
        return row


def _share(prefix: str, right: list[int]) -> dict[str, Any]:
    return {
        f"{prefix}games": len(right),
        f"{prefix}exact": sum(right) / len(right),
        f"{prefix}interval": list(wilson(sum(right), len(right))),
    }


def _cross_validate(
    table: BlockTable,
    settings: ScorerSettings,
    *,
    folds: int = 3,
    made: Sequence[LabelledBlocks] = (),
    learn_made: bool = False,
) -> _Validation:
    """Train on all folds but one and judge that one, in turn.

    Made positions are always judged, and learned from only with `learn_made`.
    """
    rng = np.random.default_rng(settings.seed)
    fold = rng.integers(0, folds, len(table))
    made_folds = [rng.integers(0, folds, len(labelled.table)) for labelled in made]
    exact = np.zeros(len(table), np.bool_)
    made_exact = [np.zeros(len(labelled.table), np.bool_) for labelled in made]
    for number in range(folds):
        lessons = [
            labelled.take(np.flatnonzero(of != number))
            for labelled, of in zip(made, made_folds, strict=True)
        ]
        trained = learn_from_scores(
            table, settings, chosen=fold != number, made=lessons if learn_made else ()
        )
        unseen = np.flatnonzero(fold == number)
        exact[unseen] = judge_games(table, trained, unseen)[1]
        for labelled, of, right in zip(made, made_folds, made_exact, strict=True):
            some = np.flatnonzero(of == number)
            right[some] = judge_games(labelled.table, trained, some)[1]
    sizes = [str(labelled.table.grids.shape[1]) for labelled in made]
    found = {size: _plain(right) for size, right in zip(sizes, made_exact, strict=True)}
    return _Validation(_plain(exact), found)


def _plain(right: BoolArray) -> list[int]:
    return [int(each) for each in right]


def ways(settings: ScorerSettings, made: bool) -> dict[str, tuple[ScorerSettings, bool]]:
    """Return by name what can be compared, and whether made positions are learned from then."""
    found = {_ALL: (settings, False)}
    for family in FAMILIES:
        others = tuple(name for name in FAMILIES if name != family)
        found[f"without {family}"] = replace(settings, families=others), False
    found["paper alone"] = replace(settings, families=("paper",)), False
    if made:
        found["with made"] = settings, True
    return found


def compare_parts(
    context: Context,
    table: BlockTable,
    settings: ScorerSettings,
    *,
    folds: int = 3,
    made: Sequence[LabelledBlocks] = (),
    only: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Validate all families together, then each of `ways`, or only those named.

    What is finished is kept in the context's folder, and the same call goes on after a break.

    Raises
    ------
    SpecError
        If `only` names something that is none of `ways`.
    """
    there = ways(settings, bool(made))
    unknown = [name for name in only if name not in there]
    if unknown:
        raise SpecError(f"{', '.join(unknown)}: there are {', '.join(there)}")
    games = fingerprint(table.grids, table.target, [m.alive.tolist() for m in made], folds)
    rows: list[dict[str, Any]] = []
    base: _Validation | None = None
    for name, (chosen, learn) in there.items():
        if only and name != _ALL and name not in only:
            continue
        key = fingerprint(games, chosen, learn)

        def validate(chosen: ScorerSettings = chosen, learn: bool = learn) -> dict[str, Any]:
            return asdict(_cross_validate(table, chosen, folds=folds, made=made, learn_made=learn))

        found = _Validation(**context.once(f"scoring/parts-{key}", validate))
        rows.append(found.row(name, base))
        base = base or found
        context.at(len(rows) / len(there), f"{name}: {rows[-1]['exact']:.2%}")
    return rows
