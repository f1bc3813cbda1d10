# SPDX-License-Identifier: Apache-2.0
"""Runs the `vramscope` command to get answers, so that each answer has one implementation: the verb.

    words(fit="24GiB", largest_batch=True)   ["--fit", "24GiB", "--largest-batch"]"""

import json
import os
import subprocess
from typing import Any, Dict, List, Sequence

from . import installation
from .answer import Answer
from .errors import Error

_COULD_NOT_JUDGE = 3
_OF_A_RECORDER = ("LD_PRELOAD", "VRAMSCOPE", "VRAMSCOPE_SESSION", "VRAMSCOPE_OPTIONS", "VRAMSCOPE_COLLECTOR", "VRAMSCOPE_NVTX_NEXT")


def words(**options: Any) -> List[str]:
    """Keywords as options of the command line. True: a switch. None and False: left out. A list: the option once for each value."""
    given: List[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                given.append(option)
            elif each is not None and each is not False:
                given += [option, str(each)]
    return given


def environment() -> Dict[str, str]:
    """The environment without the variables that would record the command itself (trace_format/ring.h)."""
    return {key: value for key, value in os.environ.items() if key not in _OF_A_RECORDER}


def run(arguments: Sequence[str]) -> "subprocess.CompletedProcess[bytes]":
    """Runs the command to its end; its output is captured."""
    try:
        return subprocess.run([installation.command(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, env=environment(), check=False)
    except OSError as error:
        raise Error(f"The command vramscope could not be started: {error}.") from None


def sentence(done: "subprocess.CompletedProcess[bytes]") -> str:
    """What the command wrote to standard error, without its prefix."""
    lines = [line[len("vramscope: "):] if line.startswith("vramscope: ") else line for line in done.stderr.decode("utf-8", "replace").splitlines()]
    return " ".join(line for line in lines if line) or f"vramscope ended with exit code {done.returncode}."


def ask(verb: str, *arguments: str) -> Answer:
    """The JSON answer of `vramscope verb arguments --json`. Raises Error with the verb's sentence if there is none."""
    done = run([verb, *arguments, "--json", "--quiet"])
    if done.returncode not in (0, 1, _COULD_NOT_JUDGE) or not done.stdout.strip():
        raise Error(sentence(done))
    answer = json.loads(done.stdout, object_hook=Answer)
    answer.exit_code = done.returncode
    return answer
