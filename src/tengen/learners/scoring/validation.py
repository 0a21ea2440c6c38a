"""Compare ways of training by cross-validation on the training games; never sees a test file.

Every game is judged by networks that did not learn from it. Made positions, where there are some,
are cut into the same folds, so that both kinds of unseen games are measured.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.board import counting_kernels as k
from tengen.learners.scoring import network
from tengen.learners.scoring.bundle import Bundle, restore
from tengen.learners.scoring.features import FAMILIES
from tengen.learners.scoring.judgement import judge
from tengen.learners.scoring.training import Labelled, Recipe, Trained, bootstrap
from tengen.models.files import write_atomic
from tengen.statistics import wilson

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Tell = Callable[[str], None]


@dataclass
class Validation:
    """Which games came out right when they were not trained on."""

    exact: Bools
    made: dict[int, Bools]
    """The same for made positions, by board size."""

    def row(self, name: str, base: Validation | None = None) -> dict[str, Any]:
        """Return the shares right, with Wilson's intervals, and what changed against another.

        `gained` and `lost` are the games that only this one, or only the other, counts right.
        """
        row: dict[str, Any] = {"name": name, **_share("", self.exact)}
        for size, right in self.made.items():
            row |= _share(f"made_{size}x{size}_", right)
        if base is not None:
            row["gained"] = int((self.exact & ~base.exact).sum())
            row["lost"] = int((~self.exact & base.exact).sum())
        return row


def _share(prefix: str, right: Bools) -> dict[str, Any]:
    return {
        f"{prefix}games": len(right),
        f"{prefix}exact": float(right.mean()),
        f"{prefix}interval": list(wilson(int(right.sum()), len(right))),
    }


def judged_exact(bundle: Bundle, trained: Trained, games: Ints) -> Bools:
    """Tell for some games whether the consistent answer gives the recorded score."""
    z = trained.logits(bundle)
    right = np.zeros(len(games), np.bool_)
    for i, game in enumerate(games):
        position = restore(bundle, int(game))
        logit = np.full(len(position.colour), network.LIMIT)
        rows = slice(int(bundle.start[game]), int(bundle.start[game + 1]))
        logit[bundle.block[rows]] = z[rows]
        dead = judge(position, logit).dead
        kinds = np.zeros(position.grid.shape, np.int8)
        margin = k.territory_margin(position.grid, dead, True, kinds)
        right[i] = bool(bundle.known[game]) and margin == bundle.target[game]
    return right


def cross_validate(
    bundle: Bundle,
    recipe: Recipe,
    *,
    folds: int = 3,
    made: Sequence[Labelled] = (),
    learn_made: bool = False,
    seed: int = 0,
) -> Validation:
    """Train on all folds but one and judge that one, in turn.

    Made positions are always judged, and learned from only with `learn_made`.
    """
    rng = np.random.default_rng(seed)
    fold = rng.integers(0, folds, len(bundle))
    made_folds = [rng.integers(0, folds, len(labelled.bundle)) for labelled in made]
    exact = np.zeros(len(bundle), np.bool_)
    made_exact = [np.zeros(len(labelled.bundle), np.bool_) for labelled in made]
    for number in range(folds):
        lessons = [
            labelled.take(np.flatnonzero(of != number))
            for labelled, of in zip(made, made_folds, strict=True)
        ]
        trained = bootstrap(
            bundle, recipe, chosen=fold != number, made=lessons if learn_made else ()
        )
        unseen = np.flatnonzero(fold == number)
        exact[unseen] = judged_exact(bundle, trained, unseen)
        for labelled, of, right in zip(made, made_folds, made_exact, strict=True):
            some = np.flatnonzero(of == number)
            right[some] = judged_exact(labelled.bundle, trained, some)
    sizes = [int(labelled.bundle.grids.shape[1]) for labelled in made]
    return Validation(exact, dict(zip(sizes, made_exact, strict=True)))


def further_parts(recipe: Recipe, made: bool) -> dict[str, tuple[Recipe, bool]]:
    """Return by name what the recipe is compared with, and whether made positions are learned."""
    ways = {
        f"without {family}": (
            replace(recipe, families=tuple(name for name in FAMILIES if name != family)),
            False,
        )
        for family in FAMILIES
    }
    ways["paper alone"] = replace(recipe, families=("paper",)), False
    if made:
        ways["with made"] = recipe, True
    return ways


def compare_parts(
    bundle: Bundle,
    recipe: Recipe,
    *,
    folds: int = 3,
    made: Sequence[Labelled] = (),
    only: Collection[str] = (),
    seed: int = 0,
    kept: Path | None = None,
    tell: Tell = lambda line: None,
) -> list[dict[str, Any]]:
    """Validate the recipe, then each of `further_parts`, or only those named.

    What is finished is written to `kept`, from which the same call goes on after a break.
    """
    ways = {"all families": (recipe, False)}
    for name, way in further_parts(recipe, bool(made)).items():
        if not only or name in only:
            ways[name] = way
    sizes = [(labelled.bundle.grids.shape[1], len(labelled.bundle)) for labelled in made]
    done = Done(kept, f"{len(bundle)} games, {folds} folds, {seed}, {recipe}, {sizes}")
    rows = []
    base: Validation | None = None
    for name, (chosen, learn) in ways.items():
        found = done.get(name)
        if found is None:
            found = cross_validate(
                bundle, chosen, folds=folds, made=made, learn_made=learn, seed=seed
            )
            done.put(name, found)
        rows.append(found.row(name, base))
        base = base or found
        tell(f"{name}: {rows[-1]['exact']:.2%} of {len(bundle)} games")
    return rows


class Done:
    """Finished validations in one file; one made with other settings is started anew."""

    def __init__(self, path: Path | None, settings: str) -> None:
        self.path = path
        self.arrays: dict[str, Any] = {}
        if path is not None and path.is_file():
            with np.load(path) as stored:
                if str(stored["settings"]) == settings:
                    self.arrays = {name: stored[name] for name in stored.files}
        self.arrays["settings"] = np.array(settings)

    def get(self, name: str) -> Validation | None:
        """Return one that was finished before, None if it was not."""
        if name not in self.arrays:
            return None
        made = {
            int(key.rsplit("|", 1)[1]): array
            for key, array in self.arrays.items()
            if key.startswith(f"{name}|")
        }
        return Validation(self.arrays[name], made)

    def put(self, name: str, found: Validation) -> None:
        """Keep one."""
        self.arrays[name] = found.exact
        self.arrays |= {f"{name}|{size}": right for size, right in found.made.items()}
        if self.path is not None:
            buffer = io.BytesIO()
            np.savez(buffer, **self.arrays)
            write_atomic(self.path, buffer.getvalue())
