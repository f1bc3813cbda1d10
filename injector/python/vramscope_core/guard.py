# SPDX-License-Identifier: Apache-2.0
"""Guards for our Python code: every call into it goes through one of these, so that no failure of ours reaches the program.

    hook(where, function)            for what torch or the interpreter calls for us alone: registered hooks,
                                     callbacks, reactions to imports
    before, after, around            builders for patches.wrap_method: the original, and something of ours
                                     before it, after it, or both
    instead(where, original, ours)   ours(call, ...) instead of the original, which is call(...). If ours
                                     fails before it has called the original, the program gets the original;
                                     if it fails later, the program gets the original's result

An exception of ours is recorded in the trace, counted by `where`, and our code is skipped. Exceptions of the program pass through unchanged: the
original is called outside of our `try`, or through `call`, which remembers what it raised. Running out of device memory also passes through: it is
the effect of a change on the program. KeyboardInterrupt, SystemExit and the like belong to the program even if they occur inside our code.

While dynamo traces the program, our code is not called (except with while_compiling): it must leave nothing in a graph."""

import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing alone would cost more than everything here
    from typing import Any, Callable, Dict, List, Optional, Tuple

    Function = Callable[..., Any]

compiler_used = False  # True once something may be compiled; until then is_compiling() need not be called


def _never() -> bool:
    return False


# Becomes torch's own is_compiling(). In code that dynamo traces, dynamo makes it True; it recognizes the function only as a member of a module (2.2).
is_compiling: "Callable[[], bool]" = _never

entries: "Dict[str, Entry]" = {}  # by name: what is guarded in this process
_living: "weakref.WeakSet[Entry]" = weakref.WeakSet()
_untold: "List[Tuple[str, str]]" = []  # failures before the recorder was found
_tell: "Optional[Callable[[str, str], None]]" = None


class Entry:
    """One function of ours, and how often it failed."""

    __slots__ = ("where", "function", "failures", "_also", "__weakref__")

    def __init__(self, where: str, function: "Function", also: "Optional[Function]" = None) -> None:
        self.where = where
        self.function = function
        self.failures = 0
        self._also = also
        entries[f"{where}: {getattr(function, '__qualname__', '?')}"] = self
        _living.add(self)

    def failed(self, error: Exception) -> None:
        """Never raises, even if the stack has no room left."""
        try:
            self.failures += 1
            # Report the reason only once: the recorder keeps each text, and some contain an address.
            _failed(self.where, f"{type(error).__name__}: {error}"[:300] if self.failures == 1 else "")
            if self._also is not None:
                self._also(error)
        except Exception:
            pass


def _failed(where: str, reason: str) -> None:
    if _tell is not None:
        _tell(where, reason)
    else:
        _untold.append((where, reason))


def tell_through(tell: "Callable[[str, str], None]") -> None:
    """Called when the recorder is found: from now on tell(where, reason) reports each failure. After the first failure of a function, reason is ""."""
    global _tell
    _tell = tell
    while _untold:
        tell(*_untold.pop(0))


def forget() -> None:
    """Called when the recording has ended: all entries release their functions. Otherwise an object with a hook to its own method would stay in a
    reference cycle until the next full garbage collection."""
    entries.clear()
    for entry in list(_living):
        entry.function, entry._also = nothing, None


def nothing(*_: "Any", **__: "Any") -> None:
    pass


def hook(where: str, function: "Function", also: "Optional[Function]" = None) -> "Function":
    """Wraps `function`: if it raises, also(error) is called and the wrapper returns None."""
    entry = Entry(where, function, also)

    def hooked(*args: "Any", **named: "Any") -> "Any":
        if compiler_used and is_compiling():
            return None
        try:
            return entry.function(*args, **named)
        except Exception as error:
            entry.failed(error)
            return None

    return hooked


