# SPDX-License-Identifier: Apache-2.0
"""Compares what `vramscope report` says about a moment with what PyTorch said at that moment (oracle.py).

What must hold, and why it is stated so:
    parameter, buffer, gradient, optimizer_state   the same set of (address, bytes), and the name is one that PyTorch gives
    activation      the storages that autograd graphs hold, less those that are something else (a weight that matmul saves is a parameter)
    input           every tensor of the batch is called so; in step 1, every one that a graph holds
    visible         every tensor that Python can see is a living block of that size
    blocks          on a GPU: the blocks of the report are those of the caching allocator, byte for byte, and so is their sum
    sums            the categories add up to what is allocated, and so do the blocks

If the role is the purpose of a block, the block has that category for its whole life. Example: LBFGS creates the next step's state in the
middle of a step and stores it at the end. So PyTorch's answer at the later point also holds for the same block at an earlier one. What an
optimizer keeps in its state only during a step (LBFGS: al) is a temporary. What autograd keeps again and again, such as a loss scale, may
count as kept in between. So may the memory into which a CUDA graph writes the same gradients at every replay.

On a GPU a storage lies in a block that may be larger. The caching allocator reports which one, and we compare the block instead.
"""
from typing import Any, Dict, Iterable, List, NamedTuple, Set, Tuple

Storage = Tuple[int, int]

# Highest first: a storage with two roles counts as the first of them.
NAMED = ("parameter", "buffer", "optimizer_state", "gradient")
FOR_LIFE = ("parameter", "buffer", "optimizer_state", "input", "given")


class Difference(NamedTuple):
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def compare(points: List[Dict[str, Any]], moments: List[Dict[str, Any]]) -> List[Difference]:
    """`moments[i]` is the report's answer for the time of `points[i]`. Nothing = they agree."""
    points = [_on_blocks(point) for point in points]
    roles_for_life = _roles_for_life(points, moments)
    passing = {role: [_numbers(point[role], moment) for point, moment in zip(points, moments)] for role in ("saved", "gradient")}
    differences: List[Difference] = []
    for index, (point, moment) in enumerate(zip(points, moments)):
        where = f"step {point['step']} {point['kind']}"
        again = {role: set().union(*numbers[:index]) & set().union(*numbers[index + 1:]) for role, numbers in passing.items()}
        differences += [Difference(where, what) for what in _compare_moment(point, moment, roles_for_life, again)]
    return differences


def _numbers(rows: List[Any], moment: Dict[str, Any]) -> Set[int]:
    storages = _storages(rows)
    return {block["number"] for block in moment["blocks"] if (block["address"], block["bytes"]) in storages}


def _on_blocks(point: Dict[str, Any]) -> Dict[str, Any]:
    """The point with each storage replaced by the block under it. What lies in no block of that requested size stays as it is, and is
    reported as a tensor without a block."""
    if "blocks" not in point:
        return point
    size_of = {(address, requested): size for address, size, requested in point["blocks"]}
    changed = {role: [[row[0], size_of.get((row[0], row[1]), row[1]), *row[2:]] for row in point[role]]
               for role in (*NAMED, "saved", "input", "given", "visible")}
    return {**point, **changed}


def _roles_for_life(points: List[Dict[str, Any]], moments: List[Dict[str, Any]]) -> Dict[str, Dict[int, Set[str]]]:
    """role -> number of a block that has it at some point -> its names."""
    roles: Dict[str, Dict[int, Set[str]]] = {role: {} for role in FOR_LIFE}
    for point, moment in zip(points, moments):
        number_at = {block["address"]: block["number"] for block in moment["blocks"]}
        for role in FOR_LIFE:
            if role == "optimizer_state" and point["in_optimizer"]:
                continue
            for address, _, *names in point[role]:
                if address in number_at:
                    roles[role].setdefault(number_at[address], set()).update(*names)
    return roles


