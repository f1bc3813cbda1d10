# SPDX-License-Identifier: Apache-2.0
"""After an attach the report agrees with PyTorch's own introspection as it does in a recording from the start."""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent, HERE.parent / "simulated_cuda", HERE.parent / "truth"):
    sys.path.insert(0, str(folder))

import device as simulated_device
import drawn
import recorded_run
import truth_test
from attach_test import Training, attach
from compare import compare
from recorded_run import SAMPLES
import tracing  # noqa: E402  next to this file

ATTACHED_AFTER = "2"
STEPS = "4,6"  # whole steps after the one in which it was attached to


@drawn.share(2)
class Agreement(Training):
    def check(self, device: str, **options: object) -> None:
        points_file, trace = self.folder / "points.jsonl", self.folder / "run.vms"
        program = [str(SAMPLES / "gpt.py"), "--device", device.split(":")[0], "--steps", "6", *truth_test.Gpt.size]
        process = self.start(str(HERE / "attached_oracle.py"), ATTACHED_AFTER, "--points", str(points_file), "--steps", STEPS,
                             "--devices", device, *program, **options)
        done = attach(process.pid, "-o", str(trace))
        self.assertEqual(done.code, 0, done.stderr.decode())
        _, errors = process.communicate("", timeout=900)
        self.assertEqual(process.returncode, 0, errors)
        points = [point for point in truth_test.read_points(points_file) if point["device"] == device]
        self.assertGreaterEqual(len(points), 10, "5 points of each of 2 steps")
        at = [argument for point in points for argument in ("--at", f"mono:{(point['before_ns'] + point['after_ns']) // 2}")]
        moments = recorded_run.ask("report", str(trace), "--device", device, "--blocks", *at)["moments"]
        differences = compare(points, moments)
        self.assertEqual(differences, [], "\n".join(map(str, differences[:12])))

    def test_on_the_cpu(self) -> None:
        self.check("cpu")

    def test_on_the_simulated_gpu(self) -> None:
        interpreter = recorded_run.python()
        if not simulated_device.is_served(interpreter):
            self.skipTest("this torch has no CUDA part")
        self.check("cuda:0", env=simulated_device.environment(interpreter, "a100-40gb"))


if __name__ == "__main__":
    if not tracing.is_allowed():
        print("this system lets nobody trace")
        sys.exit(77)  # ctest shows it as skipped
    recorded_run.main()
