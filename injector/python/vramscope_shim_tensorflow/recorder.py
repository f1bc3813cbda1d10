# SPDX-License-Identifier: Apache-2.0
"""Creates and installs the parts once TensorFlow has been imported in a recorded process. Keras is imported later, by tf.keras or by the program."""

import atexit
import ctypes
import platform
import sys
from typing import Any, Callable, List, Optional

from vramscope_core import guard, import_hook, native

from . import buffers
from .data import Batches
from .functions import Functions
from .layers import Layers
from .optimizers import Optimizers
from .tape import Tape
from .variables import Variables

_recorder: Optional["Recorder"] = None


def watch_steps(watch: Callable[[], None]) -> None:
    """watch() is called after each optimizer step from now on, at a place where it may raise SystemExit."""
    if _recorder is not None:
        _recorder.watchers.append(watch)


def calls_in_a_step() -> int:
    """How many calls of apply_gradients() update the variables once: Keras' gradient_accumulation_steps, the most of any optimizer."""
    return _recorder.optimizers.calls_in_a_step if _recorder is not None else 1


def install() -> bool:
    global _recorder
    if _recorder is not None or not native.connect():
        return _recorder is not None
    ready = native.function("tensorflow_ready", ctypes.c_int, [])
    if ready is None:
        return False
    ready()
    buffers.connect()
    _recorder = Recorder()
    _recorder.install(sys.modules["tensorflow"])
    return True


class Recorder:
    def __init__(self) -> None:
        self.variables = Variables()
        self.watchers: List[Callable[[], None]] = []
        self._functions = Functions(self._stepped)
        self.optimizers = Optimizers(self.variables, self._functions.traced, self._stepped)

    def install(self, tensorflow: Any) -> None:
        native.fact("python", platform.python_version())
        native.fact("tensorflow.version", tensorflow.__version__)
        for hook, put_in in (
            ("python.tape", Tape(self.variables.name_of).install),
            ("python.names", self.variables.install_tensorflow),
            ("python.functions", self._functions.install),
            ("python.dataloader", Batches().install),
        ):
            _try(hook, put_in)
        import_hook.when_imported("keras", self._keras_is_here)
        self._at_exit = guard.hook("python.names", self.variables.look)
        atexit.register(self._at_exit, only_if_due=False)

    def _stepped(self) -> None:
        self.variables.look()
        for watch in self.watchers:
            watch()

    def _keras_is_here(self) -> None:
        keras = sys.modules["keras"]
        native.fact("keras.version", keras.__version__)
        native.fact("keras.backend", keras.backend.backend())
        if keras.backend.backend() != "tensorflow":
            return
        _try("python.names", self.variables.install_keras)
        _try("python.optimizer", self.optimizers.install)
        _try("python.modules", Layers().install)


def _try(hook: str, put_in: Callable[[], None]) -> None:
    """A part that one release of TensorFlow lacks must not cost us the rest."""
    try:
        put_in()
    except Exception as error:
        native.missing(hook, error)
