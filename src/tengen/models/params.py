"""Parameters of learners in scikit-learn's way: `get_params`, `set_params`, and a short `repr`.

A parameter is a keyword-only argument of `__init__`, which only stores it. Those that are settings
have their fields as parameters too: `settings__generations`.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, Self

from tengen.errors import SpecError, unknown


class WithParams:
    """A class whose parameters can be read, changed and shown."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """Return the parameters with their defaults."""
        known = inspect.signature(cls).parameters.values()
        return {each.name: each.default for each in known if each.kind is each.KEYWORD_ONLY}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, the fields of settings too."""
        found = {name: getattr(self, name) for name in self._defaults()}
        if deep:
            for name, value in list(found.items()):
                if is_dataclass(value):
                    found |= {f"{name}__{f.name}": getattr(value, f.name) for f in fields(value)}
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters, or fields of settings by names such as `settings__seed`."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise SpecError(unknown(f"parameter of {type(self).__name__}", name, known))
        for name, value in params.items():
            whole, nested, field = name.partition("__")
            setattr(
                self, whole, replace(getattr(self, whole), **{field: value}) if nested else value
            )
        return self

    def __repr__(self) -> str:
        """Return the class with what differs from the defaults."""
        shown = []
        for name, default in self._defaults().items():
            value = getattr(self, name)
            if value != default:
                shown.append(f"{name}={_changed(value) if is_dataclass(value) else repr(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def only_processor(device: str) -> None:
    """Refuse a device other than the processor, for learners that train nowhere else."""
    if device not in ("auto", "cpu"):
        raise SpecError(f"device {device!r}: this learner trains on the processor, 'auto' or 'cpu'")


def _changed(settings: Any) -> str:
    """Return settings with the fields that differ from their defaults."""
    shown = []
    for field in fields(settings):
        default = field.default
        if default is MISSING and field.default_factory is not MISSING:
            default = field.default_factory()
        if (value := getattr(settings, field.name)) != default:
            shown.append(f"{field.name}={value!r}")
    return f"{type(settings).__name__}({', '.join(shown)})"
