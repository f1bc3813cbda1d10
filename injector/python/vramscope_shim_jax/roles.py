# SPDX-License-Identifier: Apache-2.0
"""Decides the role of each argument and result of a program that trains, by what the program does with it. Names do not matter.

    def step(params, opt_state, batch):                     params      next value among the results, from backward; differentiated: parameter
        loss, grads = value_and_grad(f)(params, batch)      opt_state   next value among the results, from backward; not differentiated: optimizer state
        ...                                                 batch       no next value: input
        return params, opt_state, loss

A program without a backward pass can be the update, in a function of its own. It is one if it gets gradients of a program that trains, and returns next
values that depend on them. Its parameters are the arguments that were parameters there; they keep their names. If it gets no parameters, a tree like the
gradients is their sum over several batches, and other trees are the optimizer's state.

An argument has a next value if a tree of results has the same leaves (paths below the root, shapes, types) as the tree of arguments that it is in. If
that tree of results is not computed from the parameters, but by the backward pass alone, it holds the gradients."""

import re
from typing import AbstractSet, Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from vramscope_core.native import Role

from . import flow

_PART = re.compile(r"\.?[^.\[\]]+|\[[^\]]*\]")
_KEY = re.compile(r"^\['(\w+)'\]$")
DEEPEST_ROOT = 3  # of a tree of results: result[0][1]


class Label(NamedTuple):
    role: int  # 0: none
    name: str


class Leaf(NamedTuple):
    path: Tuple[str, ...]  # ("params", "['fc1']", "['w']")
    kind: Tuple[Any, ...]  # shape and type


Tree = Dict[Tuple[str, ...], Tuple[int, Tuple[Any, ...]]]  # path below the root -> number of the leaf, its kind
NOTHING = Label(0, "")
LEARNED = (Role.PARAMETER, Role.GRADIENT)


def dotted(path: Sequence[str]) -> str:
    """"params.blocks[0].qkv.w" for params['blocks'][0]['qkv']['w']: the form of module paths."""
    return "".join(_KEY.sub(r".\1", part) for part in path)


def leaf(name: str, aval: Any) -> Leaf:
    return Leaf(tuple(_PART.findall(name)), (getattr(aval, "shape", ()), str(getattr(aval, "dtype", ""))))


def trees(leaves: Sequence[Leaf], depth: int) -> Dict[Tuple[str, ...], Tree]:
    found: Dict[Tuple[str, ...], Tree] = {}
    for number, (path, kind) in enumerate(leaves):
        if len(path) >= depth:
            found.setdefault(path[:depth], {})[path[depth:]] = (number, kind)
    return found


def next_values(arguments: Sequence[Leaf], results: Sequence[Leaf], last: AbstractSet[str] = frozenset()) -> Dict[int, int]:
    """argument -> result, for trees of arguments that have an equal tree of results. Each takes the first one that is not taken yet. `last`: roots of
    trees of arguments that choose after the others."""
    pairs: Dict[int, int] = {}
    taken: Set[int] = set()
    candidates = [tree for depth in range(1, DEEPEST_ROOT + 1) for tree in trees(results, depth).values()]
    for _, tree in sorted(trees(arguments, 1).items(), key=lambda one: one[0][0] in last):
        for candidate in candidates:
            same = {path: kind for path, (_, kind) in tree.items()} == {path: kind for path, (_, kind) in candidate.items()}
            if same and not taken.intersection(number for number, _ in candidate.values()):
                taken.update(number for number, _ in candidate.values())
                pairs.update((number, candidate[path][0]) for path, (number, _) in tree.items())
                break
    return pairs


