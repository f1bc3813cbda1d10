# SPDX-License-Identifier: Apache-2.0
"""vramscope in Python: where the GPU memory of a training run goes.

    run = vramscope.open("run.vms")             a trace, or a PyTorch memory snapshot
    run.peak.allocated_bytes                    figures, the same as of `vramscope report run.vms --json`
    run.blocks().to_polars()                    tables for pandas, polars, DuckDB, pyarrow and NumPy, without a copy
    run.whatif(amp="bf16", checkpoint="all")    answers, the same as of the command

    with vramscope.record("run.vms"):           records this process; also start(), stop(), mark(), and a decorator
        train()
    %load_ext vramscope                         notebooks: %%vramscope records a cell, %vramscope asks the command

Needs nothing but the standard library. docs/python.md is the guide."""

from typing import Any

from .answer import Answer
from .errors import Error
from .recording import Recording, mark, record, start, stop
from .run import Run, open
from .table import Table

__all__ = ["Answer", "Error", "Recording", "Run", "Table", "mark", "open", "record", "start", "stop"]


def load_ipython_extension(shell: Any) -> None:
    """%load_ext vramscope"""
    from . import notebook

    notebook.register(shell)
