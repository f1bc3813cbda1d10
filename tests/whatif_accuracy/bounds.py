# SPDX-License-Identifier: Apache-2.0
"""Computes the bound of each change, within which the truth is in 99 of 100 cases, from pairs of predictions and measurements.

A miss is one-sided: how far the truth lies above the prediction (1 - predicted / truth), or below it (predicted / truth - 1). Up to 1 MiB allocated
(the allocator does not split off less from a block) and 20 MiB reserved (one segment) are no miss. Every bound includes these bytes in addition, so
that programs of 100 MiB do not decide for those of 10 GiB. The bound is the miss at rank ceil(0.99 (n + 1)) of n. It holds for a further case with 99 %
probability, whatever the distribution of misses (conformal prediction: Vovk, Gammerman, Shafer 2005). Fewer than 99 cases have no such rank: their
worst miss is stretched, as if misses fell off exponentially. If at least 99 cases have a miss of exactly 0 at that rank, without the additional bytes,
the change is exact, and its bound has no additional bytes either.

A case with several changes counts for the least certain of them. The bound of several changes is the sum of their bounds.
"""

import math
from collections import defaultdict
from typing import Dict, Iterable, List, NamedTuple, Tuple

from cells import Cell

CONFIDENCE = 0.99
APART = ("offload=activations",)  # settings that have a bound of their own
SPARE = {"allocated": 1 << 20, "reserved": 20 << 20}  # as in profiler/whatif/answer/published_errors.cc
SIDES = [(peak, side) for peak in SPARE for side in ("more", "less")]  # than was predicted
Share = float  # of the truth, in per cent; EXACT: nothing, and no bytes either
EXACT = -1.0
MOST = 90.0


def change_of(lever: str, value: str) -> str:
    """The name under which the bound of a change is published."""
    return next((name for name in APART if f"{lever}={value}".startswith(name)), lever)


class Bounds(NamedTuple):
    cells: int
    shares: Tuple[Share, ...]  # by SIDES


def miss(cell: Cell, peak: str, side: str, spare: int) -> float:
    at = list(SPARE).index(peak)
    truth, predicted = cell.truth[at], cell.predicted[at]
    if side == "more":
        return max(0.0, 1 - predicted / max(1, truth - spare)) * 100
    return max(0.0, predicted / (truth + spare) - 1) * 100


def quantile(misses: List[float]) -> float:
    ordered = sorted(misses)
    place = math.ceil(CONFIDENCE * (len(ordered) + 1))
    if place <= len(ordered):
        return ordered[place - 1]
    return ordered[-1] * max(1.0, math.log(1 / (1 - CONFIDENCE)) / math.log(len(ordered) + 1))


def share(cells: List[Cell], peak: str, side: str) -> Share:
    if len(cells) >= 99 and quantile([miss(cell, peak, side, 0) for cell in cells]) == 0:
        return EXACT
    # Rounded up, so that the published bound holds.
    return math.ceil(min(MOST, quantile([miss(cell, peak, side, SPARE[peak]) for cell in cells])) * 100) / 100


def bounds_of(cells: List[Cell]) -> Bounds:
    return Bounds(len(cells), tuple(share(cells, peak, side) for peak, side in SIDES))


def bounds(cells: Iterable[Cell], changes: Dict[str, List[str]]) -> Dict[str, Bounds]:
    """The bounds by change, under whatif's names. `changes`: the changes of each case."""
    alone, together = defaultdict(list), []
    for cell in cells:
        made = changes[cell.lever]
        if len(made) == 1:
            alone[made[0]].append(cell)
        else:
            together.append(cell)
    sure = {change: max(bounds_of(chosen).shares) for change, chosen in alone.items()}
    for cell in together:
        alone[max(changes[cell.lever], key=lambda change: sure.get(change, math.inf))].append(cell)
    return {change: bounds_of(chosen) for change, chosen in sorted(alone.items())}


def holds(cell: Cell, made: List[str], known: Dict[str, Bounds], peak: str) -> bool:
    """True if the truth is at most what the bounds of these changes allow."""
    at = SIDES.index((peak, "more"))
    shares = [known[change].shares[at] if change in known else max(each.shares[at] for each in known.values()) for change in made]
    spare = SPARE[peak] if any(each != EXACT for each in shares) else 0
    total = min(MOST, sum(max(0.0, each) for each in shares))
    truth, predicted = (values[list(SPARE).index(peak)] for values in (cell.truth, cell.predicted))
    return truth <= predicted / (1 - total / 100) + spare + 1


def outside(cells: List[Cell], changes: Dict[str, List[str]]) -> Dict[str, List[Cell]]:
    """Cells that are above the bounds that follow from the other models."""
    found: Dict[str, List[Cell]] = {peak: [] for peak in SPARE}
    models = list(dict.fromkeys(cell.model for cell in cells))
    for model in models if len(models) > 1 else []:
        others = bounds([cell for cell in cells if cell.model != model], changes)
        for cell in cells:
            for peak in SPARE:
                if cell.model == model and not holds(cell, changes[cell.lever], others, peak):
                    found[peak].append(cell)
    return found


def said(value: Share) -> str:
    return "exact" if value == EXACT else f"{value:.2f}"


def table(known: Dict[str, Bounds]) -> str:
    lines = ["| lever | cases | allocated: more by | less by | reserved: more by | less by |", "|---|---|---|---|---|---|"]
    lines += [f"| {change} | {each.cells} | " + " | ".join(said(value) for value in each.shares) + " |" for change, each in known.items()]
    return "\n".join(lines)


def in_code(known: Dict[str, Bounds]) -> str:
    """The rows of profiler/whatif/answer/published_errors.cc."""
    words = (", ".join("kExact" if value == EXACT else f"{value:g}" for value in each.shares) for each in known.values())
    return "\n".join(f'    PublishedBounds{{"{change}", {each.cells}, {shares}}},' for (change, each), shares in zip(known.items(), words))
