# SPDX-License-Identifier: Apache-2.0
"""What the program's source says about what it runs, told in deep steps, as marks: once in a step for each file that has the class of a module which runs,
or one that this is derived from: a program may put a method of its own in the place of a library's, which calls it.

Why: what a call of Tensor.to() means (conversions.py), what type torch.zeros() is asked for (factories.py, passed_types.py), and how long a function's
variables hold what they are given (functions.py), no operator shows. The source is read once for each file; the recorded operators say from which lines
they were called.
"""

import inspect
import linecache
import sys
from typing import Any, Callable, Dict, Iterator, Optional, Set, Tuple

from . import conversions, factories, functions, native, passed_types
from .by_class import ByClass
from .source_text import parse


MAX_TEXT = 8000  # bytes of a mark's name; longer ones would be cut (trace_format/raw_record.h)


class Sources:
    def __init__(self) -> None:
        self._files = ByClass(_files_of)
        self._marks: Dict[str, Tuple[Callable[[int], None], ...]] = {}  # by file
        self._told: Set[str] = set()

    def begin(self) -> None:
        """A deep step begins: what is told lies in it, whatever else of the recording is kept."""
        self._told.clear()

    def tell(self, module: Any) -> None:
        """Of the files that have its class, once in a deep step."""
        for file in self._files.of(type(module)):
            if file not in self._told:
                self._told.add(file)
                self._tell(file)

    def _tell(self, file: str) -> None:
        marks = self._marks.get(file)
        if marks is None:
            told = _read(file)
            marks = self._marks[file] = tuple(native.moment(mark, name) for mark, name in told if len(name.encode(errors="replace")) <= MAX_TEXT)
        for mark in marks:
            mark(0)


def _files_of(kind: type) -> Tuple[str, ...]:
    """Where its functions stand and those of what it is derived from, down to the class whose forward it runs. None of torch's own, which ask for the types
    of their parameters."""
    files: Dict[str, None] = {}
    for each in kind.__mro__:
        if each.__module__.startswith("torch."):
            break
        own = dict(vars(each))
        forward = own.pop("forward", None)
        for function in [forward] if forward else own.values():
            file = _file_of(function) if forward or getattr(function, "__module__", None) == each.__module__ else None
            if file:
                files[file] = None
        if forward:
            break
    return tuple(files)


def _file_of(function: Any) -> Optional[str]:
    try:
        file: str = inspect.unwrap(function).__code__.co_filename
        return file
    except Exception:
        return None


def _read(file: str) -> Tuple[Tuple[int, str], ...]:
    """Marks and their names; nothing where there is no source that can be read."""
    try:
        return tuple(_marks(parse("".join(linecache.getlines(file))), file))
    except Exception:
        return ()


def _marks(source: Any, file: str) -> Iterator[Tuple[int, str]]:
    for line, asks in sorted(conversions.found_in(source).items()):
        yield native.Mark.CONVERSION, f"{file}:{line} {asks}"
    for line, asks in sorted(factories.found_in(source).items()):
        yield native.Mark.FACTORY, f"{file}:{line} {asks}"
    for asks in passed_types.found_in(source, file, _globals_of(file)):
        yield native.Mark.FACTORY, asks
    for function in functions.found_in(source):
        yield native.Mark.FUNCTION, f"{file}:{function}"


def _globals_of(file: str) -> Dict[str, Any]:
    found = (vars(each) for each in list(sys.modules.values()) if getattr(each, "__file__", None) == file)
    return next(found, {})
