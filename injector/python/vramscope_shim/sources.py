# SPDX-License-Identifier: Apache-2.0
"""What the program's source says about what it runs, told in deep steps, as marks: once in a step for each file that has the class of a module which runs,
or one that this is derived from: a program may put a method of its own in the place of a library's, which calls it. So is the file of a function that such
a class names, as one that turns queries by their places stands beside the module that makes the angles, which need not run. Of the functions that call the
model, as losses and loops do, what type they ask for where tensors are made of nothing, and which tensor that the model returned has it; and what they, and
the functions that they name, convert to.

Why: what a call of Tensor.to() means (conversions.py), what type torch.zeros() is asked for (factories.py, passed_types.py), and how long a function's
variables hold what they are given (functions.py), no operator shows. The source is read once for each file; the recorded operators say from which lines
they were called.
"""

import ast
import inspect
import linecache
import os
import sys
from types import CodeType, FunctionType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

from . import conversions, factories, functions, native, passed_types, storage
from .by_class import ByClass
from .kept_results import receivers
from .source_text import definitions_of, is_of_torch, parse
from .variables import NOBODY_ELSE, label


MAX_CALLERS = 16  # functions around the model's call
MAX_TEXT = 8000  # bytes of a mark's name; longer ones would be cut (trace_format/raw_record.h)


class Sources:
    def __init__(self, torch: Any) -> None:
        self._files = ByClass(_files_of)
        self._marks: Dict[str, Tuple[Callable[[int], None], ...]] = {}  # by file
        self._factories: Dict[Any, Tuple[Callable[[int], None], ...]] = {}  # of callers, by code
        self._asked: Dict[Any, Dict[str, List[str]]] = {}  # by code of a caller and its variable: places
        self._told: Set[Any] = set()  # files, and codes of callers
        self._own = os.path.dirname(torch.__file__) + os.sep

    def begin(self) -> None:
        """A deep step begins: what is told lies in it, whatever else of the recording is kept."""
        self._told.clear()

    def tell(self, module: Any) -> None:
        """Of the files that have its class, once in a deep step."""
        for file in self._files.of(type(module)):
            if file not in self._told:
                self._told.add(file)
                if file not in self._marks:
                    self._marks[file] = _moments(_read(file))
                for mark in self._marks[file]:
                    mark(0)

    def tell_callers(self, frame: Any) -> None:
        """Of the functions around the call of a module that no other one calls."""
        for _ in range(MAX_CALLERS):
            if frame is None:
                return
            code = frame.f_code
            if code not in self._told and not code.co_filename.startswith(self._own):
                self._told.add(code)
                if code not in self._factories:
                    self._read_caller(frame)
                for mark in self._factories[code]:
                    mark(0)
            frame = frame.f_back

    def tell_result(self, result: Any, frame: Any) -> None:
        """Of a module that no other one calls: whose type the function that called it, and now runs on, asks for later."""
        asked = self._asked.get(frame.f_code) if frame is not None else None
        given = receivers(frame.f_code, frame.f_lasti) if asked else None
        if not asked or given is None:
            return
        with storage.untouched():
            for name, value in given.pairs(result):
                for place in asked.get(name, ()) if storage.is_tensor(value) else ():
                    label(native.Role.TYPE_BRANCH, f"asked around {place}", value)

    def _read_caller(self, frame: Any) -> None:
        code, names = frame.f_code, _names_of(frame)
        told: List[Tuple[int, str]] = []
        asked: Dict[str, List[str]] = {}
        own = definitions_of(code)
        for each in {code: None, **dict.fromkeys(_called_by(code, names))}:
            lines = conversions.found_in(ast.Module(own if each is code else definitions_of(each), []))
            told += [(native.Mark.CONVERSION, f"{each.co_filename}:{line} {asks}") for line, asks in sorted(lines.items())]
        for function in own:
            lines = factories.found_in(ast.Module([function], []))
            told += [(native.Mark.FACTORY, f"{code.co_filename}:{line} {asks}") for line, asks in sorted(lines.items())]
            told += [(native.Mark.FACTORY, asks) for asks in passed_types.found_in(function, code.co_filename, names)]
            for name, place in passed_types.asked_of_variables(function, code.co_filename, names):
                asked.setdefault(name, []).append(place)
        self._factories[code], self._asked[code] = _moments(told), asked


def _moments(told: Iterable[Tuple[int, str]]) -> Tuple[Callable[[int], None], ...]:
    return tuple(native.moment(mark, name) for mark, name in told if len(name.encode(errors="replace")) <= MAX_TEXT)


def _files_of(kind: type) -> Tuple[str, ...]:
    """Where its functions stand and those of what it is derived from, down to the class whose forward it runs, and the functions that they name. None of
    torch's own, which ask for the types of their parameters."""
    files: Dict[str, None] = {}
    named: Dict[str, None] = {}
    for each in kind.__mro__:
        if is_of_torch(each):
            break
        own = dict(vars(each))
        forward = own.pop("forward", None)
        for function in [forward] if forward else own.values():
            file = _file_of(function) if forward or getattr(function, "__module__", None) == each.__module__ else None
            if file:
                files[file] = None
                named.update(dict.fromkeys(filter(None, map(_file_of, _named_by(function)))))
        if forward:
            break
    return tuple({**files, **named})


def _named_by(function: Any) -> Iterator[Any]:
    """Functions of the program and its libraries, by their own names: no methods, and none of what they name in turn."""
    try:
        function = inspect.unwrap(function)
        names, known = function.__code__.co_names, function.__globals__
    except Exception:
        return
    for name in names:
        other = known.get(name)
        if isinstance(other, FunctionType) and not is_of_torch(other):
            yield other


def _called_by(code: CodeType, names: Dict[str, Any]) -> Iterator[CodeType]:
    """Of functions of the program that a function names, as losses are where the model was called before. A script names what it defines, too."""
    for name in (*code.co_names, *code.co_freevars) if code.co_name != "<module>" else ():
        other = names.get(name)
        if isinstance(other, FunctionType) and not is_of_torch(other):
            yield other.__code__


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


def _names_of(frame: Any) -> Dict[str, Any]:
    """Of functions that its code may call."""
    code, names = frame.f_code, dict(frame.f_globals)
    if code.co_freevars:
        shown = frame.f_locals
        names.update({name: shown[name] for name in code.co_freevars if name in shown})
        if type(shown) is dict and sys.getrefcount(shown) == NOBODY_ELSE:
            shown.clear()
    return names


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
