#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real Keras programs on TensorFlow, recorded on the CPU and on simulated GPUs. The oracles are Keras, which reports the bytes of its variables, and
TensorFlow, which reports the peak of each GPU.

Needs VRAMSCOPE_TENSORFLOW_PYTHON, a Python that has TensorFlow. One program takes about 4 CPU seconds, nearly all of them in `import tensorflow`."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from collections import defaultdict
from pathlib import Path
from typing import Any, Dict, List, Set

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from recorded_run import SAMPLES, RecordingTest, ask  # noqa: E402

PYTHON = os.environ.get("VRAMSCOPE_TENSORFLOW_PYTHON", "")
PARAMETER, GRADIENT, OPTIMIZER_STATE = 1, 3, 4
PROVEN = 2
STEPS = 4
WHEEL = bool(PYTHON) and any(Path(PYTHON).parent.parent.glob("lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas"))
PTXAS = WHEEL or shutil.which("ptxas", path=f"/usr/local/cuda/bin:{os.environ['PATH']}") is not None


@drawn.share(6)
@unittest.skipUnless(PYTHON, "set VRAMSCOPE_TENSORFLOW_PYTHON to a Python that has TensorFlow")
class KerasTest(RecordingTest):
    prelude = ""  # runs before the sample, in its process

    def program(self) -> List[str]:
        path = str(SAMPLES / "keras_train.py")
        if not self.prelude:
            return [PYTHON, path]
        return [PYTHON, "-c", f"import runpy; {self.prelude}; runpy.run_path({path!r}, run_name='__main__')"]

    def train(self, *options: str) -> None:
        self.truth_file = self.folder / "truth.json"
        sample = [*self.program(), "--steps", str(STEPS), "--truth", str(self.truth_file), *options]
        self.trace = self.recorded(sample)
        self.truth: Dict[str, Any] = json.loads(self.truth_file.read_text(encoding="utf-8"))
        self.labels: Dict[int, Dict[str, Set[int]]] = defaultdict(lambda: defaultdict(set))
        for event in recorded_run.events(self.trace, "label"):
            self.labels[event.number(2)][event.fields[4].replace("_of_", " of ")].add(event.number(1))

    def check_variables(self) -> None:
        self.assertEqual(self.sizes(PARAMETER, self.truth["parameter"]), self.truth["parameter"])
        slots = self.labels[OPTIMIZER_STATE]
        self.assertEqual(len(slots), len(self.truth["optimizer_state"]))
        self.assertEqual(sum(next(iter(sizes)) for sizes in slots.values()), sum(self.truth["optimizer_state"].values()))

    def sizes(self, role: int, expected: Dict[str, int]) -> Dict[str, int]:
        return {name: next(iter(self.labels[role][name])) for name in expected if len(self.labels[role][name]) == 1}

    def category(self, name: str) -> int:
        """Bytes of this category at the peak of a step in the middle of the run."""
        moment = ask("report", str(self.trace), "--at", f"step:{STEPS - 1}")["moments"][0]
        return int(moment["categories"][name])

    def check_steps(self, phases: Set[str]) -> None:
        report = ask("report", str(self.trace))
        self.assertEqual(len([step for step in report["steps"] if step["complete"]]), STEPS)
        self.assertEqual([hook["failure"] for hook in report["coverage"] if hook["failures"]], [])
        self.assertIn(report["peak"]["phase"], phases)

    def test_a_loop_that_accumulates_in_eager_mode(self) -> None:
        self.train("--loop", "tape")
        self.check_variables()
        self.assertEqual(self.sizes(GRADIENT, self.truth["parameter"]), self.truth["parameter"])
        self.assertEqual(self.category("parameter"), sum(self.truth["parameter"].values()))
        self.check_steps({"optimizer", "backward"})

    def test_a_loop_with_a_traced_step(self) -> None:
        self.train("--loop", "graph")
        self.check_variables()
        self.check_steps({"optimizer", "backward"})

    def test_fit(self) -> None:
        self.train("--loop", "fit")
        self.check_variables()
        self.assertEqual(set(self.labels[GRADIENT]), set(self.truth["parameter"]))
        self.assertEqual(self.category("parameter"), sum(self.truth["parameter"].values()))
        self.assertGreater(self.category("activation"), 0)
        self.check_steps({"optimizer", "backward"})

    def test_fit_in_mixed_precision(self) -> None:
        self.train("--loop", "fit", "--policy", "mixed_float16")
        self.check_variables()
        self.assertEqual(set(self.labels[GRADIENT]), set(self.truth["parameter"]))

    def test_variables_that_move_in_each_step_are_followed(self) -> None:
        self.train("--loop", "graph", "--optimizer", "sgd")
        self.check_that_variables_are_followed()

    def test_variables_are_followed_too_while_other_threads_could_assign_to_them(self) -> None:
        self.prelude = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"
        self.train("--loop", "graph", "--optimizer", "sgd")
        self.check_that_variables_are_followed()

    def check_that_variables_are_followed(self) -> None:
        self.check_variables()
        states = {event.fields[0]: event.number(1) for event in recorded_run.events(self.trace, "coverage")}
        self.assertEqual(states["TensorFlow's_buffer_of_each_variable"], PROVEN)
        slots = {event.number(0) for event in recorded_run.events(self.trace, "label") if event.number(2) == OPTIMIZER_STATE}
        self.assertGreater(len(slots), len(self.truth["optimizer_state"]), "each assignment of a momentum gives it another buffer")
        momentum = sum(size for name, size in self.truth["optimizer_state"].items() if name.endswith("momentum"))
        self.assertGreaterEqual(self.category("optimizer_state"), momentum)

    def dry_run(self, gpus: str, *options: str) -> Dict[str, Any]:
        self.trace, truth = self.folder / "dry.vms", self.folder / "truth.json"
        sample = [PYTHON, str(SAMPLES / "keras_train.py"), "--steps", str(STEPS), "--truth", str(truth), *options]
        done = recorded_run.run([recorded_run.vramscope(), "dryrun", "--gpu", gpus, "--steps", "all", "-o", str(self.trace), "--json", "--", *sample])
        self.assertEqual(done.code, 0, done.stderr.decode()[-2000:])
        self.truth = json.loads(truth.read_text(encoding="utf-8"))
        answer: Dict[str, Any] = json.loads(done.stdout)
        self.assertTrue(answer["fits"])
        return answer

    @unittest.skipUnless(PTXAS, "XLA needs ptxas: pip install nvidia-cuda-nvcc-cu12")
    def test_dry_run_of_a_step_that_xla_compiles(self) -> None:
        self.dry_run("h100-80gb", "--jit")
        report = ask("report", str(self.trace))
        self.assertEqual(report["peak"]["allocated_bytes"], self.truth["device_peaks"][0])
        self.assertLess(report["steps"][-1]["allocations"], 20, "a compiled step has one block for its temporaries")
        self.assertEqual(report["nvtx_ranges"], [], "not those of XLA")

    def test_keras_compiles_by_itself_unless_the_user_or_the_machine_says_otherwise(self) -> None:
        program = [PYTHON, "-c", "import keras, numpy; model = keras.Sequential([keras.layers.Dense(8)]); "
                                 "model.compile(loss='sparse_categorical_crossentropy'); model.fit(numpy.ones((8, 4)), numpy.ones((8,)), verbose=0)"]
        for options, why in (([], None if PTXAS else "XLA's compiler is missing (pip install nvidia-cuda-nvcc-cu12)"), (["--xla", "off"], "of --xla off")):
            done = recorded_run.run([recorded_run.vramscope(), "dryrun", "--gpu", "h100-80gb", "--json", *options, "--", *program])
            self.assertEqual(done.code, 0, done.stderr.decode()[-2000:])
            self.assertEqual(json.loads(done.stdout)["without_xla"], why)

    def test_dry_run_of_fit_whose_last_batch_is_smaller(self) -> None:
        """TensorFlow then computes the shapes of gradients while the program runs."""
        trace, peak = self.folder / "dry.vms", self.folder / "peak"
        program = ("import keras, numpy, tensorflow; model = keras.Sequential([keras.layers.Dense(256), keras.layers.Dense(8)]); model.compile(loss='mse'); "
                   "model.fit(numpy.ones((100, 64)), numpy.ones((100, 8)), batch_size=64, verbose=0); "
                   f"open({str(peak)!r}, 'w').write(str(tensorflow.config.experimental.get_memory_info('GPU:0')['peak']))")
        dry_run = [recorded_run.vramscope(), "dryrun", "--gpu", "h100-80gb", "--steps", "all", "--xla", "off", "-o", str(trace)]
        done = recorded_run.run([*dry_run, "--", PYTHON, "-c", program])
        self.assertEqual(done.code, 0, done.stderr.decode()[-2000:])
        self.assertEqual(ask("report", str(trace))["peak"]["allocated_bytes"], int(peak.read_text()))

    def test_dry_run_of_two_replicas(self) -> None:
        self.dry_run("h100-80gb:2", "--loop", "mirrored")
        peaks = [ask("report", str(self.trace), "--device", f"cuda:{gpu}")["peak"]["allocated_bytes"] for gpu in (0, 1)]
        self.assertEqual(peaks, self.truth["device_peaks"])

    def test_a_model_over_two_devices(self) -> None:
        self.dry_run("h100-80gb:2", "--loop", "split")
        peaks = [ask("report", str(self.trace), "--device", f"cuda:{gpu}")["peak"]["allocated_bytes"] for gpu in (0, 1)]
        self.assertEqual(peaks, self.truth["device_peaks"])

    def test_every_block_lands_where_the_model_of_the_allocator_puts_it(self) -> None:
        # Two threads may allocate and free at once. A recording does not contain their order, so not every recording replays exactly.
        for _ in range(3):
            self.dry_run("h100-80gb")
            done = recorded_run.run([recorded_run.vramscope(), "replay", "--json", str(self.trace)])
            replayed = json.loads(done.stdout)
            if done.code == 0:
                break
        self.assertEqual(replayed["events_exact"], replayed["events_total"])
        self.assertGreater(replayed["events_total"], 100)
        self.assertEqual(replayed["peak"]["allocated_bytes"], self.truth["device_peaks"][0])

    def test_predictions_are_refused_and_name_the_command_that_measures(self) -> None:
        self.dry_run("h100-80gb")
        for verb, change in ((["whatif", "--amp", "bf16"], "--amp bf16"), (["plan", "--fit", "24GiB"], "--batch 0.5x")):
            done = recorded_run.run([recorded_run.vramscope(), *verb, str(self.trace)])
            self.assertEqual((done.code, done.stdout), (3, b""), verb)
            self.assertIn("this is a run of TensorFlow", done.stderr.decode(), verb)
            self.assertIn(f"vramscope try --dry --gpu h100-80gb {change} -- {PYTHON} {SAMPLES / 'keras_train.py'}", done.stderr.decode(), verb)

    def test_the_memory_that_runs_out_is_named(self) -> None:
        sample = [PYTHON, str(SAMPLES / "keras_train.py"), "--steps", "2", "--hidden", "8192"]
        trace = self.folder / "oom.vms"
        done = recorded_run.run([recorded_run.vramscope(), "dryrun", "--gpu", "h100-80gb", "--capacity", "2GiB", "-o", str(trace), "--json", "--", *sample])
        self.assertEqual(done.code, 1)
        answer = json.loads(done.stdout)
        self.assertFalse(answer["fits"])
        failure = ask("report", str(trace))["out_of_memory"][0]
        self.assertEqual((failure["device"], failure["requested_bytes"], failure["phase"]), ("cuda:0", 8192 * 8192 * 4, "optimizer"))

    def test_a_program_behaves_as_without_us(self) -> None:
        program = "import os; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'; import tensorflow as tf; print(tf.add(1, 2).numpy()); raise SystemExit(5)"
        alone = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, check=False)
        done = recorded_run.record(self.folder / "run.vms", [PYTHON, "-c", program])
        self.assertEqual((done.code, done.stdout.decode()), (alone.returncode, alone.stdout))


if __name__ == "__main__":
    recorded_run.main()
