# SPDX-License-Identifier: Apache-2.0
"""Ends the program after some optimizer steps, as sys.exit() would: cleanly, with its own exit handlers.

"stable": when the peaks of allocated and reserved memory have not grown for two steps, after the sixth step at the earliest. The first step creates
the optimizer's state. The second is the first one with state alive from its beginning. A third that is no higher shows that a loop of equal steps
goes no higher. Three more steps cost milliseconds, and a short trial run of a few steps reaches its own end. An optimizer that exists and has not
stepped yet, as in a warm-up, will still create its state: the program continues until that step, for at most 64 steps."""

import importlib
import json
import os
import sys
from typing import Any, List, Tuple

from vramscope_core import guard, patches
from vramscope_shim import torch_hook
from vramscope_shim.steps import DORMANT_AFTER, TrainingLoop

HOOK = "dryrun.stop"
LEAST_STEPS = 6
CALM_STEPS = 2


def install(steps: str, notes: str) -> None:
    loop = torch_hook.training_loop()
    if loop is not None:
        Stop(sys.modules["torch"], loop, steps, notes).watch()


class Stop:
    def __init__(self, torch: Any, loop: TrainingLoop, steps: str, notes: str) -> None:
        self._torch = torch
        self._loop = loop
        self._optimizer = importlib.import_module("torch.optim.optimizer")  # torch.optim deletes the attribute
        self._limit = None if steps == "stable" else int(steps)
        self._notes = notes
        self._peaks: List[Tuple[int, int]] = []  # after each step whose end was seen
        self._due = ""
        self._watches_ends = False

    def watch(self) -> None:
        self._loop.watchers.append(guard.hook(HOOK, self._step_ended))
        self._loop.leaving.append(guard.hook(HOOK, self._leave))
        patches.register(self._torch, self._optimizer.register_optimizer_step_pre_hook, guard.hook(HOOK, self._before))

    def _before(self, _optimizer: Any, _args: Any, _kwargs: Any) -> None:
        """Installs the post hook at the first step, so that it runs after all other hooks: they then see the end of the step before its exception."""
        if not self._watches_ends:
            self._watches_ends = True
            patches.register(self._torch, self._optimizer.register_optimizer_step_post_hook, guard.hook(HOOK, self._after))

    def _after(self, _optimizer: Any, _args: Any, _kwargs: Any) -> None:
        self._leave()

    def _leave(self) -> None:
        if self._due:
            self._say()
            raise SystemExit(0)

    def _step_ended(self, done: int) -> None:
        self._peaks.append(self._peak())
        if self._limit is not None:
            self._due = "steps" if done >= self._limit else ""
        elif self._is_stable() and (not self._loop.idle or done > DORMANT_AFTER):
            self._due = "stable"

    def _is_stable(self) -> bool:
        return len(self._peaks) >= LEAST_STEPS and max(self._peaks[-CALM_STEPS:]) <= max(self._peaks[:-CALM_STEPS])

    def _peak(self) -> Tuple[int, int]:
        """The peaks of reserved and allocated memory so far. A program that resets the peaks makes them smaller, never larger."""
        cuda = self._torch.cuda
        peaks = [(cuda.max_memory_reserved(device), cuda.max_memory_allocated(device)) for device in range(cuda.device_count())]
        reserved, allocated = map(max, zip(*peaks)) if peaks else (0, 0)
        if self._peaks:
            reserved, allocated = max(reserved, self._peaks[-1][0]), max(allocated, self._peaks[-1][1])
        return reserved, allocated

    def _say(self) -> None:
        if self._notes:
            with open(os.path.join(self._notes, f"{os.getpid()}.stop"), "w", encoding="utf-8") as file:
                json.dump({"steps": self._loop.done, "reason": self._due}, file)
