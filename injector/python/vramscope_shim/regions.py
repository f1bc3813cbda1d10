# SPDX-License-Identifier: Apache-2.0
"""Autocast, activation checkpointing and Module.zero_grad as intervals.

Autocast: __enter__ and __exit__ of torch.autocast (torch.cuda.amp.autocast and the like are subclasses). autocast(enabled=False) where it is off already
changes nothing: deep steps tell it as marks, since under autocast it would; not that of a recomputation, which enters what its forward had.
So do they tell that the program itself empties autocast's cache, in which is nothing then.
Checkpoint, use_reentrant=False: checkpoints.py. use_reentrant=True: the recomputation runs inside autocast contexts that CheckpointFunction.backward enters; its forward
region has no edge that could be seen without standing in the program's tracebacks, and is left out.
Module.zero_grad: the optimizers' own opens a scope (scopes.py), this one does not. No user code runs inside it.
"""

import sys
import threading
from typing import Any, Callable, Dict, List

from . import checkpoints, compiler, import_hook, native, patches

AUTOCAST_HOOK = "python.autocast"
CHECKPOINT_HOOK = "python.checkpoint"


class Regions:
    def __init__(self) -> None:
        self._autocasts: Dict[Any, native.Range] = {}
        self._no_change = native.silent_range()
        self._stays_off = native.moment(native.Mark.AUTOCAST_STAYS_OFF, "cuda")
        self._cleared = native.moment(native.Mark.AUTOCAST_CLEARED, "")
        self._recomputation = native.Range(native.Kind.CHECKPOINT, "recomputation")
        self._reentrant_backward: Any = None  # code of CheckpointFunction.backward
        self._thread = threading.local()

    def install(self, torch: Any) -> None:
        autocast = torch.amp.autocast_mode.autocast
        patches.wrap_method(autocast, "__enter__", self._entering_autocast)
        patches.wrap_method(autocast, "__exit__", self._leaving_autocast)
        patches.wrap_method(torch, "clear_autocast_cache", self._clearing_cache)
        native.coverage(AUTOCAST_HOOK, native.State.HOOKED)
        self._wrap_zero_grad(torch)
        import_hook.when_imported("torch.utils.checkpoint", self._install_checkpoint)

    # --- autocast

    def _entering_autocast(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __enter__(autocast: Any) -> Any:
            result = original(autocast)
            try:
                self._autocast_range(autocast).begin()
                self._entered_from(sys._getframe(1))
                self._tell_stays_off(autocast, sys._getframe(1), 1)
            except Exception as error:
                native.trouble(AUTOCAST_HOOK, error)
            return result

        return __enter__

    def _leaving_autocast(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __exit__(autocast: Any, exc_type: Any, exc_val: Any, exc_tb: Any) -> Any:
            try:
                self._left_from(sys._getframe(1))
                self._tell_stays_off(autocast, sys._getframe(1), 0)
                self._autocast_range(autocast).end()
            except Exception as error:
                native.trouble(AUTOCAST_HOOK, error)
            return original(autocast, exc_type, exc_val, exc_tb)

        return __exit__

    def _clearing_cache(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def clear_autocast_cache() -> Any:
            try:
                if native.deep() and sys._getframe(1).f_globals.get("__name__") != "torch.amp.autocast_mode":  # __exit__
                    self._cleared(0)
            except Exception as error:
                native.trouble(AUTOCAST_HOOK, error)
            return original()

        return clear_autocast_cache

    def _autocast_range(self, autocast: Any) -> native.Range:
        if not autocast._enabled and not autocast.prev:
            return self._no_change  # autocast(enabled=False) where it is off already, as every recomputation does
        key = autocast.fast_dtype if autocast._enabled else None
        found = self._autocasts.get(key)
        if found is None:
            name = "disabled" if key is None else str(key).replace("torch.", "")
            found = self._autocasts[key] = native.Range(native.Kind.AUTOCAST, name)
        return found

    def _tell_stays_off(self, autocast: Any, frame: Any, value: int) -> None:
        if autocast._enabled or autocast.prev or autocast.device != "cuda" or not native.deep():
            return
        frame = _caller(frame)
        if frame.f_globals.get("__name__") != "torch.utils.checkpoint":
            self._stays_off(value)

    @staticmethod
    def _wrap_zero_grad(torch: Any) -> None:
        window = native.Range(native.Kind.ZERO_GRAD, "Module")
        zeroed = native.moment(native.Mark.ZERO_GRAD, "Module")

        def build(original: Callable[..., Any]) -> Callable[..., Any]:
            def zero_grad(self: Any, set_to_none: bool = original.__defaults__[0]) -> None:  # type: ignore[attr-defined]
                if compiler.is_compiling():
                    return original(self, set_to_none)
                window.begin()
                try:
                    original(self, set_to_none)
                finally:
                    window.end()
                zeroed(bool(set_to_none))

            return zero_grad

        patches.wrap_method(torch.nn.Module, "zero_grad", build)

    # --- checkpoint with use_reentrant=True

    def _install_checkpoint(self) -> None:
        checkpoint = sys.modules["torch.utils.checkpoint"]
        self._reentrant_backward = checkpoint.CheckpointFunction.backward.__code__
        if checkpoints.install(checkpoint):
            native.coverage(CHECKPOINT_HOOK, native.State.HOOKED, "with use_reentrant=True the recomputation only")
        else:
            native.coverage(CHECKPOINT_HOOK, native.State.HOOKED, "recomputation with use_reentrant=True only, in this torch")

    def _entered_from(self, frame: Any) -> None:
        """CheckpointFunction.backward enters up to two autocasts around the recomputation: the outer one counts."""
        frame = _caller(frame)
        if frame.f_code is self._reentrant_backward:
            open_frames = self._open_frames()
            if id(frame) not in open_frames:
                self._recomputation.begin()
            open_frames.append(id(frame))

    def _left_from(self, frame: Any) -> None:
        frame = _caller(frame)
        if frame.f_code is self._reentrant_backward:
            open_frames = self._open_frames()
            open_frames.pop()
            if id(frame) not in open_frames:
                self._recomputation.end()

    def _open_frames(self) -> List[int]:
        return self._thread.__dict__.setdefault("open_frames", [])


def _caller(frame: Any) -> Any:
    """Whose `with` it is: torch.cpu.amp.autocast hands on to its base class."""
    return frame.f_back if frame.f_code.co_name in ("__enter__", "__exit__") and frame.f_back is not None else frame

