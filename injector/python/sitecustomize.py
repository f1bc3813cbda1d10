# SPDX-License-Identifier: Apache-2.0
"""The first thing Python runs in a recorded process. Arranges that vramscope_shim starts once torch has been imported, vramscope_shim_tensorflow
once TensorFlow has been, vramscope_shim_jax once JAX has been (and vramscope_try, for each of them, if a change is requested), and steps aside.

The collector puts this folder first on PYTHONPATH, so `site` imports this file instead of the user's own
sitecustomize. We then
  1. remove the folder from sys.path (children still get it: PYTHONPATH itself stays),
  2. let the import system find the next sitecustomize, the user's. It takes over the name in sys.modules.
     If there is none, or if it fails, `site` sees exactly the exception that it would have seen without us.
Costs 0.1 to 0.3 ms (1 to 2 if no bytecode can be cached). Nothing else is imported before torch, TensorFlow or JAX is. `python
-I`, `-E` and `-S` switch it off; the injector then calls vramscope_shim.start() itself."""

import os
import sys


def _begin(package: str, function: str, *arguments: str) -> None:
    """Calls a function of a package of ours. If one package fails, the others still begin."""
    try:
        getattr(__import__(package), function)(*arguments)
    except Exception:
        # There is no recorder to report this to yet. The trace then has no coverage facts from the shim, which shows it.
        pass


def _step_aside() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    if os.environ.get("VRAMSCOPE_SESSION"):
        _begin("vramscope_shim", "start")
    change = os.environ.get("VRAMSCOPE_TRY")
    if change:
        _begin("vramscope_try", "arrange", change)
        _begin("vramscope_try_keras", "arrange", change)
        _begin("vramscope_try_jax", "arrange", change)
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != folder]
    sys.modules.pop("sitecustomize", None)


_step_aside()

import sitecustomize  # noqa: E402, F401  the user's
