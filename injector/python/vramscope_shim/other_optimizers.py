# SPDX-License-Identifier: Apache-2.0
"""Finds the state of optimizers outside torch.optim: those of libraries, or the program's own.

They have no hooks, so they are recognized by what they hold. An optimizer is the object nearest to the parameters, other than a module, that reaches
both parameters of the program's models and other tensors of their shapes. What else it holds is its state.

    optimizer ─ params ─ [weight, bias]                             a list of the parameters
             ├─ state ─ {weight: {"grad_avg": tensor}}              their shapes: "grad_avg of weight"
             ├─ _momentums ─ [variable ─ _value ─ tensor]           variables of a library: "_momentums[0]._value"
             └─ averages ─ tensor                                   as long as all parameters together

The search goes up from a few of the parameters: to the lists, dicts and objects that refer to them, then to those that refer to these. From each
object it goes down the same way, but not into modules. Each level up scans all objects of the garbage collector. That takes a second in a program with
a million objects, so it runs rarely, and only while no optimizer of torch.optim has stepped.

We cannot see their step(). Once such an optimizer is known, a step of the training loop ends where a batch is requested after a backward pass."""

import gc
from collections import deque
from contextlib import suppress
from math import prod
from threading import get_ident, main_thread
from types import MemberDescriptorType
from typing import Any, Callable, Deque, Dict, Iterator, List, Set, Tuple

from vramscope_core import guard, native

from . import storage
from .modules import Registry
from .told import Told

HOOK = "python.other_optimizers"
LOOKS = (2, 4, 16, 64, 256)  # when to search: after so many batches, or entries of no_grad() after a backward pass
SAMPLE = 6  # the search starts at so many parameters: an optimizer has all parameters of a model
MAX_UP = 5
MAX_DOWN = 6
MOST_REFERRERS = 64  # of one level: the collector compares each reference with each of them
MAX_OBJECTS = 20000  # on the way down from one object
MAX_WITHOUT_PARAMETER = 2000  # the same, until a parameter is met

_CONTAINERS = (list, tuple, dict, set)


