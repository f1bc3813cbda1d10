# SPDX-License-Identifier: Apache-2.0
"""Creates and installs the parts once JAX has been imported in a recorded process. JAX loads its plug-ins for devices later, when a device is first used."""

import atexit
import ctypes
import importlib
import platform
import sys
from typing import Any, Callable, Optional

from vramscope_core import guard, native, patches
from vramscope_core.guard import after

from .programs import Programs

HOOK = "python.jax"

_programs: Optional[Programs] = None


def install() -> bool:
    global _programs
    if _programs is not None or not native.connect():
        return _programs is not None
    ready = native.function("jax_ready", ctypes.c_int, [])
    if ready is None:
        return False
    _programs = Programs()
    native.fact("python", platform.python_version())
    native.fact("jax.version", sys.modules["jax"].__version__)
    _try("python.programs", _programs.install)
    atexit.register(after_all)
    _try(HOOK, lambda: _watch_plugins(ready))
    return True


def after_all() -> None:
    """Records which device JAX has used, if any: if it was the CPU, that explains a recording without arrays."""
    guard.hook(HOOK, _note_platform)()


def _note_platform() -> None:
    bridge: Any = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and bridge.backends_are_initialized():
        native.fact("jax.platform", sys.modules["jax"].default_backend())


def _watch_plugins(ready: Callable[[], int]) -> None:
    client: Any = importlib.import_module("jaxlib.xla_client")
    patches.wrap_method(client, "load_pjrt_plugin_dynamically", after(HOOK, lambda *_, **__: _loaded(ready)))
    native.coverage(HOOK, native.State.HOOKED)
    if any(client.pjrt_plugin_loaded(name) for name in ("cuda", "cuda12", "cuda13")):
        _loaded(ready)


def _loaded(ready: Callable[[], int]) -> None:
    if ready():
        native.proven(HOOK)


def _try(hook: str, put_in: Callable[[], None]) -> None:
    """A part that one release of JAX lacks must not cost us the rest."""
    try:
        put_in()
    except Exception as error:
        native.missing(hook, error)
