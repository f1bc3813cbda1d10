# SPDX-License-Identifier: Apache-2.0
"""Applies a change to a JAX program from outside: implements the options of `vramscope try` by JAX' own switches.

    checkpointing  --checkpoint      jax.checkpoint, with a policy, around each function that is differentiated
    donation       --free-early all  donate_argnums for the jitted step: parameters and optimizer state do not exist twice
    optimizers     --optimizer       another optimizer of optax where the program creates its own
    lines          the lines that make the same change in code

JAX' functions are replaced in the modules `jax` and `optax` when the program has imported them. Notes and guards are those of vramscope_try. docs/try.md
explains to users what is done and why."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict

_APPLIED = ("checkpoint", "free-early", "optimizer")


def arrange(text: str) -> None:
    """Called by sitecustomize, before the program begins."""
    import json

    from vramscope_core.import_hook import when_imported
    from vramscope_try import install, requested
    from vramscope_try.notes import Notes

    from .lines import lines_for

    plan: Dict[str, Any] = json.loads(text)
    asked = requested(plan)
    notes = Notes(plan["notes"], "jax", lambda lever: lines_for(lever, plan))

    def refuse() -> None:
        for lever in asked:
            if lever not in _APPLIED:
                notes.refused(lever, "for a JAX program, this change can only be made in the code")

    when_imported("jax", notes.guarded(next(iter(asked), ""), refuse))
    reactions = {
        "checkpoint": ("jax", lambda: install(__name__, "checkpointing", plan["checkpoint"], notes)),
        "free-early": ("jax", lambda: install(__name__, "donation", notes)),
        "optimizer": ("optax", lambda: install(__name__, "optimizers", plan["optimizer"], plan.get("implementation"), notes)),
    }
    for lever, (module, react) in reactions.items():
        if lever in asked:
            when_imported(module, notes.guarded(lever, react, "this release does not support the change"))
