# SPDX-License-Identifier: Apache-2.0
"""Several changes of one program at once: PyTorch is imported once, and each change runs in a fork of its own.

    this process: import torch ──fork──┬─ variant 0 ─► exit code, last line of stderr
                                       ├─ variant 1       at most `jobs` at a time
                                       └─ ...
Nothing may be on the device before the forks: CUDA cannot be used in a process and in its forks."""

import json
import os
import signal
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, Tuple

LOOK_EVERY_S = 0.005


def cores() -> int:
    return len(os.sched_getaffinity(0))


class Child:
    def __init__(self, number: int, variant: Dict[str, Any], run: Callable[[List[str]], int], limit: float) -> None:
        self.number = number
        self.log = tempfile.TemporaryFile()
        self.ends = time.monotonic() + limit
        self.over = False
        self.pid = os.fork()
        if self.pid == 0:
            self._run(variant, run)

    def _run(self, variant: Dict[str, Any], run: Callable[[List[str]], int]) -> None:
        """Never returns: this process must not unwind the parent's frames."""
        code = 1
        try:
            os.dup2(self.log.fileno(), 1)
            os.dup2(self.log.fileno(), 2)
            if variant["try"]:
                os.environ["VRAMSCOPE_TRY"] = json.dumps(variant["try"])
            code = run(variant["words"])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException as error:  # whatever it is, it is this variant's answer
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def answer(self, status: int) -> Dict[str, Any]:
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        self.log.close()
        return {"pid": self.pid, "status": status, "over": self.over, "last_line": lines[-1] if lines else ""}


def run_all(variants: List[Dict[str, Any]], run: Callable[[List[str]], int], limit: float, jobs: int) -> List[Dict[str, Any]]:
    """Runs all variants; returns their answers in the same order. `limit`: seconds that one may take."""
    import torch  # noqa: F401  so that the forks have it

    from .lazy_dynamo import stand_in

    stand_in()
    answers: List[Dict[str, Any]] = [{} for _ in variants]
    waiting: List[Tuple[int, Dict[str, Any]]] = list(enumerate(variants))
    running: List[Child] = []
    while waiting or running:
        while waiting and len(running) < max(1, jobs):
            number, variant = waiting.pop(0)
            running.append(Child(number, variant, run, limit))
        for child in list(running):
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid == 0:
                if not child.over and time.monotonic() > child.ends:
                    child.over = True
                    os.kill(child.pid, signal.SIGKILL)
                continue
            answers[child.number] = child.answer(status)
            running.remove(child)
        time.sleep(LOOK_EVERY_S)
    return answers
