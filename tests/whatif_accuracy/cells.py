# SPDX-License-Identifier: Apache-2.0
"""Pairs of predictions and measurements, and the tables of them in docs/accuracy.md."""

import statistics
from typing import Iterable, List, NamedTuple, Tuple

Peaks = Tuple[int, int]  # allocated, reserved bytes
CHANGED = 0.01  # of the peak: below it a change has no sign
MISSED = 0.02
MISSED_RESERVED = 0.1


class Cell(NamedTuple):
    model: str
    size: str
    lever: str
    base: Peaks
    truth: Peaks
    predicted: Peaks

    @property
    def change(self) -> float:
        """The measured change of the allocated peak: -0.2 = 20 % less."""
        return self.truth[0] / self.base[0] - 1

    @property
    def allocated(self) -> float:
        return self.predicted[0] / self.truth[0] - 1

    @property
    def reserved(self) -> float:
        return self.predicted[1] / self.truth[1] - 1

    def sign_wrong(self, peak: int = 0) -> bool:
        """True if the peak is predicted to fall where it rises, or the other way round, or to stay. `peak`: 0 = allocated, 1 = reserved."""
        change = self.truth[peak] / self.base[peak] - 1
        return abs(change) > CHANGED and change * (self.predicted[peak] / self.base[peak] - 1) <= 0


def percentile(values: List[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(cells: List[Cell], levers: Iterable[str]) -> str:
    """Median and 95th percentile of the sizes of the errors, the worst with its sign, and the mean of the errors, in per cent."""
    lines = ["| change | cells | allocated: median | p95 | worst | bias | wrong signs | reserved: median | p95 | worst | bias | wrong signs |", "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for lever in [*levers, "all"]:
        chosen = [cell for cell in cells if lever in ("all", cell.lever)]
        if not chosen:
            continue
        columns = [lever, str(len(chosen))]
        for peak, errors in enumerate(([cell.allocated for cell in chosen], [cell.reserved for cell in chosen])):
            sizes = [abs(error) for error in errors]
            columns += [f"{100 * statistics.median(sizes):.2f}", f"{100 * percentile(sizes, 0.95):.2f}"]
            columns += [f"{100 * max(errors, key=abs):.2f}", f"{100 * statistics.fmean(errors):+.2f}"]
            columns.append(str(sum(cell.sign_wrong(peak) for cell in chosen)))
        lines.append("| " + " | ".join(columns) + " |")
    return "\n".join(lines)


def misses(cells: List[Cell]) -> str:
    """A table by program: changes whose allocated peak is missed by more than 2 %, or whose reserved one by more than 10 %; and wrong signs."""
    missed = [cell for cell in cells if abs(cell.allocated) > MISSED or abs(cell.reserved) > MISSED_RESERVED or cell.sign_wrong(0) or cell.sign_wrong(1)]
    lines = ["| program | change: allocated / reserved, per cent |", "|---|---|"]
    for program in dict.fromkeys((cell.model, cell.size) for cell in cells):
        chosen = sorted((cell for cell in missed if (cell.model, cell.size) == program), key=lambda cell: -abs(cell.allocated))
        if chosen:
            lines.append(f"| {' '.join(program)} | " + "; ".join(f"{cell.lever}: {100 * cell.allocated:+.1f} / {100 * cell.reserved:+.1f}" for cell in chosen) + " |")
    return "\n".join(lines)
