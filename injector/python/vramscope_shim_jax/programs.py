# SPDX-License-Identifier: Apache-2.0
"""Describes each program that trains to the injector, when JAX lowers it.

JAX drops arguments that a program does not use, and puts constants before the others. What remains is what the plug-in will get at each execution."""

import ctypes
import importlib
from typing import Any, Callable, List, Sequence

from vramscope_core import guard, native, patches

from .roles import NOTHING, Label, Roles

HOOK = "python.programs"
BACKWARD = 2  # value of the counter "step.phase"


class _Label(ctypes.Structure):
    _fields_ = [("role", ctypes.c_uint32), ("name", ctypes.c_uint32)]


class Programs:
    def __init__(self) -> None:
        number = ctypes.c_uint32
        self._describe = native.function("jax_describe", None, [ctypes.c_char_p, number, ctypes.c_int, number, number, ctypes.c_void_p])

    def install(self) -> None:
        lowering: Any = importlib.import_module("jax._src.interpreters.pxla")
        # JAX leaves out frames of the files that it knows from the tracebacks of the program's errors.
        importlib.import_module("jax._src.traceback_util").register_exclusion(__file__)
        patches.wrap_method(lowering, "lower_sharding_computation", self._around)
        native.coverage(HOOK, native.State.HOOKED)

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
        roles = Roles(program, names, results)
        if not roles.trains:
            return
        constants = len(computation.const_args)
        kept = facts["kept_var_idx"]
        arguments = [NOTHING] * constants + [label for number, label in enumerate(roles.arguments) if number + constants in kept]
        self._tell(computation._hlo.operation.attributes["sym_name"].value, arguments, roles.results)
        native.proven(HOOK)

    def _tell(self, name: str, arguments: List[Label], results: Sequence[Label]) -> None:
        labels = [_Label(label.role, native.intern(label.name)) if label.role else _Label(0, 0) for label in (*arguments, *results)]
        self._describe(name.encode(), BACKWARD, 1, len(arguments), len(results), (_Label * len(labels))(*labels))
