# SPDX-License-Identifier: Apache-2.0
"""--checkpoint POLICY: jax.checkpoint around each function that the program gives to jax.grad or jax.value_and_grad.

POLICY is a name in jax.checkpoint_policies, such as dots_saveable: backward keeps what the policy allows and recomputes the rest. `all` keeps nothing.
The whole function is one unit, so `all` recomputes the whole forward pass at once, which rarely saves memory; a policy does."""

import sys
from typing import Any, Callable, List

from vramscope_core import guard, patches
from vramscope_try.notes import Notes, place

HOOK = "try.checkpoint"


def install(which: List[str], notes: Notes) -> None:
    jax: Any = sys.modules["jax"]
    policy = None
    if which != ["all"]:
        policy = getattr(jax.checkpoint_policies, which[0], None) if len(which) == 1 else None
        if policy is None:
            names = ", ".join(name for name in vars(jax.checkpoint_policies) if name.endswith("saveable"))
            notes.refused("checkpoint", f"jax.checkpoint_policies has no {','.join(which)}; it has {names}")
            return
    notes.expected("checkpoint", "the program did not call jax.grad or jax.value_and_grad")
    for name in ("grad", "value_and_grad"):
        patches.wrap_method(jax, name, lambda original, name=name: _checkpointed(jax, original, name, which[0], policy, notes))


def _checkpointed(jax: Any, original: Callable[..., Any], name: str, which: str, policy: Any, notes: Notes) -> Callable[..., Any]:
    def differentiate(call: guard.Call, fun: Any, *args: Any, **settings: Any) -> Any:
        wrapped = jax.checkpoint(fun, policy=policy)
        result = call(wrapped, *args, **settings)
        title = getattr(getattr(fun, "func", fun), "__name__", "a function")  # `func`: of functools.partial
        notes.applied("checkpoint", f"{which} for {title}() in jax.{name} at {place(sys._getframe(2))}")
        return result

    return guard.instead(HOOK, original, differentiate)