class OtherOptimizers:
    def __init__(self, torch: Any, registry: Registry, has_stepped: Callable[[], bool], passed: Callable[[int], None]) -> None:
        """has_stepped(): True if an optimizer of torch.optim has. passed(steps so far) is called at the end of each step of any other optimizer."""
        self._torch = torch
        self._registry = registry
        self._has_stepped = has_stepped
        self._told = Told(native.Source.OPTIMIZER)
        self._passed = passed
        self._steps = 0
        self._passes = 0  # backward passes when the last batch was requested
        self._found = False
        self._entries = 0
        self._passes_at_entry = 0
        self.entered = guard.hook(HOOK, self._has_entered)
        self.asked = guard.hook(HOOK, self._asked)

    def _asked(self, batches: int) -> None:
        """A loader is about to return a batch. `batches`: how many were returned before."""
        if self._has_stepped():
            return
        passes = native.backward_passes()
        stepped, self._passes = passes != self._passes and get_ident() == main_thread().ident, passes
        self._steps += stepped
        if batches in LOOKS:
            self._look()
            self._found = self._found and not self._about_to_step()
        if self._found and stepped:
            self._passed(self._steps)

    def _has_entered(self) -> None:
        """The program has entered no_grad(): after a backward pass this may be its optimizer's step."""
        if self._found or self._has_stepped():
            return
        passes = native.backward_passes()
        if passes != self._passes_at_entry:
            self._passes_at_entry = passes
            self._entries += 1
            if self._entries in LOOKS and not self._about_to_step():
                self._look()

    def _about_to_step(self) -> bool:
        """True if an optimizer of torch.optim exists: then another object that holds the parameters may be an average of them."""
        return bool(self._registry.search())

    def _look(self) -> None:
        self._registry.look(only_if_due=False)
        parameters = {id(parameter): name for name, parameter in self._registry.parameters()}
        if not parameters:
            return
        with storage.untouched():
            shapes = {tuple(parameter.shape) for _, parameter in self._registry.parameters()}
            for optimizer in self._optimizers(parameters, shapes):
                self._found = True
                for name, tensor in self._state_of(optimizer, parameters)[0]:
                    self._told.tell(native.Role.OPTIMIZER_STATE, (id(optimizer), name), tensor, name)

    def _optimizers(self, parameters: Dict[int, str], shapes: Set[Tuple[int, ...]]) -> Iterator[Any]:
        trained = [parameter for _, parameter in self._registry.parameters() if parameter.requires_grad]
        level: List[Any] = trained[:: max(1, len(trained) // SAMPLE)]
        met: Set[int] = set(map(id, level))
        for _ in range(MAX_UP):
            above = [each for each in gc.get_referrers(*level) if id(each) not in met and self._may_hold(each)]
            level = []
            for each in above[:MOST_REFERRERS]:
                met.add(id(each))
                is_container = type(each) in _CONTAINERS or issubclass(type(each), dict)
                state, size = ([], 0) if is_container else self._state_of(each, parameters)
                if any(tuple(tensor.shape) in shapes or tuple(tensor.shape) == (size,) for _, tensor in state):
                    yield each
                else:
                    level.append(each)
            if not level:
                return

    def _may_hold(self, thing: Any) -> bool:
        """True for a container, or an object with attributes. False for modules, and for objects of the interpreter, of torch and of ours."""
        kind = type(thing)
        if kind in _CONTAINERS or issubclass(kind, (dict, list)):
            return "__name__" not in thing if issubclass(kind, dict) else True  # not the globals of a file
        module = str(getattr(kind, "__module__", "")).split(".", 1)[0]
        others = module in ("builtins", "torch", "vramscope_core", "vramscope_shim", "vramscope_try") or issubclass(kind, (self._torch.nn.Module, type))
        return not others and bool(_attributes(thing))

    def _state_of(self, optimizer: Any, parameters: Dict[int, str]) -> Tuple[List[Tuple[str, Any]], int]:
        """(name, tensor) for each tensor that it reaches, except parameters, and the number of elements of these parameters. Empty if it reaches none."""
        state: List[Tuple[str, Any]] = []
        met: Set[int] = set()
        waiting: Deque[Tuple[str, Any, int]] = deque([("", optimizer, 0)])
        size = 0
        while waiting and len(met) < (MAX_OBJECTS if size else MAX_WITHOUT_PARAMETER):
            name, thing, depth = waiting.popleft()
            if id(thing) in met:
                continue
            met.add(id(thing))
            if storage.is_tensor(thing):
                if id(thing) in parameters:
                    size += prod(thing.shape)
                elif not self._registry.is_known(thing):
                    state.append((name or "state", thing))
            elif depth < MAX_DOWN:
                waiting += [(inner_name, inner, depth + 1) for inner_name, inner in _inside(thing, name, parameters, self._may_hold)]
        return (state if size else []), size


def _inside(thing: Any, name: str, parameters: Dict[int, str], may_hold: Any) -> Iterator[Tuple[str, Any]]:
    kind = type(thing)
    if issubclass(kind, dict):
        for key, value in list(dict.items(thing)):
            if id(key) in parameters:
                yield "", key
                named = value if issubclass(type(value), dict) else (may_hold(value) and _attributes(value)) or {"state": value}
                yield from ((f"{inner} of {parameters[id(key)]}", each) for inner, each in list(dict.items(named)))
            else:
                yield f"{name}.{key}" if name else str(key), value
    elif issubclass(kind, (list, tuple)):
        yield from ((f"{name}[{index}]", each) for index, each in enumerate(tuple(kind.__iter__(thing))))
    elif kind is set:
        yield from ((name, each) for each in tuple(thing))
    elif may_hold(thing):
        yield from ((f"{name}.{key}" if name else key, value) for key, value in _attributes(thing).items())


def _attributes(thing: Any) -> Dict[str, Any]:
    """Raw values, also those of __slots__: reading an attribute the usual way may run code of the program."""
    found: Dict[str, Any] = {}
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in slots if type(slots) in (tuple, list) else ():
            if type(vars(kind).get(name)) is MemberDescriptorType:
                with suppress(AttributeError):
                    found[name] = vars(kind)[name].__get__(thing)
    with suppress(AttributeError):
        found.update(object.__getattribute__(thing, "__dict__"))
    return found
