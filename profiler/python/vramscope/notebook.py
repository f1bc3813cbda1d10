# SPDX-License-Identifier: Apache-2.0
"""Magics for IPython and Jupyter, after `%load_ext vramscope`.

    %%vramscope [FILE] [--stacks python] ...    records the cell, and shows the report's page
    %vramscope plan --fit 24GiB                 the command's answer about the last recorded cell, or about a file that is named
    %vramscope report run.vms"""

import inspect
import os
import shlex
import tempfile
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import command, recording
from .errors import Error
from .run import Run

_ABOUT_A_RUN = ("report", "whatif", "plan", "oom", "leaks", "frag", "explain", "info", "pack", "replay", "check")
_WRITTEN = (".html", ".csv", ".png")  # names of output files, not of the run that a question is about
_last: Optional[Run] = None
_folder: Optional["tempfile.TemporaryDirectory[str]"] = None  # removed when the kernel ends


def register(shell: Any) -> None:
    """Adds the magics to a shell of IPython."""
    shell.register_magic_function(_line, "line", "vramscope")
    shell.register_magic_function(_cell_of(shell), "cell", "vramscope")


def _line(line: str) -> Optional[Run]:
    words = shlex.split(line)
    if not words:
        return _last
    done = command.run(_about_the_last(words))
    print(done.stdout.decode("utf-8", "replace"), end="")
    if done.returncode != 0:
        print(command.sentence(done))
    return None


def _about_the_last(words: List[str]) -> List[str]:
    """Adds the last recorded cell if no file is named."""
    names_a_file = any(os.path.isfile(word) and not word.endswith(_WRITTEN) for word in words[1:])
    if words[0] not in _ABOUT_A_RUN or names_a_file:
        return words
    if _last is None:
        raise Error("No cell has been recorded yet. Name a file, or record a cell with %%vramscope.")
    return [words[0], _last.path, *words[1:]]


def _cell_of(shell: Any) -> Callable[[str, str], Optional[Run]]:
    def vramscope(line: str, cell: str) -> Optional[Run]:
        global _last
        path, options = _options_of(shlex.split(line))
        with recording.record(path or _next_file(), **options) as recorded:
            result = shell.run_cell(cell)
        if result.error_before_exec is not None or result.error_in_exec is not None:
            print(f"The cell failed; what it allocated until then is in {recorded.path}.")
        try:
            _last = recorded.run
        except Error as error:
            print(error)
            return None
        return _last

    return vramscope


def _options_of(words: List[str]) -> Tuple[Optional[str], Dict[str, Any]]:
    """The file and the keywords of start() for "FILE --stacks python --steps 3"."""
    path: Optional[str] = None
    options: Dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if not equals:
                value = next(rest, "")
            if not value:
                raise Error(f"{word} has no value. Write {word} VALUE.")
            options[name.replace("-", "_")] = value
        elif path is None:
            path = word
        else:
            raise Error(f"%%vramscope takes one file, not also '{word}'.")
    unknown = [name for name in options if name not in inspect.signature(recording.start).parameters]
    if unknown:
        raise Error(f"%%vramscope has no option --{unknown[0].replace('_', '-')}. docs/python.md lists those of vramscope.start().")
    if "program" in options:
        options["program"] = options["program"] == "on"
    return path, options


def _next_file() -> str:
    global _folder
    if _folder is None:
        _folder = tempfile.TemporaryDirectory(prefix="vramscope-")
    return os.path.join(_folder.name, f"cell-{len(os.listdir(_folder.name)) + 1}.vms")
