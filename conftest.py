"""Let the examples of modules wait whose extra is not installed; know no test."""

from importlib.util import find_spec

import pytest

_OF_EXTRAS = ("torch", "onnx", "ray", "pettingzoo", "gymnasium", "pyspiel", "sgfmill")


def pytest_configure(config: pytest.Config) -> None:
    """Skip modules that cannot be imported, but only where something they may need is missing."""
    if not all(map(find_spec, _OF_EXTRAS)):
        config.option.doctest_ignore_import_errors = True
