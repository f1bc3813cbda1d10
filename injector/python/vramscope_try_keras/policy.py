# SPDX-License-Identifier: Apache-2.0
"""Another default dtype policy: every layer for which the program names no dtype gets it.

Keras keeps the default in its global state, which clear_session() empties. So the reads are changed, and not the stored value: what Keras reads as
float32, or as not set, is our policy. If the program sets another policy itself, that policy stays.

With mixed_float16, Model.compile() scales the loss. A program's own loop must do it in code, so the change counts as applied only once an optimizer
that scales has applied gradients."""

import importlib
import weakref
from typing import Any

from vramscope_core import guard, patches
from vramscope_try.notes import Notes

HOOK = "try.policy"


def install(lever: str, name: str, notes: Notes) -> None:
    module: Any = importlib.import_module("keras.src.dtype_policies.dtype_policy")
    notes.expected(lever, "no optimizer applied gradients of a Keras model")
    policy = Policy(lever, module.DTypePolicy(name), notes)
    module.global_state = State(module.global_state, policy)
    base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
    scaling = importlib.import_module("keras.src.optimizers.loss_scale_optimizer").LossScaleOptimizer
    patches.wrap_method(base, "apply", guard.before(HOOK, notes.guarded(lever, policy.applies)))
    patches.wrap_method(scaling, "apply", guard.before(HOOK, notes.guarded(lever, policy.scales)))


class Policy:
    def __init__(self, lever: str, policy: Any, notes: Notes) -> None:
        self._lever = lever
        self._policy = policy
        self._notes = notes
        self._own = ""  # the program's own policy, if it sets one
        self._scaled: weakref.WeakSet[Any] = weakref.WeakSet()  # optimizers inside one that scales

    def instead_of(self, stored: Any) -> Any:
        if stored is None or stored.name == "float32":
            return self._policy
        if stored is not self._policy:
            self._own = stored.name
        return stored

    def scales(self, optimizer: Any, *_: Any, **__: Any) -> None:
        """A LossScaleOptimizer is about to divide gradients by the scale. Then it lets the optimizer inside it apply them."""
        self._scaled.add(optimizer.inner_optimizer)

    def applies(self, optimizer: Any, *_: Any, **__: Any) -> None:
        """An optimizer is about to apply gradients, or its step is being traced."""
        if self._own:
            self._notes.refused(self._lever, f"the program sets the dtype policy itself, to {self._own}")
        elif self._lever != "amp" or self._policy.name != "mixed_float16" or optimizer in self._scaled:
            varies = ", whose peak varies from run to run" if optimizer in self._scaled else ""
            self._notes.applied(self._lever, f"dtype policy {self._policy.name}{varies}")
        else:
            self._notes.refused(self._lever, "the program's own loop does not scale the loss; only its layers ran under mixed_float16")


class State:
    """Keras' global state, as its module of dtype policies sees it."""

    def __init__(self, module: Any, policy: Policy) -> None:
        self._module = module
        self._policy = policy

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def get_global_attribute(self, name: str, *args: Any, **named: Any) -> Any:
        found = self._module.get_global_attribute(name, *args, **named)
        return self._policy.instead_of(found) if name == "dtype_policy" else found
