"""Describe a model: what it is, what it learned from, how, and what was measured of it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tengen import __version__

# Raised when the meaning of a stored model changes, so that old readers refuse new files.
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


class Card(BaseModel):
    """What stands in the header of a model file under `tengen.card`.

    `kind` says which learner reads it (see `registry.KINDS`); `scale` turns values into win
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
