# SPDX-License-Identifier: Apache-2.0
"""Stock PyTorch on the simulated CUDA device: it trains, its memory adds up to the device's ledger, and it runs out of memory as on a GPU."""
import json
import os
import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from device import DeviceTest, row_bytes, run  # noqa: E402

MIB = 1 << 20
HERE = Path(__file__).resolve().parent
SCRIPTS = recorded_run.SOURCE / "scripts"
# Real recordings are next to the project, never in it.
RECORDINGS = Path(os.environ.get("VRAMSCOPE_SHARED_DATA", recorded_run.SOURCE.parent / "shared" / "data")) / "snapshots"


@drawn.share(3)
class Training(DeviceTest):
    def test_models_train_in_every_precision(self) -> None:
        for python in self.for_each_python():
            self.assertGreater(self.facts(python, "training")["peak"], MIB)

    def test_graphs_streams_and_events(self) -> None:
        for python in self.for_each_python():
            facts = self.facts(python, "graphs_and_streams")
            self.assertGreaterEqual(facts["milliseconds"], 0)
            self.assertEqual(facts["pools"], 2, "the graph has a private pool")

    def test_one_process_plays_one_rank_of_many(self) -> None:
        for python in self.for_each_python():
            self.assertEqual(self.facts(python, "one_rank", "8")["peak"], self.facts(python, "one_rank", "64")["peak"])

    def test_two_devices(self) -> None:
        for python in self.for_each_python():
            facts = self.facts(python, "two_devices", gpu="a100-40gb:2")
            self.assertEqual((facts["count"], facts["moved"], facts["device"]), (2, [1.0, 2.0], "cuda:0"))


