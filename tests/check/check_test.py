# SPDX-License-Identifier: Apache-2.0
"""`vramscope check` of a real run. The oracles are the verbs that its figures come from, and XML as Python reads it."""
import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))

import device as simulated_device
import recorded_run
from recorded_run import SAMPLES, RecordingTest, python

PASS, FAIL, BAD_INPUT, NOT_JUDGED = 0, 1, 2, 3


class Check(RecordingTest):
    def check(self, *arguments: str) -> Tuple[int, str, str]:
        done = recorded_run.run([recorded_run.vramscope(), "check", *arguments])
        return done.code, done.stdout.decode(), done.stderr.decode()

    def judged(self, trace: Path, *rules: str) -> List[Any]:
        code, said, _ = self.check(str(trace), *rules, "--json")
        self.assertIn(code, (PASS, FAIL, NOT_JUDGED))
        return json.loads(said)["rules"]

    def test_a_real_run_is_held_to_its_own_figures(self) -> None:
        # One recording of ten steps for all rules. The limits are one byte above and below the figures of the other verbs.
        command = [python(), str(SAMPLES / "mlp_small.py"), "--device", "cuda", "--steps", "10", "--log-every", "10"]
        trace = self.recorded(command, env=simulated_device.environment(python()))
        report = recorded_run.ask("report", str(trace))
        frag = recorded_run.ask("frag", str(trace))
        device = next(device for device in report["devices"] if device["chosen"])
        figures = [("--peak-below", report["peak"]["allocated_bytes"]), ("--reserved-below", device["peak_reserved_bytes"]),
                   ("--device-used-below", device["peak_device_used_bytes"])]
        for option, figure in figures:
            with self.subTest(option):
                self.assertEqual(self.check(str(trace), option, f"{figure + 1}B")[0], PASS)
                self.assertEqual(self.check(str(trace), option, f"{figure}B")[0], FAIL)
        figure = report["peak"]["categories"]["parameter"]
        rules = [word for option, figure in figures for word in (option, f"{figure + 1}B")]
        rules += ["--category", f"parameter<{figure}B", "--frag-below", "100%", "--no-leak-per-step", "--baseline", str(trace), "--tolerance", "2%"]
        verdicts = {verdict["rule"]: verdict for verdict in self.judged(trace, *rules)}
        self.assertEqual(verdicts["category"]["measured_bytes"], figure)
        self.assertEqual(verdicts["frag_below"]["measured"], frag["fragmentation"])
        self.assertEqual(verdicts["baseline"]["measured_bytes"], report["peak"]["allocated_bytes"])
        self.assertEqual([name for name, verdict in verdicts.items() if verdict["result"] != "pass"], ["category"])

        junit, markdown = self.folder / "out.xml", self.folder / "out.md"
        code, said, _ = self.check(str(trace), *rules, "--junit", str(junit), "--markdown", str(markdown))
        self.assertEqual(code, FAIL)
        self.assertEqual(said.splitlines()[0], "1 of 7 rules is broken.")
        suite = ElementTree.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("7", "1", "0"))
        broken = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
        self.assertEqual(broken, [f"--category parameter<{figure}B"])
        self.assertEqual(len([line for line in markdown.read_text().splitlines() if line.startswith("| :")]), 7)

        # A rule about something that is not recorded is neither kept nor broken. If another rule is broken, that decides.
        self.assertEqual(self.check(str(trace), "--device", "cpu", "--reserved-below", "1GiB")[0], NOT_JUDGED)
        self.assertEqual(self.check(str(trace), "--device", "cpu", "--reserved-below", "1GiB", "--peak-below", "1B")[0], FAIL)

    def test_rules_that_say_nothing_are_refused_by_name(self) -> None:
        for rules, word in (((), "needs a rule"), (("--peak-below", "much"), "--peak-below"), (("--category", "love<1GiB"), "love"),
                            (("--frag-below", "15"), "--frag-below"), (("--tolerance", "2%"), "--baseline")):
            with self.subTest(rules):
                code, _, error = self.check("run.vms", *rules)
                self.assertEqual(code, BAD_INPUT)
                self.assertIn(word, error)


if __name__ == "__main__":
    recorded_run.main()
