# SPDX-License-Identifier: Apache-2.0
"""Tests how much `whatif --shard` leaves of parameters, gradients and optimizer state on one rank.

Oracles: the formulas of ZeRO (Rajbhandari et al., SC'20, section 5) and two published figures that follow from them. Its table, 7.5 billion parameters on 64
GPUs, is 120 GB unsharded and 1.88 GB in stage 3, at 16 bytes a parameter. Its 31.4 and 16.6 GB for the stages in between assume 16-bit parameters and
gradients and a 32-bit copy. PyTorch's float32 training divides the same 16 bytes in another way, so there we check the parts. In a recording of 3.41
billion parameters on two ranks (sharded_optimizer_* in docs/accuracy.md) the optimizer's state fell from 25.383 GiB to 12.691 GiB.
"""

import json
import sys
from pathlib import Path
from typing import Dict

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import recorded_run  # noqa: E402

PARAMETERS = 64 * 512 * 512  # of equal_layers.py
MOST = 0.003  # bytes a parameter: each state also has a step count, a block of 512 bytes
GATHERED = 4.0


class States(recorded_run.RecordingTest):
    def test_one_rank_keeps_what_the_formulas_say(self) -> None:
        trace = self.folder / "run.vms"
        command = [recorded_run.vramscope(), "dryrun", "--steps", "all", "--gpu", "a100-40gb", "-o", str(trace), "--", recorded_run.python(), str(HERE / "equal_layers.py")]
        done = recorded_run.run(command, timeout=900)
        self.assertEqual(done.code, 0, done.stderr.decode())
        for shard, (parameter, gradient, state) in {"": (4, 4, 8), "zero1:2": (4, 4, 8 / 2), "zero1:64": (4, 4, 8 / 64), "zero2:64": (4 / 64, 4 / 64, 8 / 64),
                                                    "zero3:64": (4 / 64, 4 / 64, 8 / 64)}.items():
            with self.subTest(shard=shard or "none"):
                found = self.at_peak(trace, shard)
                self.assertAlmostEqual(found["parameter"], parameter, delta=MOST)
                self.assertAlmostEqual(found["gradient"], gradient, delta=MOST)
                self.assertAlmostEqual(found["optimizer_state"], state, delta=MOST)
                if shard == "zero2:64":  # the whole parameters, until backward ends
                    self.assertAlmostEqual(found["communication"], GATHERED, delta=MOST)
        self.assertAlmostEqual(7.5 * self.states(trace, ""), 120, delta=0.1)
        self.assertAlmostEqual(7.5 * self.states(trace, "zero3:64"), 1.88, delta=0.03)
        self.assertAlmostEqual(25.383 * self.at_peak(trace, "zero1:2")["optimizer_state"] / self.at_peak(trace, "")["optimizer_state"], 12.691, delta=0.01)

    def states(self, trace: Path, shard: str) -> float:
        found = self.at_peak(trace, shard)
        return found["parameter"] + found["gradient"] + found["optimizer_state"]

    def at_peak(self, trace: Path, shard: str) -> Dict[str, float]:
        """Bytes a parameter, by category."""
        answer = recorded_run.ask("whatif", str(trace), *(["--shard", shard] if shard else []))
        self.assertEqual(answer["refused"], [], json.dumps(answer["refused"]))
        return {category: size / PARAMETERS for category, size in answer["after"]["peak"]["categories"].items()}


if __name__ == "__main__":
    recorded_run.main()
