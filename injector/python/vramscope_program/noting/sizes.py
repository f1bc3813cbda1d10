# SPDX-License-Identifier: Apache-2.0
"""Integers that keep the shape and dimension from which they were read.

    b, t = x.shape         Size(8) from (read 0, dimension 0), Size(128) from (read 0, dimension 1)
    x.view(b * t, -1)      Size(1024) from ("*", read 0 dimension 0, read 0 dimension 1)

So another batch gives another size when the program runs again. After noting, arithmetic on them gives plain integers; they are pickled as plain
integers."""

import operator
import sys
from typing import Any, Callable

_open = False  # forms are only kept while a step is noted


def keep_forms(wanted: bool) -> None:
    global _open
    _open = wanted
    # einops caches shapes by the shape of its input. This step must not get the plain integers of earlier steps, nor later steps the forms of this one.
    cache: Any = getattr(sys.modules.get("einops.einops"), "_reconstruct_from_shape", None)
    if hasattr(cache, "cache_clear"):
        cache.cache_clear()


class Size(int):
    form: Any

    def __new__(cls, value: int, form: Any) -> "Size":
        made = int.__new__(cls, value)
        made.form = form
        return made

    def __reduce__(self) -> Any:
        return int, (int(self),)

    def __copy__(self) -> int:
        return int(self)

    def __deepcopy__(self, _memo: Any) -> int:
        return int(self)

    def __neg__(self) -> int:
        return Size(-int(self), ["neg", self.form]) if _open else -int(self)


def form_of(value: int) -> Any:
    return value.form if type(value) is Size else int(value)


def _define(symbol: str, name: str, compute: Callable[[int, int], int]) -> None:
    def forward(left: Size, right: Any) -> Any:
        if type(right) not in (int, Size):
            return getattr(int, f"__{name}__")(left, right)
        value = compute(int(left), int(right))
        return Size(value, [symbol, left.form, form_of(right)]) if _open else value

    def reflected(right: Size, left: Any) -> Any:
        if type(left) not in (int, Size):
            return getattr(int, f"__r{name}__")(right, left)
        value = compute(int(left), int(right))
        return Size(value, [symbol, form_of(left), right.form]) if _open else value

    setattr(Size, f"__{name}__", forward)
    setattr(Size, f"__r{name}__", reflected)


for _symbol, _name, _compute in (("+", "add", operator.add), ("-", "sub", operator.sub), ("*", "mul", operator.mul),
                                 ("//", "floordiv", operator.floordiv), ("%", "mod", operator.mod)):
    _define(_symbol, _name, _compute)


def plain(value: Any) -> Any:
    """`value` with plain integers instead of Size, in lists, tuples, slices and dictionaries."""
    kind = type(value)
    if kind is Size:
        return int(value)
    if kind in (list, tuple):
        return kind([plain(each) for each in value])
    if kind.__name__ == "Size":  # torch.Size
        return kind([int(each) for each in value])
    if kind is dict:
        return {key: plain(each) for key, each in value.items()}
    if kind is slice:
        return slice(plain(value.start), plain(value.stop), plain(value.step))
    return value
