# SPDX-License-Identifier: Apache-2.0
"""Decides, while the program runs, which optimizer's step ends a step of the training loop.

The rule is the profiler's. Of several optimizers it is the one that steps least often; of those, the one whose first step came last (a GAN's second
network; the last of one optimizer per parameter). What the profiler knows afterwards must be guessed here in two cases. An optimizer that exists but
has not stepped yet is waited for until another one has stepped twice. When the optimizer that ends the steps pauses for long (a warm-up phase is over),
the others go on without it.

Optimizers outside torch.optim have no hook: other_optimizers.py finds them and reports their steps from batches and backward passes."""

from typing import Callable, List, Optional, Set

DORMANT_AFTER = 64  # steps of each of the others


class Turn:
    """What this file needs to know about an optimizer."""

    __slots__ = ("count", "dormant")

    def __init__(self) -> None:
        self.count = 0
        self.dormant = False


class TrainingLoop:
    def __init__(self, step_done: Callable[[int], int], turned: Callable[[int], None]) -> None:
        """step_done(steps so far) is called at the end of each step and returns whether the step that begins is deep (1) or not (0). turned() gets this
        number after the first step and whenever it changes."""
        self._step_done = step_done
        self._turned = turned
        self.watchers: List[Callable[[int], None]] = []  # called with the steps so far after each end
        self.leaving: List[Callable[[], None]] = []  # called after the watchers, if no hook of an optimizer follows
        self._deep = -1
        self._turns: List[Turn] = []  # in the order of their first steps
        self._last: Optional[Turn] = None  # whose step ends a training step
        self._passed_over = 0
        self._awaited: Set[int] = set()
        self.idle: Set[int] = set()  # optimizers that existed before the first step and have not stepped yet
        self.done = 0

    def forget(self) -> None:
        self._turns.clear()
        self.watchers.clear()
        self.leaving.clear()
        self._last = None
        self._turned = lambda deep: None

    def expect(self, identities: Set[int]) -> None:
        """Optimizers that exist but have not stepped yet."""
        self._awaited = set(identities)
        self.idle = set(identities)

    def joined(self, identity: int, turn: Turn) -> None:
        self._turns.append(turn)
        self._awaited.discard(identity)
        self.idle.discard(identity)
        self._last = None

    def left(self, turn: Turn) -> None:
        """The optimizer is gone."""
        if turn in self._turns:
            self._turns.remove(turn)
            self._last = None

    def stepped(self, turn: Turn) -> None:
        """Call after each step of each optimizer; turn.count is up to date. O(1) except for the one that ends the training step."""
        if (len(self._turns) > 1 or self._awaited) and not self._ends_with(turn):
            return
        self._passed_over = 0
        self._end_step(self.done + 1)

    def passed(self, done: int) -> None:
        """This many steps have ended, without an optimizer of torch.optim."""
        self._end_step(done)
        for leave in self.leaving:
            leave()

    def _end_step(self, done: int) -> None:
        self.done = done
        deep = self._step_done(self.done)
        for watch in self.watchers:
            watch(self.done)
        if deep != self._deep:
            self._deep = deep
            self._turned(deep)

    def _ends_with(self, turn: Turn) -> bool:
        if self._awaited:
            if turn.count < 2:
                return False
            self._awaited = set()
            self.done = turn.count - 1  # those were whole steps after all
        turn.dormant = False
        if self._last is not None and self._last is not turn:
            self._passed_over += 1
            if self._passed_over > DORMANT_AFTER * len(self._turns):
                self._last.dormant = True
                self._last = None
            elif turn.count > self._last.count:
                return False
        self._last = min((each for each in reversed(self._turns) if not each.dormant), key=lambda each: each.count)
        return self._last is turn
