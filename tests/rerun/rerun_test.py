# SPDX-License-Identifier: Apache-2.0
"""`vramscope whatif` by a re-run: PyTorch runs the noted program again with the change, which shows how much the changed program takes.

Oracle: the change really made to the program, on the same simulated device (`vramscope try --dry`, or the program's own flag). Without --workers
nothing depends on the machine, so allocated and reserved peaks are compared to the byte.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Dict, Set, Tuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import drawn  # noqa: E402
import recorded_run  # noqa: E402

BIN = os.environ["VRAMSCOPE_BIN"]
PYTHON = os.environ.get("VRAMSCOPE_TEST_PYTHON", "")
GPU = "rtx-4090"
TRAIN = [PYTHON, str(HERE / "train.py")]


@drawn.share(5)
class Reruns(unittest.TestCase):
    """One recording for all; each test works on a copy of it."""

    folder: str
    recorded_with_amp = ""

    @classmethod
    def setUpClass(cls) -> None:
        if not PYTHON or not recorded_run.has_package(PYTHON, "torch"):
            raise unittest.SkipTest("needs PyTorch")
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory()) if hasattr(cls, "enterClassContext") else tempfile.mkdtemp()
        cls.environment = {**os.environ, "XDG_CONFIG_HOME": cls.folder + "/config", "VRAMSCOPE_PYTHON": PYTHON}
        cls.recorded = cls.folder + "/recorded.vms"
        cls.call("dryrun", "--gpu", GPU, "--steps", "8", "--program", "on", "-o", cls.recorded, "--", *TRAIN)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def run_command(cls, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([BIN, *words], env={**cls.environment, **more}, capture_output=True, text=True, check=False, timeout=600)

    @classmethod
    def call(cls, *words: str, **more: str) -> str:
        done = cls.run_command(*words, **more)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout

    def copy(self, name: str = "run.vms") -> str:
        folder = tempfile.mkdtemp(dir=self.folder)
        return shutil.copy(self.recorded, os.path.join(folder, name))

    def copy_with_amp(self) -> str:
        """A copy that keeps the re-run of --amp bf16, which is made once."""
        if not self.recorded_with_amp:
            trace = self.copy("with_amp.vms")
            self.whatif(trace, "--amp", "bf16")
            type(self).recorded_with_amp = trace
        return shutil.copy(self.recorded_with_amp, tempfile.mkdtemp(dir=self.folder))

    def whatif(self, trace: str, *changes: str, **more: str) -> Dict[str, Any]:
        return json.loads(self.call("whatif", trace, "--json", *changes, **more))

    @staticmethod
    def peaks(answer: Dict[str, Any]) -> Tuple[int, int]:
        return answer["after"]["peak"]["allocated_bytes"], answer["after"]["peak"]["reserved_peak_bytes"]

    def tried(self, *changes: str) -> Tuple[int, int]:
        """What `vramscope try --dry` measures."""
        answer = json.loads(self.call("try", "--dry", "--gpu", GPU, "--json", "--before", self.recorded, *changes, "--", *TRAIN))
        return answer["after"]["peak"]["allocated_bytes"], answer["after"]["peak"]["reserved_peak_bytes"]

    def test_info_tells_of_the_program(self) -> None:
        info = json.loads(self.call("info", "--json", self.recorded))
        self.assertTrue(info["program"]["runs_again"], info["program"])
        self.assertTrue(info["program"]["recorded_here"])
        self.assertGreater(info["program"]["step"], 4)
        self.assertLess(info["program"]["bytes"], 100_000)
        self.assertEqual(info["variants"], [])
        self.assertIn("program", self.call("info", self.recorded))

    def test_autocast_is_what_the_changed_program_takes(self) -> None:
        trace = self.copy()
        answer = self.whatif(trace, "--amp", "bf16")
        self.assertEqual(answer["kind"], "re-run")
        self.assertEqual(answer["levers"][0]["kind"], "re-run")
        self.assertEqual(answer["program_run"], {"gpu": GPU, "was_kept": False})
        self.assertEqual(answer["notes"], [])
        self.assertEqual(self.peaks(answer), self.tried("--amp", "bf16"))
        peak = answer["after"]["peak"]
        self.assertTrue(peak["allocated_bytes"] <= peak["reserved_bytes"] <= peak["reserved_peak_bytes"], peak)

    def test_twice_the_batch_is_what_the_changed_program_takes(self) -> None:
        self.assertEqual(self.peaks(self.whatif(self.copy(), "--batch", "2x")), self.tried("--batch", "2x"))

    def test_an_optimizer_of_which_products_are_taken_is_what_the_changed_program_takes(self) -> None:
        trace = self.copy()
        answer = self.whatif(trace, "--optimizer", "adafactor")
        self.assertEqual(answer["kind"], "re-run")
        self.assertEqual(answer["levers"][0]["code"], "torch.optim.Adafactor(model.parameters(), lr=...)")
        self.assertEqual(self.peaks(answer), self.tried("--optimizer", "adafactor"))
        both = self.whatif(trace, "--checkpoint", "all", "--optimizer", "adafactor", VRAMSCOPE_PYTHON="/bin/false")
        self.assertEqual([(lever["lever"], lever["kind"]) for lever in both["levers"]], [("optimizer", "re-run"), ("checkpoint", "transformed")])

    def test_16_bits_are_what_the_changed_program_takes(self) -> None:
        answer = json.loads(self.call("dryrun", "--gpu", GPU, "--json", "--", *TRAIN, "--bf16"))
        made = answer["peak"]["allocated_bytes"], answer["devices"][0]["peak_reserved_bytes"]
        self.assertEqual(self.peaks(self.whatif(self.copy(), "--precision", "bf16")), made)

    def test_the_second_time_no_python_starts(self) -> None:
        trace = self.copy()
        first = self.whatif(trace, "--amp", "bf16")
        second = self.whatif(trace, "--amp", "bf16", VRAMSCOPE_PYTHON="/bin/false")
        self.assertTrue(second["program_run"]["was_kept"])
        self.assertEqual(self.peaks(first), self.peaks(second))
        self.assertEqual(len(json.loads(self.call("info", "--json", trace))["variants"]), 2)  # and the unchanged program

    def test_what_moves_lives_is_computed_on_the_variant(self) -> None:
        trace = self.copy_with_amp()
        plain = self.whatif(trace, "--amp", "bf16", VRAMSCOPE_PYTHON="/bin/false")
        answer = self.whatif(trace, "--amp", "bf16", "--optimizer", "sgd", VRAMSCOPE_PYTHON="/bin/false")
        self.assertEqual([lever["kind"] for lever in answer["levers"]], ["re-run", "transformed"])
        self.assertEqual(answer["kind"], "transformed")
        self.assertLess(self.peaks(answer)[0], self.peaks(plain)[0])

    def test_a_read_only_trace_has_its_variants_beside_it(self) -> None:
        trace = self.copy()
        os.chmod(trace, 0o444)
        size = os.path.getsize(trace)
        first = self.whatif(trace, "--amp", "bf16")
        self.assertEqual(os.path.getsize(trace), size)
        self.assertTrue(os.path.exists(trace + ".variants"))
        self.assertEqual(self.peaks(self.whatif(trace, "--amp", "bf16", VRAMSCOPE_PYTHON="/bin/false")), self.peaks(first))

    def test_a_program_of_another_account_is_run_only_when_asked(self) -> None:
        trace = self.copy()
        foreign = self.folder + "/another"
        refused = self.run_command("whatif", trace, "--amp", "bf16", XDG_CONFIG_HOME=foreign)
        self.assertEqual(refused.returncode, 3)
        self.assertIn("--by rerun", refused.stderr)
        self.assertEqual(json.loads(self.call("info", "--json", trace))["variants"], [])
        self.whatif(trace, "--amp", "bf16", "--by", "rerun", XDG_CONFIG_HOME=foreign)

    def test_without_a_program_the_command_to_try_is_named(self) -> None:
        trace = self.folder + "/without.vms"
        self.call("dryrun", "--gpu", GPU, "--program", "off", "-o", trace, "--", *TRAIN)
        for change in (["--by", "rerun", "--amp", "bf16"], ["--optimizer", "adafactor"]):
            refused = self.run_command("whatif", trace, *change)
            self.assertEqual(refused.returncode, 3)
            self.assertIn(f"vramscope try --dry --gpu {GPU} {' '.join(change[-2:])} -- {' '.join(TRAIN)}", refused.stderr)

    def test_what_pytorch_refuses_is_the_answer(self) -> None:
        refused = self.run_command("whatif", self.copy(), "--amp", "bf16", VRAMSCOPE_PYTHON="/bin/false")
        self.assertEqual(refused.returncode, 3)
        self.assertIn("--amp bf16 is not known", refused.stderr)
        self.assertIn("vramscope try --dry", refused.stderr)

    def test_what_is_wrong_is_said_before_anything_runs(self) -> None:
        for words, part in {("--amp", "bf17"): "--amp bf17: must be bf16 or fp16", ("--batch", "0"): "a factor like 0.5x",
                            ("--optimizer", "adafactor:fused"): "no fused Adafactor"}.items():
            wrong = self.run_command("whatif", self.recorded, *words, VRAMSCOPE_PYTHON="/bin/false")
            self.assertEqual((wrong.returncode, wrong.stderr.count("\n")), (2, 1), wrong.stderr)
            self.assertIn(part, wrong.stderr)
        without = self.run_command("whatif", self.recorded, "--amp", "bf16", VRAMSCOPE_PYTHON="no-such-python")
        self.assertEqual(without.returncode, 3)
        self.assertIn("no-such-python: command not found. Set VRAMSCOPE_PYTHON to a Python that has PyTorch, such as the program's own: "
                      "VRAMSCOPE_PYTHON=.venv/bin/python. Apply the change", without.stderr)
        without = self.run_command("whatif", self.recorded, "--amp", "bf16", VRAMSCOPE_PYTHON="/bin/false")
        self.assertEqual(without.returncode, 3)
        self.assertIn(" Set VRAMSCOPE_PYTHON to a Python that has PyTorch, such as the program's own: VRAMSCOPE_PYTHON=.venv/bin/python. Apply",
                      without.stderr)

    def test_a_wrong_value_of_any_change_starts_nothing(self) -> None:
        names = re.findall(r"^ *--([a-z-]+) ", self.call("whatif", "--list"), re.MULTILINE)
        self.assertGreater(len(names), 15)
        started = os.path.join(self.folder, "started")
        command = ["--", "touch", started]
        for name in names:
            value = "," if name in ("freeze", "checkpoint") else "no-such-value"
            # no-such.vms does not exist: values are checked before the trace is opened.
            for words in (["whatif", self.recorded, f"--{name}", value], ["whatif", "no-such.vms", f"--{name}", value],
                          ["whatif", self.recorded, "--compare", f"amp=bf16 {name}={value}"],
                          ["try", f"--{name}", value, *command], ["plan", self.recorded, "--fit", "8GiB", "--allow", f"{name},no-such-change"]):
                if words[0] == "try" and name == "zero-grad":
                    words[1] = "--zero-grad-to-none"
                with self.subTest(words=words):
                    wrong = self.run_command(*words, VRAMSCOPE_PYTHON="/bin/false")
                    self.assertEqual((wrong.returncode, wrong.stdout, wrong.stderr.count("\n")), (2, "", 1), wrong.stderr)
                    self.assertIn("no-such-change" if words[0] == "plan" else name, wrong.stderr)
        for words in (["whatif", self.recorded, "--amp", "bf16", "--gpu", "gtx-480"], ["plan", self.recorded, "--fit", "8GiB", "--gpu", "gtx-480"],
                      ["whatif", self.recorded, "--sweep", "batch=0..4"], ["whatif", self.recorded, "--amp", "bf16", "--limit", "0"],
                      ["whatif", self.recorded, "--amp", "bf16", "--by", "guess"], ["plan", self.recorded, "--fit", "8GiB", "--by", "guess"]):
            with self.subTest(words=words):
                wrong = self.run_command(*words, VRAMSCOPE_PYTHON="/bin/false")
                self.assertEqual((wrong.returncode, wrong.stdout, wrong.stderr.count("\n")), (2, "", 1), wrong.stderr)
        self.assertFalse(os.path.exists(started))

    def test_a_sweep_runs_each_point(self) -> None:
        trace = self.copy()
        answer = self.whatif(trace, "--sweep", "batch=16..32:16")
        self.assertEqual([one["kind"] for one in answer["cases"]], ["re-run", "re-run"])
        small, same = ((one["after"]["peak"]["allocated_bytes"]) for one in answer["cases"])
        self.assertLess(small, same)
        self.assertEqual(same, answer["before"]["peak"]["allocated_bytes"])

    def test_one_that_fails_leaves_the_others_their_answers(self) -> None:
        done = self.run_command("whatif", self.copy(), "--json", "--compare", "amp=bf16", "--compare", "freeze=nothing.of.this", "--compare", "batch=2x")
        self.assertEqual(done.returncode, 3, done.stderr)
        cases = json.loads(done.stdout)["cases"]
        self.assertEqual([bool(case["refused"]) for case in cases], [False, True, False])
        self.assertIn("no trained parameter", cases[1]["refused"][0]["reason"])
        self.assertEqual(self.peaks(cases[0]), self.peaks(self.whatif(self.copy_with_amp(), "--amp", "bf16")))

    def test_plans_are_made_before_they_are_told(self) -> None:
        trace = self.copy()
        used = json.loads(self.call("report", "--json", trace))["devices"][0]["peak_device_used_bytes"]
        answer = json.loads(self.call("plan", trace, "--fit", f"{used - (8 << 20)}B", "--json", "--top", "2"))
        self.assertTrue(answer["plans"])
        for plan in answer["plans"]:
            changes = [word for change in plan["changes"] for word in (f"--{change['lever']}", change["value"])]
            with self.subTest(" ".join(changes)):
                self.assertTrue(plan["rerun"]["fits"])
                self.assertEqual((plan["rerun"]["allocated_bytes"], plan["rerun"]["reserved_bytes"]), self.tried(*changes))

    def test_the_usual_re_runs_are_made_after_a_dry_run(self) -> None:
        trace = self.folder + "/usual.vms"
        environment = {key: value for key, value in self.environment.items() if key not in ("VRAMSCOPE_VARIANTS", "VRAMSCOPE_PYTHON")}
        subprocess.run([BIN, "dryrun", "--gpu", GPU, "-o", trace, "--", *TRAIN], env=environment, capture_output=True, check=True, timeout=600)
        usual = {"amp=bf16", "amp=fp16", "precision=bf16", "batch=0.5x"}
        ends = time.monotonic() + 900  # they run only when the machine is idle
        made: Set[str] = set()
        while not usual <= made and time.monotonic() < ends:
            time.sleep(0.5)
            made = {each["key"].partition(" @")[0] for each in json.loads(self.call("info", "--json", trace))["variants"]}
        self.assertLessEqual(usual, made)
        answer = self.whatif(trace, "--amp", "bf16", VRAMSCOPE_PYTHON="/bin/false")
        self.assertEqual(self.peaks(answer), self.peaks(self.whatif(self.copy_with_amp(), "--amp", "bf16")))

    def test_quantized_weights_take_less(self) -> None:
        trace = self.copy()
        frozen = self.peaks(self.whatif(trace, "--freeze", "layers"))[0]
        answer = self.whatif(trace, "--compare", "quantize=int8:layers freeze=layers", "--compare", "quantize=nf4:layers freeze=layers")
        int8, nf4 = (case["after"]["peak"]["allocated_bytes"] for case in answer["cases"])
        self.assertLess(int8, frozen)
        self.assertLess(nf4, int8)

    def test_a_run_that_takes_too_long_is_ended(self) -> None:
        slow = Path(self.folder) / "slow_python"
        slow.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
        slow.chmod(0o755)
        refused = self.run_command("whatif", self.copy(), "--amp", "bf16", "--limit", "1", VRAMSCOPE_PYTHON=str(slow),
                                   PATH=f"{Path(PYTHON).parent}:{os.environ['PATH']}")  # what a script starts is known from there
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn("--limit", refused.stderr)

    def test_killed_at_any_moment_the_trace_stays_readable(self) -> None:
        trace = self.copy()
        events = json.loads(self.call("info", "--json", trace))["events"]
        for delay in (0.5, 2.0, 4.0):
            process = subprocess.Popen([BIN, "whatif", trace, "--amp", "bf16"], env=self.environment, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(delay)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            info = json.loads(self.call("info", "--json", trace))
            self.assertEqual(info["events"], events)
            self.assertEqual(info["dropped_events"], 0)
        self.whatif(trace, "--amp", "bf16")


if __name__ == "__main__":
    unittest.main(verbosity=2)