def _compare_moment(point: Dict[str, Any], moment: Dict[str, Any], for_life: Dict[str, Dict[int, Set[str]]],
                    again: Dict[str, Set[int]]) -> List[str]:
    blocks = moment["blocks"]
    told = {role: _storages(point[role]) for role in (*NAMED, "saved", "input", "given", "visible")}
    if point["in_optimizer"]:
        told["optimizer_state"] = set()
    for role, numbers in for_life.items():
        told[role] |= {(block["address"], block["bytes"]) for block in blocks if block["number"] in numbers}
    found: Dict[str, Set[Storage]] = {}
    for block in blocks:
        found.setdefault(block["category"], set()).add((block["address"], block["bytes"]))

    between = {role: {(block["address"], block["bytes"]) for block in blocks if block["number"] in numbers} - told[role]
               for role, numbers in again.items()}
    problems: List[str] = []
    claimed: Set[Storage] = set()
    for role in NAMED:
        expected = told[role] - claimed
        claimed |= expected
        problems += _sets(role, expected, found.get(role, set()) - between.get(role, set()), blocks)
        problems += _names(role, point[role], expected, blocks, for_life.get(role, {}))

    inputs = told["input"] - claimed
    if point["step"] == 1:  # what autograd never met before the first step may be anything
        inputs &= told["saved"] | found.get("input", set())
    problems += _sets("input", inputs, found.get("input", set()) & inputs, blocks)
    either = told["given"] & found.get("input", set())  # noise that is passed to a model: an input, or an activation
    problems += _sets("activation", told["saved"] - claimed - inputs - either, found.get("activation", set()) - between["saved"], blocks)

    alive = {(block["address"], block["bytes"]) for block in blocks}
    problems += [f"PyTorch has a tensor of {size} bytes at {address:#x}, no such block" for address, size in sorted(told["visible"] - alive)]
    if "blocks" in point:
        told_blocks = {(address, size) for address, size, _ in point["blocks"]}
        problems += [f"the caching allocator has {size} bytes at {address:#x}, the report does not" for address, size in sorted(told_blocks - alive)]
        problems += [f"the report has {size} bytes at {address:#x}, the caching allocator does not" for address, size in sorted(alive - told_blocks)]
    if point.get("allocated_bytes", moment["allocated_bytes"]) != moment["allocated_bytes"]:
        problems.append(f"{moment['allocated_bytes']} bytes allocated, PyTorch says {point['allocated_bytes']}")
    if not moment["allocated_bytes"] == sum(moment["categories"].values()) == sum(block["bytes"] for block in blocks):
        problems.append(f"{moment['allocated_bytes']} bytes allocated, categories {sum(moment['categories'].values())}, "
                        f"blocks {sum(block['bytes'] for block in blocks)}")
    return problems


def _storages(rows: Iterable[Any]) -> Set[Storage]:
    return {(row[0], row[1]) for row in rows}


def _sets(role: str, expected: Set[Storage], found: Set[Storage], blocks: List[Dict[str, Any]]) -> List[str]:
    category = {(block["address"], block["bytes"]): f"{block['category']} {block['name']!r}" for block in blocks}
    missing = [f"{role} {size} bytes at {address:#x} is called {category.get((address, size), 'nothing: not alive')}"
               for address, size in sorted(expected - found)]
    extra = [f"{category[address, size]} {size} bytes at {address:#x} is no {role}" for address, size in sorted(found - expected)]
    return missing + extra


def _names(role: str, rows: List[Any], expected: Set[Storage], blocks: List[Dict[str, Any]], for_life: Dict[int, Set[str]]) -> List[str]:
    names = {(address, size): set(known) for address, size, known in rows}
    problems = []
    for block in blocks:
        storage = (block["address"], block["bytes"])
        if block["category"] == role and storage in expected:
            right = names.get(storage, set()) | for_life.get(block["number"], set())
            if block["name"] not in right:
                problems.append(f"{role} {block['bytes']} bytes at {block['address']:#x} is named {block['name']!r}, PyTorch says {sorted(right)}")
    return problems
