# SPDX-License-Identifier: Apache-2.0
"""Loss scaling for float16, in a program that has none.

    loss.backward()      becomes   scaler.scale(loss).backward()
    clip_grad_norm_()    ...       scaler.unscale_(optimizer) first
    optimizer.step()     ...       scaler.step(optimizer); scaler.update() once all optimizers of the step
                                   have stepped

If a program creates a GradScaler that is disabled, we enable it. If the program scales a loss itself, we do nothing more, with one exception: it scales
with a scaler that we enabled, and steps its optimizers without it: `scaler.scale(loss).backward(); optimizer.step()`. Then we change step() as above."""

import functools
import sys
import weakref
from typing import Any, Callable, Set

from vramscope_core import guard

from .backward import Backward
from .notes import Notes
from .steps import Closure, Steps


HOOK = "try.scaling"


class Scaling:
    def __init__(self, torch: Any, is_wanted: Callable[[], bool], notes: Notes) -> None:
        """is_wanted(): True if something was computed in float16 because of us."""
        self._torch = torch
        self._is_wanted = is_wanted
        self._notes = notes
        self._backward = Backward.of(torch)
        self._steps = Steps.of(torch)
        amp = torch.amp if hasattr(torch.amp, "GradScaler") else torch.cuda.amp
        self._kind = amp.GradScaler
        self._ours: Any = None  # our scaler
        self._switched_on: weakref.WeakSet[Any] = weakref.WeakSet()  # scalers of the program
        self._at_work = False  # True while a scaler runs on our request, not the program's
        self._scaled_by_program = False
        self._pending: Any = None  # the scaler that has scaled a loss since its last update, and with which we step
        self._stepped: Set[int] = set()  # optimizers, since the last update
        self._unscaled: Set[int] = set()

    def install(self) -> None:
        base = next(kind for kind in reversed(self._kind.__mro__) if "scale" in vars(kind))
        base.__init__ = self._switching_on(base.__init__)
        base.scale = self._noticing(base.scale)
        base.unscale_ = self._leaving(base.unscale_)
        base.step = self._leaving(base.step)
        self._backward.scale = self._scale
        self._steps.layers.append(self._step)
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            for module in ("torch.nn.utils.clip_grad", "torch.nn.utils"):
                owner = sys.modules[module]
                setattr(owner, name, self._unscaling(getattr(owner, name)))

    # --- the program's own scaler

    def _switching_on(self, original: Callable[..., None]) -> Callable[..., None]:
        def switch_on(call: guard.Call, scaler: Any, *args: Any, **settings: Any) -> None:
            if not self._at_work and settings.get("enabled") is False:
                settings["enabled"] = True
                self._switched_on.add(scaler)
                self._notes.applied("amp", "the program's GradScaler switched on")
            call(scaler, *args, **settings)

        return guard.instead(HOOK, original, switch_on)

    def _noticing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def notice(scaler: Any, _outputs: Any) -> None:
            if scaler is not self._ours and scaler.is_enabled():
                self._scaled_by_program = True
                if scaler in self._switched_on:
                    self._pending = scaler
                self._backward.begins()  # in code, `with torch.autocast(...)` would end before this

        return functools.wraps(original)(guard.before(HOOK, notice)(original))

    def _leaving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def leave(scaler: Any, *_: Any, **__: Any) -> None:
            """The program itself steps with the scaler."""
            if scaler is self._pending and not self._at_work:
                self._pending = None
                self._unscaled.clear()

        return functools.wraps(original)(guard.before(HOOK, leave)(original))

    # --- ours

    def _scale(self, tensors: Any) -> Any:
        if self._scaled_by_program or not self._is_wanted():
            self._scaled_by_program = False
            return tensors
        if self._ours is None:
            first = tensors if isinstance(tensors, self._torch.Tensor) else next(iter(tensors))
            self._ours = self._working(self._make, first.device.type)
            self._notes.applied("amp", "a GradScaler around backward() and the optimizers' step()")
        scaled = self._ours.scale(tensors)
        self._pending = self._ours
        return scaled

    def _make(self, device: str) -> Any:
        return self._kind() if self._kind.__module__.startswith("torch.cuda") else self._kind(device)

    def _working(self, function: Callable[..., Any], *args: Any) -> Any:
        self._at_work = True
        try:
            return function(*args)
        finally:
            self._at_work = False

    def _step(self, optimizer: Any, proceed: Callable[[Closure], Any], closure: Closure) -> Any:
        if closure is not None and isinstance(optimizer, self._torch.optim.LBFGS):
            self._notes.refused("amp", "the loss cannot be scaled for an optimizer that calls its closure several times; bf16 needs no scaling")
            return proceed(closure)
        if closure is not None:
            with self._torch.enable_grad():
                loss = closure()  # first, as Lightning does: loss scaling must check the gradients before the step
            self._step(optimizer, proceed, None)
            return loss
        scaler = self._pending
        if scaler is None or not _has_gradients(optimizer):
            return proceed(None)
        if id(optimizer) in self._stepped:  # it steps again, so the step of the loop is over although another optimizer did not step in it
            self._update()
            self._pending = scaler  # it scaled the loss since then
        self._stepped.add(id(optimizer))
        result = self._working(scaler.step, optimizer)
        if self._stepped >= set(self._steps.optimizers):
            self._update()
        return result

    def _update(self) -> None:
        self._pending.update()
        self._pending = None
        self._stepped.clear()
        self._unscaled.clear()

    def _unscaling(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def unscale(*_: Any, **__: Any) -> None:
            for optimizer in self._steps.living() if self._pending is not None else ():
                if id(optimizer) not in self._stepped | self._unscaled and _has_gradients(optimizer):
                    self._unscaled.add(id(optimizer))
                    self._working(self._pending.unscale_, optimizer)

        return functools.wraps(original)(guard.before(HOOK, unscale)(original))


def _has_gradients(optimizer: Any) -> bool:
    return any(parameter.grad is not None for group in optimizer.param_groups for parameter in group["params"])
