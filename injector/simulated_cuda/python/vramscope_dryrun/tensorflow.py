# SPDX-License-Identifier: Apache-2.0
"""What a dry run changes in a TensorFlow program.

    steps     the program ends after some optimizer steps, as with PyTorch (stop.py)
    XLA       Keras' jit_compile="auto" is off: XLA would need the real compiler for a GPU, and would compile for minutes.
              A program that asks for XLA itself still gets it
    scaling   with mixed_float16, gradients count as finite, so that the step is applied. The check runs as usual and takes its memory,
              but no kernel computes its answer"""

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


def install(steps: str, notes: str) -> None:
    if steps != "all":
        from vramscope_shim_tensorflow import recorder

        stop = StopKeras(sys.modules["tensorflow"], steps, notes, recorder.calls_in_a_step)
        recorder.watch_steps(guard.hook(HOOK, stop.stepped))
    import_hook.when_imported("keras", guard.hook(HOOK, change_keras))


def change_keras() -> None:
    keras = sys.modules["keras"]
    if keras.backend.backend() != "tensorflow":
        return
    from keras.src.optimizers import loss_scale_optimizer
    from keras.src.trainers import trainer

    patches.wrap_method(trainer.Trainer, "_resolve_auto_jit_compile", lambda _original: lambda _trainer: False)
    patches.wrap_method(loss_scale_optimizer.LossScaleOptimizer, "check_finite", _always_finite)


def _always_finite(check: Any) -> Any:
    tensorflow = sys.modules["tensorflow"]

    def check_finite(optimizer: Any, grads: Any) -> Any:
        found = check(optimizer, grads)
        with tensorflow.control_dependencies([found]), tensorflow.device("CPU:0"):
            return tensorflow.constant(True)

    return check_finite
