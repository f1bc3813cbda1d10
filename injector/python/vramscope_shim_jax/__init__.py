# SPDX-License-Identifier: Apache-2.0
"""Gives names to what vramscope records of JAX programs. The parts that all frameworks share are in vramscope_core.

    import_hook ── start() ─┬─ recorder   tells the injector when JAX has loaded its plug-in for a device
                            └─ programs   describes each program that trains, when it is lowered: names and roles of its arguments and results
                                 └─ roles     what an argument is, by what the program does with it
                                      └─ flow     which values of a program depend on which

The rules are those of vramscope_shim. Python runs only when a function is traced and compiled; afterwards jaxlib executes the program by itself. So
nothing here runs in a step: the injector's hooks of the plug-in recognize the program by the name that we report."""


def start() -> bool:
    """Idempotent; called right after `import jax`. True if this process is recorded."""
    from vramscope_core import guard

    return bool(guard.hook("python.jax", _start)())


def _start() -> bool:
    from . import recorder

    return recorder.install()
