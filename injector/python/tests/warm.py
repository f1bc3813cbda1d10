# SPDX-License-Identifier: Apache-2.0
"""A process that has imported PyTorch and runs each program in a fork of itself: the import takes longer than most programs of these tests.

harness.run_warm() starts it. Each line of its input is a request in JSON:
    folder       where program.py is, and where it runs
    output       the program's output goes to OUTPUT.out and OUTPUT.err
    log          the file of the recorder's stand-in; empty: there is none
    environment  variables to set in the program
The answer is a line with the status that waitpid() returns. A program sees what it would see as `python program.py`: it is __main__, and tracebacks
begin with it."""

import atexit
import gc
import json
import os
import sys
import types
from typing import Any, Dict

import torch  # noqa: F401
import torch._dynamo  # noqa: F401  what the first optimizer imports


def main() -> None:
    answers = os.dup(1)
    gc.freeze()  # a collection in a fork would copy every page that has an object of PyTorch
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            os.close(answers)
            prepare(request)
            run_program(os.path.join(request["folder"], "program.py"))
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)  # tearing down PyTorch takes longer than most programs; only one that fails or calls sys.exit() does it
        os.write(answers, b"%d\n" % os.waitpid(child, 0)[1])


def prepare(request: Dict[str, Any]) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, closefd=False, encoding="utf-8")
    for number, ending in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{request['output']}.{ending}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if request["log"]:
        import ctypes  # torch has imported it

        ctypes.CDLL(None).vramscope_stub_log(os.fsencode(request["log"]))
        os.environ["VRAMSCOPE_STUB_LOG"] = request["log"]  # for processes that the program starts
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv, sys.path[0] = ["program.py"], request["folder"]


def run_program(path: str) -> None:
    main_module = types.ModuleType("__main__")
    main_module.__file__ = path
    sys.modules["__main__"] = main_module
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    try:
        exec(code, vars(main_module))
    except Exception as error:
        above = error.__traceback__
        sys.excepthook(type(error), error, above and above.tb_next)
        sys.exit(1)


if __name__ == "__main__":
    main()
