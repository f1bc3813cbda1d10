#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a packing by the definition alone: no two items that live at the same time overlap.

    check_packing.py INSTANCE.csv OFFSETS.csv        prints the height; exit 1 and the fault if there is one

Knows nothing of how the packing was found. A sweep over time keeps the items that are alive, ordered by offset: only neighbors
can be the first to overlap.
"""
import bisect
import csv
import sys
from typing import Dict, List, Tuple

Item = Tuple[int, int, int]  # lower, upper, size


def read(path: str) -> Tuple[Dict[str, Item], Dict[str, int]]:
    """The items by id, and their offsets where the file has them."""
    items: Dict[str, Item] = {}
    offsets: Dict[str, int] = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["id"] in items:
                sys.exit(f"{path}: item {row['id']} is there twice")
            items[row["id"]] = (int(row["lower"]), int(row["upper"]), int(row["size"]))
            if "offset" in row:
                offsets[row["id"]] = int(row["offset"])
    return items, offsets


def height_of(items: Dict[str, Item], offsets: Dict[str, int]) -> int:
    """The height of the packing; exits with a sentence if items overlap."""
    edges: List[Tuple[int, int, str]] = []
    for name, (lower, upper, size) in items.items():
        if offsets[name] < 0:
            sys.exit(f"item {name} lies below 0")
        if size > 0:
            edges += [(lower, 1, name), (upper, 0, name)]
    edges.sort()  # at the same time, ends come first
    alive: List[Tuple[int, str]] = []
    for _, begins, name in edges:
        place = (offsets[name], name)
        at = bisect.bisect_left(alive, place)
        if not begins:
            alive.pop(at)
            continue
        below = alive[at - 1][1] if at > 0 else None
        above = alive[at][1] if at < len(alive) else None
        if below is not None and offsets[below] + items[below][2] > offsets[name]:
            sys.exit(f"items {below} and {name} overlap")
        if above is not None and offsets[name] + items[name][2] > offsets[above]:
            sys.exit(f"items {name} and {above} overlap")
        alive.insert(at, place)
    return max((offsets[name] + size for name, (_, _, size) in items.items()), default=0)


def check(instance: str, packed: str) -> int:
    items, _ = read(instance)
    packed_items, offsets = read(packed)
    if items != packed_items or set(offsets) != set(items):
        sys.exit(f"{packed} is not about the items of {instance}")
    return height_of(items, offsets)


if __name__ == "__main__":
    print(check(sys.argv[1], sys.argv[2]))
