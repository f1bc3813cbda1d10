# SPDX-License-Identifier: Apache-2.0
"""What a dry run changes in a JAX program.

    device    JAX looks for the device file of a GPU before it asks the driver. There is no such file here
    steps     the program ends after some steps, as with PyTorch (stop.py)

No Python runs in a step of JAX, so a thread watches the number of steps that the recorder has counted. It ends the program by raising SystemExit in the
main thread, some steps later than the rule says."""

import ctypes
import importlib
import sys
import threading
from time import monotonic, sleep
from typing import Any, Tuple

from vramscope_core import guard, native, patches

from .stop import Stop

HOOK = "dryrun.jax"
LOOK_SECONDS = 0.01
AGAIN_SECONDS = 5.0  # the exception can get lost where Python ignores exceptions, as in a destructor


class Loop:
    """The steps of the program, in the form that Stop reads."""

    idle = False

    def __init__(self) -> None:
        self.done = 0


class StopJax(Stop):
    def __init__(self, steps: str, notes: str) -> None:
        self._loop: Any = Loop()
        self._limit = None if steps == "stable" else int(steps)
        self._notes = notes
        self._peaks = []
        self._due = ""

    def watch(self) -> None:
        count = native.function("jax_steps", ctypes.c_uint64, []) if native.connect() else None
        if count is not None:
            threading.Thread(target=guard.hook(HOOK, self._follow), args=(count,), name="vramscope", daemon=True).start()

    def _follow(self, count: Any) -> None:
        while not self._due:
            sleep(LOOK_SECONDS)
            done = count()
            if done > self._loop.done:
                self._loop.done = done
                self._step_ended(done)
        self._say()
        main = threading.main_thread()
        ends = ctypes.pythonapi.PyThreadState_SetAsyncExc
        raised = 0.0
        while main.is_alive() and not sys.is_finalizing():
            if monotonic() - raised > AGAIN_SECONDS:
                raised = monotonic()
                ends(ctypes.c_ulong(main.ident or 0), ctypes.py_object(SystemExit))
            sleep(LOOK_SECONDS)

    def _peak(self) -> Tuple[int, int]:
        peaks = [(device.memory_stats() or {}).get("peak_bytes_in_use", 0) for device in sys.modules["jax"].local_devices()]
        return max(peaks, default=0), max(peaks, default=0)


def find_device() -> None:
    hardware: Any = importlib.import_module("jax._src.hardware_utils")
    patches.wrap_method(hardware, "has_visible_nvidia_gpu", lambda original: guard.instead(HOOK, original, lambda _call: True))


def stop_after(steps: str, notes: str) -> None:
    StopJax(steps, notes).watch()
