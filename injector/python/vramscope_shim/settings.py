# SPDX-License-Identifier: Apache-2.0
"""Reports environment variables that PyTorch reads and that a program may set itself, for example os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8".
The recorder knows only the variables at the program's start. Some packages set such variables when imported, and many scripts do it in their first
lines. They become metadata: program.cublas_workspace_config."""

import os
from typing import Any, Tuple

from vramscope_core import native

_ALLOCATOR = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING")
_AT_FIRST_PRODUCT = ("CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_WORKSPACE_SIZE")


class Settings:
    def __init__(self) -> None:
        self._told = False

    def install(self, _torch: Any) -> None:
        """Called right after the import of torch: reports what the allocator will read at its first block."""
        _tell(_ALLOCATOR)
        if native.deep():  # the program may have no steps; what it sets after the import is reported in its first step
            _tell(_AT_FIRST_PRODUCT)

    def tell(self) -> None:
        """Called in a step: by now, PyTorch has read the variables that it reads once."""
        if not self._told:
            self._told = True
            _tell(_AT_FIRST_PRODUCT)


def _tell(names: Tuple[str, ...]) -> None:
    for name in names:
        value = os.environ.get(name)
        if value is not None:
            native.fact("program." + name.lower(), value)
