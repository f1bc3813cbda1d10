# SPDX-License-Identifier: Apache-2.0
"""Creates the text of a noted step: drops unused reads, numbers functions and places, and replaces inputs by descriptions."""

import json
import platform
from typing import Any, Dict, List, Set

from .functions import look_up
from .step import Step
from .values import Unnotable, Values

VERSION = 1


def text_of(torch: Any, step: Step, number: int, device: Any, optimizers: List[Any], lasting: Set[str], missing: List[str]) -> str:
    """optimizers: weak references. lasting: names of tensors that existed before the step and exist after it, as in the step before."""
    described = _optimizers(step, optimizers)
    used: Set[int] = set()
    hosts: Set[int] = set()
    state = {name: step.others[name]["spec"] for name in lasting}
    _uses(step.body, used, hosts)
    functions: Dict[str, int] = {}
    body = _kept(step.body, used, lasting, functions)
    inputs = _uses_of_inputs(body, hosts)
    for index, entry in enumerate(step.inputs):
        entry["used"] = index in inputs
    missing = [*missing, *step.missing]
    document = {
        "version": VERSION, "torch": torch.__version__, "python": platform.python_version(), "missing": missing, "step": number,
        "device": device.index or 0, "device_type": device.type, "optimizers": [each["class"].rpartition(".")[2].rpartition(":")[2] for each in described],
        "batch": next((entry["shape"][0] for entry in step.inputs if entry["used"] and entry["shape"]), 0),
        "inputs": step.inputs, "optimizer_details": described, **step.trees.described(), "state": state, "carried": step.carried,
        "values_read": step.values_read, **step.trees.switched(),
        "places": step.places, "functions": list(functions), "body": body,
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def _uses(value: Any, used: Set[int], hosts: Set[int]) -> None:
    """Marks the reads that an argument comes from, and the inputs on the host that are arguments."""
    if isinstance(value, str):
        if value[:1] == "<" and value[1:].isdigit():
            hosts.add(int(value[1:]))
    elif isinstance(value, dict):
        for each in value.values():
            _uses(each, used, hosts)
    elif isinstance(value, list):
        if len(value) >= 2 and isinstance(value[0], str) and value[0] in ("~", "~m"):
            used.add(value[1])
        elif len(value) == 2 and value[0] == "#":
            _reads_of(value[1], used)
        elif value and value[0] in ("t", "s") and len(value) == 3 and isinstance(value[1], int):
            return
        else:
            for each in value:
                _uses(each, used, hosts)


def _reads_of(form: Any, used: Set[int]) -> None:
    if isinstance(form, list):
        if isinstance(form[0], str):
            for each in form[1:]:
                _reads_of(each, used)
        else:
            used.add(form[0])


def _uses_of_inputs(body: List[Any], hosts: Set[int]) -> Set[int]:
    found = set(hosts)
    for instruction in body:
        if instruction[0] == "i":
            found.add(instruction[2])
        elif instruction[0] in ("M", "k"):
            found |= _uses_of_inputs(instruction[-1], set())
    return found


def _kept(body: List[Any], used: Set[int], lasting: Set[str], functions: Dict[str, int]) -> List[Any]:
    kept = []
    for instruction in body:
        kind = instruction[0]
        if kind in ("t", "s") and instruction[1] not in used or kind == "i" and instruction[1] in lasting:
            continue
        if kind == "c":
            instruction = [kind, functions.setdefault(instruction[1], len(functions)), *instruction[2:]]
        elif kind in ("M", "k"):
            inner = _kept(instruction[-1], used, lasting, functions)
            instruction = [*instruction[:2], _with_free(instruction[2], inner), *instruction[3:-1], inner]
        kept.append(instruction)
    return kept


def _with_free(args: List[str], body: List[Any]) -> List[str]:
    """The arguments of a body that runs once more, in a backward pass: all names that it uses and does not create, because they may be gone by then."""
    known, free = set(args), []

    def used_in(value: Any) -> None:
        if isinstance(value, str):
            if value[:1] == "%" and len(value) > 1 and value not in known:  # "%" alone is an operation of sizes
                known.add(value)
                free.append(value)
        elif isinstance(value, dict):
            for each in value.values():
                used_in(each)
        elif isinstance(value, list):
            for each in value:
                used_in(each)

    def made_in(value: Any) -> None:
        if isinstance(value, str):
            if value[:1] == "%":
                known.add(value)
        elif isinstance(value, list):
            for each in value:
                made_in(each)

    for instruction in body:
        kind = instruction[0]
        if kind in ("c", "m"):
            used_in(instruction[2:4])
            made_in(instruction[4])
        elif kind in ("f", "g"):
            used_in(instruction[2])
            made_in(instruction[3])
        elif kind in ("M", "k"):
            used_in(instruction[2])
            made_in(instruction[-2])
            for inner in instruction[-1]:
                made_in(inner[1:])
        elif kind == "i":
            made_in(instruction[1])
        elif kind in ("t", "s"):
            used_in(instruction[2])
    return [*args, *free]


def _optimizers(step: Step, optimizers: List[Any]) -> List[Dict[str, Any]]:
    described = []
    for reference in optimizers:
        optimizer = reference()
        if optimizer is None:
            raise Unnotable("the program dropped an optimizer that the step uses")
        cls = type(optimizer)
        if look_up(cls.__module__, cls.__qualname__) is not cls:
            step.lack(f"the optimizer {cls.__qualname__} cannot be imported again")
        groups = []
        for group in optimizer.param_groups:
            names = [step.trees.name_of(parameter) for parameter in group["params"]]
            if None in names:
                step.lack(f"{cls.__qualname__} has parameters that belong to no module")
            groups.append({"params": [name for name in names if name is not None], "options": _options(step.values, group)})
        described.append({"class": f"{cls.__module__}:{cls.__qualname__}", "defaults": _options(step.values, optimizer.defaults), "groups": groups})
    return described


def _options(values: Values, group: Any) -> Dict[str, Any]:
    options = {}
    for key, value in group.items():
        if key in ("params", "param_names"):
            continue
        try:
            options[key] = values.encode(float(value) if hasattr(value, "dim") else value)
        except Unnotable:
            continue
    return options
