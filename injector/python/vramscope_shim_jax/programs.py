# SPDX-License-Identifier: Apache-2.0
"""Describes each program that trains, or that updates what has been trained, to the injector, when JAX lowers it.

Whether a program without a backward pass is an update depends on the arrays that it gets: the injector knows which arrays are gradients and parameters of
a program that trains. JAX lowers a function in its first call, so these arrays exist at that time.

JAX drops arguments that a program does not use, and puts constants before the others. What remains is what the plug-in will get at each execution."""

import atexit
import ctypes
import importlib
import threading
from typing import Any, Callable, Dict, List, Sequence, Tuple

from vramscope_core import guard, native, patches

from .roles import NOTHING, Label, Roles

HOOK = "python.programs"
BACKWARD, OPTIMIZER = 2, 3  # values of the counter "step.phase"
NONE, STEP, GRADIENTS = 0, 1, 2  # which part of a step


class _Label(ctypes.Structure):
    _fields_ = [("role", ctypes.c_uint32), ("name", ctypes.c_uint32), ("state", ctypes.c_uint32)]


class Programs:
    def __init__(self) -> None:
        number = ctypes.c_uint32
        self._describe = native.function("jax_describe", None, [ctypes.c_char_p, number, number, number, number, ctypes.c_void_p])
        self._role_at = native.function("jax_role_at", number, [ctypes.c_uint64, ctypes.POINTER(number)])
        self._names: Dict[int, str] = {}  # names in labels, by their interned ids
        self._call = threading.local()  # arguments: of the call that lowers a program in this thread

    def install(self) -> None:
        lowering: Any = importlib.import_module("jax._src.interpreters.pxla")
        # JAX leaves out the frames of registered files in tracebacks of the program's errors.
        importlib.import_module("jax._src.traceback_util").register_exclusion(__file__)
        patches.wrap_method(lowering, "lower_sharding_computation", self._around)
        patches.wrap_method(importlib.import_module("jax._src.pjit"), "_pjit_call_impl_python", guard.around(HOOK, self._called, self._returned))
        finish = native.function("jax_finish", None, [])
        if finish is not None:
            atexit.register(guard.hook(HOOK, finish))
        native.coverage(HOOK, native.State.HOOKED)

    def _called(self, *args: Any, **_: Any) -> None:
        self._call.arguments = args

    def _returned(self, *_: Any, **__: Any) -> None:
        self._call.arguments = ()

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        lowered = guard.hook(HOOK, self._lowered)

        def lower_sharding_computation(closed_jaxpr: Any, *args: Any, **named: Any) -> Any:
            computation = original(closed_jaxpr, *args, **named)
            lowered(closed_jaxpr, computation)
            return computation

        return lower_sharding_computation

    def _lowered(self, closed: Any, computation: Any) -> None:
        facts = computation.compile_args
        if self._describe is None or facts.get("mut") is not None:
            return
        program = closed.jaxpr
        names = program.debug_info.safe_arg_names(len(program.invars))
        results = program.debug_info.safe_result_paths(len(program.outvars))
        roles = Roles(program, names, results, self._known(len(names)))
        if not roles.trains and not any(label.role for label in roles.results):
            return
        constants = len(computation.const_args)
        kept = facts["kept_var_idx"]
        arguments = [NOTHING] * constants + [label for number, label in enumerate(roles.arguments) if number + constants in kept]
        self._tell(computation._hlo.operation.attributes["sym_name"].value, *self._part_of_step(roles), arguments, roles.results)
        native.proven(HOOK)

    @staticmethod
    def _part_of_step(roles: Roles) -> Tuple[int, int]:
        """The phase while the program runs, and which part of a step it is."""
        if not roles.trains:
            return (OPTIMIZER, STEP) if roles.updates else (BACKWARD, NONE)
        return BACKWARD, STEP if roles.updates or all(label.role != native.Role.PARAMETER for label in roles.arguments) else GRADIENTS

    def _known(self, count: int) -> List[Label]:
        """What the injector knows about the arguments of this call."""
        arguments = getattr(self._call, "arguments", ())[-count:] if self._names else ()
        return [self._role_of(argument) for argument in arguments] if len(arguments) == count else []

    def _role_of(self, argument: Any) -> Label:
        shard = argument.addressable_data(0) if hasattr(argument, "addressable_data") else None
        if self._role_at is None or not hasattr(shard, "unsafe_buffer_pointer"):
            return NOTHING
        name = ctypes.c_uint32()
        role = self._role_at(shard.unsafe_buffer_pointer(), ctypes.byref(name))
        return Label(role, self._names.get(name.value, "")) if role else NOTHING

    def _tell(self, name: str, phase: int, step: int, arguments: List[Label], results: Sequence[Label]) -> None:
        labels = [self._native(label) for label in (*arguments, *results)]
        self._describe(name.encode(), phase, step, len(arguments), len(results), (_Label * len(labels))(*labels))

    def _native(self, label: Label) -> _Label:
        if not label.role:
            return _Label(0, 0, 0)
        number = native.intern(label.name)
        self._names[number] = label.name
        return _Label(label.role, number, native.intern(f"state of {label.name}") if label.role == native.Role.GRADIENT else 0)
