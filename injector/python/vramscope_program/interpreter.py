# SPDX-License-Identifier: Apache-2.0
"""Runs the instructions of a noted step (noting/step.py lists them).

Names live in one dictionary and are dropped when the program dropped them. So nothing here holds a tensor longer than the original frame did. A body
that runs once more in a backward pass (a checkpoint) has its own dictionary for what it creates."""

import importlib
import sys
from typing import Any, Callable, Dict, List, Tuple

import torch

from .decode import Again, Decoder, binder, find

Act = Callable[[Any], None]


def told(error: BaseException, where: str) -> None:
    """Adds to an exception which call failed. Its type stays: PyTorch itself may catch it (a checkpoint stops a recomputation with an exception)."""
    if not hasattr(error, "vramscope_where"):
        error.vramscope_where = where  # type: ignore[attr-defined]


class Interpreter:
    def __init__(self, document: Dict[str, Any], decoder: Decoder, module_at: Callable[[str], Any], optimizers: List[Any],
                 new_input: Callable[[int], Any]) -> None:
        self.names: Dict[Any, Any] = {}
        self._decoder = decoder
        self._module_at = module_at
        self._optimizers = optimizers
        self._new_input = new_input
        self._places: List[str] = document["places"]
        self._functions: List[str] = document["functions"]
        self._noted_device: str = document["device_type"]
        self._contexts: Dict[int, Any] = {}
        self._scaler: Any = None
        self._calls: List[Tuple[List[str], List[str], List[Act]]] = []
        self._pending: Any = None
        self._body = self._compiled(document["body"])

    def step(self) -> None:
        run(self._body, self.names)

    def _compiled(self, body: List[Any]) -> List[Act]:
        return [getattr(self, "_" + _KINDS[instruction[0]])(*instruction[1:]) for instruction in body]

    # --- calls

    def _call(self, number: int, args: List[Any], named: Dict[str, Any], result: Any, place: Any) -> Act:
        name = self._functions[number]
        return self._act(_function(name), args, named, result, place, name)

    def _whole_module(self, path: str, args: List[Any], named: Dict[str, Any], result: Any, place: Any) -> Act:
        return self._act(self._module_at(path), args, named, result, place, path)

    def _autograd_function(self, name: str, args: List[Any], result: Any, place: Any) -> Act:
        return self._act(find(name).apply, args, {}, result, place, name)

    def _act(self, function: Any, args: List[Any], named: Dict[str, Any], result: Any, place: Any, name: str) -> Act:
        given = [self._decoder.value(each) for each in args]
        given_named = [(key, self._decoder.value(each)) for key, each in named.items()]
        bind = binder(result)
        where = name if place is None else f"{name} at {self._places[place]}"

        def act(env: Any) -> None:
            try:
                bind(env, function(*[value(env) for value in given], **{key: value(env) for key, value in given_named}))
            except Exception as error:
                told(error, where)
                raise

        return act

    # --- names, types, shapes

    def _deaths(self, *names: str) -> Act:
        def act(env: Any) -> None:
            for name in names:
                env.pop(name, None)
        return act

    def _type(self, read: int, name: str) -> Act:
        value, key = self._decoder.value(name), ("t", read)

        def act(env: Any) -> None:
            env[key] = value(env).dtype
        return act

    def _shape(self, read: int, name: str) -> Act:
        value, key = self._decoder.value(name), ("s", read)

        def act(env: Any) -> None:
            env[key] = tuple(value(env).shape)
        return act

    def _input(self, name: str, index: int) -> Act:
        def act(env: Any) -> None:
            env[name] = self._new_input(index)
        return act

    # --- bodies

    def _module(self, path: str, args: List[str], results: List[str], body: List[Any]) -> Act:
        module, number = self._module_at(path), len(self._calls)
        self._calls.append(None)  # type: ignore[arg-type]
        self._calls[number] = (args, results, self._compiled(body))
        given = [self._decoder.value(name) for name in args]
        bind = _results(results)

        def act(env: Any) -> None:
            self._pending = (number, env)
            try:
                bind(env, module(*[value(env) for value in given], noted_call=number))
            except Exception as error:
                told(error, path or "the model")
                raise
            finally:
                self._pending = None  # a module with a forward of its own (quantized) has not taken it, and it holds the names of this body
        return act

    def forward(self, number: int, tensors: Tuple[Any, ...]) -> Any:
        """Runs the body of a module: for its instruction, or once more when a checkpoint recomputes."""
        args, results, body = self._calls[number]
        pending, self._pending = self._pending, None
        env = pending[1] if pending is not None and pending[0] == number else Again(self.names)
        return _run_body(env, args, tensors, body, results)

    def _checkpoint(self, way: str, args: List[str], preserve: bool, results: List[str], body: List[Any]) -> Act:
        acts, given, bind = self._compiled(body), [self._decoder.value(name) for name in args], _results(results)
        checkpoint = importlib.import_module("torch.utils.checkpoint")

        def act(env: Any) -> None:
            first = [env]

            def region(*tensors: Any) -> Any:
                inner = first.pop() if first else Again(self.names)
                return _run_body(inner, args, tensors, acts, results)

            bind(env, checkpoint.checkpoint(region, *[value(env) for value in given], use_reentrant=bool(way), preserve_rng_state=preserve))
        return act

    # --- contexts and optimizers

    def _enter(self, slot: int, kind: str, args: List[Any]) -> Act:
        def act(_env: Any) -> None:
            if kind == "autocast":
                device = self._decoder.device.type if args[0] == self._noted_device else args[0]
                context: Any = torch.autocast(device, dtype=getattr(torch, args[1]), enabled=args[2], cache_enabled=args[3])
            elif kind == "attention":
                attention = importlib.import_module("torch.nn.attention")
                context = attention.sdpa_kernel([getattr(attention.SDPBackend, name) for name in args])
            else:
                context = torch.inference_mode(args[0])
            context.__enter__()
            self._contexts[slot] = context
        return act

    def _exit(self, slot: int) -> Act:
        def act(_env: Any) -> None:
            context = self._contexts.pop(slot, None)
            if context is not None:
                context.__exit__(None, None, None)
        return act

    def _optimizer(self, number: int, what: str, args: List[Any]) -> Act:
        def act(_env: Any) -> None:
            try:
                if what == "step":
                    self._optimizers[number].step()
                else:
                    self._optimizers[number].zero_grad(set_to_none=args[0])
            except Exception as error:
                told(error, f"{type(self._optimizers[number]).__name__}.{what}")
                raise
        return act

    def _grad_scaler(self, what: str, of: Any, result: Any) -> Act:
        """A call of a GradScaler, which is switched off as in the program, unless vramscope_try switches it on."""
        value, bind = self._decoder.value(of), binder(result)

        def act(env: Any) -> None:
            if what == "scale":
                if self._scaler is None:
                    self._scaler = torch.amp.GradScaler(self._decoder.device.type, enabled=False)
                bind(env, self._scaler.scale(value(env)))
            elif self._scaler is None:  # nothing was scaled yet: the first step begins with the end of the one before it
                if what == "step":
                    self._optimizers[of].step()
            elif what == "update":
                self._scaler.update()
            else:
                getattr(self._scaler, what)(self._optimizers[of])
        return act

    def _zero_module(self, path: str, set_to_none: bool) -> Act:
        module = self._module_at(path)

        def act(_env: Any) -> None:
            module.zero_grad(set_to_none=set_to_none)
        return act


