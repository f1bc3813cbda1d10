# SPDX-License-Identifier: Apache-2.0
"""Selects modules of a model: "all" its blocks, "every:2" of them, or those whose path matches a pattern.

A block is an entry of a ModuleList, or of a Sequential whose entries are all of one class and have modules of their own: the repeated part of a
model. Paths are those of named_modules(), from the called module and from the root that holds it, without the parts that wrappers add
(DistributedDataParallel, torch.compile, FSDP). If matches are nested, the outermost one counts."""

import fnmatch
import sys
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from vramscope_core import living

_WRAPPERS = {"module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}


def chosen(root: Any, wishes: Sequence[str]) -> List[Tuple[str, Any]]:
    """(path, module) in the order of named_modules(). With patterns it takes 50 ms, to search for the holder of the root."""
    if wishes == ["all"]:
        return list(_blocks(root, "", 1))
    if wishes[0].startswith("every:"):
        return list(_blocks(root, "", int(wishes[0].partition(":")[2])))
    return list(_matching(root, "", _paths_above(root), wishes))


def unwrapped(root: Any) -> Any:
    """The model itself, not its wrapper."""
    children = _children(root)
    while len(children) == 1 and children[0][0] in _WRAPPERS:
        root = children[0][1]
        children = _children(root)
    return root


def name_of(root: Any) -> str:
    return type(unwrapped(root)).__name__


def belongs(path: str, wishes: Sequence[str]) -> bool:
    """True if the path of this module or parameter, or of a module around it, matches."""
    parts = path.split(".")
    return any(_matches(parts[: count + 1], wish) for count in range(len(parts)) for wish in wishes)


def _matches(parts: Sequence[str], wish: str) -> bool:
    """* stands for one name, as in PathMatches() of profiler/whatif, or for a part of one."""
    wanted = wish.split(".")
    return len(wanted) == len(parts) and all(map(fnmatch.fnmatchcase, parts, wanted))


def named_parameters(root: Any) -> List[Tuple[str, Any]]:
    return [(_without_wrappers(name), parameter) for name, parameter in root.named_parameters()]


def named_modules(root: Any) -> List[Tuple[str, Any]]:
    return [(_without_wrappers(name), module) for name, module in root.named_modules()]


def _without_wrappers(path: str) -> str:
    return ".".join(key for key in path.split(".") if key not in _WRAPPERS)


def _children(module: Any) -> List[Tuple[str, Any]]:
    return [(key, child) for key, child in module._modules.items() if child is not None]


def _join(path: str, key: str) -> str:
    if key in _WRAPPERS:
        return path
    return f"{path}.{key}" if path else key


def _blocks(module: Any, path: str, step: int) -> Iterator[Tuple[str, Any]]:
    nn = sys.modules["torch.nn"]
    children = _children(module)
    kinds = {type(child) for _, child in children}
    repeats = isinstance(module, nn.ModuleList) or (
        isinstance(module, nn.Sequential) and len(children) > 1 and len(kinds) == 1 and all(child._modules for _, child in children))
    for position, (key, child) in enumerate(children):
        if not repeats:
            yield from _blocks(child, _join(path, key), step)
        elif position % step == 0:
            yield _join(path, key), child


def _matching(module: Any, path: str, above: Sequence[str], wishes: Sequence[str]) -> Iterator[Tuple[str, Any]]:
    for key, child in _children(module):
        below = _join(path, key)
        full = [below, *(f"{prefix}.{below}" for prefix in above)]
        if below and any(_matches(name.split("."), wish) for name in full for wish in wishes):
            yield below, child
        else:
            yield from _matching(child, below, above, wishes)


def _paths_above(root: Any) -> List[str]:
    """The paths of `root` in the modules that hold it; none if no module does."""
    holders: Dict[int, Tuple[Any, str]] = {}
    for module in living.instances((sys.modules["torch.nn"].Module,)):
        for key, child in _children(module):
            holders.setdefault(id(child), (module, key))
    path, met = "", set()
    paths = []
    module = root
    while id(module) in holders and id(module) not in met:
        met.add(id(module))
        module, key = holders[id(module)]
        if key not in _WRAPPERS:
            path = f"{key}.{path}" if path else key
            paths.append(path)
    return paths
