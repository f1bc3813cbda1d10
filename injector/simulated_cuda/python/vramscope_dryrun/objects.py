# SPDX-License-Identifier: Apache-2.0
"""Collectives of Python objects go through the process group's store instead of the device.

On the device the length of a pickle is the result of a kernel, and such results read as zero ("Ran out of input"). All ranks use the store anyway. On
a GPU, such exchanges also take no device memory, except a few KiB during the call."""

import pickle
import sys
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple

from vramscope_core import guard

HOOK = "dryrun.objects"
_calls: Dict[Tuple[int, ...], int] = {}  # how many exchanges these ranks have had: every rank counts alike
_letters: Dict[Tuple[int, int], int] = {}  # how many lists one rank has sent to another


def install(alone: bool) -> None:
    """`alone`: the other ranks do not exist, and would have given this rank's values."""
    collectives = sys.modules["torch.distributed.distributed_c10d"]
    exchange = _repeat if alone else _through_store
    stand_ins = _functions(collectives, exchange)
    guarded = {name: guard.instead(HOOK, getattr(collectives, name), partial(_in_place, function)) for name, function in stand_ins.items()}
    functions = {**guarded, **(_FROM_ONE_TO_ANOTHER if alone else {})}
    for module in (collectives, sys.modules.get("torch.distributed")):
        for name, function in functions.items():
            if module is not None:
                setattr(module, name, function)


def _in_place(function: Callable[..., Any], _original: Any, *args: Any, **named: Any) -> Any:
    return function(*args, **named)


def _send_object_list(*_: Any, **__: Any) -> None:
    """No other rank exists to receive it."""


def _recv_object_list(*_: Any, **__: Any) -> int:
    raise RuntimeError(
        "This rank runs alone and cannot receive an object that another rank computes. For a pipeline, pass the shapes to PipelineStage: "
        "input_args=... and output_args=...")


_FROM_ONE_TO_ANOTHER = {"send_object_list": _send_object_list, "recv_object_list": _recv_object_list}


def _ranks(collectives: Any, group: Any) -> List[int]:
    return list(collectives.get_process_group_ranks(group if group is not None else collectives.group.WORLD))


def _repeat(collectives: Any, group: Any, value: Any) -> Dict[int, Any]:
    return {rank: value for rank in _ranks(collectives, group)}


def _through_store(collectives: Any, group: Any, value: Any) -> Dict[int, Any]:
    """The value of each rank of the group, by its global rank."""
    ranks = _ranks(collectives, group)
    number = _calls[tuple(ranks)] = _calls.get(tuple(ranks), 0) + 1
    store = collectives._get_default_store()
    key = f"vramscope/{'-'.join(map(str, ranks))}/{number}"
    store.set(f"{key}/{collectives.get_rank()}", pickle.dumps(value))
    return {rank: pickle.loads(store.get(f"{key}/{rank}")) for rank in ranks}


def _functions(collectives: Any, exchange: Any) -> Dict[str, Any]:
    def source(group: Any, src: Optional[int], group_src: Optional[int]) -> int:
        return _ranks(collectives, group)[group_src] if group_src is not None else src or 0

    def all_gather_object(object_list: List[Any], obj: Any, group: Any = None, **_: Any) -> None:
        object_list[:] = exchange(collectives, group, obj).values()

    def gather_object(obj: Any, object_gather_list: Optional[List[Any]] = None, dst: Optional[int] = None, group: Any = None, **_: Any) -> None:
        given = exchange(collectives, group, obj)
        if object_gather_list is not None:
            object_gather_list[:] = given.values()

    def broadcast_object_list(
        object_list: List[Any], src: Optional[int] = None, group: Any = None, device: Any = None, group_src: Optional[int] = None, **_: Any
    ) -> None:
        object_list[:] = exchange(collectives, group, list(object_list))[source(group, src, group_src)]

    def scatter_object_list(
        scatter_object_output_list: List[Any], scatter_object_input_list: Optional[List[Any]] = None, src: Optional[int] = None,
        group: Any = None, group_src: Optional[int] = None, **_: Any
    ) -> None:
        given = exchange(collectives, group, scatter_object_input_list)[source(group, src, group_src)]
        if given:
            scatter_object_output_list[0] = given[_ranks(collectives, group).index(collectives.get_rank())]

    def letter(sender: int, receiver: int) -> str:
        """The store's key for the next value that one sends to the other. Both count alike."""
        number = _letters[sender, receiver] = _letters.get((sender, receiver), 0) + 1
        return f"vramscope/{sender}-to-{receiver}/{number}"

    def send_object_list(object_list: List[Any], dst: Optional[int] = None, group: Any = None, device: Any = None,
                         group_dst: Optional[int] = None, **_: Any) -> None:
        key = letter(collectives.get_rank(), source(group, dst, group_dst))
        collectives._get_default_store().set(key, pickle.dumps(list(object_list)))

    def recv_object_list(object_list: List[Any], src: Optional[int] = None, group: Any = None, device: Any = None,
                         group_src: Optional[int] = None, **_: Any) -> int:
        if src is None and group_src is None:
            raise RuntimeError("On the simulated device, recv_object_list needs the source rank: src=...")
        sender = source(group, src, group_src)
        object_list[:] = pickle.loads(collectives._get_default_store().get(letter(sender, collectives.get_rank())))
        return sender

    return {
        "all_gather_object": all_gather_object, "gather_object": gather_object,
        "broadcast_object_list": broadcast_object_list, "scatter_object_list": scatter_object_list,
        "send_object_list": send_object_list, "recv_object_list": recv_object_list,
    }
