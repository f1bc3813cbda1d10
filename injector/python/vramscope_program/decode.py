# SPDX-License-Identifier: Apache-2.0
"""Decodes the values in a noted text (noting/values.py). Each becomes a function that returns the value in a running step."""

import importlib
import operator
from typing import Any, Callable, Dict, List

import torch

Environment = Any  # names -> tensors, and what was read: ("t", 3) -> a type, ("s", 5) -> a shape
Value = Callable[[Environment], Any]

_COMPUTE = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod}


def find(name: str) -> Any:
    """Imports the object that is named `module:path`."""
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for key in path.split("."):
        found = getattr(found, key)
    return found


def constant(value: Any) -> Any:
    """Decodes a value that contains no tensors and no reads."""
    if isinstance(value, str):
        return _text(value)
    if not isinstance(value, list):
        return value
    tag, rest = value[0], value[1:]
    if tag == "T":
        return tuple(map(constant, rest))
    if tag == "L":
        return list(map(constant, rest))
    if tag == "D":
        return {constant(key): constant(each) for key, each in rest}
    if tag == "/":
        return slice(*map(constant, rest))
    return _other(tag, rest)


def _text(text: str) -> Any:
    if text[0] == "'":
        return text[1:]
    if text[0] == "~":
        return getattr(torch, text[1:])
    return torch.device(text[1:])


def _other(tag: str, rest: List[Any]) -> Any:
    if tag == "...":
        return Ellipsis
    if tag == "f":
        return float(rest[0])
    if tag == "@":
        return getattr(torch, rest[0].rpartition(".")[2])
    return find(rest[0])


class Decoder:
    def __init__(self, noted_device: str, device: Any, parameter: Callable[[str], Callable[[], Any]], host: Callable[[int], Any]) -> None:
        """parameter(name): returns a getter of the parameter; host(index): returns an input on the host."""
        self._noted_device = noted_device
        self.device = device
        self._parameter = parameter
        self._host = host

    def value(self, value: Any) -> Value:
        if isinstance(value, str):
            return self._text(value)
        if not isinstance(value, list):
            return lambda env: value
        return self._composite(value[0], value[1:], value)

    def _text(self, text: str) -> Value:
        kind = text[0]
        if kind == "%":
            return lambda env: env[text]
        if kind == "=":
            get = self._parameter(text[1:])
            return lambda env: get()
        if kind == "<":
            host, index = self._host, int(text[1:])
            return lambda env: host(index)
        found = constant(text)
        if kind == "!" and found.type == self._noted_device:
            found = self.device
        return lambda env: found

    def _composite(self, tag: str, rest: List[Any], value: Any) -> Value:
        if tag in ("T", "L"):
            several, kind = [self.value(each) for each in rest], tuple if tag == "T" else list
            return lambda env: kind([each(env) for each in several])
        if tag == "D":
            pairs = [(self.value(key), self.value(each)) for key, each in rest]
            return lambda env: {key(env): each(env) for key, each in pairs}
        if tag == "/":
            first, last, by = map(self.value, rest)
            return lambda env: slice(first(env), last(env), by(env))
        if tag == "#":
            return self._size(rest[0])
        if tag == "~":
            key = ("t", rest[0])
            return lambda env: env[key]
        if tag == "~m":
            key, limit = ("t", rest[0]), rest[1]
            return lambda env: getattr(torch.finfo(env[key]), limit)
        found = constant(value)
        return lambda env: found

    def _size(self, form: Any) -> Value:
        if not isinstance(form, list):
            return lambda env: form
        if isinstance(form[0], str):
            inner = [self._size(each) for each in form[1:]]
            if form[0] == "neg":
                return lambda env: -inner[0](env)
            compute = _COMPUTE[form[0]]
            return lambda env: compute(inner[0](env), inner[1](env))
        key, dimension = ("s", form[0]), form[1]
        return lambda env: env[key][dimension]


Binder = Callable[[Any, Any], None]  # environment, result


def binder(template: Any) -> Binder:
    """A function that stores the parts of a result under the names in `template`."""
    if isinstance(template, str):
        if template[0] == "%":
            def bind(env: Any, result: Any) -> None:
                env[template] = result
            return bind
    elif isinstance(template, list):
        if template[0] == "D":
            pairs: List[Any] = [(constant(key), binder(inner)) for key, inner in template[1:] if inner is not None]
        else:
            pairs = [(index, binder(inner)) for index, inner in enumerate(template[1:]) if inner is not None]

        def bind_each(env: Any, result: Any) -> None:
            for key, inner in pairs:
                inner(env, result[key])
        return bind_each
    return lambda env, result: None


class Again(Dict[Any, Any]):
    """The names that a body sees when it runs once more: its own, then those of the bodies around it."""

    def __init__(self, around: Dict[Any, Any]) -> None:
        super().__init__()
        self._around = around

    def __missing__(self, key: Any) -> Any:
        return self._around[key]
