# SPDX-License-Identifier: Apache-2.0
"""Reports autocast, activation checkpointing and Module.zero_grad as intervals.

Autocast: __enter__ and __exit__ of torch.autocast (torch.cuda.amp.autocast and the like are subclasses). autocast(enabled=False) where it is already
off changes nothing and is left out. Checkpoint, use_reentrant=False: checkpoints.py. use_reentrant=True: the recomputation runs inside autocast
contexts that CheckpointFunction.backward enters. Its forward region has no boundary that we can see without appearing in the program's tracebacks,
and is left out. Module.zero_grad: it is wrapped, because unlike an optimizer's zero_grad (scopes.py) it opens no scope. No user code runs inside it."""

import sys
import threading
from typing import Any, Dict, List

from vramscope_core import guard, import_hook, native, patches

from . import checkpoints

AUTOCAST_HOOK = "python.autocast"
CHECKPOINT_HOOK = "python.checkpoint"
ZERO_GRAD_HOOK = "python.zero_grad"


class Regions:
    def __init__(self) -> None:
        self._autocasts: Dict[Any, native.Range] = {}
        self._no_change = native.silent_range()
        self._recomputation = native.Range(native.Kind.CHECKPOINT, "recomputation")
        self._reentrant_backward: Any = None  # code of CheckpointFunction.backward
        self._thread = threading.local()

    def install(self, torch: Any) -> None:
        autocast = torch.amp.autocast_mode.autocast
        patches.wrap_method(autocast, "__enter__", guard.after(AUTOCAST_HOOK, self._entered_autocast))
        patches.wrap_method(autocast, "__exit__", guard.before(AUTOCAST_HOOK, self._leaving_autocast))
        native.coverage(AUTOCAST_HOOK, native.State.HOOKED)
        self._wrap_zero_grad(torch)
        import_hook.when_imported("torch.utils.checkpoint", self._install_checkpoint)

    # --- autocast, and checkpoint with use_reentrant=True, whose recomputation enters autocasts

    def _entered_autocast(self, autocast: Any) -> None:
        frame = _owner(patches.caller())
        self._autocast_range(autocast).begin()
        if frame.f_code is self._reentrant_backward:  # enters up to two autocasts around the recomputation: the outer one counts
            open_frames = self._open_frames()
            if id(frame) not in open_frames:
                self._recomputation.begin()
            open_frames.append(id(frame))

    def _leaving_autocast(self, autocast: Any, *_: Any) -> None:
        frame = _owner(patches.caller())
        if frame.f_code is self._reentrant_backward:
            open_frames = self._open_frames()
            open_frames.pop()
            if id(frame) not in open_frames:
                self._recomputation.end()
        self._autocast_range(autocast).end()

    def _open_frames(self) -> List[int]:
        """The ids of the frames of CheckpointFunction.backward in this thread, each once for each autocast that it has entered."""
        return self._thread.__dict__.setdefault("open_frames", [])

    def _autocast_range(self, autocast: Any) -> native.Range:
        if not autocast._enabled and not autocast.prev:
            return self._no_change  # autocast(enabled=False) where it is off already, as every recomputation does
        key = autocast.fast_dtype if autocast._enabled else None
        found = self._autocasts.get(key)
        if found is None:
            name = "disabled" if key is None else str(key).replace("torch.", "")
            found = self._autocasts[key] = native.Range(native.Kind.AUTOCAST, name)
        return found

    @staticmethod
    def _wrap_zero_grad(torch: Any) -> None:
        window = native.Range(native.Kind.ZERO_GRAD, "Module")
        zeroed = native.moment(native.Mark.ZERO_GRAD, "Module")

        def ends(_module: Any, set_to_none: bool) -> None:
            window.end()
            zeroed(bool(set_to_none))

        within = guard.around(ZERO_GRAD_HOOK, lambda *_: window.begin(), ends)

        def build(original: Any) -> Any:
            zeroing = within(original)

            def zero_grad(self: Any, set_to_none: bool = original.__defaults__[0]) -> None:
                """Has the original's parameters, so that a call with other arguments fails here as it would there."""
                zeroing(self, set_to_none)

            return zero_grad

        patches.wrap_method(torch.nn.Module, "zero_grad", build)

    def _install_checkpoint(self) -> None:
        checkpoint = sys.modules["torch.utils.checkpoint"]
        self._reentrant_backward = checkpoint.CheckpointFunction.backward.__code__
        if checkpoints.install(checkpoint):
            native.coverage(CHECKPOINT_HOOK, native.State.HOOKED, "with use_reentrant=True the recomputation only")
        else:
            native.coverage(CHECKPOINT_HOOK, native.State.HOOKED, "recomputation with use_reentrant=True only, in this torch")


def _owner(frame: Any) -> Any:
    """The frame that has the `with`: torch.cpu.amp.autocast delegates to its base class, which adds a frame."""
    return frame.f_back if frame.f_code.co_name in ("__enter__", "__exit__") and frame.f_back is not None else frame
