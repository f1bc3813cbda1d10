# SPDX-License-Identifier: Apache-2.0
"""Observes a program's calls of PyTorch: installed for two steps, and then removed with nothing left behind.

    TorchFunctionMode                       calls of PyTorch's Python API, the outermost ones
    Module.__call__, Function.apply         modules, autograd Functions: they do not pass through the mode
    torch.autograd.backward, grad           likewise
    autocast, inference_mode                contexts
    optimizers' step and zero_grad          whole, not the calls inside
    a GradScaler that is switched off       its calls, because a change may switch it on
    checkpoints, DataLoader                 a checkpoint is a body of its own; a loader's work on a batch is
                                            not noted

All of it goes through vramscope_core.guard. Only calls of the thread that ends the training steps are noted."""

import sys
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from vramscope_core import guard

from . import tracebacks
from .functions import Functions, look_up
from .step import Step
from .values import Unnotable

HOOK = "python.program"
CLIPPING = ("clip_grad_norm_", "clip_grad_value_")


def _run(function: Any, args: Any, named: Any) -> Any:
    return function(*args, **named)


class Listener:
    def __init__(self, torch: Any, functions: Functions, failed: Callable[[Exception], None]) -> None:
        self._torch = torch
        self._functions = functions
        self._failed = failed
        self._undo: List[Callable[[], None]] = []
        self._thread = 0
        self._mode: Any = None
        self._leaving_mode: Any = None
        self._is_aside = False  # the mode is removed during an optimizer's step
        self.step: Step
        self.quiet = 0  # > 0 within code of ours, or within something that is noted as a whole
        self.optimizers: List[Any] = []  # weak references
        self._slots: Dict[int, Tuple[Any, int]] = {}
        self._last_slot = 0
        self._checkpoints: List[Tuple[int, List[Any]]] = []  # where one began, and its arguments
        self._saver: Any = None

    # --- in and out

    def enter(self, step: Step) -> None:
        torch = self._torch
        self.step = step
        self._thread = threading.get_ident()
        self._mode = _mode_class(torch)(self, guard.instead(HOOK, _run, self._watched(self._called)))
        torch.overrides._push_mode(self._mode)
        self._patch(torch.nn.Module, "__call__", self._module)
        self._patch(torch.autograd, "backward", self._named_call("torch.autograd:backward"))
        self._patch(torch.autograd, "grad", self._named_call("torch.autograd:grad"))
        for name in CLIPPING:
            self._patch(torch.nn.utils, name, self._named_call(f"torch.nn.utils:{name}"))
        self._patch(torch.cuda, "empty_cache", self._named_call("torch.cuda:empty_cache"))
        apply = vars(torch.autograd.Function)["apply"]
        ours = guard.instead(HOOK, lambda cls, *args, **named: apply.__get__(None, cls)(*args, **named), self._watched(self._applied))
        self._replace(torch.autograd.Function, "apply", classmethod(ours))
        for owner, kind in ((torch.amp.autocast_mode.autocast, "autocast"), (torch.autograd.grad_mode.inference_mode, "inference_mode")):
            self._patch(owner, "__enter__", self._entering(kind))
            self._patch(owner, "__exit__", self._leaving)
        optimizer = sys.modules["torch.optim.optimizer"]
        self._patch(optimizer.Optimizer, "zero_grad", self._zeroing)
        self._patch(torch.nn.Module, "zero_grad", self._zeroing)
        scaler = getattr(torch.amp, "GradScaler", None)
        for name in ("scale", "step", "update", "unscale_") if scaler is not None else ():
            self._patch(scaler, name, self._scaler_call(name))
        checkpoint = sys.modules.get("torch.utils.checkpoint")
        if checkpoint is not None and hasattr(checkpoint, "_CheckpointFrame") and hasattr(checkpoint, "_checkpoint_hook"):
            self._saver = getattr(checkpoint, "_NoopSaveInputs", None)
            self._replace_hooks(checkpoint)
        loader = sys.modules.get("torch.utils.data.dataloader")
        if loader is not None:
            self._patch(loader._BaseDataLoaderIter, "__next__", self._loading)

    def leave(self) -> None:
        while self._undo:
            self._undo.pop()()
        self._slots.clear()  # the guard keeps this object, so it must not keep objects of the program
        self._checkpoints.clear()
        self._leaving_mode, self._mode = self._mode, None
        self.mode_is_out()

    def mode_is_out(self) -> bool:
        """Removes the mode; False if that must wait. Within a call of the mode it is impossible: PyTorch puts the mode back after the call."""
        overrides, kept = self._torch.overrides, []
        if self._is_aside and self._leaving_mode is not None:
            self._leaving_mode, self._is_aside = None, False
        for _ in range(self._torch._C._len_torch_function_stack() if self._leaving_mode is not None else 0):
            mode = overrides._pop_mode()  # the program may have left one of its own above ours
            if mode is self._leaving_mode:
                self._leaving_mode = None
                break
            kept.append(mode)
        for mode in reversed(kept):
            overrides._push_mode(mode)
        return self._leaving_mode is None

    def _replace(self, owner: Any, name: str, ours: Any) -> None:
        before = vars(owner).get(name, guard)
        setattr(owner, name, ours)

        def put_back() -> None:
            if before is guard:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        self._undo.append(put_back)

    def _patch(self, owner: Any, name: str, ours: Callable[..., Any]) -> None:
        self._replace(owner, name, guard.instead(HOOK, getattr(owner, name), self._watched(ours)))

    def _watched(self, ours: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps `ours`, which is called where noting applies. A failure of ours ends noting. Calls of PyTorch within `ours` are not noted: neither its own
        reads of tensors, nor the program's `call`, unless that goes through _inside()."""
        def watch(call: Any, *args: Any, **named: Any) -> Any:
            try:
                if self.quiet or self._mode is None or threading.get_ident() != self._thread:
                    return call(*args, **named)
                return self._heard(ours, call, args, named)
            except BaseException as error:
                tracebacks.hide_ours()
                if isinstance(error, Exception) and guard._of_program.raised != id(error):
                    self._failed(error)
                raise

        return watch

    def _heard(self, ours: Callable[..., Any], call: Any, args: Any, named: Any) -> Any:
        self.quiet = 1
        try:
            return ours(call, *args, **named)
        finally:
            self.quiet = 0

    def _inside(self, call: Any, *args: Any, **named: Any) -> Any:
        """The program's call; everything inside it is noted."""
        self.quiet = 0
        try:
            return call(*args, **named)
        finally:
            self.quiet = 1

    # --- calls

    def _called(self, call: Any, function: Any, args: Any, named: Any) -> Any:
        about = self._functions.of(function)
        step = self.step
        if about.is_question:
            result = call(function, args, named)
            if about.hooks:
                step.lack("tensor hooks cannot be re-run")
            return step.question(about, args, result)
        if about.last == "dtype" or about.last == "shape":
            return step.question(about, args, call(function, args, named))
        step.deaths()
        encoded, encoded_named, args, named = step.prepared(about, args, named)
        place = step.place(step.frame())
        if about.last == "backward":
            return self._backward(call, function, about, (encoded, encoded_named, args, named, place))
        result = call(function, args, named)
        if about.name.endswith(".__get__") and not isinstance(result, self._torch.Tensor):
            return step.question(about, args, result)
        if isinstance(result, self._torch.Tensor) and about.name.endswith(".__get__") and step.knows(result):
            return result
        return step.called(about, encoded, encoded_named, args, result, place)

    def _backward(self, call: Any, function: Any, about: Any, given: Any) -> Any:
        step = self.step
        encoded, encoded_named, args, named, place = given
        result = call(function, args, named)
        step.deaths()  # of tensors that only the graph held: in a re-run they die with the graph
        return step.called(about, encoded, encoded_named, args, result, place)

    def _named_call(self, name: str) -> Callable[..., Any]:
        def called(call: Any, *args: Any, **named: Any) -> Any:
            step = self.step
            step.deaths()
            about = self._functions.named(name)
            encoded, encoded_named, args, named = step.prepared(about, tuple(list(each) if hasattr(each, "__next__") else each for each in args), named)
            place = step.place(step.frame())
            result = call(*args, **named)
            step.deaths()
            return step.called(about, encoded, encoded_named, args, result, place)

        return called

    def _module(self, call: Any, module: Any, *args: Any, **named: Any) -> Any:
        step = self.step
        path = step.trees.path_of(module)
        if path is None:
            return self._inside(call, module, *args, **named)
        step.deaths()
        if step.trees.is_opaque(module):
            try:
                encoded, encoded_named, args, named = step.prepared(None, args, named)
            except Unnotable:
                encoded = None
            if encoded is not None:
                place = step.place(step.frame())
                result = call(module, *args, **named)
                step.whole_module(module, ["m", path, encoded, encoded_named, step.bind(result), place])
                return result
        instruction = step.emit(["M", path, step.names_in((args, named)), [], []])
        step.open(instruction[4])
        try:
            result = self._inside(call, module, *args, **named)
            step.deaths()
            instruction[3] = step.names_in(result)
        except Exception:
            step.lack("an exception ended the call of a module")
            raise
        finally:
            step.close(instruction[4])
        return result

    def _applied(self, call: Any, cls: Any, *args: Any, **named: Any) -> Any:
        step = self.step
        step.deaths()
        if cls is self._saver:
            self._checkpoints[-1][1].append(args)  # before 2.12
            return call(cls, *args, **named)
        if cls.__name__ == "CheckpointFunction" and cls.__module__ == "torch.utils.checkpoint":
            return self._reentrant(call, cls, args)
        encoded, encoded_named, args, named = step.prepared(None, args, named)
        place = step.place(step.frame())
        result = call(cls, *args, **named)
        name = f"{cls.__module__}:{cls.__qualname__}"
        if look_up(cls.__module__, cls.__qualname__) is not cls:
            step.lack(f"the autograd Function {cls.__qualname__} cannot be imported again")
        step.emit(["f", name, encoded, step.bind(result), place])
        return result

    # --- checkpoints

    def _reentrant(self, call: Any, cls: Any, args: Any) -> Any:
        step = self.step
        instruction = step.emit(["k", "reentrant", step.names_in(args), bool(args[1]), [], []])
        step.open(instruction[5])
        try:
            result = self._inside(call, cls, *args)
            step.deaths()
            instruction[4] = step.names_in(result)
        finally:
            step.close(instruction[5])
        return result

    def _replace_hooks(self, checkpoint: Any) -> None:
        self._patch(checkpoint._CheckpointFrame, "__init__", self._framed)
        if hasattr(checkpoint._CheckpointFrame, "save_inputs"):
            self._patch(checkpoint._CheckpointFrame, "save_inputs", self._saving)
        self._patch(checkpoint._checkpoint_hook, "__enter__", self._checkpoint_begins)
        self._patch(checkpoint._checkpoint_hook, "__exit__", self._checkpoint_ends)

    def _framed(self, call: Any, frame: Any, *args: Any, **named: Any) -> Any:
        self.step.deaths()
        self._checkpoints.append((self.step.position(), []))
        return call(frame, *args, **named)

    def _saving(self, call: Any, frame: Any, *args: Any) -> Any:
        self._checkpoints[-1][1].append(args)
        return call(frame, *args)

    def _checkpoint_begins(self, call: Any, hook: Any) -> Any:
        step = self.step
        position, given = self._checkpoints.pop()
        if sys._getframe(3).f_locals.get("context_fn") not in (None, sys.modules["torch.utils.checkpoint"].noop_context_fn):
            step.lack("a checkpoint that keeps the results of chosen operators")
        step.cut(position)  # calls that checkpoint() made for itself
        instruction = step.emit(["k", "", step.names_in(given[-1]) if given else [], True, [], []])
        step.open(instruction[5])
        hook.vramscope_noted = instruction
        return call(hook)

    def _checkpoint_ends(self, call: Any, hook: Any, *args: Any) -> Any:
        step = self.step
        instruction = vars(hook).pop("vramscope_noted", None)
        if instruction is not None:
            step.deaths()
            step.close(instruction[5])
        return call(hook, *args)

    # --- contexts

    def _entering(self, kind: str) -> Callable[..., Any]:
        def entering(call: Any, context: Any) -> Any:
            self.step.deaths()
            self._last_slot += 1
            self._slots[id(context)] = (context, self._last_slot)
            if kind == "autocast":
                args = [context.device, str(context.fast_dtype)[6:], bool(context._enabled), bool(context._cache_enabled)]
            else:
                args = [bool(context.mode)]
            self.step.emit(["e", self._last_slot, kind, args])
            return call(context)

        return entering

    def _leaving(self, call: Any, context: Any, *args: Any) -> Any:
        self.step.deaths()
        kept = self._slots.pop(id(context), None)
        self.step.emit(["x", 0 if kept is None else kept[1]])
        return call(context, *args)

    # --- optimizers

    def _number(self, optimizer: Any) -> int:
        for number, each in enumerate(self.optimizers):
            if each() is optimizer:
                return number
        self.optimizers.append(weakref.ref(optimizer))
        return len(self.optimizers) - 1

    def _is_ours(self) -> bool:
        return self._mode is not None and threading.get_ident() == self._thread

    def stepping(self, optimizer: Any, args: Any, named: Any) -> None:
        """Called by the shim's hook before an optimizer's step; stepped() after it."""
        if not self._is_ours():
            return
        self.quiet += 1
        if self.quiet == 1:
            self.step.deaths()
            if len(args or ()) > 1 or any(value is not None for value in (named or {}).values()):
                self.step.lack("an optimizer's step() with arguments, such as a closure")
            self.step.emit(["o", self._number(optimizer), "step", []])
            self._set_aside()

    def stepped(self) -> None:
        if self._is_ours():
            self.quiet = max(self.quiet - 1, 0)
            if self._is_aside and self.quiet == 0:
                self._is_aside = False
                self._torch.overrides._push_mode(self._mode)

    def _set_aside(self) -> None:
        """Removes the mode during an optimizer's step, which is noted as a whole: its calls, possibly thousands, are quicker without the mode."""
        if self._torch._C._len_torch_function_stack() and self._torch.overrides._get_current_function_mode() is self._mode:
            self._is_aside = self._torch.overrides._pop_mode() is self._mode

    def _zeroing(self, call: Any, owner: Any, set_to_none: bool = True) -> Any:
        step = self.step
        step.deaths()
        if isinstance(owner, self._torch.nn.Module):
            step.emit(["z", step.trees.path_of(owner), bool(set_to_none)])
        else:
            step.emit(["o", self._number(owner), "zero_grad", [bool(set_to_none)]])
        return call(owner, set_to_none)

    def _scaler_call(self, what: str) -> Callable[..., Any]:
        """A GradScaler that is switched off does nothing, but a change to float16 switches it on. If it is on already, the calls inside it are noted."""
        def calling(call: Any, scaler: Any, *args: Any, **named: Any) -> Any:
            if scaler.is_enabled() or named or len(args) != (what != "update"):
                return self._inside(call, scaler, *args, **named)
            step = self.step
            step.deaths()
            if what != "scale":
                step.emit(["g", what, self._number(args[0]) if args else None, None])
                return call(scaler, *args)
            encoded = step.values.encode(args[0])
            result = step.own_name(call(scaler, args[0]))
            step.emit(["g", what, encoded, step.bind(result)])
            return result

        return calling

    def _loading(self, call: Any, loader: Any) -> Any:
        self.step.deaths()
        return call(loader)


_class: Optional[Any] = None


def _mode_class(torch: Any) -> Any:
    global _class
    if _class is None:
        class Noting(torch.overrides.TorchFunctionMode):  # type: ignore[misc,name-defined]
            def __init__(self, listener: Any, noted: Callable[..., Any]) -> None:
                self.listener, self.noted = listener, noted

            def __torch_function__(self, function: Any, types: Any, args: Any = (), named: Any = None) -> Any:
                if self.listener.quiet:
                    return function(*args, **(named or {}))
                return self.noted(function, args, named or {})

        _class = Noting
    return _class
