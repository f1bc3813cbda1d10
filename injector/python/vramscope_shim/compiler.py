# SPDX-License-Identifier: Apache-2.0
"""Keeps our hooks out of torch.compile's way.

1. A hook of ours that dynamo meets while it traces the program's function must leave nothing in the graph: guard calls is_compiling().
2. A hook that really runs between two compiled parts must not be compiled itself: its code is marked to be skipped. (Otherwise dynamo would compile it
   with is_compiling() true: a hook that does nothing.)
3. Listeners are called when something is compiled: before dynamo traces the first function or, before 2.4, when torch.compile() is called. Many
   libraries call torch.compile() as a decorator, for a function that never runs."""

import sys
import types
from typing import Any, Callable, Iterator

from vramscope_core import guard, import_hook, patches

HOOK = "python.compiler"


class Compiler:
    def __init__(self) -> None:
        self._before_first: Callable[[], None] = lambda: None
        self._after_each: Callable[[], None] = lambda: None
        self._is_used = False

    def install(self, torch: Any) -> None:
        """Every optimizer imports torch._dynamo: that alone does not mean that something is compiled."""
        public: Any = getattr(getattr(torch, "compiler", None), "is_compiling", None)
        guard.is_compiling = public or getattr(torch._utils, "is_compiling", guard.is_compiling)
        import_hook.when_imported("torch._dynamo", self._watch)

    def when_used(self, before_first: Callable[[], None], after_each: Callable[[], None]) -> None:
        """Registers what is called before the first compilation and, before 2.4, after each torch.compile()."""
        self._before_first, self._after_each = before_first, after_each

    def _watch(self) -> None:
        dynamo = sys.modules["torch._dynamo.eval_frame"]
        for code in _own_code():
            dynamo.skip_code(code)
        dynamo.skip_code(around_optimizer_steps())
        traces = getattr(sys.modules.get("torch._dynamo.callback"), "CompilationCallbackHandler", None)
        if hasattr(traces, "run_start_callbacks"):  # torch._dynamo.reset() would forget a callback
            patches.wrap_method(traces, "run_start_callbacks", guard.before(HOOK, self._used, while_compiling=True))
        else:
            patches.wrap_method(dynamo.OptimizeContext, "__init__", guard.around(HOOK, self._used, lambda *_, **__: self._after_each()))
        if _has_compiled(dynamo):
            self._used()
            self._after_each()

    def _used(self, *_: Any, **__: Any) -> None:
        guard.compiler_used = True
        if not self._is_used:
            self._is_used = True
            self._before_first()


def _has_compiled(dynamo: Any) -> bool:
    """True if torch.compile() was called before we started."""
    holder = getattr(dynamo, "guarded_backend_cache", dynamo)  # 2.2 keeps it per thread, later ones in the module
    # Its value is None for torch._dynamo.disable(), which is all that checkpoint and the optimizers use.
    return any(backend is not None for backend in getattr(holder, "cached_backends", {}).values())


def around_optimizer_steps() -> types.CodeType:
    """The code of the function in which torch calls optimizer hooks around step(). Compiled, it would call none of ours, because they do nothing while
    dynamo traces. The functions that it calls are still compiled. A step() that is traced as part of its caller always breaks out of that trace
    (_use_grad_for_differentiable), so this function really runs in the end."""
    optimizer = sys.modules["torch.optim.optimizer"].Optimizer
    return optimizer.profile_hook_step(lambda: None).__code__


def _own_code() -> Iterator[types.CodeType]:
    for name, module in list(sys.modules.items()):
        if name.split(".", 1)[0] in ("vramscope_core", __package__):
            for value in list(vars(module).values()):
                members = vars(value).values() if isinstance(value, type) else (value,)
                for member in members:
                    code = getattr(getattr(member, "__func__", member), "__code__", None)
                    if isinstance(code, types.CodeType) and code.co_filename == module.__file__:
                        yield from _with_inner(code)


def _with_inner(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _with_inner(constant)
