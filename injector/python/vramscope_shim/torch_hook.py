# SPDX-License-Identifier: Apache-2.0
"""Creates and installs the parts of the shim once torch has been imported in a recorded process."""

import atexit
import os
import platform
from typing import Any, Callable, Dict, Optional, Tuple

from vramscope_core import guard, import_hook, native, patches

from . import gathered, held, mesh, storage
from .compiler import Compiler
from .data import Batches
from .deep import ModuleRanges
from .inference import FirstUse
from .modules import Registry
from .optimizers import Optimizers
from .other_optimizers import OtherOptimizers
from .regions import Regions
from .scopes import Scopes
from .settings import Settings
from .steps import TrainingLoop

_installed = False
_recorder: Optional["Recorder"] = None


def install(torch: Any, attached: bool = False) -> bool:
    """Idempotent. False if this process is not recorded."""
    global _installed, _recorder
    if not _installed and native.connect():
        _installed = True
        try:
            _recorder = Recorder(torch)
            _recorder.install(attached)
        except Exception as error:
            native.missing("python", error)
    return _installed


def training_loop() -> Optional[TrainingLoop]:
    """The training loop; None if this process is not recorded."""
    return None if _recorder is None else _recorder.loop


def uninstall() -> None:
    global _installed, _recorder
    recorder, _recorder = _recorder, None
    _installed = False
    patches.undo()
    if recorder is not None:
        recorder.forget()
    native.forget()


class Recorder:
    def __init__(self, torch: Any) -> None:
        self._torch = torch
        reached = native.torch_ready(torch.__version__, os.path.dirname(torch.__file__))
        storage.connect(torch)
        self._registry = Registry(torch)
        compiler = Compiler()
        self._module_ranges = ModuleRanges(torch, self._registry)
        self._settings = Settings()
        self.loop = TrainingLoop(native.step_done, self._step_turned)
        optimizers = Optimizers(torch, self._registry, self.loop, bool(reached & native.AUTOGRAD_HOOKS_REACHED))
        self._optimizers = optimizers
        others = OtherOptimizers(torch, self._registry, optimizers.has_stepped, self.loop.passed)
        self._first_use = FirstUse(self._registry, others.entered)
        compiler.when_used(self._module_ranges.give_up, optimizers.keep_hooks)
        self._parts: Tuple[Tuple[str, Callable[[Any], None]], ...] = (
            ("python.compiler", compiler.install),
            ("python.names", self._registry.install),
            ("python.optimizer", optimizers.install),
            ("python.scopes", Scopes(optimizers, Batches(self._registry, others.asked)).install),
            ("python.autocast", Regions().install),
            ("python.first_use", self._first_use.install),
            ("python.modules", self._module_ranges.install),
            ("python.settings", self._settings.install),
            ("python.gathered", gathered.install),
            (mesh.HOOK, mesh.install),
            ("python.program", self._install_program),
        )
        self._program: Any = None
        self._gpu_told = False
        self._exiting = guard.hook("python.names", self._at_exit)
        self._tell_gpu = guard.hook(mesh.HOOK, mesh.tell_gpu)

    def install(self, attached: bool) -> None:
        for key, value in _facts(self._torch).items():
            native.fact(key, value)
        for hook, put_in in self._parts:
            try:  # a feature that one torch release lacks must not cost us the rest
                put_in(self._torch)
            except Exception as error:
                native.missing(hook, error)
        atexit.register(self._exiting)
        if attached:  # the program was here before us
            guard.hook(held.HOOK, held.tell)(self._torch, self._registry, self._optimizers)

    def forget(self) -> None:
        """Breaks reference cycles, which would stay until the next full garbage collection: a program with many objects does not have one for a long
        time. A hook that still runs finds an empty part; the error is caught like any other of ours."""
        atexit.unregister(self._exiting)
        if self._program is not None:
            guard.hook("python.program", self._program.stop)()
        self._parts = ()
        for part in (self.loop, self._registry, self._optimizers):
            part.forget()

    def _install_program(self, torch: Any) -> None:
        """Installs vramscope_program.noting, which is next to this package; sys.path may no longer have the folder."""
        wanted = os.environ.get("VRAMSCOPE_PROGRAM") or native.option("program")  # an attached process has only the option
        if wanted == "off" or os.environ.get("VRAMSCOPE_TRY"):
            return
        self._program = import_hook.room("vramscope_program.noting").Program(torch, self._registry, self._optimizers, native.deep)
        self.loop.watchers.append(guard.hook("python.program", self._program.turned))

    def _step_turned(self, deep: int) -> None:
        self._first_use.stop()
        if not self._gpu_told:
            self._gpu_told = True
            self._tell_gpu(self._torch)
        if deep:
            self._settings.tell()
            self._module_ranges.enter()
        else:
            self._module_ranges.leave()

    def _at_exit(self) -> None:
        """In a program without optimizer, loader or no_grad, what still lives is named now."""
        self._module_ranges.leave()
        if not self._gpu_told:
            self._tell_gpu(self._torch)
        if self._program is not None:
            self._program.stop()
        if not self._registry.looks and native.memory_seen():  # a look takes 70 ms after a mere `import torch`
            self._registry.look()


def _facts(torch: Any) -> Dict[str, object]:
    version = torch.version
    facts = {
        "python": platform.python_version(),
        "torch.version": torch.__version__,
        "torch.git": getattr(version, "git_version", None),
        "torch.cuda": getattr(version, "cuda", None),
        "torch.hip": getattr(version, "hip", None),
    }
    return {key: value for key, value in facts.items() if value is not None}
