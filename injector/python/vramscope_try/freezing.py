# SPDX-License-Identifier: Apache-2.0
"""requires_grad_(False) on the parameters of named modules, before the optimizer is created."""

import sys
from typing import Any, List

from . import blocks, complete
from .notes import Notes


def install(wishes: List[str], notes: Notes) -> None:
    def freeze(model: Any) -> None:
        if complete.is_sharded(model):
            notes.refused("freeze", "the parameters are sharded before an optimizer is created for them")
            return
        trained = [(name, parameter) for name, parameter in blocks.named_parameters(model) if parameter.requires_grad]
        frozen = [parameter for name, parameter in trained if blocks.belongs(name, wishes)]
        if not frozen:
            listed = ", ".join(wishes)
            notes.unmatched("freeze", f"{blocks.name_of(model)} has no trained parameter in {listed}; its modules are {_parts(model)}")
        elif len(frozen) == len(trained):
            notes.refused("freeze", f"no parameter of {blocks.name_of(model)} would be trained")
        else:
            for parameter in frozen:
                parameter.requires_grad_(False)
            notes.applied("freeze", f"{len(frozen)} of {len(trained)} parameters of {blocks.name_of(model)}")

    complete.watch(sys.modules["torch"], "freeze", notes, freeze)


def _parts(model: Any) -> str:
    return ", ".join(dict.fromkeys(name.partition(".")[0] for name, _ in blocks.named_parameters(model)))
