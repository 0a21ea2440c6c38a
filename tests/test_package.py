"""Laws of the whole package: documentation, quick imports, kernels that can be cached."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tengen
from tengen.gtp.commands import COMMANDS

ROOT = Path(tengen.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in MODULES:
        yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def test_every_module_opens_with_a_sentence() -> None:
    silent = [str(path) for path, tree in trees() if not ast.get_docstring(tree)]
    placeholders = [str(p) for p, t in trees() if "Placeholder" in (ast.get_docstring(t) or "")]
    assert silent == [] and placeholders == []


def test_every_public_function_and_class_is_documented() -> None:
    silent = []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for path, tree in trees():
        for node in tree.body:
            public = isinstance(node, ast.ClassDef) and not node.name.startswith("_")
            members = node.body if public else []
            for item in (node, *members):
                if isinstance(item, kinds) and not item.name.startswith("_"):
                    if not ast.get_docstring(item) and not is_overload(item):
                        silent.append(f"{path}:{item.lineno} {item.name}")
    assert silent == []


def test_every_public_name_is_in_a_test() -> None:
    # What nobody tests is private, or somebody should say what it promises.
    known = words_outside("tests/**/*.py")
    commands = {handler.__name__ for handler in COMMANDS.values()}  # sent by tests/gtp
    untested = []
    for path, tree in trees():
        for item in tree.body:
            for name in public_names(item):
                # A kernel is called by what is tested; `test_without_jit` finds one that is not.
                # The figures of the papers are gone through by tests/lab/test_papers.
                tried = path.name.endswith("kernels.py") and isinstance(item, ast.FunctionDef)
                tried |= path.name == "papers.py" or name in commands or name in known
                if not tried:
                    untested.append(f"{path}:{item.lineno} {name}")
            for method in public_methods(item):
                if method.name not in known:
                    untested.append(f"{path}:{method.lineno} {method.name}")
    assert untested == []


def public_methods(item: ast.stmt) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """List the methods of a public class that have no underscore."""
    if not isinstance(item, ast.ClassDef) or item.name.startswith("_"):
        return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [m for m in item.body if isinstance(m, kinds) and not m.name.startswith("_")]


def test_modules_and_functions_can_be_read_at_a_glance() -> None:
    # Kernels may be longer and take more: they work on arrays where others have objects.
    long = []
    for path, tree in trees():
        if (lines := (ROOT / path).read_text(encoding="utf-8").count("\n")) > 520:
            long.append(f"{path}: {lines} lines")
        if path.name.endswith("kernels.py"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                taken = [a.arg for a in (*node.args.args, *node.args.kwonlyargs)]
                if lines > 80 or len([a for a in taken if a not in ("self", "cls")]) > 12:
                    long.append(f"{path}:{node.lineno} {node.name}: {lines} lines, takes {taken}")
    assert long == []


def test_pages_have_no_endless_paragraphs() -> None:
    # The log of what was tried may: few read it from end to end.
    project = ROOT.parents[1]
    pages = [*project.glob("*.md"), *(project / "docs").rglob("*.md")]
    long = []
    for page in pages:
        if page.parent.name == "log":
            continue
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        prose = re.sub(r"^(    |\|).*$", "", text, flags=re.MULTILINE)  # without code and tables
        for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", prose):
            if len(block) > 700:
                long.append(f"{page.relative_to(project)}: {block[:60]!r}: {len(block)} letters")
    assert pages and long == []


def public_names(item: ast.stmt) -> list[str]:
    """Name what a statement of a module gives to others: functions, classes and constants."""
    names = []
    if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
        # Commands and the web's routes are called by the words in their decorators.
        routed = any(isinstance(d, ast.Call) for d in item.decorator_list)
        names = [] if routed else [item.name]
    elif isinstance(item, ast.ClassDef):
        names = [item.name]
    elif isinstance(item, ast.Assign | ast.AnnAssign):
        targets = item.targets if isinstance(item, ast.Assign) else [item.target]
        found = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        names = [name for name in found if name.isupper()]  # others are names of types
    return [name for name in names if not name.startswith("_")]


def words_of(path: Path) -> set[str]:
    return set(re.findall(r"\w+", path.read_text(encoding="utf-8")))


def words_outside(*patterns: str) -> set[str]:
    """Return the words of the project's files that fit one of the patterns."""
    project = ROOT.parents[1]
    return {word for p in patterns for path in project.glob(p) for word in words_of(path)}


def is_overload(item: ast.stmt) -> bool:
    decorators = getattr(item, "decorator_list", [])
    names = {getattr(d, "id", getattr(d, "attr", "")) for d in decorators}
    return bool(names & {"overload", "setter"})


def imported_modules(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, node.module or ""


def test_nothing_is_of_one_system_only() -> None:
    # Windows has none of these; what is needed of them comes from psutil, filelock and threads.
    modules = {"fcntl", "termios", "tty", "pty", "pwd", "grp", "syslog", "posix"}
    names = {"fork", "killpg", "getpgid", "setsid", "pwrite", "pread", "getuid", "mkfifo"}
    signals = {"SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGCHLD"}
    found = []
    # The keeper of engines is called only where there are groups of processes.
    keeper = ROOT / "gtp" / "keeper.py"
    client = (ROOT / "gtp" / "client.py").read_text(encoding="utf-8")
    assert re.search(r'if hasattr\(os, "killpg"\):\s+self\.process.* = start_kept\(', client)
    for path, tree in trees():
        if ROOT / path == keeper:
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        for line, module in imported_modules(tree):
            if module in modules or (module == "resource" and "except ImportError" not in text):
                found.append(f"{path}:{line} {module}")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.value.id == "os" and node.attr in names:
                    if f'hasattr(os, "{node.attr}")' not in text:
                        found.append(f"{path}:{node.lineno} os.{node.attr}")
                if node.value.id == "signal" and node.attr in signals:
                    if 'hasattr(os, "killpg")' not in text:
                        found.append(f"{path}:{node.lineno} signal.{node.attr}")
                if node.value.id == "select":
                    found.append(f"{path}:{node.lineno} select.{node.attr}")
    assert found == []


def test_no_kernel_calls_itself() -> None:
    # Numba crashes when it loads a recursive function from its cache.
    recursive = []
    for path, tree in trees():
        if path.name.endswith("kernels.py"):
            for function in ast.walk(tree):
                if isinstance(function, ast.FunctionDef):
                    for call in ast.walk(function):
                        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                            if call.func.id == function.name:
                                recursive.append(f"{path}:{call.lineno} {function.name}")
    assert recursive == []


def test_kernels_import_only_kernels() -> None:
    foreign = []
    for path, tree in trees():
        if path.name.endswith("kernels.py"):
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tengen"):
                    if not (node.module or "").endswith(("kernels", "tengen.jit")):
                        foreign.append(f"{path}:{node.lineno} {node.module}")
    assert foreign == []


def test_no_pickle_in_files() -> None:
    # `parallel` may hand jobs to its own processes so; nothing else may.
    pattern = re.compile(r"import pickle|pickle\.load|allow_pickle=True")
    outside = [path for path in MODULES if path.parent.name != "parallel"]
    assert [str(p) for p in outside if pattern.search(p.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("statement", ["import tengen", "import tengen.cli"])
def test_imports_load_nothing_heavy(statement: str) -> None:
    heavy = ("numba", "scipy", "matplotlib", "torch", "ray", "numpy")
    program = f"import sys; {statement}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_public_names_resolve() -> None:
    for name in tengen.__all__:
        assert getattr(tengen, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tengen.nothing
