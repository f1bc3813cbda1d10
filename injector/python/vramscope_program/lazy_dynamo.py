# SPDX-License-Identifier: Apache-2.0
"""A stand-in for torch._dynamo. It becomes the real one as soon as anything but its no-ops is used.

Optimizers and checkpoints import torch._dynamo only to disable a compiler that does not run. That import is 3 s of the 4 s that the re-run of a small
program takes."""

import importlib
import sys
import types
from typing import Any

NAME = "torch._dynamo"


class _Dynamo(types.ModuleType):
    @staticmethod
    def disable(fn: Any = None, *_args: Any, **_options: Any) -> Any:
        return fn if fn is not None else lambda function: function

    @staticmethod
    def graph_break(*_args: Any, **_options: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
            importlib.import_module(NAME)  # sets torch._dynamo, too
        return getattr(sys.modules[NAME], name)


def stand_in() -> None:
    import torch

    if NAME not in sys.modules:
        sys.modules[NAME] = torch._dynamo = _Dynamo(NAME)  # type: ignore[attr-defined]
