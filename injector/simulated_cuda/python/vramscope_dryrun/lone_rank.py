# SPDX-License-Identifier: Apache-2.0
"""One rank of a process group whose other ranks do not exist.

The rank has the environment of torchrun (set by `vramscope dryrun`), and a store that answers for the others: unset keys read as zeros, and barriers
count all ranks as arrived. Collectives on the device go to the stand-in for NCCL, which needs no partner. Those on the CPU go to PyTorch's own "fake"
backend."""

import importlib
import os
import sys
from datetime import timedelta
from typing import Any, Dict, List, Optional

from vramscope_core import guard

HOOK = "dryrun.lone_rank"
ID_BYTES = 128  # of an ncclUniqueId, the only value whose length matters


def install(world: int, rank: int) -> None:
    # PyTorch's watchdogs for NCCL query the store from their own threads, and would wait for Python while a process group is destroyed.
    os.environ.update(TORCH_NCCL_ENABLE_MONITORING="0", TORCH_NCCL_DUMP_ON_TIMEOUT="0", TORCH_NCCL_ASYNC_ERROR_HANDLING="0")
    collectives = sys.modules["torch.distributed.distributed_c10d"]
    store = _make_store(collectives.Store, world)

    def init(call: guard.Call, backend: Optional[str] = None, *_: Any, **settings: Any) -> None:
        importlib.import_module("torch.testing._internal.distributed.fake_pg")  # registers "fake"
        kept = {key: settings[key] for key in ("timeout", "group_name", "pg_options", "device_id") if settings.get(key) is not None}
        call(_without_partners(backend), store=store, rank=rank, world_size=world, **kept)

    def new_group(call: guard.Call, *args: Any, **settings: Any) -> Any:
        if len(args) > 2:
            args = (*args[:2], _without_partners(args[2]) if args[2] else None, *args[3:])
        elif settings.get("backend"):
            settings["backend"] = _without_partners(settings["backend"])
        return call(*args, **settings)

    replaced: Dict[str, Any] = {
        "init_process_group": guard.instead(HOOK, collectives.init_process_group, init),
        "new_group": guard.instead(HOOK, collectives.new_group, new_group),
        "barrier": lambda *_, **__: None,
        "monitored_barrier": lambda *_, **__: None,
    }
    for module in (collectives, sys.modules.get("torch.distributed")):
        for name, function in replaced.items():
            if module is not None:
                setattr(module, name, function)


def agree_in_deepspeed() -> None:
    """ZeRO-3 compares the order in which modules run with rank 0. Rank 0 would give this rank's answer."""
    checks = sys.modules["deepspeed.runtime.zero.utils"]
    checks.get_lst_from_rank0 = list
    checks.assert_lst_len_same_as_other_ranks = lambda _list: None


def _without_partners(backend: Optional[str]) -> str:
    """The same with "fake" for every backend that would wait for the others."""
    if backend is None:
        return "cpu:fake,cuda:nccl"
    name = str(backend).lower()
    if ":" in name:
        parts = [part.split(":") for part in name.split(",")]
        return ",".join(f"{device}:{'nccl' if kind == 'nccl' else 'fake'}" for device, kind in parts)
    return "cpu:fake,cuda:nccl" if name == "nccl" else "fake"


def _make_store(kind: Any, world: int) -> Any:
    class LoneStore(kind):
        """Answers for all ranks at once."""

        def __init__(self) -> None:
            super().__init__()
            self._values: Dict[str, bytes] = {}

        def set(self, key: str, value: Any) -> None:
            self._values[key] = value if isinstance(value, bytes) else str(value).encode()

        def get(self, key: str) -> bytes:
            return self._values.get(key, bytes(ID_BYTES))

        def add(self, key: str, value: int) -> int:
            total = int(self._values.get(key, b"0")) + value
            self.set(key, str(total).encode())
            return max(total, world)

        def check(self, keys: List[str]) -> bool:
            return True

        def wait(self, keys: List[str], timeout: timedelta = timedelta()) -> None:
            return None

        def compare_set(self, key: str, expected: Any, desired: Any) -> bytes:
            self.set(key, desired)
            return self._values[key]

        def delete_key(self, key: str) -> bool:
            return self._values.pop(key, None) is not None

        def num_keys(self) -> int:
            return len(self._values)

        def set_timeout(self, timeout: timedelta) -> None:
            return None

    return LoneStore()
