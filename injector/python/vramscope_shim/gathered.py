# SPDX-License-Identifier: Apache-2.0
"""The parameters that FSDP2 (fully_shard) gathers from all ranks for a forward or a backward.

Why not from the collective alone: its output is one buffer for a group of parameters. FSDP2 copies it into a block for each of them, which no
collective sees. A group is complete when each of its parameters changes from its shard to the gathered copy, to_unsharded(). (FSDP1 uses the
collective's own output.)"""

import sys
from functools import partial
from typing import Any

from vramscope_core import guard, import_hook, native, patches

from . import storage

HOOK = "python.gathered"
# Since 2.6, and before.
MODULES = ("torch.distributed.fsdp._fully_shard._fsdp_param", "torch.distributed._composable.fsdp._fsdp_param")


def install(_: Any) -> None:
    for name in MODULES:
        import_hook.when_imported(name, partial(_wrap, name))


def _wrap(name: str) -> None:
    kind = getattr(sys.modules[name], "FSDPParam", None)
    if kind is not None and kind.__module__ == name:
        patches.wrap_method(kind, "to_unsharded", guard.after(HOOK, _tell))
        native.coverage(HOOK, native.State.HOOKED)


def _tell(parameter: Any) -> None:
    native.proven(HOOK)
    name = getattr(parameter, "_param_fqn", None) or parameter._module_info.param_name
    told_as = native.intern(f"gathered copy of {name}")
    with storage.untouched():
        # The gathered tensors, and the parameter: it is another tensor if an extension (float8) creates it from them.
        for tensor in (parameter._unsharded_param, *parameter.all_gather_outputs):
            for _, part, address, size in storage.places(tensor):
                native.label(native.Role.COMMUNICATION, native.Source.DATA_PARALLEL, address, size, told_as, part._cdata)
