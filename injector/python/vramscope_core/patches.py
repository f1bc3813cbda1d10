# SPDX-License-Identifier: Apache-2.0
"""The two ways in which we insert code into torch: registered hooks, and methods that are called before or after an interval.

Both are invisible to users in tracebacks, pickles and signatures. A method is only replaced if it returns before user code runs (__enter__,
__exit__), so our frames are never between the program and its exception."""

import functools
import sys
from typing import Any, Callable, List

from . import guard

_next_id = -1
# Functions of torch that loop over global hooks, and the file that contains them.
_MODULE, _OPTIMIZER = "torch/nn/modules/module.py", "torch/optim/optimizer.py"
_LOOPS = {"wrapper": _OPTIMIZER, "register_parameter": _MODULE, "register_buffer": _MODULE, "register_module": _MODULE,
          "add_module": _MODULE, "__setattr__": _MODULE}
_undo: List[Callable[[], None]] = []  # each removes one installed patch


def register(torch: Any, register_hook: Callable[..., Any], hook: Callable[..., Any], **options: Any) -> Any:
    """register_hook(hook), without using one of torch's handle numbers: those are in the pickles of modules that have hooks."""
    global _next_id
    handles = torch.utils.hooks.RemovableHandle
    program_id = handles.next_id
    handles.next_id = _next_id
    try:
        handle = register_hook(hook, **options)
        _next_id -= 1
    finally:
        handles.next_id = program_id
    _undo.append(handle.remove)
    return handle


def wrap_method(owner: Any, name: str, build: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[[], None]:
    """Replaces owner.name, in a class or a module, by build(original), which looks like the original to `inspect`, TorchScript and dynamo. Returns a
    function that undoes it earlier than undo() would."""
    original = getattr(owner, name)
    before = vars(owner).get(name)
    ours = functools.wraps(original)(build(original))
    setattr(owner, name, ours)

    def put_back() -> None:
        if vars(owner).get(name) is not ours:
            return  # it is removed already, or the program has wrapped it
        if before is None:
            delattr(owner, name)
        else:
            setattr(owner, name, before)

    _undo.append(put_back)
    return put_back


def caller() -> Any:
    """The frame that called a wrapped method. Only for a function that guard.before() or guard.after() calls."""
    return sys._getframe(3)  # skips this function, its caller, and the wrapped method


def hide_module_hooks(torch: Any) -> None:
    """A compiled module warns about global hooks when it is called (2.15). Prevents this for our hooks, which are removed or skip the module by then."""
    module = torch.nn.modules.module
    if not hasattr(module, "_has_any_global_hook") or hasattr(module._has_any_global_hook, "__wrapped__"):
        return

    def has_others(call: guard.Call) -> bool:
        tables = (table for name, table in vars(module).items() if name.startswith("_global_") and "_hooks" in name)
        return bool(call()) and any(number >= 0 for table in tables for number in table)

    wrap_method(module, "_has_any_global_hook", lambda original: guard.instead("python.modules", original, has_others))


def may_be_changed_now() -> bool:
    """False while some thread may be in one of torch's loops over the hooks that register() adds to and undo() removes from. A dictionary that
    changes during such a loop raises RuntimeError in the program. Called where we start at an arbitrary moment."""
    for frame in sys._current_frames().values():
        while frame is not None:
            code = frame.f_code
            if code.co_name in _LOOPS and code.co_filename.endswith(_LOOPS[code.co_name]):
                return False
            frame = frame.f_back  # type: ignore[assignment]
    return True


def undo() -> None:
    """Removes everything that was installed, in reverse order."""
    while _undo:
        _undo.pop()()
