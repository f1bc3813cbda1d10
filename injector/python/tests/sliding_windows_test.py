#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far back attention looks, as modules and their configurations say it."""

import unittest
from typing import List, Tuple

import harness
from harness import MARK_SLIDING_WINDOW, needs_torch

MODEL = """
    import torch
    from torch import nn

    class Config:
        def __init__(self, **values):
            self.__dict__.update(values)

    class Attention(nn.Module):
        def __init__(self, config, **values):
            super().__init__()
            self.config = config
            self.__dict__.update(values)

        def forward(self, x):
            return x + 1
"""


@needs_torch
class SlidingWindowsTest(unittest.TestCase):
    def told(self, program: str, deep: str = "1-99") -> List[Tuple[str, int]]:
        done = harness.run(program, MODEL, environment={"VRAMSCOPE_STUB_DEEP": deep})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        self.assertEqual({}, done.failures())
        return [(event.name, event.number[1]) for event in done.named("mark", MARK_SLIDING_WINDOW)]

    def test_of_each_configuration_and_module_once(self) -> None:
        program = """
    config = Config(sliding_window=64)
    model = nn.Sequential(Attention(config), Attention(config), Attention(None, sliding_window=32), Attention(Config(attention_chunk_size=128)))
    model(torch.ones(2))
"""
        self.assertEqual(self.told(program), [("sliding_window", 64), ("sliding_window", 32), ("attention_chunk_size", 128)])

    def test_nothing_where_there_is_no_number(self) -> None:
        program = """
    for config in (None, {}, Config(sliding_window=None), Config(sliding_window=True), Config(sliding_window="64"), Config(sliding_window=0), Config(window=3)):
        Attention(config)(torch.ones(2))
    nn.Linear(2, 2)(torch.ones(2))
"""
        self.assertEqual(self.told(program), [])

    def test_nothing_without_deep_steps(self) -> None:
        self.assertEqual(self.told("    Attention(Config(sliding_window=64))(torch.ones(2))\n", deep="7-8"), [])


if __name__ == "__main__":
    unittest.main()