class Roles:
    """`program`: a jaxpr. `names`, `result_names`: the paths of its arguments and results, as JAX writes them. `known`: what the arguments of its first
    call are in programs that train.

    trains: there is a backward pass in it. updates: it returns next values of parameters or of optimizer state."""

    def __init__(self, program: Any, names: Sequence[str], result_names: Sequence[str], known: Sequence[Label] = ()) -> None:
        self.trains = flow.trains(program)
        self.updates = False
        gradients = [label.role == Role.GRADIENT for label in known] or [False] * len(program.invars)
        self.arguments: List[Label] = [NOTHING] * len(program.invars)
        self.results: List[Label] = [NOTHING] * len(program.outvars)
        if not (self.trains or any(gradients)) or len(names) != len(program.invars) or len(result_names) != len(program.outvars):
            return
        self._leaves = [leaf(name, variable.aval) for name, variable in zip(names, program.invars)]
        self._names = [dotted(one.path) for one in self._leaves]
        results = [leaf(name, getattr(value, "aval", None)) for name, value in zip(result_names, program.outvars)]
        self._pairs = next_values(self._leaves, results, {one.path[0] for one, is_one in zip(self._leaves, gradients) if is_one})
        self._differentiated = flow.differentiated(program, [False] * len(program.outvars))
        self._from_backward = flow.from_backward(program, gradients)
        self._updates = flow.Updates(program)
        roles = [self._role(number) for number in range(len(names))] if self.trains else self._roles_in_update(known)
        self._add_counters(roles)
        for number, role in enumerate(roles):
            self.arguments[number] = Label(role, self._name(number, role, roles)) if role else NOTHING
        for number, result in self._pairs.items():
            self.results[result] = self._label_of_result(number, result, roles[number])
        self.updates = any(label.role in (Role.PARAMETER, Role.OPTIMIZER_STATE) for label in self.results)

    def _roles_in_update(self, known: Sequence[Label]) -> List[int]:
        """Roles in a program that updates. Also gives parameters and gradients the names that they have already."""
        roles = [label.role if label.role in LEARNED else 0 for label in known]
        named = {(self._tree_of(number), one.path[1:]): known[number].name for number, one in enumerate(self._leaves) if roles[number] == Role.GRADIENT}
        for number, role in enumerate(roles):
            if role:
                self._names[number] = known[number].name
            elif number in self._pairs and self._from_backward[self._pairs[number]]:
                summed = named.get((self._tree_of(number), self._leaves[number].path[1:])) if Role.PARAMETER not in roles else None
                roles[number] = Role.OPTIMIZER_STATE if summed is None else Role.GRADIENT
                self._names[number] = summed or self._names[number]
        return roles

    def _tree_of(self, number: int) -> Tuple[Leaf, ...]:
        """Equal for arguments with the same leaves."""
        root = self._leaves[number].path[0]
        return tuple(Leaf(one.path[1:], one.kind) for one in self._leaves if one.path[0] == root)

    def _role(self, number: int) -> int:
        result = self._pairs.get(number)
        if result is None:
            return Role.INPUT
        learns = self._from_backward[result]
        if self._differentiated[number]:
            if learns or self._updates.is_next_value(result, number):
                return Role.PARAMETER
            return Role.INPUT if len(self._leaves[number].path) == 1 else Role.BUFFER
        return Role.OPTIMIZER_STATE if learns else 0

    def _add_counters(self, roles: List[int]) -> None:
        """Roles of arguments that do not depend on backward: an optimizer's count of steps if optimizer state is next to it in its tree, else buffers."""
        holders = {path[:depth] for (path, _), role in zip(self._leaves, roles) if role == Role.OPTIMIZER_STATE for depth in range(1, len(path))}
        for number, role in enumerate(roles):
            if role == 0 and number in self._pairs:
                roles[number] = Role.OPTIMIZER_STATE if self._leaves[number].path[:-1] in holders else Role.BUFFER

    def _name(self, number: int, role: int, roles: Sequence[int]) -> str:
        """State of one parameter: "opt_state[0].mu of params.fc1.w"."""
        if role != Role.OPTIMIZER_STATE:
            return self._names[number]
        owner = self._owner(number, roles)
        if owner is None:
            return self._names[number]
        common = self._common(self._leaves[number].path, self._leaves[owner].path)
        state = dotted(self._leaves[number].path[:len(self._leaves[number].path) - common])
        return f"{state} of {self._names[owner]}"

    def _owner(self, number: int, roles: Sequence[int]) -> Optional[int]:
        """Of the parameters with the same shape, the one whose path has the longest end in common with the argument's. None if there is none."""
        path, kind = self._leaves[number]
        best, longest = None, 0
        for other, role in enumerate(roles):
            if role != Role.PARAMETER or self._leaves[other].kind[0] != kind[0]:
                continue
            common = self._common(path, self._leaves[other].path)
            if common > longest:
                best, longest = other, common
        return best

    @staticmethod
    def _common(path: Sequence[str], other: Sequence[str]) -> int:
        common = 0
        while common < min(len(path), len(other)) - 1 and path[-1 - common] == other[-1 - common]:
            common += 1
        return common

    def _label_of_result(self, argument: int, result: int, role: int) -> Label:
        if self.trains and role == Role.PARAMETER and not self._updates.is_next_value(result, argument):
            return Label(Role.GRADIENT, self._names[argument])
        return self.arguments[argument] if role != Role.INPUT else NOTHING
