"""Compile the entries to `tengen.wasm`, twice, and write their types for TypeScript.

    python -m tengen.web.wasm.build [--check]

Numba writes each entry, with the kernels it calls, as LLVM's text for a 64-bit processor without
vectors. LLVM, which llvmlite includes, optimizes all of them together for WebAssembly, and
`wasm-ld` links them (Debian and Ubuntu: package lld; macOS: brew install lld; conda-forge: lld).
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

_HERE = Path(__file__).parent
_PACKAGE = _HERE.parents[1]
_ROOT = _PACKAGE.parents[1]
_PUBLIC, _STATIC = _ROOT / "web" / "public", _PACKAGE / "web" / "static"
MODULE = _PUBLIC / "tengen.wasm"
RELAXED = _PUBLIC / "tengen-relaxed.wasm"
"""The same for browsers with relaxed SIMD, which multiply and add at once."""
TYPES = _ROOT / "web" / "src" / "engine" / "kernels.ts"

_TRIPLE = "wasm32-unknown-unknown"
_FEATURES = "+simd128,+bulk-memory,+sign-ext,+nontrapping-fptoint,+mutable-globals"
_LINKERS = ("wasm-ld", *(f"wasm-ld-{version}" for version in range(30, 13, -1)))
_FIRST_PAGES, _PAGE = 128, 65536
_STACK = 262_144
_RUNTIME = {"NRT_incref": "void", "NRT_decref": "void", "NRT_MemInfo_data_fast": "ptr"}


class _Kind(NamedTuple):
    """One type of argument or result: in Numba, in the text of LLVM, in TypeScript."""

    numba: str
    inner: str
    outer: str
    widened: str = ""


_ADDRESSES = {
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8", "F32": "float32",
    "F64": "float64",
}  # fmt: skip


def _kind(name: str) -> _Kind:
    if name == "Int":
        return _Kind("int64", "i64", "i32")
    if name == "Float":
        return _Kind("float64", "double", "double")
    if name == "None":
        return _Kind("void", "ptr", "void")
    return _Kind(_ADDRESSES[name], "ptr", "ptr")


class _Entry:
    """An entry: its name, its types, its text."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        signature = inspect.signature(function)
        self.name = name
        self.about = inspect.getdoc(function)
        self._function = function
        given = [(key, str(value.annotation)) for key, value in signature.parameters.items()]
        self.names = [key for key, _ in given]
        self.kinds = [_kind(kind) for _, kind in given]
        self.result = _kind(str(signature.return_annotation))

    def text(self) -> str:
        """Return LLVM's text, and a function that takes and returns plain numbers."""
        # The text of an earlier build is used again if the kernels are the same.
        file = _ROOT / "build" / "wasm" / _digest(_kernels()) / f"{self.name}.ll"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            name, text = self._compiled()
            file.write_text(f"; {name}\n{text}", encoding="utf-8")
        name, _, text = file.read_text(encoding="utf-8").partition("\n")
        return f"{_portable(text)}\n{self._caller(name.removeprefix('; '))}"

    def _compiled(self) -> tuple[str, str]:
        """Compile; return the function's name and LLVM's text."""
        import numba
        from numba import types

        made: list[Any] = []
        for kind in self.kinds:
            plain = getattr(types, kind.numba)
            made.append(types.CPointer(plain) if kind.inner == "ptr" else plain)
        compiled = numba.njit(
            getattr(types, self.result.numba)(*made), nogil=True, error_model="numpy",
            no_cfunc_wrapper=True, no_cpython_wrapper=True,
        )(self._function)  # fmt: skip
        form = compiled.overloads[compiled.signatures[0]]
        return form.fndesc.llvm_func_name, form.library.get_llvm_str()

    def _caller(self, called: str) -> str:
        """Return a function that calls the compiled one, and stops the program if it fails."""
        given = ", ".join(f"{kind.outer} %a{i}" for i, kind in enumerate(self.kinds))
        lines, passed = [], ["ptr %result", "ptr %failure"]
        for i, kind in enumerate(self.kinds):
            name = f"%a{i}"
            if kind.inner == "i64":
                lines.append(f"  %w{i} = sext i32 %a{i} to i64")
                name = f"%w{i}"
            passed.append(f"{kind.inner} {name}")
        end = "  ret void"
        if self.result.inner != "ptr":
            end = f"  %found = load {self.result.inner}, ptr %result\n"
            if self.result.inner == "i64":
                end += "  %short = trunc i64 %found to i32\n  ret i32 %short"
            else:
                end += "  ret double %found"
        return "\n".join([
            f"define {self.result.outer} @{self.name}({given}) {{",
            f"  %result = alloca {self.result.inner}", "  %failure = alloca ptr", *lines,
            f"  %status = call i32 @{called}({', '.join(passed)})",
            "  %well = icmp eq i32 %status, 0", "  br i1 %well, label %done, label %failed",
            "failed:", "  call void @llvm.trap()", "  unreachable", "done:", end, "}", "",
        ])  # fmt: skip

    def declaration(self) -> str:
        """Return the method of the TypeScript interface."""
        given = ", ".join(
            f"{name}: {'Address' if kind.inner == 'ptr' else 'number'}"
            for name, kind in zip(self.names, self.kinds, strict=True)
        )
        result = "void" if self.result.outer == "void" else "number"
        return f"  /** {self.about} */\n  {self.name}({given}): {result};"


