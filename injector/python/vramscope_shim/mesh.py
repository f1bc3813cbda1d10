# SPDX-License-Identifier: Apache-2.0
"""Reports the place of this process in the program's device meshes and process groups, and its GPU.

    init_process_group(backend, rank=21, world_size=32)                      any launcher        ->  world = "21/32"
    init_device_mesh("cuda", (4, 8), mesh_dim_names=("pp", "dp"))            on rank 21  ->  mesh = "pp 2/4, dp 5/8"
    new_group(ranks, group_desc="TENSOR_MODEL_PARALLEL_GROUP")               on rank 16  ->  mesh = "tp 0/2"

Why observed and not computed from the rank: every framework has its own order of dimensions. Ranks with the same place in the pipeline should take
the same memory, so `vramscope fleet` compares these. A group without a description has no name that would mean anything, so it is left out.
The rank itself comes from the default group: launchers that start processes from Python set no environment variables for rank 0."""

import re
import sys
from functools import partial
from typing import Any, Dict, Tuple

from vramscope_core import guard, import_hook, native, patches

HOOK = "python.mesh"
MESH, GROUPS = "torch.distributed.device_mesh", "torch.distributed.distributed_c10d"
MOST_DIMENSIONS = 8  # flattened and sliced meshes have names too

# Groups whose description names how they split the model.
_PARALLEL = {"TENSOR": "tp", "PIPELINE": "pp", "CONTEXT": "cp", "EXPERT": "ep"}
_PARALLEL_GROUP = re.compile(r"(TENSOR|PIPELINE|CONTEXT|EXPERT)_(?:MODEL_)?PARALLEL_GROUP")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,23}")

_known: Dict[str, Tuple[int, int]] = {}
_gpus: Dict[int, str] = {}


def install(_: Any) -> None:
    _known.clear()
    _gpus.clear()
    import_hook.when_imported(MESH, partial(_wrap, MESH))
    import_hook.when_imported(GROUPS, partial(_wrap, GROUPS))


def _wrap(name: str) -> None:
    module = sys.modules[name]
    if name == MESH and hasattr(module, "DeviceMesh"):  # not if torch is built without torch.distributed
        patches.wrap_method(module.DeviceMesh, "__init__", guard.after(HOOK, _mesh_made))
    elif name == GROUPS and hasattr(module, "_new_group_with_tag"):
        patches.wrap_method(module, "_new_group_with_tag", guard.after(HOOK, _group_made))
        _watch_default_group(module)
    else:
        return
    native.coverage(HOOK, native.State.HOOKED)


def _watch_default_group(module: Any) -> None:
    if not hasattr(module, "_update_default_pg"):
        return
    # Not init_process_group itself: that waits for the other ranks, and raises if they do not come.
    patches.wrap_method(module, "_update_default_pg", guard.after(HOOK, _default_group_made))
    if module.is_initialized():
        _default_group_made(module.GroupMember.WORLD)


def _default_group_made(group: Any, *_: Any, **__: Any) -> None:
    if group is not None and group.size() > 1:  # None: it is destroyed
        native.proven(HOOK)
        native.fact("own.world", f"{group.rank()}/{group.size()}")


def _mesh_made(mesh: Any, *_: Any, **__: Any) -> None:
    names, place = mesh.mesh_dim_names, mesh.get_coordinate()
    if names and place is not None:  # else this rank is not part of it
        sizes = mesh.mesh.shape
        _tell({name: (int(index), int(size)) for name, index, size in zip(names, place, sizes)})


def _group_made(ranks: Any = None, *_: Any, group_desc: Any = None, **__: Any) -> None:
    name = _dimension_of(group_desc)
    if name and ranks is not None:
        members = sorted(ranks)
        own = sys.modules[GROUPS].get_rank()
        if own in members:
            _tell({name: (members.index(own), len(members))})


def _dimension_of(description: Any) -> str:
    if not isinstance(description, str) or description in ("undefined", "default_pg") or description.startswith("mesh_"):
        return ""
    parallel = _PARALLEL_GROUP.fullmatch(description)
    if parallel:
        return _PARALLEL[parallel.group(1)]
    if description == "DATA_PARALLEL_GROUP":
        return "dp"
    return description if _NAME.fullmatch(description) and not description.endswith("_GROUP") else ""


def _tell(dimensions: Dict[str, Tuple[int, int]]) -> None:
    """Reports dimensions whose names are new. If several meshes use one name, the first mesh counts."""
    news = {name: place for name, place in dimensions.items() if name not in _known and _NAME.fullmatch(name)}
    if not news or len(_known) + len(news) > MOST_DIMENSIONS:
        return
    _known.update(news)
    native.proven(HOOK)
    native.fact("own.mesh", ", ".join(f"{name} {index}/{size}" for name, (index, size) in _known.items()))


def tell_gpu(torch: Any) -> None:
    """The UUID of the GPU that this process computes on: `cuda:0` is another GPU in each process that has its own CUDA_VISIBLE_DEVICES."""
    if not torch.cuda.is_initialized():
        return
    index = torch.cuda.current_device()
    if index not in _gpus:
        _gpus[index] = str(getattr(torch.cuda.get_device_properties(index), "uuid", ""))
        if _gpus[index]:
            native.fact(f"own.gpu.{index}", _gpus[index])
