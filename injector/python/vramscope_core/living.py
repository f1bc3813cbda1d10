# SPDX-License-Identifier: Apache-2.0
"""The living instances of some classes, found by the garbage collector, without ever holding a reference to a tensor.

Why so indirect: a tensor whose only owner is C++ code must not get a second Python reference. If C++ releases it meanwhile, PyTorch warns on the
user's stderr ("Deallocating Tensor that still has live PyObject references") and later uses of it crash. A loop over gc.get_objects() holds such
references while other threads run. Here a single call into C goes through all objects, takes their classes, and drops the objects before another
thread gets the interpreter. The instances are then the referrers of their classes."""

import gc
import sys
from itertools import chain, tee
from typing import Any, Dict, List, Tuple


def instances(bases: Tuple[type, ...]) -> List[Any]:
    """All objects known to the collector whose class derives from one of `bases`: about 0.1 s with a million objects."""
    kinds = {number: kind for number, kind in _kinds().items() if issubclass(kind, bases)}
    found = gc.get_referrers(*kinds.values()) if sys.version_info >= (3, 9) else gc.get_objects()  # before 3.9, instances have no reference to their class
    return [thing for thing in found if id(type(thing)) in kinds]


def _kinds() -> Dict[int, type]:
    """The classes of all objects, by id: a class may have an odd metaclass that cannot be hashed."""
    everything = chain.from_iterable(map(gc.get_objects, (None,)))  # called, and its list dropped, inside dict()
    kinds, again = tee(map(type, everything))
    return dict(zip(map(id, kinds), again))