def _portable(text: str) -> str:
    """Remove what binds the text to the processor it was written for."""
    text = re.sub(r"^target (triple|datalayout) = .*", "", text, flags=re.M)
    text = re.sub(r'"(target-cpu|target-features|tune-cpu)"="[^"]*"', "", text)
    # What exceptions say, with the paths of files on this machine; a failure stops the program.
    said = r'^(@\.const\.pickledata\.[\w.]+ = internal constant )\[\d+ x i8\] c"[^"]*"'
    text = re.sub(said, r"\1[1 x i8] zeroinitializer", text, flags=re.M)
    # The functions of arrays are in runtime.ll.
    text = re.sub(r"^define [^\n]*@NRT_\w+\([^\n]*\{.*?^\}", "", text, flags=re.M | re.S)
    for name, result in _RUNTIME.items():
        if f"@{name}(" in text and not re.search(rf"^declare [^\n]*@{name}\(", text, re.M):
            text += f"\ndeclare {result} @{name}(ptr)\n"
    return text.replace("= common ", "= weak ")


def _linker() -> str:
    for name in _LINKERS:
        if found := shutil.which(name):
            return found
    sys.exit("wasm-ld is missing: install LLVM's linker (Debian: lld; macOS: brew install lld)")


def _compile(entries: list[_Entry], out: Path, features: str) -> None:
    """Write the module of all entries."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(
        cpu="generic", features=features, opt=3, reloc="static", codemodel="small"
    )
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{_TRIPLE}"\n'
    runtime = (_HERE / "runtime.ll").read_text(encoding="utf-8")
    module = llvm.parse_assembly(head + runtime)
    for entry in entries:
        module.link_in(llvm.parse_assembly(head + entry.text()))
    kept = {entry.name for entry in entries}
    for function in module.functions:
        if not function.is_declaration and function.name not in kept | {"__multi3"}:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "tengen.o"
        compiled.write_bytes(machine.emit_object(module))
        exports = [f"--export={name}" for name in sorted(kept)]
        subprocess.run(
            [_linker(), "--no-entry", "--allow-undefined", "--strip-all", "--gc-sections",
             "--export=__heap_base", f"--initial-memory={_FIRST_PAGES * _PAGE}", "-z",
             f"stack-size={_STACK}", "--stack-first", *exports, str(compiled), "-o", str(out)],
            check=True,
        )  # fmt: skip


def _kernels() -> set[Path]:
    """Return the files of the entries and of all kernels that they call."""
    from tengen.compiling import kernel_sources

    return set(kernel_sources(_HERE / "entries.py"))


def _digest(files: set[Path]) -> str:
    found = hashlib.blake2b(b"", digest_size=16)
    for file in sorted(files):
        found.update(file.read_bytes())
    return found.hexdigest()


def digest() -> str:
    """Return a digest of all that the module is made of."""
    return _digest(_kernels() | {_HERE / "runtime.ll", Path(__file__)})


def is_current() -> bool:
    """Return whether the built files belong to the sources."""
    modules = MODULE, RELAXED
    if not all(path.exists() for path in (*modules, *map(_served, modules), TYPES)):
        return False
    same = all(module.read_bytes() == _served(module).read_bytes() for module in modules)
    return same and f"// {digest()}\n" in TYPES.read_text(encoding="utf-8")


def _served(module: Path) -> Path:
    return _STATIC / module.name


def _constants() -> list[str]:
    """Return the numbers that the page needs to read what kernels write."""
    from dataclasses import asdict

    from tengen.board import counting_kernels, layout_kernels
    from tengen.board import rules as known
    from tengen.board.rules import KO_NUMBERS, PRESETS, Rules
    from tengen.players.tengen import LEVELS

    named = {name: value for name, value in vars(layout_kernels).items() if name.isupper()}
    kinds = {name: value for name, value in vars(counting_kernels).items()
             if name.isupper() and not name.startswith(("_", "MAX"))
             and name not in named}  # fmt: skip

    def plain(rules: Rules) -> dict[str, Any]:
        return asdict(rules) | {"ko": KO_NUMBERS[rules.ko]}

    rules = {name: plain(rules) for name, rules in PRESETS.items()}
    spelled = {*PRESETS, *known._ALIASES, *known._NEAREST}
    names = {name: plain(Rules.preset(name, nearest=True)) for name in sorted(spelled)}
    constants = {
        "LAYOUT": named,
        "COUNTED_AS": kinds,
        "RULES": rules,
        "RULE_NAMES": names,
        "NETWORK": _network(),
        "SEARCH": _search(),
        "ENDGAME": _endgame(),
        "REVIEW": _review(),
        "LEVELS": {n: asdict(level) for n, level in LEVELS.items()},
    }
    return [f"export const {name} = {json.dumps(value)} as const;\n"
            for name, value in constants.items()]  # fmt: skip


def _network() -> dict[str, Any]:
    """Return what the page needs to lay out the weights of a network."""
    from tengen.network import (
        engine,
        engine_kernels,
        forward_kernels,
        inputs_kernels,
        layers,
        settings,
    )

    order = settings.DESIGNS["judge"].order
    lifting = settings.LIFTING_SIZE
    shapes = {1: (order, 1, 1), 3: (order, 3, 3), lifting: (1, lifting, lifting)}
    return {
        **{name: getattr(engine_kernels, name) for name in ("WIDTH", "COLS", "LINE")},
        "LIFTING_SIZE": lifting, "POOL_EVERY": settings.POOL_EVERY,
        "SCORE_SCALE": settings.SCORE_SCALE, "VALUES": forward_kernels.VALUES,
        "HISTORY": inputs_kernels.HISTORY, "KOMI_SCALE": layers.KOMI_SCALE,
        "EPSILON": engine.EPSILON, "ORDER": order,
        "PLANES": layers.N_PLANES, "POINT_PLANES": len(layers.POINT_PLANES),
        "BOARD_PLANES": len(layers.BOARD_PLANES),
        # For each byte of a point, the planes that it sets.
        "TABLE": [[i for i, bit in enumerate(row) if bit] for row in layers.TABLE.tolist()],
        "PLACES": {n: layers.tied_places(shape, order).tolist() for n, shape in shapes.items()},
        # By the number of maps, then by the size of the board.
        "TILES": {maps: [engine.best_tile(size, size, maps) for size in range(1, 26)]
                  for maps in (16, 64, 128)},
        "SIZE_FACTORS": [settings.size_factor(size * size) for size in range(1, 26)],
    }  # fmt: skip


def _search() -> dict[str, Any]:
    """Return the numbers of a search, and the levels."""
    from tengen.players import network_search as search
    from tengen.players import tengen, tree_kernels
    from tengen.scoring.judging import DEAD_ABOVE

    batches = search.BATCHES
    names = ("RESIGN_BELOW", "_OPENING_SHARE", "_TRUSTED_SHARE", "_LEAST_TO_RESIGN", "_GOOD_SHARE",
             "_GOOD_LOSS")  # fmt: skip
    return {
        **_numbers(search, *names), "OWNERSHIP_SCALE": tree_kernels.OWNERSHIP_SCALE,
        "TEMPERATURE": tengen._TEMPERATURE,
        "JUDGED": {"visits": search._JUDGED["visits"], "share": search._JUDGED["score_share"]},
        "LARGE_BATCH_SIZES": [rows for rows, _ in batches], "BATCH": max(batches.values()),
        "SMALL_BATCH": search.SMALL_BATCH, "VISITS_PER_LEAF": search.VISITS_PER_LEAF,
        "WIDTH": search.WIDTH, "CENTRE": search.CENTRE,
        "SCORE_SHARE": search.SearchPlayer.score_share, "DEAD_ABOVE": DEAD_ABOVE,
    }  # fmt: skip


def _numbers(module: Any, *names: str) -> dict[str, Any]:
    return {name.lstrip("_"): getattr(module, name) for name in names}


def _endgame() -> dict[str, Any]:
    """Return the numbers by which a game is judged to be over, and ended."""
    from tengen.game import endgame, session
    from tengen.scoring import judging

    judged = ("_FEWEST_STONES", "_LINES", "_LINE_LENGTH", "_CHANGE", "_GAIN", "_END_PLAYOUTS",
              "_MIN_PLAYOUT_AGREEMENT", "_SURE", "_SURE_NETWORK", "_LIKELY", "_CERTAIN",
              "_DECLINED")  # fmt: skip
    ended = ("_PLAYOUTS", "_SETTLED", "_HOPELESS")
    return {
        **_numbers(judging, *judged),
        **_numbers(endgame, *ended),
        "LONGEST": session._LONGEST,
        "LEAST_AFTER_UNDO": session._LEAST_AFTER_UNDO,
    }


def _review() -> dict[str, Any]:
    """Return the numbers of a review, its causes and phases."""
    from tengen.reviews import ReviewSettings, causes, game
    from tengen.web import store

    reviewed = ("_CONFIRMING", "_LEAST_INTEREST", "_UNLIKELY", "_LEAST_MISTAKE",
                "_CLEARLY", "_DOUBTFUL", "NETWORK_SCATTER", "LINE", "_LINES",
                "_LEAST_LINE_VISITS", "_CANDIDATES", "_LEAST_SHARE", "_DAME_REGION",
                "_DAME_CHANGE")  # fmt: skip
    solved = ("_DAY", "_PAUSES", "_WORST", "_SOLVED", "_LEAST")
    return {
        **_numbers(game, *reviewed),
        "VISITS": [[points, visits] for points, visits in game._VISITS.items()],
        "CONFIRMED": [[points, moves] for points, moves in game._CONFIRMED.items()],
        "SEARCHES": ReviewSettings().searches,
        **_numbers(causes, "PHASES", "_CHANGED", "_GROUP", "_NEAR"),
        "PROBLEMS": _numbers(store, *solved),
    }


def _types(entries: list[_Entry]) -> str:
    lines = [
        "// Written by tengen.web.wasm.build from entries.py; do not edit. Digest of the sources:",
        f"// {digest()}", "", "/** A place in the memory of the kernels, in bytes. */",
        "export type Address = number;", "", "export interface Kernels {",
        "  memory: WebAssembly.Memory;", "  __heap_base: WebAssembly.Global;",
        *(entry.declaration() for entry in entries), "}", "", *_constants(),
    ]  # fmt: skip
    return "\n".join(lines).rstrip("\n") + "\n"


def main() -> None:
    """Build, or only check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether it is current")
    if parser.parse_args().check:
        if not is_current():
            sys.exit("tengen.wasm is older than the kernels: run `make wasm`")
        return
    # Before Numba is imported: text for any processor, as it is before optimization.
    os.environ |= {
        "TENGEN_TARGET": "wasm32", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "",
        "NUMBA_OPT": "0", "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0",
    }  # fmt: skip
    from tengen.web.wasm.entries import ENTRIES

    entries = [_Entry(name, function) for name, function in ENTRIES.items()]
    _STATIC.mkdir(exist_ok=True)
    for module, features in ((MODULE, _FEATURES), (RELAXED, f"{_FEATURES},+relaxed-simd")):
        _compile(entries, module, features)
        shutil.copyfile(module, _served(module))
        print(f"{module.relative_to(_ROOT)}: {len(module.read_bytes())} bytes")
    TYPES.parent.mkdir(exist_ok=True)
    TYPES.write_text(_types(entries), encoding="utf-8")


if __name__ == "__main__":
    main()
