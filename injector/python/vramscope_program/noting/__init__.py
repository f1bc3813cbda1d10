# SPDX-License-Identifier: Apache-2.0
"""Notes one training step of a recorded program, as a text that runs again elsewhere (docs/program.md).

    steps    1   2 3 4   5              6                  7 ...
             .   deep    names only     the program        all hooks are removed
                                        deliver(text)

Of step 5 only the names are used: a tensor that outlives it, such as the loss, dies during step 6 and has a name there. VRAMSCOPE_PROGRAM=off
switches all of this off."""

import os
import sys
from typing import Any, Callable, List, Optional, Set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .listener import Listener
    from .step import Step

HOOK = "python.program"
WITHOUT_DEEP = 4  # steps after which noting begins if no step was deep


def deliver(text: str, step: int = 0) -> None:
    """Passes the program of a step to the recorder, and to the file VRAMSCOPE_PROGRAM_TO."""
    from vramscope_core import native

    native.program(text, step)
    path = os.environ.get("VRAMSCOPE_PROGRAM_TO")
    if path:
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)


def wanted() -> bool:
    return os.environ.get("VRAMSCOPE_PROGRAM", "on") != "off"


class Program:
    """Begins and ends noting, which covers two steps. The shim calls turned() after each training step."""

    def __init__(self, torch: Any, registry: Any, optimizers: Any, is_deep: Callable[[], int]) -> None:
        """registry, optimizers: the shim's."""
        self._torch = torch
        self._modules: Callable[[], List[Any]] = registry.modules
        self._optimizers = optimizers
        self._is_deep = is_deep
        self._deep_seen = False
        self._noted = 0  # 0 before, 1 in the step for the names, 2 in the step for the program, 3 it is over
        self._listener: Optional[Listener] = None
        self._left: Optional[Listener] = None  # one that has ended, but whose mode could not be removed yet
        self._why: List[str] = []

    def turned(self, done: int) -> None:
        """Called when a training step has ended, within the step() of an optimizer."""
        if self._noted == 3:
            if self._left is not None and self._left.mode_is_out():
                self._left = None
            return
        deep = bool(self._is_deep())
        self._deep_seen = self._deep_seen or deep
        try:
            if self._noted == 0 and not deep and done >= (1 if self._deep_seen else WITHOUT_DEEP):
                self._noted = 3
                self._begin()
            elif self._noted in (1, 2):
                self._go_on(done, deep)
        except Exception as error:
            self.failed(error)
            raise

    def failed(self, error: Exception) -> None:
        """Ends noting; the program sees nothing of it."""
        from .values import Unnotable

        self._why.append(str(error) if isinstance(error, Unnotable) else f"noting failed: {type(error).__name__}: {error}"[:300])
        self._leave()
        self._give_up()

    def _begin(self) -> None:
        why = self._cannot()
        if why is not None:
            self._why.append(why)
            self._give_up()
            return
        from vramscope_core import guard

        from . import sizes
        from .functions import Functions
        from .listener import Listener
        from .names import Names, references_when_alone

        torch = self._torch
        alone = references_when_alone(torch)
        if alone is None:
            self._why.append(f"PyTorch {torch.__version__} does not show when a program drops a tensor that autograd saves")
            self._give_up()
            return
        self._functions = Functions(torch)
        self._names: Any = Names(alone, self.failed)
        self._device = self._main_device()
        self._listener = Listener(torch, self._functions, self.failed)
        sizes.keep_forms(True)
        self._noted = 1
        self._listener.enter(self._new_step())
        self._optimizers.around = guard.hook(HOOK, self._listener.stepping, self.failed), guard.hook(HOOK, self._listener.stepped, self.failed)

    def _new_step(self) -> "Step":
        from .step import Step
        from .trees import Trees

        step = Step(self._torch, self._functions, self._names, self._device)
        step.trees = Trees(self._torch, self._modules(), step.values)
        return step

    def _go_on(self, done: int, deep: bool) -> None:
        listener = self._listener
        if listener is None:
            return
        before = listener.step
        before.deaths()
        if deep:
            raise RuntimeError("a deep step began")
        if self._noted == 1:
            self._noted = 2
            self._seen_before = {entry["id"] for entry in before.others.values()}
            self._names.begin_step()
            listener.step = self._new_step()
            return
        from . import document
        from .values import Unnotable

        lasting = self._lasting(before)
        self._leave()
        self._noted = 3
        try:
            text = document.text_of(self._torch, before, done, self._device, listener.optimizers, lasting, self._why)
        except Unnotable as error:  # caused by the program, not a failure of ours
            self._why.append(str(error))
            self._give_up()
            return
        deliver(text, done)

    def _lasting(self, step: "Step") -> Set[str]:
        living = {name.number: name.key for name in self._names.living.values()}
        return {name for name, entry in step.others.items() if name in living and entry["id"] in self._seen_before}

    def _leave(self) -> None:
        from vramscope_core import guard

        from . import sizes

        sizes.keep_forms(False)
        self._optimizers.around = (guard.nothing, guard.nothing)
        listener, self._listener = self._listener, None
        self._names = None
        if listener is not None:
            listener.leave()
            self._left = None if listener.mode_is_out() else listener

    def stop(self) -> None:
        """Called when the recording or the program ends, perhaps in the middle of a noted step."""
        if self._listener is not None:
            self._leave()
        self._noted = 3

    def _give_up(self) -> None:
        import json
        import platform

        self._noted = 3
        deliver(json.dumps({"version": 1, "torch": self._torch.__version__, "python": platform.python_version(), "missing": self._why}))

    def _cannot(self) -> Optional[str]:
        from vramscope_core import guard

        torch = self._torch
        if guard.compiler_used:
            return "torch.compile is in use: compiled graphs have no calls to note"
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1:
            return "the program is one of several ranks"
        if not hasattr(torch.overrides, "_push_mode") or not hasattr(torch._C, "_len_torch_function_stack"):
            return f"PyTorch {torch.__version__} has no function modes"
        if torch._C._len_torch_function_stack() and not _is_default_device(torch):
            return "the program runs in a TorchFunctionMode of its own"
        return None

    def _main_device(self) -> Any:
        for module in self._modules():
            for parameter in module.parameters():
                if parameter.device.type != "cpu":
                    return parameter.device
        return self._torch.device("cpu")


def _is_default_device(torch: Any) -> bool:
    """True if the only mode is that of torch.set_default_device(), which stays."""
    device = sys.modules.get("torch.utils._device")
    return torch._C._len_torch_function_stack() == 1 and device is not None and getattr(device, "CURRENT_DEVICE", None) is not None
