# SPDX-License-Identifier: Apache-2.0
"""One process of a JAX job whose other processes do not exist.

    program     jax.devices() has the GPUs of all processes: meshes, shardings and XLA's plans are those of the whole job
    executed    this process's part, on its own GPUs

Why a job and not more simulated GPUs in one process: for each GPU, XLA's allocator has a table in host memory, 1/32 of the memory that it may take there. 64
GPUs of 80 GB would need 120 GB. JAX supports this: with `jax_mock_gpu_topology` its plug-in takes part in a made-up job, where collectives do nothing. This
module only answers for the other processes where JAX asks them."""

import importlib
import os
import sys
from typing import Any, Callable

from vramscope_core import guard, patches

HOOK = "dryrun.jax_job"
NOT_SHARED = "--xla_gpu_shard_autotuning=false"  # otherwise the process waits for the algorithms that the others have tried


def install(world: int, when_imported: Callable[[str, Callable[[], object]], None]) -> None:
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {NOT_SHARED}".strip()
    _make_up(world)
    when_imported("jax.experimental.multihost_utils", _agree)
    for name in ("jax._src.distributed", "jax.distributed"):
        distributed: Any = importlib.import_module(name)
        patches.wrap_method(distributed, "initialize", _instead(_begin))
        patches.wrap_method(distributed, "is_initialized", _instead(lambda _call: True))


def _make_up(world: int) -> None:
    """One partition, as in a network that joins all machines: jax.make_mesh() refuses several."""
    local = int(os.environ.get("VRAMSCOPE_SIMULATED_GPU", "").rpartition(":")[2] or 1)
    sys.modules["jax"].config.update("jax_mock_gpu_topology", f"1x{world}x{local}")


def _begin(_call: guard.Call, *_: Any, **__: Any) -> None:
    """jax.distributed.initialize() would wait for the other processes."""


def _agree() -> None:
    """The others have the same values. The exchange itself runs, because it takes memory on the device."""
    utilities: Any = sys.modules["jax.experimental.multihost_utils"]

    def assert_equal(_call: guard.Call, in_tree: Any, *_: Any, **__: Any) -> None:
        utilities.process_allgather(in_tree, tiled=True)

    def broadcast_one_to_all(call: guard.Call, in_tree: Any, *args: Any, **named: Any) -> Any:
        call(in_tree, *args, **named)
        return sys.modules["jax"].tree.map(importlib.import_module("numpy").asarray, in_tree)

    for replacement in (assert_equal, broadcast_one_to_all):
        patches.wrap_method(utilities, replacement.__name__, _instead(replacement))


def _instead(replacement: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda original: guard.instead(HOOK, original, replacement)
