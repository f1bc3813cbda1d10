# SPDX-License-Identifier: Apache-2.0
"""The size of a process group that NCCL splits off another one: a single rank cannot ask the others, but PyTorch knows their list.

If the world was bound to a device, a group is split off at its creation, by a color that need not distinguish groups (PyTorch 2.15 gives 0).
Otherwise it is split off at its first use, by a color computed from its ranks."""

from vramscope_core import guard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, List

HOOK = "dryrun.groups"
NEXT = -1  # instead of a color: the next group that is split off


def _tell(color: int, ranks: int) -> None:
    import ctypes

    ctypes.CDLL("libcuda.so.1").vramscope_simulated_split(color, ranks)


def _telling(make: "Callable[..., Any]", name: str, position: int, size: "Callable[[Any], int]") -> "Callable[..., Any]":
    """Wraps `make`, and takes the group's size from its argument of that name and position."""

    def begin(*arguments: "Any", **named: "Any") -> None:
        _tell(NEXT, size(arguments[position] if len(arguments) > position else named.get(name)))

    return guard.around(HOOK, begin, lambda *_, **__: _tell(NEXT, 0))(make)


def install() -> None:
    """distributed_c10d is loaded; torch.distributed takes its names from there afterwards."""
    from torch.distributed import distributed_c10d as collectives

    def mine(lists: "Iterable[List[int]]") -> int:
        return next((len(ranks) for ranks in lists or () if collectives.get_rank() in ranks), 0)

    def color_of(call: guard.Call, ranks: "List[int]") -> int:
        color = call(ranks)
        _tell(color, len(ranks))
        return color

    make_color = getattr(collectives, "_process_group_color", None)
    if make_color is not None:
        collectives._process_group_color = guard.instead(HOOK, make_color, color_of)
    collectives.new_group = _telling(collectives.new_group, "ranks", 0, lambda ranks: len(ranks or ()))
    if hasattr(collectives, "split_group"):
        collectives.split_group = _telling(collectives.split_group, "split_ranks", 1, mine)
