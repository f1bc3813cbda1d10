# SPDX-License-Identifier: Apache-2.0
"""Frameworks that look up CUDA's driver when they are imported start under the recorder as they do without it.

VRAMSCOPE_TEST_FRAMEWORKS names a Python that has some of them; the default is the tests' Python. What is not installed is skipped, with a message.
"""
import os
import sys
from pathlib import Path
from typing import Optional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import RecordingTest, ask, clean_environment, record, run  # noqa: E402

# What each can do with no GPU: compute a figure, which the recorder must not change, and list its devices.
PROGRAMS = {
    "tensorflow": "import tensorflow as tf; print(float(tf.reduce_sum(tf.range(100))), tf.config.list_physical_devices('GPU'))",
    "jax": "import jax, jax.numpy as jnp; print(float(jnp.arange(100).sum()), jax.default_backend())",
    "cupy": "import cupy; print(cupy.__version__, cupy.cuda.is_available())",
}
# PyTorch brings an OpenMP runtime of its own; a library of the program may bring another.
BESIDE = """
import ctypes, sys, torch
other = ctypes.CDLL(sys.argv[1])
torch.set_num_threads(3)
results = [float((torch.ones(300, 300) @ torch.ones(300, 300)).sum()) for _ in range(3)]
region = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
other.GOMP_parallel(region, None, 1, 0)
print(results, other.omp_get_max_threads() > 0)
"""


def python_with(module: str) -> Optional[str]:
    candidates = [os.environ.get("VRAMSCOPE_TEST_FRAMEWORKS"), *recorded_run.pythons()]
    return next((python for python in candidates if python and recorded_run.has_package(python, module)), None)


class Imports(RecordingTest):
    def compare(self, module: str) -> None:
        python = python_with(module)
        if python is None:
            self.skipTest(f"{module} is not installed")
        quiet = clean_environment(TF_CPP_MIN_LOG_LEVEL="3", JAX_PLATFORMS="cpu")
        command = [python, "-W", "ignore", "-c", PROGRAMS[module]]
        alone = run(command, env=quiet, timeout=900)
        if alone.code != 0:
            self.skipTest(f"{module} cannot be imported here: {alone.stderr.decode()[-200:]}")
        trace = self.folder / "run.vms"
        done = record(trace, command, env=quiet, timeout=900)
        self.assertEqual((done.code, done.stdout), (alone.code, alone.stdout), done.stderr.decode())
        self.assertEqual(ask("info", str(trace))["dropped_events"], 0)

    def test_tensorflow(self) -> None:
        self.compare("tensorflow")

    def test_jax(self) -> None:
        self.compare("jax")

    def test_cupy(self) -> None:
        self.compare("cupy")

    def test_torch_beside_another_openmp(self) -> None:
        python = recorded_run.python()
        for library in ("/usr/lib/x86_64-linux-gnu/libgomp.so.1", "libomp.so.5"):  # by its path: PyTorch's own has the same name
            command = [python, "-c", BESIDE, library]
            alone = run(command, env=clean_environment(KMP_DUPLICATE_LIB_OK="TRUE"))
            if alone.code != 0:
                continue  # not installed, or the two do not work together
            with self.subTest(library=library):
                done = record(self.folder / f"{Path(library).name}.vms", command, env=clean_environment(KMP_DUPLICATE_LIB_OK="TRUE"))
                self.assertEqual((done.code, done.stdout), (alone.code, alone.stdout), done.stderr.decode())


if __name__ == "__main__":
    recorded_run.main()
