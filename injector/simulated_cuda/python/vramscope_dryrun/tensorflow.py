# SPDX-License-Identifier: Apache-2.0
"""What a dry run changes in a TensorFlow program.

    steps     the program ends after some optimizer steps, as with PyTorch (stop.py)
    XLA       Keras' jit_compile="auto" is off: XLA would need the real compiler for a GPU, and would compile for minutes.
              A program that asks for XLA itself still gets it
    scaling   with mixed_float16, gradients count as finite, so that the step is applied. The check runs as usual and takes its memory,
              but no kernel computes its answer"""

import sys
from typing import Any, Tuple

from vramscope_core import guard, import_hook, patches

from .stop import Stop

HOOK = "dryrun.tensorflow"


class Loop:
    """The steps of the program, in the form that Stop reads."""

    idle = False

    def __init__(self) -> None:
        self.done = 0


class StopKeras(Stop):
    def __init__(self, tensorflow: Any, steps: str, notes: str) -> None:
        self._tensorflow = tensorflow
        self._loop: Any = Loop()
        self._limit = None if steps == "stable" else int(steps)
        self._notes = notes
        self._peaks = []
        self._due = ""

    def stepped(self) -> None:
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

        stop = StopKeras(sys.modules["tensorflow"], steps, notes)
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
