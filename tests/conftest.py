"""What all tests share: options, time limits, and a summary of what was skipped."""

from __future__ import annotations

import importlib.util
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings
from tests import needs

# Drawn examples judge what the code does, not how busy the machine is, and the same are drawn each
# time: a change is not to fail by chance. `pytest --hypothesis-profile others` draws others.
settings.register_profile("others", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("tengen", settings.get_profile("others"), derandomize=True)
settings.register_profile("hostile", settings.get_profile("tengen"), max_examples=2000)
settings.load_profile("tengen")

# A shell that starts the tests in the background leaves SIGINT ignored, for all children too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

BEGAN = time.monotonic()
SKIPPED = Path(__file__).parents[1] / "build" / "skipped-tests.txt"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the bounds of the slow tests and the bare run."""
    parser.addoption("--bare", action="store_true", help="use no program but Python; see needs.py")
    parser.addoption("--slow-seconds", type=float, default=900.0, help="for each slow test")
    parser.addoption("--slow-minutes", type=float, default=150.0, help="begin none after that")


def pytest_configure(config: pytest.Config) -> None:
    """Set up a bare run."""
    if config.getoption("--bare"):
        needs.leave_out_programs()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Sum up in one line what was skipped; a bare run lists it for `make test-all` to run."""
    reasons: dict[str, str] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        reasons[report.nodeid] = reason.removeprefix("Skipped: ")
    wanted = {test: why.removeprefix(needs.REASON) for test, why in reasons.items()
              if why.startswith(needs.REASON) or "unable to import module" in why}  # fmt: skip
    options = terminalreporter.config.option
    if options.bare and not options.collectonly:
        SKIPPED.parent.mkdir(exist_ok=True)
        SKIPPED.write_text("".join(f"{test}\n" for test in wanted), encoding="utf-8")
    count = Counter(why for why in wanted.values() if "unable to import" not in why)
    if count:
        parts = ", ".join(f"{why} ({n})" for why, n in count.most_common())
        terminalreporter.write_line(f"skipped for want of {parts}; `make test-all` runs these too")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail the slow tests for which no time is left: skipped ones would look well."""
    minutes = item.config.getoption("--slow-minutes")
    if item.get_closest_marker("slow") and time.monotonic() - BEGAN > 60.0 * minutes:
        pytest.fail(f"not begun: those before took {minutes:g} minutes", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    """Break off a slow test that takes too long, on systems that have an alarm."""
    if item.get_closest_marker("slow") is None or sys.platform == "win32":
        return (yield)
    seconds = item.config.getoption("--slow-seconds")

    def too_long(*_: object) -> None:
        pytest.fail(f"broken off after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def load_benchmark() -> Callable[[str], ModuleType]:
    """Import a script of benchmarks/ by its name."""

    def load(name: str) -> ModuleType:
        path = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    return load
