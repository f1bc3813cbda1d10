# SPDX-License-Identifier: Apache-2.0
"""Decides when to examine tensors again.

Examining every parameter, gradient and state tensor costs about 0.8 us each: nothing in a step of 100 ms, too much in one of 0.3 ms. So we look in
every step until three looks in a row found no change. After that, looks take at most 1/400 of the running time: large models are examined in every
step, small ones every few dozen."""

from time import monotonic

CALM_LOOKS = 3
SHARE = 1 / 400


class Pace:
    __slots__ = ("always", "calm", "next_look", "_started", "_spent")

    def __init__(self) -> None:
        self.always = False
        self.calm = 0
        self.next_look = 0.0  # a look is due when monotonic() is later than this
        self._started = 0.0
        self._spent = 0.0

    def start(self) -> None:
        self._started = monotonic()

    def pause(self) -> None:
        """Stops the clock between two parts of one look."""
        self._spent += monotonic() - self._started

    def finish(self, changed: bool) -> None:
        now = monotonic()
        self.calm = 0 if changed else self.calm + 1
        self.next_look = 0.0
        if self.calm >= CALM_LOOKS and not self.always:
            self.next_look = now + (self._spent + now - self._started) / SHARE
        self._spent = 0.0
