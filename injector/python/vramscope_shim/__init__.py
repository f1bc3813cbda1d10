# SPDX-License-Identifier: Apache-2.0
"""Gives names to what vramscope records: runs inside the training process and reports to the injector what each tensor is.

    sitecustomize ── import_hook ──┐   (python train.py)
    injector, pending call ── start() ── torch_hook ─┬─ optimizers   parameters, gradients, state, steps
                                                     ├─ modules      names of parameters and buffers
                                                     ├─ scopes       record_function; data loader, zero_grad
                                                     ├─ regions      autocast, checkpoint
                                                     └─ deep         module ranges, in deep steps only
    all of them report through vramscope_core.native, which is injector/core/api.h, and are called through vramscope_core.guard

Rules of this package: standard library only, Python 3.8 syntax. No exception, output or warning of ours reaches the program, and no frame of ours
shows in its tracebacks. No tensor is created, changed or kept alive. Without the shim a trace loses names, not bytes."""

import vramscope_core  # noqa: F401  now, while sys.path has its folder


def start(attached: bool = False) -> bool:
    """Starts naming in this process; True if torch is loaded and recorded.

    Called by the import hook after `import torch`, and by the injector where sitecustomize cannot run (`python -I`, embedded interpreters, attach).
    May be called at any time and any number of times; waits for torch if it is not imported yet. attached: the program has been running for a while;
    what it already holds is reported first (held.py)."""
    from vramscope_core import guard

    return bool(guard.hook("python", _start)(attached))


def _start(attached: bool) -> bool:
    import sys

    from vramscope_core import import_hook

    if import_hook.is_imported("torch"):
        from . import torch_hook

        return torch_hook.install(sys.modules["torch"], attached)
    import_hook.watch_for_frameworks()
    return False


def is_safe() -> bool:
    """True if start(attached=True) and stop() may be called now, whatever the program is doing."""
    from vramscope_core import guard, patches

    return guard.hook("python", patches.may_be_changed_now)() is not False


def stop() -> None:
    """Recording has ended and the program goes on: removes everything that start() installed. start() may be called again."""
    from vramscope_core import guard

    guard.hook("python", _stop)()
    guard.forget()


def _stop() -> None:
    import sys

    from vramscope_core import import_hook

    import_hook.forget()
    torch_hook = sys.modules.get(__name__ + ".torch_hook")
    if torch_hook is not None:
        torch_hook.uninstall()
