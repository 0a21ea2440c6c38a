"""Read and write models: one safetensors file each, with the card in its header.

The header holds a single entry, so that the same tensors and card always give the same bytes. The
card carries a checksum of the tensors and of itself, so that corruption is detected on reading.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from tengen import __version__
from tengen.errors import ModelError, unknown
from tengen.extensions import LAST
from tengen.files import write_atomic
from tengen.models.params import WithParams

CARD_KEY = "tengen.card"
# Larger files are refused unread: none of our learners makes one, and a header may be forged.
LARGEST_MODEL, LARGEST_STATE = 2**30, 2**34  # bytes; a state has many positions of self-play

Tensors = dict[str, NDArray[Any]]  # arrays by name; any shape, any plain dtype of numbers or bools
_Shape = tuple[int | None, ...]  # a shape to expect; None stands for any length of that axis


def save_model(
    path: str | os.PathLike[str], tensors: Mapping[str, NDArray[Any]], card: Card
) -> Card:
    """Write a model of finite numbers atomically; return its card with the checksum."""
    arrays = {name: np.ascontiguousarray(tensors[name]) for name in sorted(tensors)}
    _check_numbers(path, arrays)
    total = checksum(arrays, _covered(card.model_dump_json()))
    written = card.model_copy(update={"sha256": total})
    write_atomic(path, pack(arrays, {CARD_KEY: written.model_dump_json()}))
    return written


def load_model(
    path_or_name: str | os.PathLike[str], *, kind: str | None = None
) -> tuple[Tensors, Card]:
    """Read a model; refuse other kinds and damaged files."""
    path = find_model(path_or_name)
    tensors, metadata = unpack(path)
    card = _parse_card(path, metadata)
    if kind is not None and card.kind != kind:
        raise ModelError(f"{path}: is a model of kind {card.kind}, not {kind}")
    # Models of version 0.2 and before have the checksum of the tensors alone.
    if card.sha256 not in (checksum(tensors, _covered(metadata[CARD_KEY])), checksum(tensors)):
        raise ModelError(f"{path}: damaged: its checksum does not match")
    _check_numbers(path, tensors)
    return tensors, card


def read_card(path_or_name: str | os.PathLike[str]) -> Card:
    """Read only the card, without the tensors and their checksum."""
    path = find_model(path_or_name)
    _, metadata = unpack(path, names=())
    return _parse_card(path, metadata)


def pack(arrays: Mapping[str, NDArray[Any]], metadata: dict[str, str]) -> bytes:
    """Turn arrays and texts into the bytes of a safetensors file."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return bytes(save(whole, metadata=metadata))


def unpack(
    path: Path, names: tuple[str, ...] | None = None, *, limit: int | None = None
) -> tuple[Tensors, dict[str, str]]:
    """Read arrays (all, or those named) and texts of a safetensors file; check its size."""
    limit = LARGEST_MODEL if limit is None else limit
    try:
        size = path.stat().st_size
        if size > limit:
            raise ModelError(f"{path}: {size} bytes are too many (limit {limit})")
        with safe_open(os.fspath(path), framework="np") as file:
            metadata = dict(file.metadata() or {})
            wanted = sorted(file.keys()) if names is None else names
            return {name: file.get_tensor(name) for name in wanted}, metadata
    except (SafetensorError, OSError, TypeError, KeyError) as failure:
        if isinstance(failure, FileNotFoundError):
            raise ModelError(f"{path}: no such model file") from None
        raise ModelError(f"{path}: damaged or no safetensors file ({failure})") from None


def _parse_card(path: Path, metadata: dict[str, str]) -> Card:
    """Read the card of a header."""
    text = metadata.get(CARD_KEY)
    if text is None:
        raise ModelError(f"{path}: a safetensors file, but not of tengen: no `{CARD_KEY}` in it")
    try:
        card = Card.model_validate(json.loads(text))
    except (ValidationError, ValueError) as failure:
        reason = str(failure).splitlines()[0]
        raise ModelError(f"{path}: its card is invalid ({reason})") from None
    if card.format > FORMAT:
        raise ModelError(
            f"{path}: written by tengen {card.version} in format {card.format}, newer than ours"
        )
    return card


def check_shapes(tensors: Tensors, expected: Mapping[str, _Shape]) -> None:
    """Refuse tensors if one is missing or has the wrong shape; extra ones are allowed."""
    for name, shape in expected.items():
        if name not in tensors:
            raise ModelError(f"has no tensor {name!r}")
        actual = tensors[name].shape
        if len(actual) != len(shape) or any(
            want not in (None, got) for want, got in zip(shape, actual, strict=True)
        ):
            raise ModelError(f"tensor {name!r} has shape {actual}, not {shape}")


def _check_numbers(path: str | os.PathLike[str], arrays: Tensors) -> None:
    """Refuse anything but finite numbers and booleans."""
    for name, array in arrays.items():
        place = f"{os.fspath(path)}: tensor {name!r}"
        if array.dtype.kind not in "biuf":
            raise ModelError(f"{place} holds {array.dtype}, not numbers")
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            raise ModelError(f"{place} holds numbers that are not finite")


def _covered(card: str) -> str:
    """Return a card without its own checksum."""
    return json.dumps({**json.loads(card), "sha256": ""})


