# SPDX-License-Identifier: Apache-2.0
"""When to walk over tensors again.

Looking at every parameter, gradient and state tensor costs about 0.8 us each: nothing in a step of 100 ms, too much in one of 0.3 ms.
So: in every step until the answer was the same three times, then as often as a small share of the running time pays for. Large models
are looked at in every step, small ones every few dozen.
"""

from time import monotonic

CALM_LOOKS = 3
SHARE = 1 / 400


class Pace:
    __slots__ = ("always", "calm", "_not_before", "_started", "_spent")

    def __init__(self, always: bool = False) -> None:
        self.always = always
        self.calm = 0
        self._not_before = 0.0
        self._started = 0.0
        self._spent = 0.0

    def due(self) -> bool:
        return self.calm < CALM_LOOKS or self.always or monotonic() >= self._not_before

    def start(self) -> None:
        self._started = monotonic()

    def pause(self) -> None:
        """Between two parts of one look."""
        self._spent += monotonic() - self._started

    def finish(self, changed: bool) -> None:
        now = monotonic()
        self._not_before = now + (self._spent + now - self._started) / SHARE
        self._spent = 0.0
        self.calm = 0 if changed else self.calm + 1
