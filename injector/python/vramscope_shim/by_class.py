# SPDX-License-Identifier: Apache-2.0
"""What is known of each of the program's classes, which are not kept alive for it: a class that is made anew in each step holds what its methods close
over, tensors too.

Why by id: an odd metaclass may not let its classes be hashed.
"""

import weakref
from functools import partial
from typing import Any, Callable, Dict, Generic, Tuple, TypeVar

Fact = TypeVar("Fact")


class ByClass(Generic[Fact]):
    def __init__(self, read: Callable[[type], Fact]) -> None:
        self._read = read
        self._known: Dict[int, Tuple[Any, Fact]] = {}

    def of(self, kind: type) -> Fact:
        key = id(kind)
        known = self._known.get(key)
        if known is None or known[0]() is not kind:
            known = self._known[key] = (weakref.ref(kind, partial(self._known.pop, key)), self._read(kind))
        return known[1]
