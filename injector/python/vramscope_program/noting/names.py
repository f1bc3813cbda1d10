# SPDX-License-Identifier: Apache-2.0
"""Numbers the program's tensors, and finds out when the program drops each.

For most tensors a weak reference shows it, but not for a tensor that autograd saves: PyTorch keeps its Python object alive as long as the tensor.
For these, the reference counts show it:

                            references to the Python object    references to the tensor in C++
    program alone           1                                  1 (of the Python object)
    program and autograd    2 (one of C++)                     2 or more
    autograd alone          1 (of C++)                         2 or more       <- the program dropped it

So the living names, which are few, are checked before each noted call. No hook is needed for it, above all none on what autograd saves."""

import sys
import weakref
from typing import Any, Dict, List, Optional

from vramscope_core import guard


class Name(weakref.ref):  # type: ignore[type-arg]
    __slots__ = ("number", "key")

    def __new__(cls, tensor: Any, callback: Any, number: str) -> "Name":
        return super().__new__(cls, tensor, callback)

    def __init__(self, tensor: Any, callback: Any, number: str) -> None:
        super().__init__(tensor, callback)  # type: ignore[call-arg]
        self.number = number
        self.key = id(tensor)


class Names:
    def __init__(self, alone: int, failed: Any = None) -> None:
        """failed(error) is called if a death could not be noted."""
        self._alone = alone
        self._when_died = guard.hook("python.program", lambda name: self._died(name), failed)
        self.living: Dict[int, Name] = {}
        self._gone: List[str] = []
        self._passed: Dict[int, Any] = {}  # dropped by the program, kept by autograd: id -> name
        self._count = self._outside = 0

    def add(self, tensor: Any) -> str:
        """A name for the result of a noted call."""
        number = f"%{self._count}"
        self._count += 1
        self._keep(tensor, number)
        return number

    def add_from_outside(self, tensor: Any) -> str:
        """A name for a tensor that no noted call created. These have numbers of their own: where the second noted step finds a tensor of the step
        before, the first one finds one from outside. All other tensors must have the same numbers in both steps."""
        number = f"%x{self._outside}"
        self._outside += 1
        self._keep(tensor, number)
        return number

    def _keep(self, tensor: Any, number: str) -> None:
        name = Name(tensor, self._when_died, number)
        self.living[name.key] = name

    def of(self, tensor: Any) -> Optional[str]:
        name = self.living.get(id(tensor))
        if name is not None and name() is tensor:
            return name.number
        passed = self._passed.pop(id(tensor), None)
        if passed is not None and passed() is tensor:  # the program got it back from whatever kept it
            self._keep(tensor, passed.number)
            return passed.number
        return None

    def _died(self, name: Any) -> None:
        if self.living.get(name.key) is name:
            del self.living[name.key]
            self._gone.append(name.number)

    def gone(self) -> List[str]:
        """Names that died since the last call."""
        for name in list(self.living.values()):
            tensor = name()
            if tensor is not None and sys.getrefcount(tensor) == self._alone and tensor._use_count() > 1:
                del self.living[name.key]
                self._passed[name.key] = name
                self._gone.append(name.number)
        tensor = None
        gone, self._gone = self._gone, []
        return gone

    def begin_step(self) -> None:
        """Numbers start again at 0; living tensors become names of the step before (%p...)."""
        self.gone()
        self._passed.clear()
        self._count = self._outside = 0
        for name in list(self.living.values()):
            if name.number.startswith("%p"):
                del self.living[name.key]  # lived for a whole step: the program does not drop it in each step
            else:
                name.number = "%p" + name.number[1:]


def references_when_alone(torch: Any) -> Optional[int]:
    """The value of sys.getrefcount() in Names.gone() for a tensor with one owner. None if this PyTorch keeps Python objects alive in another way
    (before 2.10)."""
    def counted(name: Any) -> Any:
        tensor = name()
        return sys.getrefcount(tensor), tensor._use_count()

    try:
        holder, held = torch.empty(0), torch.empty(0)  # no memory and no graph: the recorder sees nothing of it
        name = weakref.ref(held)
        alone, alone_inside = counted(name)
        holder.grad = held  # kept in C++, as autograd keeps what it saves
        shared, _ = counted(name)
        del held
        passed, inside = counted(name)
        del holder
        return alone if shared == alone + 1 and passed == alone and alone_inside == 1 and inside > 1 and name() is None else None
    except Exception:
        return None
