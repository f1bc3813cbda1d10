# SPDX-License-Identifier: Apache-2.0
"""Applies a change to a Keras program on TensorFlow from outside: implements the options of `vramscope try` by Keras' own switches.

    policy         --amp, --precision   the default dtype policy
    optimizers     --optimizer          another class where the program creates its optimizer
    accumulation   --accumulate         gradient_accumulation_steps of the optimizer, and smaller batches
    batches        --batch              batch_size of fit(), of tf.data and of Keras' data set functions
    remat          --checkpoint         the rematerialization mode of layers
    allocator      --alloc-conf         the environment variables of TensorFlow's allocator
    lines          the lines that make the same change in code

The switches are set when the program has imported Keras, and only if Keras runs on TensorFlow. vramscope_try has the same options for PyTorch; Keras on
PyTorch belongs to it. Both read VRAMSCOPE_TRY, and both report through vramscope_try.notes. A failure here leaves the program as it is and is reported.
docs/try.md explains to users what is done and why."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List

_APPLIED = ("amp", "precision", "optimizer", "batch", "accumulate", "checkpoint", "alloc-conf")


def arrange(text: str) -> None:
    """Called by sitecustomize, before the program begins."""
    import json

    from vramscope_core.import_hook import when_imported
    from vramscope_try.notes import Notes

    from .lines import lines_for

    plan: Dict[str, Any] = json.loads(text)
    asked = _asked(plan)
    notes = Notes(plan["notes"], "keras", lambda lever: lines_for(lever, plan))
    if "alloc-conf" in asked:
        _install("allocator", plan["alloc_conf"], notes)  # TensorFlow reads the variables when it is imported

    def when(name: str, lever: str, install: "Callable[[], None]") -> None:
        when_imported(name, notes.guarded(lever, install, "this release has no place for it"))

    if "batch" in asked or "accumulate" in asked:
        lever = "batch" if "batch" in asked else "accumulate"
        when("tensorflow", lever, lambda: _install("batches", plan.get("batch"), plan.get("accumulate", 1), notes))
    when("keras", next(iter(asked), ""), lambda: _keras_is_here(plan, asked, notes))


def _asked(plan: "Dict[str, Any]") -> "Dict[str, Any]":
    """The requested changes by the names of their options."""
    asked = {name.replace("_", "-"): value for name, value in plan.items() if name not in ("notes", "beyond", "implementation")}
    return {**asked, **plan.get("beyond", {})}


def _keras_is_here(plan: "Dict[str, Any]", asked: "Dict[str, Any]", notes: "Any") -> None:
    import sys

    backend = sys.modules["keras"].backend.backend()
    if backend == "torch":
        return
    for lever in asked:
        if backend != "tensorflow":
            notes.refused(lever, f"Keras runs on {backend} here; vramscope changes Keras programs on TensorFlow")
        elif lever not in _APPLIED:
            notes.refused(lever, "vramscope changes Keras programs by Keras' own switches, and there is none for this")
    if backend != "tensorflow":
        return
    installs = {
        "amp": lambda: _install("policy", "amp", "mixed_" + _long(plan["amp"]), notes),
        "precision": lambda: _install("policy", "precision", _long(asked["precision"]), notes),
        "optimizer": lambda: _install("optimizers", plan["optimizer"], plan.get("implementation"), notes),
        "accumulate": lambda: _install("accumulation", plan["accumulate"], _smaller_batches, notes),
        "checkpoint": lambda: _install("remat", plan["checkpoint"], notes),
    }
    for lever, install in installs.items():
        if lever in asked:
            notes.guarded(lever, install, "this Keras has no place for it")()


def _smaller_batches() -> "List[str]":
    from .batches import changes

    return changes


def _long(dtype: str) -> str:
    return {"bf16": "bfloat16", "fp16": "float16"}[dtype]


def _install(name: str, *wishes: "Any") -> None:
    import importlib

    importlib.import_module("." + name, __name__).install(*wishes)
