# SPDX-License-Identifier: Apache-2.0
"""What a dry run changes in a TensorFlow program.

    steps     the program ends after some optimizer steps, as with PyTorch (stop.py)
    XLA       without NVIDIA's compiler (ptxas), Keras' jit_compile="auto" does not compile: XLA would fail. The answer reports it.
              A program that asks for XLA itself still gets it
    shapes    that TensorFlow computes on the GPU are computed on the CPU
    scaling   with mixed_float16, gradients count as finite, so that the step is applied. The check runs as usual and takes its memory,
              but no kernel computes its answer"""

import os
import shutil
import sys
from typing import Any, Callable, Tuple

from vramscope_core import guard, import_hook, patches

from .stop import Stop

HOOK = "dryrun.tensorflow"


class Loop:
    """The steps of the program, in the form that Stop reads."""

    idle = False

    def __init__(self) -> None:
        self.done = 0


class StopKeras(Stop):
    def __init__(self, tensorflow: Any, steps: str, notes: str, calls_in_a_step: Callable[[], int]) -> None:
        """calls_in_a_step(): more than one if Keras accumulates gradients. Memory has its peak in the last of them."""
        self._tensorflow = tensorflow
        self._calls_in_a_step = calls_in_a_step
        self._calls = 0
        self._loop: Any = Loop()
        self._limit = None if steps == "stable" else int(steps)
        self._notes = notes
        self._peaks = []
        self._due = ""

    def stepped(self) -> None:
        self._calls += 1
        if self._calls % self._calls_in_a_step():
            return
        self._loop.done += 1
        self._step_ended(self._loop.done)
        self._leave()

    def _peak(self) -> Tuple[int, int]:
        """TensorFlow does not report the peak of what it has taken from the device."""
        config = self._tensorflow.config
        gpus = config.list_logical_devices("GPU")
        peak = max((int(config.experimental.get_memory_info(gpu.name.partition("device:")[2])["peak"]) for gpu in gpus), default=0)
        return peak, peak


def install(steps: str, notes: str, xla: bool) -> None:
    """xla: False if the user wants jit_compile="auto" to be off."""
    if steps != "all":
        from vramscope_shim_tensorflow import recorder

        stop = StopKeras(sys.modules["tensorflow"], steps, notes, recorder.calls_in_a_step)
        recorder.watch_steps(guard.hook(HOOK, stop.stepped))
    guard.hook(HOOK, compute_shapes)()
    import_hook.when_imported("keras", guard.hook(HOOK, lambda: change_keras(notes, xla)))


def compute_shapes() -> None:
    """Gradients of reductions compute a shape with DynamicStitch if the batch varies, on the GPU. No kernel runs there, so the CPU computes the shape."""
    from tensorflow.python.ops import gen_data_flow_ops

    patches.wrap_method(gen_data_flow_ops, "dynamic_stitch", _integers_on_cpu)


def _integers_on_cpu(stitch: Any) -> Any:
    tensorflow = sys.modules["tensorflow"]

    def dynamic_stitch(indices: Any, data: Any, name: Any = None) -> Any:
        if not getattr(getattr(data[0], "dtype", None), "is_integer", False):
            return stitch(indices, data, name=name)
        with tensorflow.device("CPU:0"):
            return stitch(indices, data, name=name)

    return dynamic_stitch


def change_keras(notes: str, xla: bool) -> None:
    keras = sys.modules["keras"]
    if keras.backend.backend() != "tensorflow":
        return
    from keras.src.optimizers import loss_scale_optimizer
    from keras.src.trainers import trainer

    why = _why_not_compiled(xla)
    if why:
        patches.wrap_method(trainer.Trainer, "_resolve_auto_jit_compile", _not_compiled(why, notes))
    patches.wrap_method(loss_scale_optimizer.LossScaleOptimizer, "check_finite", _always_finite)


def _why_not_compiled(xla: bool) -> str:
    """"" if Keras' jit_compile="auto" works as on a GPU."""
    if not xla:
        return "of --xla off"
    return "" if _finds_ptxas() else "XLA's compiler is missing (pip install nvidia-cuda-nvcc-cu12)"


def _finds_ptxas() -> bool:
    """Looks where XLA looks: in the wheel nvidia-cuda-nvcc beside TensorFlow, in CUDA's usual folder, and in PATH."""
    packages = os.path.dirname(os.path.dirname(sys.modules["tensorflow"].__file__ or ""))
    folders = [os.path.join(packages, "nvidia", "cuda_nvcc", "bin"), "/usr/local/cuda/bin", os.environ.get("PATH", "")]
    return shutil.which("ptxas", path=os.pathsep.join(folders)) is not None


def _not_compiled(why: str, notes: str) -> Callable[[Any], Any]:
    def report() -> None:
        if notes:
            with open(os.path.join(notes, f"{os.getpid()}.xla"), "w", encoding="utf-8") as file:
                file.write(why)

    guarded = guard.hook(HOOK, report)  # a full disk must not fail the program

    def build(resolve: Any) -> Any:
        def resolved(trainer: Any) -> bool:
            if resolve(trainer):
                guarded()
            return False

        return resolved

    return build


def _always_finite(check: Any) -> Any:
    tensorflow = sys.modules["tensorflow"]

    def check_finite(optimizer: Any, grads: Any) -> Any:
        found = check(optimizer, grads)
        with tensorflow.control_dependencies([found]), tensorflow.device("CPU:0"):
            return tensorflow.constant(True)

    return check_finite