@drawn.share(3)
class Memory(DeviceTest):
    def test_what_pytorch_reserves_is_what_the_ledger_has(self) -> None:
        for python in self.for_each_python():
            for settings in ("", "expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4"):
                facts = self.facts(python, "segments", PYTORCH_CUDA_ALLOC_CONF=settings, PYTORCH_ALLOC_CONF=settings)
                self.assertEqual(row_bytes(facts, "libc10_cuda.so"), facts["reserved"], settings)
                self.assertEqual(facts["ledger"]["devices"][0]["live_bytes"], facts["used"], settings)

    def test_cuda_malloc_async_is_accounted_for_too(self) -> None:
        for python in self.for_each_python():
            facts = self.facts(python, "segments", PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync", PYTORCH_ALLOC_CONF="backend:cudaMallocAsync")
            self.assertEqual(row_bytes(facts, "libc10_cuda.so"), facts["reserved"])

    def test_what_is_read_back_was_uploaded_or_is_zero(self) -> None:
        for python in self.for_each_python():
            facts = self.facts(python, "read_back")
            self.assertEqual(facts["uploaded"], [3, 1, 2])
            self.assertEqual(facts["computed"], [0, 0, 0])
            self.assertEqual(facts["reused"], 0)
            self.assertLessEqual(max(facts["rows"]), 1000)

    def test_blocks_of_other_streams_are_reused_later_the_farther_the_host_is_ahead(self) -> None:
        for python in self.for_each_python():
            reserved = [self.facts(python, "side_stream", lag, VRAMSCOPE_SIMULATED_LAG=lag)["reserved"] for lag in ("0", "5", "1000")]
            self.assertEqual(reserved[0], 64 * MIB)
            self.assertEqual(reserved[2], 20 * 64 * MIB)
            self.assertTrue(reserved[0] < reserved[1] < reserved[2], reserved)


    def test_what_is_beside_pytorchs_memory_is_taken_when_cuda_takes_it(self) -> None:
        stack = 2048 * 132 * (4096 - 1024)  # of every thread that an H100 can hold
        for python in self.for_each_python():
            facts = self.facts(python, "growth")
            at_start, with_kernel, with_product, with_limits, with_module = facts["rows"]
            self.assertEqual(at_start, {"context": 527 * MIB}, "kernels are loaded when they are launched")
            self.assertEqual((with_kernel["printf"], with_kernel["kernels"]), (MIB, 2 * MIB))
            self.assertNotIn("cublasCreate", with_kernel)
            self.assertEqual(with_product["cublasCreate"], 56 * MIB)
            self.assertEqual((with_limits["local memory"], with_limits["malloc heap"]), (stack, 64 * MIB))
            self.assertEqual(with_module["kernels"] - with_limits["kernels"], 6 * MIB, "six tenths of the text")
            self.assertEqual((facts["stack"], facts["printf_after_a_kernel"]), (4096, 1))
            eager = self.facts(python, "growth", CUDA_MODULE_LOADING="EAGER")["rows"][1]
            self.assertGreater(eager["kernels"], 300 * MIB, "all of the wheel's code")


MODELS = ["gpt", "gpt_recomputing", "conv", "lstm", "mlp"]  # of programs.py


@drawn.share(3)
class OutOfMemory(DeviceTest):
    def test_it_is_pytorchs_own_error(self) -> None:
        for python in self.for_each_python():
            facts = self.facts(python, "out_of_memory", VRAMSCOPE_SIMULATED_CAPACITY="1GiB", VRAMSCOPE_SIMULATED_CONTEXT="0",
                               VRAMSCOPE_SIMULATED_KERNELS="0")
            self.assertIn("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 1024.00 MiB", facts["message"])
            self.assertEqual((facts["left"], facts["retries"]), (0, 1))

    def check_limits(self, settings: str, *models: str) -> int:
        facts = self.facts(recorded_run.python(), "limits", *models, PYTORCH_CUDA_ALLOC_CONF=settings, VRAMSCOPE_SIMULATED_CONTEXT="0",
                           VRAMSCOPE_SIMULATED_KERNELS="0")
        facts.pop("ledger")
        for model, found in facts.items():
            with self.subTest(model=model):
                self.assertEqual((found["under_all"], found["below"], found["above"]), (False, False, True), found)
                self.assertLessEqual(found["least"], found["taken"])
        return len(facts)

    def test_a_mebibyte_decides_between_fitting_and_not(self) -> None:
        models = drawn.chosen(MODELS, 2)
        self.assertEqual(self.check_limits("", *models), len(models))

    def test_a_mebibyte_decides_with_expandable_segments_too(self) -> None:
        self.check_limits("expandable_segments:True", "gpt")


class RealRecordings(DeviceTest):
    def test_attention_allocates_as_it_did_on_an_a100(self) -> None:
        """PyTorch 2.6 recorded 97 events; later releases allocate cuBLAS's workspace for each call."""
        recording = RECORDINGS / "small_from_empty.pickle"
        if not recording.exists():
            self.skipTest(f"{recording} is not there")
        old = [python for python in recorded_run.pythons() if "2.6" in python]
        if not old:
            self.skipTest("needs PyTorch 2.6 in VRAMSCOPE_TEST_PYTHONS")
        with open(recording, "rb") as file:
            traces = pickle.load(file)["device_traces"]  # of plain lists and dictionaries
        expected = [[event["action"], event["size"]] for trace in traces for event in trace if event["action"] != "snapshot"]
        output = self.folder / "history.json"
        done = run(old[0], [str(HERE / "attention.py"), str(output)], gpu="a100-40gb")
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.assertEqual(json.loads(output.read_text(encoding="utf-8")), expected)


@drawn.share(3)
class Programs(DeviceTest):
    def test_samples_run(self) -> None:
        for python in self.for_each_python():
            for sample in (["gpt.py", "--workers", "2"], ["resnet.py", "--amp", "fp16"], ["gan.py"], ["autoencoder_lbfgs.py"]):
                with self.subTest(sample=sample):
                    done = run(python, [str(recorded_run.SAMPLES / sample[0]), "--device", "cuda", "--steps", "2", *sample[1:]])
                    self.assertEqual(done.code, 0, done.stderr.decode())

    def test_a_program_that_ends_after_backward_is_not_aborted(self) -> None:
        code = "import torch; torch.nn.Linear(4, 4).cuda()(torch.randn(2, 4).cuda()).sum().backward()"
        for python in self.for_each_python():
            for _ in range(5):
                self.assertEqual(run(python, ["-c", code]).code, 0)

    def test_two_runs_give_the_same_history(self) -> None:
        for python in self.for_each_python():
            histories = []
            for _ in range(2):
                output = self.folder / "history.json"
                self.assertEqual(run(python, [str(HERE / "attention.py"), str(output)]).code, 0)
                histories.append(output.read_text(encoding="utf-8"))
            self.assertEqual(*histories)

    def test_every_symbol_that_a_wheel_wants_is_there(self) -> None:
        built = str(Path(recorded_run.vramscope()).resolve().parent.parent / "lib/vramscope/simulated_cuda")
        for python in self.for_each_python():
            ask = "import importlib.util, os; print(os.path.dirname(os.path.dirname(importlib.util.find_spec('torch').origin)))"
            wheel = recorded_run.run([python, "-c", ask]).stdout.decode().strip()
            done = recorded_run.run([sys.executable, str(SCRIPTS / "refresh_simulated_stubs.py"), "--check", built, wheel])
            self.assertEqual(done.code, 0, done.stdout.decode())


if __name__ == "__main__":
    recorded_run.main()
