# SPDX-License-Identifier: Apache-2.0
"""Records what was changed in this process, and what could not be changed, in <folder>/<pid>.try. Each new note rewrites the file. Notes about
Keras on TensorFlow are in <pid>.keras.try.

Written at once and not at exit, because a program may be killed, or run out of memory in C++. A process without a requested change writes nothing."""

import json
import os
import sys
from typing import Any, Callable, Dict, List, Optional, Union

from vramscope_core import guard


Fact = Dict[str, Union[str, List[str]]]


class Notes:
    def __init__(self, folder: str, framework: str = "", lines: Callable[[str], Optional[List[str]]] = lambda _lever: None) -> None:
        """lines(lever): what to write in code, for a lever that was not applied. None: the answer has lines of its own, for PyTorch."""
        self._folder = folder
        self._suffix = f".{framework}" if framework else ""
        self._lines = lines
        self._process = os.getpid()
        self._facts: List[Fact] = []
        self._expected: Dict[str, str] = {}

    def applied(self, lever: str, what: str) -> None:
        self._add(lever, "applied", what)

    def refused(self, lever: str, why: str) -> None:
        self._add(lever, "refused", why)

    def unmatched(self, lever: str, why: str) -> None:
        """Reported only if nothing in the whole run was changed."""
        self._add(lever, "unmatched", why)

    def expected(self, lever: str, why: str) -> None:
        """As unmatched, until anything else is reported about this lever."""
        self._expected[lever] = why
        self._add(lever, "unmatched", why)

    def guarded(self, lever: str, function: Callable[..., Any], why: str = "the change failed", undo: Callable[[], None] = lambda: None) -> Callable[..., Any]:
        """Guards `function`: if it raises, undo() closes what is open, and a refusal of that lever is noted."""
        def failed(error: Exception) -> None:
            undo()
            self.refused(lever, f"{why} ({type(error).__name__}: {error})")

        return guard.hook(f"try.{lever}", function, failed)

    def _add(self, lever: str, state: str, text: str) -> None:
        if self._process != os.getpid():  # a forked child writes its own notes
            self._process, self._facts = os.getpid(), []
        fact: Fact = {"lever": lever, "state": state, "text": text}
        lines = self._lines(lever) if state != "applied" else None
        if lines is not None:
            fact["lines"] = lines
        if fact in self._facts:
            return
        expected = self._expected.get(lever)
        self._facts = [known for known in self._facts if known["lever"] != lever or known["text"] != expected]
        self._facts.append(fact)
        try:
            path = os.path.join(self._folder, f"{self._process}{self._suffix}.try")
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(self._facts, file)
            os.replace(path + ".new", path)
        except OSError:
            pass  # then `vramscope try` reports that no change was seen to be applied


def place(frame: Any) -> str:
    """FILE:LINE of the program's own code: the first frame, starting at `frame`, that is neither ours nor the framework's."""
    frameworks = (getattr(sys.modules.get(name), "__file__", None) for name in ("torch", "tensorflow", "keras", "jax", "optax"))
    ours = os.path.dirname(os.path.abspath(__file__))
    skipped = (os.path.dirname(ours), *(os.path.dirname(os.path.abspath(file)) for file in frameworks if file))
    while frame is not None and frame.f_code.co_filename.startswith(tuple(folder + os.sep for folder in skipped)):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}" if frame is not None else "?"
