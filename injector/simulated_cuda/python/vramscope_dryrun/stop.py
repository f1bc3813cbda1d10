# SPDX-License-Identifier: Apache-2.0
"""Ends the program after some optimizer steps, as sys.exit() would: cleanly, with its own exit handlers.

"stable": when the peaks of allocated and reserved memory have not grown for two steps, after the third at the earliest. The first step makes
the optimizer's state, the second is the first with state alive from its beginning; a third that is no higher says that a loop of like steps
goes no higher.
"""

import gc
import json
import os
import sys
from typing import Any, Dict, List, Tuple

from vramscope_shim.steps import TrainingLoop, Turn

LEAST_STEPS = 3
CALM_STEPS = 2


def install(steps: str, notes: str) -> None:
    Stop(sys.modules["torch"], steps, notes).watch()


class Stop:
    def __init__(self, torch: Any, steps: str, notes: str) -> None:
        self._torch = torch
        self._limit = None if steps == "stable" else int(steps)
        self._notes = notes
        self._turns: Dict[int, Turn] = {}
        self._loop = TrainingLoop(self._step_ended, lambda _deep: None)
        self._peaks: List[Tuple[int, int]] = []
        self._due = ""
        self._handle: Any = None

    def watch(self) -> None:
        optimizer = sys.modules["torch.optim.optimizer"]
        optimizer.register_optimizer_step_pre_hook(self._before)
        self._handle = optimizer.register_optimizer_step_post_hook(self._after)

    def _before(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if id(optimizer) in self._turns:
            return
        if not self._turns:
            kind = self._torch.optim.Optimizer
            others = {id(thing) for thing in gc.get_objects() if isinstance(type(thing), type) and issubclass(type(thing), kind)}
            self._loop.expect(others - {id(optimizer)})
            # Behind all other hooks: what is raised there keeps no one from seeing the end of the step.
            self._handle.remove()
            self._handle = sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook(self._after)
        self._turns[id(optimizer)] = turn = Turn()
        self._loop.joined(id(optimizer), turn)

    def _after(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        turn = self._turns.get(id(optimizer))
        if turn is None:
            return
        turn.count += 1
        self._loop.stepped(turn)
        if self._due:
            self._say()
            raise SystemExit(0)

    def _step_ended(self, done: int) -> int:
        self._peaks.append(self._peak())
        if self._limit is not None:
            self._due = "steps" if done >= self._limit else ""
        elif done >= LEAST_STEPS and max(self._peaks[-CALM_STEPS:]) <= max(self._peaks[:-CALM_STEPS]):
            self._due = "stable"
        return 0  # deep steps are the recorder's affair

    def _peak(self) -> Tuple[int, int]:
        """Of reserved and allocated memory so far; a program that resets them makes them smaller, never larger."""
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
