# SPDX-License-Identifier: Apache-2.0
"""Measures what recording costs a JAX step: CPU time of the process per step, with and without recording in turn, on the simulated GPU.

    python3 bench/jax_step_cost.py .../python-with-jax [--pairs 7] [--steps 3000] [--options="--hidden 64"]

A kernel takes no time there, so the ratio is the worst case: on a real GPU the host waits for kernels. Compilation and the first steps are not
counted."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from recorded_run import SAMPLES, clean_environment, vramscope  # noqa: E402

# Runs in its own process: the training steps of the sample, without the input and output that the sample does in a step.
STEPS = """
import sys, time, json
import jax._src.hardware_utils as hardware
hardware.has_visible_nvidia_gpu = lambda *_: True  # there is no device file
sys.path.insert(0, sys.argv[1]); out, steps = sys.argv[2], int(sys.argv[3]); sys.argv = ["jax_train.py", *sys.argv[4:]]
import jax, jax_train
settings = jax_train.parse()
programs = jax_train.programs(settings)
params, state = programs.init()
x, y = jax.device_put(jax_train.batches(settings)[0])
for number in range(steps + 50):
    if number == 50:
        jax.block_until_ready(params)
        begin = time.process_time()
    if settings.eager_update:
        value, grads = programs.gradients(params, x, y)
        params, state = programs.update(params, state, grads)
    else:
        params, state, value = programs.step(params, state, x, y)
jax.block_until_ready(params)
json.dump((time.process_time() - begin) / steps, open(out, "w"))
"""


def simulated() -> Dict[str, str]:
    """The environment of a dry run, as profiler/collector/launch/simulated_device.cc sets it."""
    folder = Path(vramscope()).resolve().parent.parent / "lib/vramscope/simulated_cuda/cuda13"
    libraries = sorted(map(str, folder.iterdir()), key=lambda path: (not path.endswith("/libcuda.so.1"), path))
    flags = "--xla_gpu_enable_command_buffer= --xla_gpu_autotune_level=0"
    return clean_environment(LD_PRELOAD=":".join(libraries), VRAMSCOPE_SIMULATED_GPU="h100-80gb:1", VRAMSCOPE_SIMULATED_CUDNN="91200", XLA_FLAGS=flags)


def step_time(command: List[str], out: Path) -> float:
    subprocess.run(command, env=simulated(), check=True, stdout=subprocess.DEVNULL)
    return float(out.read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--options", default="", help="of samples/jax_train.py, in one word")
    arguments = parser.parse_args()
    alone, ratios = [], []
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "time"
        program = [arguments.python, "-c", STEPS, str(SAMPLES), str(out), str(arguments.steps), *arguments.options.split()]
        record = [vramscope(), "record", "--quiet", "-o", os.path.join(scratch, "run.vms"), "--", *program]
        for _ in range(arguments.pairs):
            alone.append(step_time(program, out))
            ratios.append(step_time(record, out) / alone[-1])
            print(f"{alone[-1] * 1e6:8.1f} us alone, recorded / alone {ratios[-1]:.3f}", flush=True)
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"median {statistics.median(alone) * 1e6:.1f} us alone, recorded / alone {middle:.3f} ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