def checksum(arrays: Mapping[str, NDArray[Any]], text: str = "") -> str:
    """Return the SHA-256 of the names, shapes, types and bytes of arrays, and of a text."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])  # as `pack` stores it: one dimension at least
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    digest.update(text.encode())
    return digest.hexdigest()


# ----- Cards -----


# Incremented when the meaning of a stored model changes, so that old readers refuse new files.
FORMAT = 1


class Measurement(BaseModel):
    """One measured number, with what is needed to measure it again."""

    model_config = ConfigDict(extra="forbid")

    what: str = Field(description="what was measured, e.g. 'top1 on dev games'")
    value: float
    interval: tuple[float, float] | None = Field(default=None, description="95 %")
    count: int | None = Field(default=None, description="games or positions it rests on")
    how: str = Field(default="", description="the exact command, or the seed and settings")

    def __str__(self) -> str:
        """Print value, interval and count in one short line."""
        text = f"{self.what} {self.value:.4g}"
        if self.interval is not None:
            text += f" [{self.interval[0]:.3g}, {self.interval[1]:.3g}]"
        return text + (f" (n={self.count})" if self.count is not None else "")


_RENAMED_KINDS = {"deep-network": "network"}


class Card(BaseModel):
    """The card in the header of a model file, under the key `tengen.card`.

    `kind` says which learner reads it (see `registry.model_class`); `scale` turns values into win
    probabilities; `sizes` lists the boards (rows, columns) it is for, empty for any.
    """

    # Later versions may add keys; an older reader keeps them instead of failing.
    model_config = ConfigDict(extra="allow")

    name: str
    kind: str
    what: str = Field(description="one sentence for people")
    data: str = Field(default="", description="what it learned from")
    recipe: dict[str, Any] = Field(default_factory=dict, description="settings of the training")
    remake: str = Field(default="", description="the command that makes it again")
    seed: int | None = None
    version: str = Field(default=__version__, description="the tengen that made it")
    results: list[Measurement] = Field(default_factory=list)
    licence: str = "MIT"
    scale: float | None = Field(default=None, gt=0)
    sizes: list[tuple[int, int]] = Field(default_factory=list)
    format: int = FORMAT
    sha256: str = Field(default="", description="of tensors and card; filled in by save_model")

    @field_validator("kind")
    @classmethod
    def _current_kind(cls, kind: str) -> str:
        """Accept the names that kinds had in earlier versions."""
        return _RENAMED_KINDS.get(kind, kind)


# ----- Where models are: in `$TENGEN_MODELS`, if that is set, then among the shipped ones -----


_SUFFIX = ".safetensors"
SHIPPED = Path(__file__).parent / "shipped"


def _folders() -> list[Path]:
    """List the folders searched for models by name, the user's first."""
    own = os.environ.get("TENGEN_MODELS")
    return [*([Path(own)] if own else []), SHIPPED]


def find_model(path_or_name: str | os.PathLike[str]) -> Path:
    """Return the file of a model given by path or by name; a `ModelError` lists the names."""
    text = os.fspath(path_or_name)
    path = Path(text)
    if path.suffix == _SUFFIX or path.parent != Path(".") or path.is_file():
        if not path.is_file():
            raise ModelError(f"{path}: no such model file")
        return path
    for folder in _folders():
        candidate = folder / f"{text}{_SUFFIX}"
        if text and candidate.is_file():
            return candidate
    raise ModelError(unknown("model", text, sorted(model_names())))


def model_names() -> dict[str, Path]:
    """Map names to files; the user's folder hides shipped models of the same name."""
    found: dict[str, Path] = {}
    for folder in reversed(_folders()):
        if folder.is_dir():
            found.update({path.stem: path for path in folder.glob(f"*{_SUFFIX}")})
    return found


# ----- Learners that are stored as one model -----


@dataclass(frozen=True)
class View:
    """How the page shows a kind of model under "What they see"; its class has one as `view`."""

    title: str
    about: str
    models: dict[str, str]
    """Model by board (`9x9`), or for all boards (empty key)."""
    order: int = LAST
    id: str = ""
    """The kind by default."""
    instead_of: tuple[str, ...] = ()
    """Models of the kind that are not shown, since a larger one is."""


class StoredLearner(WithParams):
    """A learner whose weights and card are one safetensors file.

    A subclass has a `kind`, `_tensors`, the fields of its card (`_about`), and `_restored`.
    """

    kind: ClassVar[str]
    _expected: ClassVar[Mapping[str, _Shape]] = {}  # of tensors that every file must have
    card_: Card | None = None
    """The card of the file it was read from or written to; None for a new one."""

    def _tensors(self) -> Mapping[str, NDArray[Any]]:
        raise NotImplementedError

    def _about(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str], *, half: bool = False, **card: Any) -> None:
        """Write a safetensors file with its card; `card` are fields of the card to replace.

        With `half`, floating-point numbers are stored in half precision.
        """
        fields = {"name": Path(path).stem, **self._about(), **card, "kind": self.kind}
        tensors = dict(self._tensors())
        if half:
            floats = {name: array for name, array in tensors.items() if array.dtype.kind == "f"}
            tensors |= {name: array.astype(np.float16) for name, array in floats.items()}
        self.card_ = save_model(path, tensors, Card(**fields))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file written by `save`; raise `ModelError` for anything else."""
        tensors, card = load_model(path, kind=cls.kind)
        try:
            check_shapes(tensors, cls._expected)
            made = cls._restored(tensors, card)
        except (ArithmeticError, LookupError, TypeError, ValueError) as failure:
            missing = "has no " if isinstance(failure, KeyError) else ""
            raise ModelError(f"{os.fspath(path)}: {missing}{failure}") from None
        made.card_ = card
        return made