_KINDS = {"c": "call", "m": "whole_module", "f": "autograd_function", "d": "deaths", "t": "type", "s": "shape", "i": "input", "M": "module", "k": "checkpoint",
          "e": "enter", "x": "exit", "o": "optimizer", "z": "zero_module",
          "g": "grad_scaler"}


def run(body: List[Act], env: Any) -> None:
    for act in body:
        act(env)


def _run_body(env: Any, args: List[str], tensors: Tuple[Any, ...], body: List[Act], results: List[str]) -> Any:
    for index, name in enumerate(args):
        if name[0] == "%":
            env[name] = tensors[index]
    run(body, env)
    return env[results[0]] if len(results) == 1 else tuple([env[name] for name in results])


def _results(names: List[str]) -> Callable[[Any, Any], None]:
    return binder(names[0] if len(names) == 1 else ["T", *names])


def _function(name: str) -> Any:
    """A function that looks `name` up at each call: a change may have replaced it."""
    if name.startswith("Tensor.") and name.endswith((".__get__", ".__set__", ".__delete__")):
        _, attribute, way = name.split(".")
        return {"__get__": lambda tensor, *_: getattr(tensor, attribute), "__set__": lambda tensor, value: setattr(tensor, attribute, value),
                "__delete__": lambda tensor: delattr(tensor, attribute)}[way]
    if ":" in name:
        module, _, path = name.partition(":")
        owner_path, _, last = path.rpartition(".")
        owner: Any = importlib.import_module(module)
        for key in owner_path.split(".") if owner_path else ():
            owner = getattr(owner, key)
    else:
        owner_name, _, last = name.rpartition(".")
        owner = torch.Tensor if owner_name == "Tensor" else sys.modules.get(owner_name) or _path(owner_name)
        if last == "__class__":
            return getattr(owner, last)
    return lambda *args, **named: getattr(owner, last)(*args, **named)


def _path(name: str) -> Any:
    found: Any = torch
    for key in name.split(".")[1:]:
        found = getattr(found, key)
    return found
