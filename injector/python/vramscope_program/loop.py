# SPDX-License-Identifier: Apache-2.0
"""The training loop around a noted step: its modules, its optimizers, and batches from a DataLoader, to which changes of the batch size apply."""

import gc
import inspect
import json
import os
import sys
from typing import Any, Dict, List, Optional

import torch
from torch.utils.data import DataLoader

from .__main__ import factor
from .decode import Decoder, constant, find
from .interpreter import Interpreter
from .model import Noted, build, empty
from .quantized import Quantized

LOW = {"bf16": torch.bfloat16, "fp16": torch.float16, None: None}


class Inputs:
    """The inputs of the step, with shapes for the requested batch size and sequence length."""

    def __init__(self, document: Dict[str, Any], options: Any, device: Any) -> None:
        self._inputs: List[Dict[str, Any]] = document["inputs"]
        self._device = device
        self._noted_device = document["device_type"]
        self._low = LOW[options.precision]
        used = [entry for entry in self._inputs if entry["used"]]
        self.size = document["batch"] or 1
        self._length = next((entry["shape"][1] for entry in used if len(entry["shape"]) > 1 and entry["dtype"].startswith("int")), None)
        self.wanted = max(1, round(self.size * factor(options.batch, self.size)))
        self._wanted_length: Optional[int] = None
        if options.sequence != "1x":
            if self._length is None:
                raise ValueError("no input has a sequence of tokens")
            self._wanted_length = max(1, round(self._length * factor(options.sequence, self._length)))
        self._now = self.wanted
        self._hosts: List[Any] = []

    def _shape(self, entry: Dict[str, Any], batch: int) -> List[int]:
        shape = list(entry["shape"])
        for index, size in enumerate(shape):
            if index == 0 and size == self.size:
                shape[0] = batch
            elif self._wanted_length is not None and size == self._length:
                shape[index] = self._wanted_length
        return shape

    def _made(self, entry: Dict[str, Any], device: Any) -> Any:
        dtype = getattr(torch, entry["dtype"])
        if self._low is not None and dtype == torch.float32:
            dtype = self._low
        made = torch.zeros(self._shape(entry, self._now), dtype=dtype, device=device)
        return made.requires_grad_(True) if entry["requires_grad"] else made

    def _by_host(self, entry: Dict[str, Any]) -> bool:
        """True if the program creates the input on the host and moves it to the device by a noted call."""
        return bool(entry["used"]) and entry["device"] == "cpu" and self._noted_device != "cpu"

    def batch(self, samples: List[int]) -> List[Any]:
        self._now = len(samples)
        return [self._made(entry, "cpu") if entry["used"] and self._by_host(entry) else None for entry in self._inputs]

    def begin(self, batch: List[Any]) -> None:
        self._hosts = batch

    def host(self, index: int) -> Any:
        return self._hosts[index]

    def new(self, index: int) -> Any:
        return self._made(self._inputs[index], self._device)


def _optimizers(document: Dict[str, Any], parameter: Any) -> List[Any]:
    made = []
    for entry in document["optimizer_details"]:
        cls = find(entry["class"])
        groups = [{"params": [parameter(name[1:]) for name in group["params"]], **_options(group["options"])} for group in entry["groups"]]
        if len(groups) == 1:  # as programs give them
            options = groups[0]
            parameters = options.pop("params")
            known = inspect.signature(cls.__init__).parameters
            # Without default values: an optimizer that a change puts in its place has its own defaults (vramscope_try/optimizers.py).
            made.append(cls(parameters, **{key: value for key, value in options.items() if key in known and known[key].default != value}))
        else:
            made.append(cls(groups))
    return made


def _options(options: Dict[str, Any]) -> Dict[str, Any]:
    return {key: constant(value) for key, value in options.items() if key not in ("initial_lr", "decoupled_weight_decay")}


