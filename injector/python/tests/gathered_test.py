#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parameters that FSDP2 has gathered are reported as gathered, with their addresses, at every gather."""

import json
import unittest

import harness
from harness import COMMUNICATION, needs_torch

PROGRAM = """
    import json
    import torch
    import torch.distributed as dist
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        raise SystemExit("no fully_shard")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 4))
    mesh = dist.init_device_mesh("cpu", (1,))
    fully_shard(model[0], mesh=mesh, reshard_after_forward=False)
    fully_shard(model, mesh=mesh)
    with torch.no_grad():
        model(torch.ones(2, 4))
    storage = model[0].weight.untyped_storage()
    print(json.dumps([storage.data_ptr(), storage.nbytes()]))
    dist.destroy_process_group()
"""


@needs_torch
class GatheredTest(unittest.TestCase):
    def test_each_parameter_where_it_was_gathered(self) -> None:
        done = harness.run(PROGRAM)
        if "no fully_shard" in done.stderr:
            self.skipTest("this torch has no fully_shard")
        self.assertEqual(done.exit_code, 0, done.stderr)
        labels = done.labels(COMMUNICATION)
        self.assertEqual(set(labels), {f"gathered copy of {layer}.{key}" for layer in "01" for key in ("weight", "bias")})
        address, size = json.loads(done.stdout)
        self.assertEqual(labels["gathered copy of 0.weight"][-1][:2], (address, size))


if __name__ == "__main__":
    unittest.main()
