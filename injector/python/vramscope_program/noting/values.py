# SPDX-License-Identifier: Apache-2.0
"""Encodes the arguments and results of calls as JSON.

    None, True, 3, 0.5      themselves            "'text"     a string
    "%7"  "%p7"  "=a.b.weight"  "<2"              a name, of this step or the one before; a parameter or buffer; an input on the host
    "~float32"  ["~", read]                       a type; the type that was read from a tensor
    ["~min", read, "min"]                         the smallest number of that type
    "!cuda:0"                                     a device
    ["#", form]                                   an integer that comes from a shape (sizes.py)
    ["T", ...]  ["L", ...]  ["D", [key, value], ...]  ["/", from, to, by]  ["f", "inf"]  ["@", "torch.strided"]  ["fn", "module:function"]
"""

import math
from typing import Any, Callable, List, Optional

from .functions import look_up
from .sizes import Size


class Unnotable(Exception):
    """A value that cannot be created in another process."""


class Values:
    def __init__(self, torch: Any, name_of: Callable[[Any], str]) -> None:
        self._torch = torch
        self._name_of = name_of
        self.has_size = False  # some integer was a Size since this was last reset
        self.type_of: Callable[[Any], Optional[int]] = lambda dtype: None  # the read that a type comes from
        self.limit_of: Callable[[float], Any] = lambda value: None

    def encode(self, value: Any) -> Any:
        torch = self._torch
        kind = type(value)
        if value is None or kind is bool or kind is int:
            return value
        if kind is str:
            return "!" + value if value.partition(":")[0] in ("cuda", "cpu") else "'" + value
        if isinstance(value, torch.Tensor):
            return self._name_of(value)
        if kind is Size:
            self.has_size = True
            return ["#", value.form]
        if kind is float:
            return self._float(value)
        if kind is torch.dtype:
            read = self.type_of(value)
            return "~" + str(value)[6:] if read is None else ["~", read]
        if kind is torch.device:
            return f"!{value}"
        return self._composite(value, kind)

    def _float(self, value: float) -> Any:
        if not math.isfinite(value):
            return ["f", repr(value)]
        limit = self.limit_of(value) if abs(value) > 1e4 else None
        return value if limit is None else limit

    def _composite(self, value: Any, kind: Any) -> Any:
        torch = self._torch
        if isinstance(value, (tuple, torch.Size)):
            return ["T", *map(self.encode, value)]
        if isinstance(value, list):
            return ["L", *map(self.encode, value)]
        if isinstance(value, dict):
            return ["D", *([self.encode(key), self.encode(each)] for key, each in value.items())]
        if kind is slice:
            return ["/", self.encode(value.start), self.encode(value.stop), self.encode(value.step)]
        if value is Ellipsis:
            return ["..."]
        if kind in (torch.memory_format, torch.layout):
            return ["@", str(value)]
        if kind is torch.Generator:
            return None
        if isinstance(value, (set, frozenset)):
            return ["T", *map(self.encode, value)]
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return self._float(float(value))
        if isinstance(value, str):
            return "'" + str(value)
        if kind.__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
            return self.encode(value.item())
        module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if callable(value) and isinstance(module, str) and isinstance(path, str) and look_up(module, path) is value:
            return ["fn", f"{module}:{path}"]
        raise Unnotable(f"a value of {kind.__module__}.{kind.__qualname__}")


def tensors_in(torch: Any, value: Any, found: List[Any], depth: int = 0) -> List[Any]:
    """Tensors in a module's arguments or results, each once, in order."""
    if isinstance(value, torch.Tensor):
        if not any(each is value for each in found):
            found.append(value)
    elif depth < 6:
        if isinstance(value, dict) or hasattr(type(value), "keys") and hasattr(type(value), "__getitem__"):
            for key in list(value.keys()):
                tensors_in(torch, value[key], found, depth + 1)
        elif isinstance(value, (list, tuple)):
            for each in value:
                tensors_in(torch, each, found, depth + 1)
        elif hasattr(type(value), "__dataclass_fields__") and not isinstance(value, type):
            for key in type(value).__dataclass_fields__:
                tensors_in(torch, getattr(value, key, None), found, depth + 1)
    return found
