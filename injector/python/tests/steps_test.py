#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where training steps end, derived from the order in which optimizers step. No torch needed."""

import sys
import unittest
from typing import Dict, List

import harness

sys.path.insert(0, harness.SHIM)

from vramscope_shim.steps import DORMANT_AFTER, TrainingLoop, Turn  # noqa: E402


class Program:
    """step("D") is a step of optimizer D; `ends` are the positions after which a training step ended. Steps 2 and 3 are deep."""

    def __init__(self, awaited: str = "") -> None:
        self.turns_to_deep: List[int] = []
        self.steps: List[str] = []
        self.ends: List[int] = []
        self.numbers: List[int] = []
        self._loop = TrainingLoop(self._ended, self.turns_to_deep.append)
        self._loop.expect({ord(name) for name in awaited})
        self._turns: Dict[str, Turn] = {}

    def step(self, name: str) -> None:
        if name not in self._turns:
            self._turns[name] = Turn()
            self._loop.joined(ord(name), self._turns[name])
        self.steps.append(name)
        self._turns[name].count += 1
        self._loop.stepped(self._turns[name])

    def gone(self, name: str) -> None:
        self._loop.left(self._turns.pop(name))

    def _ended(self, number: int) -> int:
        self.ends.append(len(self.steps))
        self.numbers.append(number)
        return int(number + 1 in (2, 3))

    def run(self, order: str) -> "Program":
        for name in order:
            self.step(name)
        return self


class TrainingLoopTest(unittest.TestCase):
    def test_deep_steps_are_told_when_they_begin_and_end(self) -> None:
        self.assertEqual(Program().run("A").turns_to_deep, [1], "also after the first step")
        self.assertEqual(Program().run("AAAAAA").turns_to_deep, [1, 0])

    def test_one_optimizer_ends_each_step(self) -> None:
        program = Program().run("AAAA")
        self.assertEqual(program.ends, [1, 2, 3, 4])
        self.assertEqual(program.numbers, [1, 2, 3, 4])

    def test_of_two_that_take_turns_the_second_ends_the_step(self) -> None:
        self.assertEqual(Program(awaited="DG").run("DGDGDG").ends, [2, 4, 6])

    def test_the_one_that_steps_less_often_ends_the_step(self) -> None:
        self.assertEqual(Program(awaited="DG").run("DDDDDGDDDDDG").ends[-1], 12)
        self.assertEqual(len(Program(awaited="DG").run("DDDDDGDDDDDG" * 5).ends) - len(Program(awaited="DG").run("DDDDDGDDDDDG" * 3).ends), 4)

    def test_an_optimizer_that_never_steps_is_not_waited_for(self) -> None:
        program = Program(awaited="AZ").run("AAAA")
        self.assertEqual(program.ends, [2, 3, 4])
        self.assertEqual(program.numbers, [2, 3, 4], "the first step is counted although its end went unseen")

    def test_one_optimizer_per_parameter_ends_with_the_last(self) -> None:
        names = "ABCDEFGHIJ"
        self.assertEqual(Program(awaited=names).run(names * 4).ends, [10, 20, 30, 40])

    def test_a_replaced_optimizer_hands_on(self) -> None:
        program = Program().run("AAA")
        program.gone("A")
        program.run("BBB")
        self.assertEqual(program.ends, [1, 2, 3, 4, 5, 6])

    def test_an_optimizer_that_fell_asleep_is_passed_over(self) -> None:
        program = Program(awaited="AB").run("AB" * 3 + "A" * 3 * DORMANT_AFTER)
        self.assertGreater(len(program.ends), 3)
        before = len(program.ends)
        program.run("AAAA")
        self.assertEqual(len(program.ends), before + 4)


if __name__ == "__main__":
    unittest.main()
