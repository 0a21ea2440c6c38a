"""Settings of the paper's classifiers."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.models.settings import CheckedSettings, setting

NAMES = (
    "repaired", "program", "program-steps", "rpnc", "rpnc-unscaled", "rpnc-single", "rpnc-linear",
    "rpnc-sign", "rpnc-squash", "rpnc-smooth", "rpnc-product", "rpnc-checked", "rpnc-all",
    "gdxnc", "gdxnc-linear", "gdxnc-sign", "gdxnc-all",
)  # fmt: skip
"""The versions of the classifiers, see `network.VERSIONS`."""


@dataclass(frozen=True)
class ClassifierSettings(CheckedSettings):
    """Settings of a training of one of the paper's classifiers, or of the repaired one."""

    classifier: str = setting(
        "repaired", "Which one; the paper's page explains them.", choices=NAMES
    )
    steps: int = setting(150, "Steps on all games at once.", least=1)
    passes: int = setting(1, "Passes, if a step follows every game.", least=1)
    seed: int = setting(0, "Seed of the first weights.", least=0)
