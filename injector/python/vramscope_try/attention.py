# SPDX-License-Identifier: Apache-2.0
"""Chooses another kernel for F.scaled_dot_product_attention: each call of it runs inside sdpa_kernel(...).

Transformers models with their own attention code are set to call it. A call that the kernel cannot do uses the program's own choice."""

import functools
import importlib
import sys
from typing import Any, Callable

from vramscope_core import guard

from . import complete
from .notes import Notes, place

_BACKENDS = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}


def install(kernel: str, notes: Notes) -> None:
    torch = sys.modules["torch"]
    module = importlib.import_module("torch.nn.attention")  # since 2.3
    backend = getattr(module.SDPBackend, _BACKENDS[kernel])
    owner: Any = sys.modules["torch.nn.functional"]
    owner.scaled_dot_product_attention = _choosing(owner.scaled_dot_product_attention, functools.partial(module.sdpa_kernel, backend), kernel,
                                                   torch.compiler, notes)
    complete.watch(torch, "attention", notes, _call_it)


def _choosing(original: Callable[..., Any], choice: Callable[[], Any], kernel: str, compiler: Any, notes: Notes) -> Callable[..., Any]:
    def choose(call: Callable[..., Any], *args: Any, **settings: Any) -> Any:
        if compiler.is_compiling():
            with choice():
                return call(*args, **settings)
        try:
            with choice():
                result = call(*args, **settings)
        except RuntimeError as error:
            if "No available kernel" not in str(error):
                raise
            notes.refused("attention", f"{kernel} attention does not support the call at {place(sys._getframe())}")
        else:
            notes.applied("attention", f"{kernel} at {place(sys._getframe())}")
            return result
        return call(*args, **settings)

    return guard.instead("try.attention", original, choose, while_compiling=True)


def _call_it(model: Any) -> None:
    for module in list(model.modules()):
        if hasattr(module, "set_attn_implementation") and getattr(module.config, "_attn_implementation", "sdpa") == "eager":
            module.set_attn_implementation("sdpa")
