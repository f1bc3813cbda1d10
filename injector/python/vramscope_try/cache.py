# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.empty_cache() before each backward pass, before each step of an optimizer, or once the last of the optimizers has stepped."""

import sys
from typing import Any, Callable, Set

from .backward import Backward
from .notes import Notes
from .steps import Closure, Steps


def install(when: str, notes: Notes) -> None:
    torch = sys.modules["torch"]

    def empty() -> None:
        torch.cuda.empty_cache()
        notes.applied("empty-cache", when)

    if when == "before-backward":
        Backward.of(torch).before.append(empty)
    else:
        steps = Steps.of(torch)
        steps.layers.insert(0, _around_steps(steps, when, empty))


def _around_steps(steps: Steps, when: str, empty: Callable[[], None]) -> Callable[..., Any]:
    stepped: Set[int] = set()  # optimizers, since the last of them

    def step(optimizer: Any, proceed: Callable[[Closure], Any], closure: Closure) -> Any:
        if when == "before-optimizer":
            empty()
        result = proceed(closure)
        stepped.add(id(optimizer))
        if stepped >= set(steps.optimizers):
            stepped.clear()
            if when == "after-step":
                empty()
        return result

    return step
