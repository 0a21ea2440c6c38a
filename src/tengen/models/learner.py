"""The base of all learners that are stored as one model file: save, load, and the card."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from tengen.errors import ModelError
from tengen.models.store import Card, Tensors, load_model, save_model


class StoredLearner:
    """A learner whose weights and card are one safetensors file.

    A subclass names its `kind` and says what it stores: `_tensors`, the fields of its card
    (`_about`), and how to make it again (`_restored`).
    """

    kind: ClassVar[str]
    _expected: ClassVar[Mapping[str, tuple[int | None, ...]]] = {}
    """Shapes of tensors that every file must have."""
    card_: Card | None = None
    """The card of the file it was read from or written to; None for a new one."""

    def _tensors(self) -> Mapping[str, NDArray[Any]]:
        raise NotImplementedError

    def _about(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str], **card: Any) -> None:
        """Write a safetensors file with its card; `card` are fields of the card to replace."""
        fields = {"name": Path(path).stem, **self._about(), **card, "kind": self.kind}
        self.card_ = save_model(path, self._tensors(), Card(**fields))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file written by `save`; raise `ModelError` for anything else."""
        tensors, card = load_model(path, kind=cls.kind, expect=cls._expected)
        try:
            made = cls._restored(tensors, card)
        except (ArithmeticError, LookupError, TypeError, ValueError) as failure:
            missing = "has no " if isinstance(failure, KeyError) else ""
            raise ModelError(f"{os.fspath(path)}: {missing}{failure}") from None
        made.card_ = card
        return made