def run(document: Dict[str, Any], options: Any) -> int:
    noted = document["device_type"]
    device = torch.device(options.device or (noted if noted == "cpu" or torch.cuda.is_available() else "cpu"))
    gc.disable()  # collecting a cycle at another moment than the program did would change the peak
    try:
        _train(document, options, device)
    except Exception as error:
        where = getattr(error, "vramscope_where", "")
        print(f"{type(error).__name__}: {str(error).strip()}" + (f" (in {where})" if where else ""), file=sys.stderr)
        return 1
    return _say_what_was_not_applied()


def _train(document: Dict[str, Any], options: Any, device: Any) -> None:
    inputs = Inputs(document, options, device)
    roots = build(document, device, LOW[options.precision], options.quantize)

    def module_at(name: str) -> Any:
        number, _, path = name.rpartition(":")
        return roots[int(number) if number else 0].get_submodule(path)

    leaves = document.get("checkpoint_leaves", ())
    for path in leaves or ():
        module_at(path).vramscope_checkpoint_leaf = True
    for path in document.get("checkpointed", ()):
        module_at(path).vramscope_checkpointed = True
    if leaves is None:
        for root in roots:
            root.vramscope_checkpoint_unknown = True

    def owner_of(name: str) -> Any:
        number, colon, path = name.rpartition(":")
        owner_path, _, key = path.rpartition(".")
        return module_at(number + colon + owner_path), key

    def parameter(name: str) -> Any:
        owner, key = owner_of(name)
        return lambda: getattr(owner, key)

    def trained(name: str) -> Any:
        owner, key = owner_of(name)
        return owner.codes if isinstance(owner, Quantized) and key == "weight" else getattr(owner, key)

    optimizers = _optimizers(document, trained)
    decoder = Decoder(document["device_type"], device, parameter, inputs.host)
    interpreter = Interpreter(document, decoder, module_at, optimizers, inputs.new)
    Noted.runner = interpreter
    names = interpreter.names

    def made(spec: Any) -> Any:
        return empty(spec, device if spec[2].startswith(document["device_type"]) else spec[2])

    state = {name: made(spec) for name, spec in document["state"].items()}
    kept: List[Any] = []
    turns = options.steps * json.loads(os.environ.get("VRAMSCOPE_TRY", "{}")).get("accumulate", 1)
    samples = range(inputs.wanted * turns)
    loader = iter(DataLoader(samples, batch_size=inputs.wanted, collate_fn=inputs.batch))  # type: ignore[arg-type]
    for _ in range(turns):
        names.update(state)
        for name, spec in document["carried"].items():
            if name not in names:  # in the first step, which has no step before it
                names[name] = made(spec)
        inputs.begin(next(loader))
        interpreter.step()
        _turn(names, state, kept)


def _turn(names: Dict[Any, Any], state: Dict[str, Any], kept: List[Any]) -> None:
    """Between two steps: names that still live become names of the step before (%p...). Tensors that lived for a whole step are kept in `kept`."""
    for name in list(names):
        if not isinstance(name, str):
            del names[name]
        elif name.startswith("%p"):
            kept.append(names.pop(name))
    for name in list(names):
        value = names.pop(name)
        if name not in state:
            names["%p" + name[1:]] = value
        del value


def _say_what_was_not_applied() -> int:
    """Prints the requested changes that vramscope_try did not record as applied. Returns the exit code: 3 if there are any, else 0."""
    plan = json.loads(os.environ.get("VRAMSCOPE_TRY", "{}"))
    if not plan:
        return 0
    path = os.path.join(plan["notes"], f"{os.getpid()}.try")
    facts = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            facts = json.load(file)
    applied = {fact["lever"] for fact in facts if fact["state"] == "applied"}
    wanted = {"zero_grad_to_none": "zero-grad-to-none", "cross_entropy": "cross-entropy", "empty_cache": "empty-cache", "alloc_conf": "alloc-conf"}
    failed = False
    for key in plan:
        lever = wanted.get(key, key)
        if key in ("notes", "implementation") or lever in applied:
            continue
        why = "; ".join(fact["text"] for fact in facts if fact["lever"] == lever) or "nothing in the program uses it"
        print(f"not applied: {lever}: {why}", file=sys.stderr)
        failed = True
    return 3 if failed else 0
