# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation by Keras itself: every optimizer gets gradient_accumulation_steps=K. batches.py makes the batches K times smaller.

The change counts as applied only if both happened, which is known when an optimizer applies gradients."""

import importlib
from typing import Any, List

from vramscope_core import guard, patches
from vramscope_try.notes import Notes

HOOK = "try.accumulate"


def install(parts: int, smaller: List[str], notes: Notes) -> None:
    """smaller: the places where batches.py has made batches smaller; it adds to them while the program runs."""
    base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
    scaling = importlib.import_module("keras.src.optimizers.loss_scale_optimizer").LossScaleOptimizer

    def initialize(call: guard.Call, optimizer: Any, *args: Any, **settings: Any) -> None:
        own = settings.get("gradient_accumulation_steps")
        if isinstance(optimizer, scaling):  # the optimizer inside it accumulates
            call(optimizer, *args, **settings)
        elif own:
            notes.refused("accumulate", f"the program accumulates itself: {type(optimizer).__name__}(gradient_accumulation_steps={own})")
            call(optimizer, *args, **settings)
        else:
            call(optimizer, *args, **{**settings, "gradient_accumulation_steps": parts})

    def applies(optimizer: Any, *_: Any, **__: Any) -> None:
        if isinstance(optimizer, scaling) or optimizer.gradient_accumulation_steps != parts:
            return
        if not smaller:
            notes.refused("accumulate", "the program itself makes its batches, so the optimizer accumulates over batches as large as before")
        else:
            notes.applied("accumulate", f"{type(optimizer).__name__}(gradient_accumulation_steps={parts})")
            for place in smaller:
                notes.applied("accumulate", place)

    notes.expected("accumulate", "no optimizer applied gradients of a Keras model")
    base.__init__ = guard.instead(HOOK, base.__init__, initialize)
    patches.wrap_method(base, "apply", guard.before(HOOK, notes.guarded("accumulate", applies)))
