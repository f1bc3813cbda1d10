# SPDX-License-Identifier: Apache-2.0
"""Calls us back right after a module was imported.

Why not wrap the loader, as post-import hooks usually do: the wrapper's frame would be in the traceback of a failing import. Instead we use the spec:
importlib sets `spec._initializing = False` when a module's code has run. Until then the spec of a watched module gets a class in which
`_initializing` is a property; afterwards it is an ordinary ModuleSpec again. Source: importlib._bootstrap._load_unlocked, Python 3.8 to 3.14. If this
ever fails, the injector's pending call starts the shim."""

import sys

from . import guard

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing alone would cost more than everything here
    from typing import Any, Callable, Dict, List, Optional

HOOK = "python.import"
ModuleSpec: "Any" = type(sys.__spec__)


def _get_initializing(spec: "Any") -> bool:
    return spec.__dict__.get("_initializing", False)


def _set_initializing(spec: "Any", value: bool) -> None:
    spec.__dict__["_initializing"] = value
    if value:
        return
    spec.__class__ = ModuleSpec
    # False if the import failed; then we keep waiting for the next attempt.
    if getattr(sys.modules.get(spec.name), "__spec__", None) is spec:
        _imported(spec.name)


# Named like its base because repr() shows the class.
_WatchedSpec: "Any" = type("ModuleSpec", (ModuleSpec,), {"_initializing": property(_get_initializing, _set_initializing)})


class _Finder:
    """First in sys.meta_path while we wait for a module. It finds nothing itself, and calls the finders after it."""

    def __init__(self) -> None:
        self.waiting: Dict[str, List[Callable[[], object]]] = {}

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Optional[Any]":
        # Also called by importlib.util.find_spec("torch"), which imports nothing: so finding it is no reason to stop waiting.
        if name not in self.waiting:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None:
                _watch(spec)
                return spec
        return None

    def imported(self, name: str) -> None:
        reactions = self.waiting.pop(name, [])
        if not self.waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        for react in reactions:
            react()


def _begin_to_watch(spec: "Any") -> None:
    if type(spec) is ModuleSpec:
        spec.__class__ = _WatchedSpec


_finder = _Finder()


# These create their hook at each call, which is rare: guard.forget() empties all hooks that exist.
def _imported(name: str) -> None:
    guard.hook(HOOK, _finder.imported)(name)


def _watch(spec: "Any") -> None:
    guard.hook(HOOK, _begin_to_watch)(spec)


def is_imported(name: str) -> bool:
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


def when_imported(name: str, react: "Callable[[], object]") -> None:
    """Calls react() once: now if the module is already imported, otherwise right after its import, in the order of requests. Failures are only recorded."""
    react = guard.hook(f"python.import of {name}", react)
    if is_imported(name):
        react()
        return
    _watch(getattr(sys.modules.get(name), "__spec__", None))  # it may be being imported right now, by another thread or further up this one
    _finder.waiting.setdefault(name, []).append(react)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def forget() -> None:
    """No longer waits for any module."""
    _finder.waiting.clear()
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


def room(name: str) -> "Any":
    """Imports a package next to this one, or a module in it, even if sys.path no longer has our folder."""
    import importlib.machinery
    import importlib.util

    folder, package = __file__.rpartition("/vramscope_core/")[0], name.partition(".")[0]
    if package not in sys.modules:
        spec: Any = importlib.machinery.PathFinder.find_spec(package, [folder])
        sys.modules[package] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[package])
    return importlib.import_module(name)


def watch_for_frameworks() -> None:
    """Each framework's room starts when the program has imported the framework."""
    when_imported("torch", lambda: room("vramscope_shim").start())
    when_imported("tensorflow", lambda: room("vramscope_shim_tensorflow").start())
    when_imported("jax", lambda: room("vramscope_shim_jax").start())
