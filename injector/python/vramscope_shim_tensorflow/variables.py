# SPDX-License-Identifier: Apache-2.0
"""The program's variables: reports what each one is and where it lies.

A Keras variable has a path, `sequential/fc1/kernel`, and holds a tf.Variable. The variables in an optimizer's `variables` are its state, whatever their
names. Of the others, trainable variables are parameters and the rest are buffers (moving averages, metrics, counters). A tf.Variable that the program
passes to an optimizer as a gradient is an accumulated gradient.

`assign` may give a variable the buffer of the new value, as SGD with momentum does in each step. After each step, the injector examines where each
variable lies (injector/tensorflow/variable_buffers.h). Python walks over the variables only as often as pace allows: for new ones, for another role, and
for those that the injector cannot follow, such as variables of another process.

Variables are examined when a step has ended. Then only another thread of the program, or an operator that runs asynchronously, can assign to one."""

import ctypes
import threading
import weakref
from functools import partial
from time import monotonic
from typing import Any, Callable, Dict, Iterator, Tuple

from vramscope_core import native, patches
from vramscope_core.guard import after
from vramscope_core.pace import Pace

from . import buffers

HOOK = "python.names"
_threads: Dict[Any, Any] = getattr(threading, "_active", {})  # Python's own table: threading.active_count() takes a lock


class Variables:
    def __init__(self) -> None:
        self._plain: Dict[int, Any] = {}  # id -> weak reference to a tf.Variable, in the order of creation
        self._keras: Dict[int, Any] = {}  # the same for Keras variables
        self._gradients: Dict[int, Tuple[Any, str]] = {}  # id of a tf.Variable that accumulates -> weak reference, name of the parameter
        self._optimizers: Dict[int, Any] = {}
        self._told: Dict[int, Tuple[int, int, str]] = {}  # id of a tf.Variable -> address, role, name
        self._followed: Dict[int, int] = {}  # id of a tf.Variable -> its number in the injector
        self._pace = Pace()
        wide, number = ctypes.c_uint64, ctypes.c_uint32
        self._follow = native.function("tensorflow_follow", number, [wide, wide, wide, number, number, number, wide])
        self._forget = native.function("tensorflow_forget", None, [number])
        self._moved = native.function("tensorflow_look", None, [ctypes.c_int])
        self._is_async: Callable[[], bool] = lambda: False

    def install_tensorflow(self) -> None:
        from tensorflow.python.eager import context
        from tensorflow.python.ops import resource_variable_ops

        self._is_async = context.is_async
        patches.wrap_method(resource_variable_ops.BaseResourceVariable, "__init__", after(HOOK, partial(_remember, self._plain)))

    def install_keras(self) -> None:
        from keras.src.backend.common import variables

        patches.wrap_method(variables.Variable, "__init__", after(HOOK, partial(_remember, self._keras)))
        native.coverage(HOOK, native.State.HOOKED)

    def add_optimizer(self, optimizer: Any) -> None:
        _remember(self._optimizers, optimizer)

    def add_gradient(self, variable: Any, name: str) -> None:
        """The program accumulates the gradient of the parameter `name` in this tf.Variable, and is about to use it."""
        for _, part in buffers.parts(variable):
            self._gradients[id(part)] = (weakref.ref(part), name)
            self._tell(native.Role.GRADIENT, name, part)

    def name_of(self, variable: Any) -> str:
        """The name of a Keras variable or a tf.Variable."""
        path = getattr(variable, "path", None)
        return str(path or variable.name).partition(":")[0]

    def look(self, only_if_due: bool = True) -> None:
        if self._moved is not None:
            self._moved(len(_threads) > 1 or self._is_async())
        if only_if_due and monotonic() < self._pace.next_look:
            return
        self._pace.start()
        changed = False
        met = set()
        for role, name, held in self._roles():
            for suffix, variable in buffers.parts(held):
                if id(variable) in met:
                    continue
                met.add(id(variable))
                changed = self._tell(role, name + suffix, variable) or changed
        for gone in [key for key in self._told if key not in met]:
            del self._told[gone]
        if met:
            native.proven(HOOK)
        self._pace.finish(changed)

    def _roles(self) -> Iterator[Tuple[int, str, Any]]:
        """(role, name, tf.Variable). A variable may come several times; the first time counts."""
        for optimizer in _living(self._optimizers):
            flat = {variable.path.replace("/", "_"): variable.path for variable in getattr(optimizer, "_trainable_variables", ()) if hasattr(variable, "path")}
            for slot in optimizer.variables:
                if getattr(slot, "_value", None) is not None:
                    yield native.Role.OPTIMIZER_STATE, _slot_name(slot, flat), slot._value
        for variable in _living(self._keras):
            if getattr(variable, "_value", None) is not None:
                yield native.Role.PARAMETER if variable.trainable else native.Role.BUFFER, self.name_of(variable), variable._value
        for variable in _living(self._plain):
            reference, name = self._gradients.get(id(variable), (None, ""))
            if reference is not None and reference() is variable:
                yield native.Role.GRADIENT, name, variable
            else:
                yield native.Role.PARAMETER if variable.trainable else native.Role.BUFFER, self.name_of(variable), variable

    def _tell(self, role: int, name: str, variable: Any) -> bool:
        """Reports a variable; True if there was something new to report."""
        key = id(variable)
        told = self._told.get(key)
        if key in self._followed and told is not None and told[1:] == (role, name):
            return False
        try:
            address, size = buffers.place_of_variable(variable)
        except Exception:  # not initialized yet, or of a type without bytes (string, resource)
            return False
        if not address or told == (address, role, name):
            return False
        self._told[key] = (address, role, name)
        source = native.Source.OPTIMIZER if role == native.Role.OPTIMIZER_STATE else native.Source.MODULE_REGISTRY
        native.label(role, source, address, size, native.intern(name), key)
        self._let_follow(variable, address, size, role, source, name)
        return True

    def _let_follow(self, variable: Any, address: int, size: int, role: int, source: int, name: str) -> None:
        if self._follow is None or self._forget is None:
            return
        key = id(variable)
        if key in self._followed:
            self._forget(self._followed.pop(key))
        number = self._follow(id(variable.handle), address, size, role, source, native.intern(name), key)
        if number:
            self._followed[key] = number
            weakref.finalize(variable, self._gone, key).atexit = False

    def _gone(self, key: int) -> None:
        """Called before the variable releases its handle: Python calls weak references first."""
        number = self._followed.pop(key, 0)
        if number and self._forget is not None:
            self._forget(number)


def _slot_name(slot: Any, flat: Dict[str, str]) -> str:
    """"momentum of mlp/fc1/kernel", where Keras has adam/mlp_fc1_kernel_momentum. `flat`: mlp_fc1_kernel -> mlp/fc1/kernel."""
    for end in range(len(slot.name), 0, -1):
        if slot.name[end:end + 1] == "_" and slot.name[:end] in flat:
            return f"{slot.name[end + 1:]} of {flat[slot.name[:end]]}"
    return str(slot.path)


def _remember(known: Dict[int, Any], thing: Any, *_: Any, **__: Any) -> None:
    key = id(thing)
    known[key] = weakref.ref(thing, partial(_forget, known, key))


def _forget(known: Dict[int, Any], key: int, reference: Any) -> None:
    if known.get(key) is reference:
        del known[key]


def _living(known: Dict[int, Any]) -> Iterator[Any]:
    for reference in list(known.values()):
        thing = reference()
        if thing is not None:
            yield thing
