"""Compiled loops are kept on disk: the next process loads in milliseconds what takes a second or two to compile.

numba keeps a loop only where its own file says all about it. The loops of the line, the plane and the cells call functions that
samplers and landscapes bring, so that their files are named after these functions here, and after all source that these can call.
They lie where numba keeps those of `philox_kernel`: in NUMBA_CACHE_DIR, else in `__pycache__` beside the loop.

Holds for numba 0.68.1.
Gains: a second or two of every process, for each loop.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

ENGINE = Path(__file__).resolve().parents[1]
ABOVE = frozenset({"auditing", "cli", "compat", "networks", "references", "studies", "sweeps"})
"""Folders of the engine of which no loop calls anything: those with loops and what they call import nothing from them."""
DIGITS = 16


def keep(loop: Any, functions: Sequence[Callable[..., Any]], *settings: Any) -> Any:
    """The same loop, a dispatcher of numba, loaded from the disk at its first call if it was kept there, else kept after it.

    functions: what it calls that differs from loop to loop of its kind.  settings: what else it is made of, as text.
    A loop is kept only where all its functions are of the engine, below `ABOVE`, and have no numbers of their own, so that its source is all
    they are made of: formulas that visitors type and samplers of a notebook leave nothing on the disk.
    """
    names = [_name(function) for function in functions]
    if all(names):
        # numba finds no folder, or another numba keeps its loops in another way
        with contextlib.suppress(RuntimeError, ImportError, AttributeError, TypeError):
            loop._cache = _kept()(loop.py_func, repr((names, settings)))
    return loop


def _name(function: Callable[..., Any]) -> str:
    """What a function of the engine is, the same in every process; empty for any other, and where it has variables
    of its own other than a module, numpy or torch."""
    module, code = getattr(function, "__module__", ""), getattr(function, "__code__", None)
    if module.split(".")[0] != ENGINE.name or code is None or ABOVE & set(module.split(".")[1:2]):
        return ""
    own = [cell.cell_contents for cell in function.__closure__ or ()]
    if not all(isinstance(value, ModuleType) for value in own):
        return ""
    own = [value.__name__ for value in own]
    made_of = repr((code.co_code, code.co_names, code.co_consts, function.__defaults__, own))
    digest = hashlib.sha256(made_of.encode()).hexdigest()[:DIGITS]
    return f"{module}.{function.__qualname__}:{code.co_firstlineno}:{digest}"


@lru_cache(maxsize=1)
def source() -> str:
    """A digest of all source of the engine but `ABOVE`: a kept loop has constants in it, and code of what it calls."""
    found = hashlib.sha256()
    for path in sorted(ENGINE.rglob("*.py")):
        if path.relative_to(ENGINE).parts[0] in ABOVE:
            continue
        content = path.read_bytes()
        found.update(f"{path.relative_to(ENGINE)} {len(content)}\n".encode() + content)
    return found.hexdigest()[:DIGITS]


@lru_cache(maxsize=1)
def _kept() -> Any:
    from numba.core.caching import FunctionCache, IndexDataCacheFile

    class LoopFiles(FunctionCache):
        """One file for each loop and kind of arguments: processes that write at once write the same."""

        def __init__(self, function: Any, made_of: str):
            super().__init__(function)
            self._made_of = made_of

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return sig, codegen.magic_tuple(), self._made_of

        def _load_overload(self, sig: Any, target_context: Any) -> Any:
            self._choose_file(sig, target_context.codegen())
            return super()._load_overload(sig, target_context)

        def _save_overload(self, sig: Any, data: Any) -> None:
            mine = self._choose_file(sig, data.codegen)
            super()._save_overload(sig, data)
            for old in Path(self._cache_path).glob(f"{mine}-*.nb?"):  # of source that is no more
                if not old.name.startswith(f"{mine}-{source()}"):
                    old.unlink(missing_ok=True)

        def _choose_file(self, sig: Any, codegen: Any) -> str:
            key = hashlib.sha256(repr(self._index_key(sig, codegen)).encode()).hexdigest()[:DIGITS]
            mine = f"{self._impl.filename_base}-{key}"
            self._cache_file = IndexDataCacheFile(self._cache_path, f"{mine}-{source()}", source())
            return mine

    return LoopFiles
