#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Variables that a program itself sets in its environment are reported as metadata, like the recorder's own."""

import unittest
from typing import List

import harness
import drawn
from harness import MARK_USER, needs_torch

STEPS = """
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""


@drawn.share(3)
@needs_torch
class SettingsTest(unittest.TestCase):
    def told(self, program: str, deep: str = "1-99") -> List[str]:
        done = harness.run(program, environment={"VRAMSCOPE_STUB_DEEP": deep, "CUBLAS_WORKSPACE_CONFIG": "", "PYTORCH_CUDA_ALLOC_CONF": ""})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        facts = [event.name for event in done.named("mark", MARK_USER)]
        return [fact[len("meta:program."):] for fact in facts if fact.startswith("meta:program.") and not fact.endswith("=")]

    def test_what_packages_set_as_they_are_imported(self) -> None:
        set_it = "    import os\n    import torch\n    os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'\n    os.environ['CUBLASLT_WORKSPACE_SIZE'] = '1024'\n"
        wanted = ["cublas_workspace_config=:4096:8", "cublaslt_workspace_size=1024"]
        self.assertEqual(self.told(set_it + STEPS, "2-3"), wanted, "once, when a product has read it")
        self.assertEqual(self.told(set_it + STEPS, "1-3"), wanted, "deep from the beginning, as by default")
        self.assertEqual(self.told(set_it, "2-3"), [], "no step was deep")

    def test_what_a_script_sets_before_torch_is_there(self) -> None:
        told = self.told("    import os\n    os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'max_split_size_mb:128'\n    import torch\n")
        self.assertEqual(told, ["pytorch_cuda_alloc_conf=max_split_size_mb:128"])


if __name__ == "__main__":
    unittest.main()
