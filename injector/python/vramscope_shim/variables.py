# SPDX-License-Identifier: Apache-2.0
"""Which tensors the program's variables hold while it calls a module: told at the begin of each call, in deep steps only.

Why: autograd keeps most of what forward computes, so from blocks alone nobody can tell when the program would have let go of them. That
decides what a step takes where autograd keeps less: with frozen parameters, checkpoints, or activations on the host.

    forward of the module around ── helper ── call of the module        these frames stand still until the call returns: what their
    └──────── looked at ─────────────────┘    └ not looked at           variables hold now, they hold until then; some until their
                                                                        function returns (lasting.py)

A list or a table that the module's own function was given is told as that: what is in it outlives the call, and is found there by whoever
calls the module again. Of others what is in them stays until the function returns where it does not read the variable any more and nobody
else has the list, as the references to it tell.

Nothing is held longer for it. Up to Python 3.12 a frame keeps the dictionary that its variables were shown in, with references of its own:
it is emptied. The code of a module has its variables on no frame of ours (frames without fast locals are passed over), and a dictionary that
the program has got itself, from locals(), is left as it is.
"""

import sys
from collections import OrderedDict
from typing import Any, Callable, FrozenSet, Iterator, List, Tuple

from . import native, storage
from .lasting import Behind, Lasting, nothing

MAX_DEPTH = 5  # of containers in containers
MAX_ITEMS = 256  # of one container
MAX_LOOKED_AT = 4096  # of one variable
FAST_LOCALS = 0x1  # CO_OPTIMIZED
BEFORE_ALL = -1  # an offset in a function's code
NOBODY_ELSE = 3  # references to a frame's dictionary: the frame's, a variable, the argument of getrefcount


class Variables:
    def __init__(self, torch: Any, lasting: Lasting) -> None:
        self._file = torch.nn.Module._call_impl.__code__.co_filename
        self._tensor = torch.Tensor
        self._lasting = lasting
        # By id: a class may have an odd metaclass that cannot be hashed.
        self._passed_over = {id(kind) for kind in (torch.nn.Parameter, int, float, bool, str, type(None))}

    def tell(self, frames: List[Any]) -> None:
        """Innermost first, up to the call of the module around (callers.py)."""
        forward = forward_in(frames, self._lasting)
        with storage.untouched():
            for i, each in enumerate(frames):
                code = each.f_code
                # Torch's own frames hold the arguments of the call around, which its operators show.
                if code.co_flags & FAST_LOCALS and code.co_filename != self._file:
                    own = i >= forward
                    self._tell_frame(each, self._lasting.behind(code, each.f_lasti) if own else nothing(), self._given(code) if own else frozenset())

    def _given(self, code: Any) -> FrozenSet[str]:
        """The function's arguments that it never gives another value."""
        arguments = code.co_argcount + code.co_kwonlyargcount
        return self._lasting.behind(code, BEFORE_ALL).lasting.intersection(code.co_varnames[:arguments])

    def _tell_frame(self, frame: Any, behind: Behind, given: FrozenSet[str]) -> None:
        def tell(variables: Any) -> None:
            alone = _alone(variables, behind.resting)
            for name, value in variables.items():
                kind = type(value)
                if id(kind) in self._passed_over:
                    continue
                role = _role(value, name in behind.lasting, name in given, name in alone)
                for tensor in (value,) if kind is self._tensor else tensors_in(value):
                    if id(type(tensor)) not in self._passed_over:
                        label(role, name, tensor)

        look_at(frame, tell)


def look_at(frame: Any, tell: Callable[[Any], None]) -> None:
    """tell(the frame's variables), without anything being held longer for it."""
    variables = frame.f_locals
    try:
        tell(variables)
    finally:
        if type(variables) is dict and sys.getrefcount(variables) == NOBODY_ELSE:
            variables.clear()


def _role(value: Any, lasting: bool, given: bool, alone: bool) -> int:
    if may_let_go(value) and not alone:
        return native.Role.HELD_IN_GIVEN if given else native.Role.HELD
    return native.Role.HELD_TO_END if lasting else native.Role.HELD


def _alone(variables: Any, names: FrozenSet[str]) -> FrozenSet[str]:
    """Of these those that have a list or a table which nobody else has, nor others in it."""
    held = (name for name in names if name in variables and may_let_go(variables[name]) and sys.getrefcount(variables[name]) == IN_A_FRAME_ALONE)
    return frozenset(name for name in held if not any(may_let_go(item) for item in _items(variables[name])))


def _references_in_a_frame_alone() -> int:
    only: List[Any] = []
    variables = sys._getframe().f_locals
    return sys.getrefcount(variables["only"]) - len(only)


IN_A_FRAME_ALONE = _references_in_a_frame_alone()  # of a list: what Python shows variables in has some of its own


def forward_in(frames: List[Any], lasting: Lasting) -> int:
    """The place of the module's own: what is around it returns with it, helpers that it calls return before. Of one that says return super().forward(x),
    that one's, with which it returns."""
    forwards = [i for i, each in enumerate(frames) if each.f_code.co_name == "forward"]
    place = forwards.pop() if forwards else len(frames)
    while forwards and _hands_on(frames[forwards[-1] + 1 : place + 1], lasting):
        place = forwards.pop()
    return place


def _hands_on(frames: List[Any], lasting: Lasting) -> bool:
    """A forward, the last of these, returns what that of the class before it does; decorators' functions, which close over it, may lie between."""
    *between, forward = frames
    uses_super = "__class__" in forward.f_code.co_freevars
    return uses_super and lasting.returns_behind(forward.f_code, forward.f_lasti) and all(each.f_code.co_freevars and "__class__" not in each.f_code.co_freevars for each in between)


def may_let_go(value: Any) -> bool:
    """A list may be given other things to hold."""
    return type(value) is list or type(value) is dict


def label(role: int, name: str, tensor: Any) -> None:
    """That the variable of this name holds it."""
    for _, part, address, size in storage.places(tensor):
        native.label(role, native.Source.VARIABLE, address, size, native.intern(name), part._cdata)


def tensors_in(value: Any) -> Iterator[Any]:
    """Of builtin containers and dataclasses alone, whose own code is not the program's; transformers' outputs are ordered dictionaries."""
    waiting = [(value, 0)]
    for _ in range(MAX_LOOKED_AT):
        if not waiting:
            return
        each, depth = waiting.pop()
        if storage.is_tensor(each):
            yield each
        elif depth < MAX_DEPTH:
            waiting += [(inner, depth + 1) for inner in reversed(_items(each)[:MAX_ITEMS])]


def _items(value: Any) -> Tuple[Any, ...]:
    kind = type(value)
    if issubclass(kind, tuple):
        return tuple.__getitem__(value, slice(None))
    if kind is list:
        return tuple(value)
    if kind is dict or issubclass(kind, OrderedDict):
        return tuple(dict.values(value))
    if any("__dataclass_fields__" in each.__dict__ for each in kind.__mro__):
        return _fields(value)
    return ()


def _fields(value: Any) -> Tuple[Any, ...]:
    """Of a dataclass, read where they lie: one of its attributes may be a property."""
    try:
        fields = object.__getattribute__(value, "__dict__")
    except AttributeError:  # with slots
        return ()
    return tuple(fields.values()) if type(fields) is dict else ()
