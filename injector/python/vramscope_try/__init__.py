# SPDX-License-Identifier: Apache-2.0
"""Applies a change to a training program from outside: implements the options of `vramscope try` without editing the code of the program.

    outermost   calls of a whole model           ──┬─ region ─┬─ precision     --amp
    backward    the beginning of a backward pass ──┤          └─ offloading    --offload
                                                   ├─ scaling       --amp fp16
    steps       the steps of optimizers          ──┼─ accumulation  --accumulate
                                                   └─ cache         --empty-cache
    complete    a model's parameters are taken   ──┬─ lora          --lora
    blocks      which modules repeat             ──┤  freezing      --freeze
    forwards    another forward for modules      ──┼─ checkpointing --checkpoint
                                                   └─ loss_in_parts --cross-entropy
                                                      attention     --attention
                                                      batches       --batch
                                                      optimizers    --optimizer (replacement)
                                                      zero_grad     --zero-grad-to-none
    each reports through notes what it did, or why it could not

Configured through VRAMSCOPE_TRY, a JSON object: amp, checkpoint, offload, lora, freeze, attention, cross_entropy, batch, optimizer, implementation,
zero_grad_to_none, empty_cache, alloc_conf, accumulate and notes, the folder for reports. Without that variable nothing of this package is imported.
Rules: standard library only, Python 3.8 syntax. A failure here leaves the program as it is and is reported; nothing is printed. docs/try.md explains
to users what is done and why."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict


def arrange(text: str) -> None:
    """Called by sitecustomize, before the program begins."""
    import json

    from vramscope_core.import_hook import when_imported

    from .notes import Notes

    plan: Dict[str, Any] = json.loads(text)
    notes = Notes(plan["notes"])

    def when(name: str, lever: str, react: "Callable[[], None]") -> None:
        when_imported(name, notes.guarded(lever, react, "this PyTorch release does not support the change"))

    when("torch", "alloc-conf", lambda: _check_settings(plan, notes))
    if "amp" in plan:
        when("torch", "amp", lambda: install(__name__, "precision", plan["amp"], notes))
    if "checkpoint" in plan:
        when("torch", "checkpoint", lambda: install(__name__, "checkpointing", plan["checkpoint"], notes))
    if "offload" in plan:
        when("torch", "offload", lambda: install(__name__, "offloading", notes))
    if "lora" in plan:
        when("torch", "lora", lambda: install(__name__, "lora", plan["lora"]["rank"], plan["lora"]["modules"], notes))
    if "freeze" in plan:
        when("torch", "freeze", lambda: install(__name__, "freezing", plan["freeze"], notes))
    if "attention" in plan:
        when("torch", "attention", lambda: install(__name__, "attention", plan["attention"], notes))
    if "cross_entropy" in plan:
        when("torch", "cross-entropy", lambda: install(__name__, "loss_in_parts", plan["cross_entropy"], notes))
    if "batch" in plan or "accumulate" in plan:
        when("torch.utils.data.dataloader", "batch", lambda: install(__name__, "batches", plan.get("batch"), plan.get("accumulate", 1), notes))
    if "empty_cache" in plan:  # before accumulation, which wraps it: a step that is not taken empties nothing
        when("torch", "empty-cache", lambda: install(__name__, "cache", plan["empty_cache"], notes))
    if "accumulate" in plan:
        when("torch", "accumulate", lambda: install(__name__, "accumulation", plan["accumulate"], notes))
    if "optimizer" in plan:
        when("torch", "optimizer", lambda: install(__name__, "optimizers", plan["optimizer"], plan.get("implementation"), notes))
    if "zero_grad_to_none" in plan:
        when("torch", "zero-grad-to-none", lambda: install(__name__, "zero_grad", plan["zero_grad_to_none"], notes))


def requested(plan: "Dict[str, Any]") -> "Dict[str, Any]":
    """The changes of a plan by the names of their options. Also for vramscope_try_keras and vramscope_try_jax."""
    changes = {name.replace("_", "-"): value for name, value in plan.items() if name not in ("notes", "beyond", "implementation")}
    return {**changes, **plan.get("beyond", {})}


def install(package: str, name: str, *wishes: "Any") -> None:
    """Calls install(*wishes) of a module of `package`, which is imported only now. Also for vramscope_try_keras and vramscope_try_jax."""
    import importlib

    importlib.import_module(f"{package}.{name}").install(*wishes)


def _check_settings(plan: "Dict[str, Any]", notes: "Any") -> None:
    """The allocator reads its variable at first use: the program may have set another value before."""
    import os

    wanted = plan.get("alloc_conf")
    if wanted is None:
        return
    found = {os.environ.get(name, "") for name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")}
    if found == {wanted}:
        notes.applied("alloc-conf", wanted or "no settings")
    else:
        others = " and ".join(sorted(found - {wanted, ""}))
        notes.refused("alloc-conf", f"the program sets the allocator's variable itself, to '{others}'")
