# SPDX-License-Identifier: Apache-2.0
"""Names for what vramscope records: runs inside the training process and tells the injector what each tensor is.

    sitecustomize ── import_hook ──┐   (python train.py)
    injector, pending call ── start() ── torch_hook ─┬─ optimizers   parameters, gradients, optimizer state, steps
                                                     ├─ modules      names of parameters and buffers
                                                     ├─ scopes       record_function; data loader, zero_grad
                                                     ├─ regions      autocast, checkpoint
                                                     └─ deep         module ranges, in deep steps only
    all of them say it through native, which is injector/core/api.h, and are called through guard

Rules of this package: standard library only, Python 3.8 syntax; no exception, output or warning of ours reaches the program; no frame of
ours shows in its tracebacks; no tensor is made, changed or kept alive. Without the shim a trace loses names, not bytes.
"""


def start(attached: bool = False) -> bool:
    """Begins to name things in this process; True when torch is here and is recorded.

    Called by the import hook after `import torch`, and by the injector where sitecustomize cannot run (`python -I`, embedded
    interpreters, attach). May be called at any time and as often as one likes; waits for torch when it is not imported yet.
    attached: the program has been running for a while; what it holds already is told first (held.py).
    """
    from . import guard

    return bool(guard.hook("python", _start)(attached))


def _start(attached: bool) -> bool:
    import sys

    from . import import_hook

    if import_hook.is_imported("torch"):
        from . import torch_hook

        return torch_hook.install(sys.modules["torch"], attached)
    import_hook.watch_for_torch()
    return False


def is_safe() -> bool:
    """Whether start(attached=True) and stop() may be called at this moment, in whatever the program is doing."""
    from . import guard, patches

    return guard.hook("python", patches.may_be_changed_now)() is not False


def stop() -> None:
    """Recording has ended, the program goes on: takes out all that start() put in. start() may be called again."""
    from . import guard

    guard.hook("python", _stop)()
    guard.forget()


def _stop() -> None:
    import sys

    from . import import_hook

    import_hook.forget()
    torch_hook = sys.modules.get(__name__ + ".torch_hook")
    if torch_hook is not None:
        torch_hook.uninstall()
