# SPDX-License-Identifier: Apache-2.0
"""The driver's records against the simulated device's own ledger: after every call, to the byte, by library."""
import json
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import RecordingTest, clean_environment, events, record, target  # noqa: E402
from ledger import DriverSum, ledger_rows  # noqa: E402

DRIVER_EVENTS = ("driver_alloc", "driver_free", "driver_map", "driver_total")


def simulated_folder(release: str = "cuda13") -> str:
    return str(Path(recorded_run.vramscope()).resolve().parent.parent / "lib/vramscope/simulated_cuda" / release)


class Calls(RecordingTest):
    def steps(self, *arguments: str, **variables: str) -> List[Dict[str, Any]]:
        """Runs the program; its steps, each with what the records before its mark add up to."""
        trace = self.folder / "run.vms"
        environment = clean_environment(LD_LIBRARY_PATH=simulated_folder(), **variables)
        done = record(trace, [target("driver_calls"), *arguments], env=environment)
        self.assertEqual(done.code, 0, done.stderr.decode())
        steps = [json.loads(line) for line in done.stdout.splitlines()]
        self.sum = DriverSum()
        self.names = set()
        at = 0
        for event in events(trace, "mark", *DRIVER_EVENTS):
            if event.type != "mark":
                self.sum.add(event)
                if event.type == "driver_alloc":
                    self.names.add(event.fields[4])
            elif event.fields[0] == "9":
                self.assertEqual(event.number(1), steps[at]["step"])
                steps[at]["rows"] = self.sum.rows()
                at += 1
        self.assertEqual(at, len(steps), "every step is marked")
        return steps

    def assert_equal_at_every_step(self, steps: List[Dict[str, Any]]) -> None:
        for step in steps:
            self.assertEqual(step["rows"], ledger_rows(step["ledger"]), f'after step {step["step"]}, {step["call"]}')
        self.assertGreater(len(steps), 30)
        self.assertGreater(self.sum.samples, 0)
        self.assertFalse(self.sum.host)

    def test_functions_found_by_dlsym(self) -> None:
        self.assert_equal_at_every_step(self.steps("dlsym"))

    def test_functions_found_by_cu_get_proc_address(self) -> None:
        self.assert_equal_at_every_step(self.steps("address"))

    def test_the_switch_leaves_everything_alone(self) -> None:
        steps = self.steps("dlsym", VRAMSCOPE_NO_DRIVER_HOOKS="1")
        self.assertTrue(all(step["rows"] == {} for step in steps))


if __name__ == "__main__":
    recorded_run.main()
