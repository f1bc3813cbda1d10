# SPDX-License-Identifier: Apache-2.0
"""What the trace already knows about a group of tensors, so that only changes are reported again."""

from typing import Any, Dict, Hashable, Tuple

from vramscope_core import native

from . import storage


class Told:
    """Either tell() single tensors, or start(), tell() for everything, finish(): tensors not reported in between are forgotten.

    A new storage at the address of the one before it counts as the same, unless everything is reported again."""

    __slots__ = ("changed", "_source", "_before", "_now", "_everything")

    def __init__(self, source: int) -> None:
        self.changed = False  # something was news since start()
        self._source = source
        self._before: Dict[Tuple[Hashable, str], int] = {}  # (key, part) -> address
        self._now = self._before
        self._everything = False

    def start(self, everything_is_news: bool = False) -> None:
        self.changed = False
        self._now = {}
        self._everything = everything_is_news

    def tell(self, role: int, key: Hashable, tensor: Any, name: str, identity: Any = None) -> None:
        """`identity`: the tensor that identifies the label if it is not `tensor`: for a gradient, its parameter."""
        for suffix, part, address, size in storage.places(tensor):
            place = (key, suffix)
            moved = self._before.get(place) != address
            self.changed = self.changed or moved
            if moved or self._everything:
                native.label(role, self._source, address, size, native.intern(name + suffix), (part if identity is None else identity)._cdata)
            self._now[place] = address

    def finish(self) -> None:
        self._before = self._now
        self._everything = False
