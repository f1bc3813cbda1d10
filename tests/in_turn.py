#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a sample several times in one process, with other flags each time: importing PyTorch takes longer than the few steps that a test needs.

    python in_turn.py samples/gpt.py --steps 9 --then --amp bf16 --then --checkpoint

The flags before the first --then belong to every training, and the first training has no others.
"""
import importlib
import sys
from pathlib import Path
from typing import List


def main(argv: List[str]) -> None:
    sample = Path(argv[0])
    sys.path.insert(0, str(sample.parent))
    common, *others = trainings(argv[1:])
    module = importlib.import_module(sample.stem)
    for flags in [[], *others]:
        print(f"-- {' '.join(flags)}", flush=True)
        module.main([*common, *flags])


def trainings(arguments: List[str]) -> List[List[str]]:
    """The parts of a command line between --then."""
    parts: List[List[str]] = [[]]
    for argument in arguments:
        if argument == "--then":
            parts.append([])
        else:
            parts[-1].append(argument)
    return parts


if __name__ == "__main__":
    main(sys.argv[1:])