def before(where: str, function: "Function", while_compiling: bool = False) -> "Callable[[Function], Function]":
    """A builder that calls function(arguments of the original), then the original. while_compiling: also while dynamo traces."""
    entry = Entry(where, function)

    def build(original: "Function") -> "Function":
        def method(*args: "Any", **named: "Any") -> "Any":
            if while_compiling or not (compiler_used and is_compiling()):
                try:
                    entry.function(*args, **named)
                except Exception as error:
                    entry.failed(error)
            return original(*args, **named)

        return method

    return build


def after(where: str, function: "Function") -> "Callable[[Function], Function]":
    """A builder that calls the original and then, unless it raised, function(arguments of the original)."""
    entry = Entry(where, function)

    def build(original: "Function") -> "Function":
        def method(*args: "Any", **named: "Any") -> "Any":
            result = original(*args, **named)
            if not (compiler_used and is_compiling()):
                try:
                    entry.function(*args, **named)
                except Exception as error:
                    entry.failed(error)
            return result

        return method

    return build


def around(where: str, begin: "Function", end: "Function") -> "Callable[[Function], Function]":
    """A builder that calls begin(arguments of the original), the original, and then end(arguments), even if the original raised."""
    begins, ends = hook(where, begin), hook(where, end)

    def build(original: "Function") -> "Function":
        def method(*args: "Any", **named: "Any") -> "Any":
            if compiler_used and is_compiling():
                return original(*args, **named)
            begins(*args, **named)
            try:
                return original(*args, **named)
            finally:
                ends(*args, **named)

        return method

    return build


class Call:
    """The original, which our code may call any number of times."""

    __slots__ = ("_original", "_over", "returned", "result")

    def __init__(self, original: "Function") -> None:
        self._original = original
        self._over = False  # our function has returned; it may have passed this object to somebody who calls it later
        self.returned = False
        self.result: Any = None

    def __call__(self, *args: "Any", **named: "Any") -> "Any":
        result = self.of_program(self._original, *args, **named)
        if not self._over:
            self.result, self.returned = result, True
        return result

    def of_program(self, function: "Function", *args: "Any", **named: "Any") -> "Any":
        """Calls a function of the program: its exceptions reach the program."""
        _of_program.raised = 0
        try:
            return function(*args, **named)
        except Exception as error:
            self.for_program(error)
            raise

    def for_program(self, error: Exception) -> Exception:
        """Marks `error` as one that must reach the program. Returns it, to be raised."""
        _of_program.raised = id(error)  # a reference would keep its frames alive
        return error

    def close(self) -> "Any":
        self._over = True
        result, self.result = self.result, None
        return result


def of_program(call: "Any", function: "Function", *args: "Any", **named: "Any") -> "Any":
    """Calls `function`, which runs code of the program. `call`: the Call, or the original itself while dynamo traces."""
    return call.of_program(function, *args, **named) if type(call) is Call else function(*args, **named)


_of_program: "Any" = None  # raised: id of the last exception that went through a Call of this thread


def instead(where: str, original: "Function", ours: "Function", while_compiling: bool = False) -> "Function":
    """A function that looks like the original and calls ours(call, ...). While dynamo traces, it calls the original, or if `while_compiling`
    ours(original, ...), which is then traced with the program."""
    global _of_program
    import functools
    import threading

    if _of_program is None:
        _of_program = threading.local()
    entry = Entry(where, ours)

    def function(*args: "Any", **named: "Any") -> "Any":
        if compiler_used and is_compiling():
            return ours(original, *args, **named) if while_compiling else original(*args, **named)
        call = Call(original)
        _of_program.raised = 0
        try:
            return entry.function(call, *args, **named)
        except Exception as error:
            if _of_program.raised == id(error) or type(error).__name__ == "OutOfMemoryError":
                raise
            entry.failed(error)
            result = call.close()
            return result if call.returned else original(*args, **named)
        finally:
            call.close()

    return functools.wraps(original)(function)
