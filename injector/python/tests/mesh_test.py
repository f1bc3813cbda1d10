#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rank of a process and its place in meshes and process groups are reported as the program names them. The oracle is PyTorch's own get_coordinate()."""

import json
import unittest
from typing import List

import harness
from harness import MARK_USER, needs_torch

PROGRAM = """
    import json
    import torch
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=13, world_size=16)
    mesh = dist.init_device_mesh("cpu", (2, 4, 2), mesh_dim_names=("pp", "dp", "tp"))
    mesh["dp", "tp"]._flatten("dp_tp")
    dist.new_group([12, 13], group_desc="CONTEXT_PARALLEL_GROUP")
    dist.new_group([0, 1], group_desc="EXPERT_MODEL_PARALLEL_GROUP")  # without this rank
    dist.new_group([12, 13, 14], group_desc="some text of the user")
    dist.new_group([12, 13, 14])
    print(json.dumps([list(mesh.get_coordinate()), list(mesh.shape)]))
    dist.destroy_process_group()
"""


@needs_torch
class MeshTest(unittest.TestCase):
    def test_every_named_dimension_has_its_place(self) -> None:
        done = harness.run_warm(PROGRAM)
        if "ModuleNotFoundError" in done.stderr or "has no attribute" in done.stderr:
            self.skipTest("this torch has no fake process group")
        self.assertEqual(done.exit_code, 0, done.stderr)
        coordinates, shape = json.loads(done.stdout)
        expected = [f"{name} {index}/{size}" for name, index, size in zip(("pp", "dp", "tp"), coordinates, shape)]
        told = self.last(done, "mesh").split(", ")
        self.assertEqual(told[:3], expected)
        self.assertIn("cp 1/2", told)
        self.assertFalse([place for place in told if place.startswith(("ep", "some"))])
        self.assertEqual(self.last(done, "world"), "13/16")
        self.assertEqual(done.failures(), {})

    @staticmethod
    def last(done: harness.Run, fact: str) -> str:
        facts: List[str] = [event.name for event in done.named("mark", MARK_USER) if event.name.startswith(f"meta:own.{fact}=")]
        return facts[-1].partition("=")[2]


if __name__ == "__main__":
    unittest.main()
