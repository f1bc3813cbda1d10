# SPDX-License-Identifier: Apache-2.0
"""Applies a change to a Keras program on TensorFlow from outside: implements the options of `vramscope try` by Keras' own switches.

    policy         --amp, --precision   the default dtype policy
    optimizers     --optimizer          another class where the program creates its optimizer
    accumulation   --accumulate         gradient_accumulation_steps of the optimizer, and smaller batches
    batches        --batch              batch_size of fit(), of tf.data and of Keras' data set functions
    remat          --checkpoint         the rematerialization mode of layers
    replicas       --shard ddp:N        MirroredStrategy as the program's default strategy
    allocator      --alloc-conf         the environment variables of TensorFlow's allocator
    lines          the lines that make the same change in code

The switches are set when the program has imported Keras, and only if Keras runs on TensorFlow. vramscope_try has the same options for PyTorch; Keras on
PyTorch belongs to it. Both read VRAMSCOPE_TRY, and both report through vramscope_try.notes. A failure here leaves the program as it is and is reported.
docs/try.md explains to users what is done and why."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List

_APPLIED = ("amp", "precision", "optimizer", "batch", "accumulate", "checkpoint", "shard", "alloc-conf")


def arrange(text: str) -> None:
    """Called by sitecustomize, before the program begins."""
    import json

    from vramscope_core.import_hook import when_imported
    from vramscope_try import install, requested
    from vramscope_try.notes import Notes

    from .lines import lines_for

    plan: Dict[str, Any] = json.loads(text)
    asked = requested(plan)
    notes = Notes(plan["notes"], "keras", lambda lever: lines_for(lever, plan))
    if "alloc-conf" in asked:
        install(__name__, "allocator", plan["alloc_conf"], notes)  # TensorFlow reads the variables when it is imported

    def when(name: str, lever: str, react: "Callable[[], None]") -> None:
        when_imported(name, notes.guarded(lever, react, "this release does not support the change"))

    smaller: List[str] = []  # the batches that batches.py changes: accumulation.py requires some
    if "batch" in asked or "accumulate" in asked:
        lever = "batch" if "batch" in asked else "accumulate"
        when("tensorflow", lever, lambda: install(__name__, "batches", plan.get("batch"), plan.get("accumulate", 1), smaller, notes))
    when("keras", next(iter(asked), ""), lambda: _keras_is_here(plan, asked, smaller, notes))


def _keras_is_here(plan: "Dict[str, Any]", asked: "Dict[str, Any]", smaller: "List[str]", notes: "Any") -> None:
    import sys

    from vramscope_try import install

    from .lines import LONG

    backend = sys.modules["keras"].backend.backend()
    if backend == "torch":
        return
    for lever in asked:
        if backend != "tensorflow":
            notes.refused(lever, f"Keras runs on {backend} here; vramscope changes Keras programs on TensorFlow")
        elif lever not in _APPLIED:
            notes.refused(lever, "Keras has no switch for this change")
    if backend != "tensorflow":
        return
    installs = {
        "amp": lambda: install(__name__, "policy", "amp", "mixed_" + LONG[plan["amp"]], notes),
        "precision": lambda: install(__name__, "policy", "precision", LONG[asked["precision"]], notes),
        "optimizer": lambda: install(__name__, "optimizers", plan["optimizer"], plan.get("implementation"), notes),
        "accumulate": lambda: install(__name__, "accumulation", plan["accumulate"], smaller, notes),
        "shard": lambda: install(__name__, "replicas", asked["shard"], notes),
        "checkpoint": lambda: install(__name__, "remat", plan["checkpoint"], notes),
    }
    for lever, react in installs.items():
        if lever in asked:
            notes.guarded(lever, react, "this Keras release does not support the change")()
