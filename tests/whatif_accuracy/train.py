#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains one of the validation's models for a few steps, with a switch for every change that can be made in code.

The same program is the recorded baseline and, with a switch, the truth of a prediction. Models are made from configurations, without weights
and without data: batches are random numbers. Models of a package need that package (docs/accuracy.md), the others only torch.

    python train.py --model bert --size small --batch 4 --checkpoint
"""

import argparse
import contextlib
import functools
import gc
import importlib
import json
import os
import sys
import traceback
from collections import Counter
from typing import Any, Callable, Dict, Iterable, Iterator, List, Tuple

import torch
import torch.distributed as dist
import torch.utils.checkpoint
from models import MODELS
from models.subject import LENGTH, SIZES, Subject
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer

import adapters
import chunked_loss
import pipeline

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
ATTENTION = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}


def checkpoint_blocks(model: nn.Module, kept: str) -> None:
    """`kept`: operators whose results are not computed again, separated by commas."""
    settings: Dict[str, Any] = {}
    if kept:
        kept_ops = [getattr(torch.ops.aten, name).default for name in kept.split(",")]
        settings["context_fn"] = functools.partial(torch.utils.checkpoint.create_selective_checkpoint_contexts, kept_ops)
    if getattr(model, "supports_gradient_checkpointing", False):
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False, **settings})
        return
    checkpoint = torch.utils.checkpoint.checkpoint
    for module in list(sys.modules.values()):  # open_clip has imported it by its name; and transformers, whose switch takes it as it is then
        if getattr(module, "__dict__", {}).get("checkpoint") is checkpoint:
            module.checkpoint = functools.partial(checkpoint, **settings)  # type: ignore[attr-defined]
    if hasattr(model, "set_grad_checkpointing"):  # of timm
        model.set_grad_checkpointing()
    elif hasattr(model, "enable_gradient_checkpointing"):  # of diffusers
        model.enable_gradient_checkpointing()
    elif hasattr(model, "checkpointed"):
        model.checkpointed = True
    else:
        raise SystemExit("this model has no switch for checkpointing")


def freeze(model: nn.Module, patterns: str) -> None:
    """A separate function, because its loop variable would otherwise keep the last parameter alive, unsharded."""
    for name, parameter in model.named_parameters():
        if adapters.matches(name, patterns):
            parameter.requires_grad_(False)


def called(blocks: Iterable[Any]) -> Iterator[nn.Module]:
    """The modules of a list that the model calls. Skips empty places; replaces a nested ModuleList, ModuleDict or bare Module by its content."""
    for block in filter(None, blocks):
        yield from called(block.children()) if isinstance(block, (nn.ModuleList, nn.ModuleDict)) or type(block) is nn.Module else (block,)


def check_units(model: nn.Module, sharded: List[nn.Module], patterns: str) -> None:
    """Ends the program unless the modules in `patterns`, for which a prediction is made, are exactly those that are sharded."""
    whole = {path: module for path, module in model.named_modules() if any(True for _ in module.parameters())}
    named = {path for path in whole if adapters.is_one_of(path, patterns)}
    there = {path for path, module in whole.items() if any(module is unit for unit in sharded)}
    if named != there:
        raise SystemExit(f"sharded but not named: {sorted(there - named)}; named but not sharded: {sorted(named - there)}")


def shard(model: nn.Module, kind: str, named: str) -> nn.Module:
    """The model as one of WORLD_SIZE ranks. `named`: patterns of the modules that must be those that are sharded one by one; empty: no check."""
    dist.init_process_group("nccl")
    if kind == "tp":
        return adapters.share_out(model.to("cuda"), dist.get_world_size())
    if kind.startswith(("ddp", "zero1")):
        return nn.parallel.DistributedDataParallel(model.to("cuda"), gradient_as_bucket_view=kind.endswith(":view"))
    lists = {path: module for path, module in model.named_modules() if isinstance(module, (nn.ModuleList, nn.Sequential)) and any(next(child.children(), None) for child in filter(None, module))}
    units = [block for path, blocks in lists.items() if not any(path.startswith(other + ".") for other in lists) for block in called(blocks)]
    owners = Counter(id(parameter) for block in units for parameter in block.parameters())
    units = [unit for unit in units if all(owners[id(parameter)] == 1 for parameter in unit.parameters())]  # a tied head belongs to the whole model
    if named:
        check_units(model, units, named)
    for block in units:
        fully_shard(block, reshard_after_forward=kind != "zero2")
    fully_shard(model, reshard_after_forward=False if kind == "zero2" else None)
    return model


class OnHost:
    """An optimizer that steps on the host, on copies of what the device trains."""

    def __init__(self, model: nn.Module) -> None:
        self.trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.copies = [parameter.detach().cpu() for parameter in self.trained]
        self.optimizer = torch.optim.AdamW(self.copies, lr=1e-3)

    def step(self) -> None:
        for parameter, copy in zip(self.trained, self.copies):
            copy.grad = None if parameter.grad is None else parameter.grad.cpu()  # of what the loss does not use
        self.optimizer.step()
        with torch.no_grad():
            for parameter, copy in zip(self.trained, self.copies):
                parameter.copy_(copy)

    def zero_grad(self, set_to_none: bool) -> None:
        for parameter in self.trained:
            parameter.grad = None


class LargestFirst(ZeroRedundancyOptimizer):
    """The first rank, which is the one that runs, gets the most parameters."""

    def _partition_parameters(self, params_per_rank: Any = None) -> List[Any]:
        parts: List[Any] = super()._partition_parameters(params_per_rank)
        parts.sort(key=lambda groups: -sum(parameter.numel() for group in groups for parameter in group["params"]))
        return parts


def make_optimizer(model: nn.Module, name: str, sharded: bool) -> torch.optim.Optimizer:
    family, _, way = name.partition(":")
    options: Dict[str, Any] = {"": {}, "foreach": {"foreach": True}, "for-loop": {"foreach": False}, "fused": {"fused": True}}[way]
    parameters = model.parameters()
    if sharded:
        return LargestFirst(parameters, optimizer_class=torch.optim.AdamW, lr=1e-3)
    if family.endswith("8bit"):
        import bitsandbytes

        return {"adam8bit": bitsandbytes.optim.Adam8bit, "adamw8bit": bitsandbytes.optim.AdamW8bit}[family](parameters, lr=1e-3)
    if family in ("sgd", "momentum"):
        return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9 if family == "momentum" else 0.0, **options)
    return {"adafactor": torch.optim.Adafactor, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[family](parameters, lr=1e-3, **options)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=sorted(MODELS), required=True)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--checkpoint", action="store_true")
    parser.add_argument("--keep-ops", default="", help="with --checkpoint: operators whose results are kept, with commas")
    parser.add_argument("--optimizer", default="adamw")
    parser.add_argument("--keep-gradients", action="store_true")
    parser.add_argument("--amp", choices=sorted(TYPES), help="autocast around the model and its loss; fp16 with a GradScaler")
    parser.add_argument("--precision", choices=sorted(TYPES), help="the whole model, and float inputs, in 16 bits")
    parser.add_argument("--attention", choices=sorted(ATTENTION), help="the kernel of F.scaled_dot_product_attention, which models that write it out call then")
    parser.add_argument("--cross-entropy", default="", help="fused or chunked:K: the loss over parts of the rows, without logits as a whole")
    parser.add_argument("--free-early", action="store_true", help="nothing is kept into the next step that it does not need")
    parser.add_argument("--sequence", type=float, default=1.0, help="a factor of the tokens in a sample")
    parser.add_argument("--quantize", default="", help="int8:PATHS or nf4:PATHS: the weights of linear layers in these modules are stored so, and not trained")
    parser.add_argument("--shard", choices=("ddp", "ddp:view", "zero1", "zero2", "fsdp", "tp", "pp:2:1", "pp:2:4"), default="", help="as one rank of those that torchrun's environment says")
    parser.add_argument("--units", default="", help="patterns of the modules that zero2 and fsdp shard one by one: the program ends when they are others")
    parser.add_argument("--freeze", default="", help="paths of modules and parameters, with commas, in which * stands for one name")
    parser.add_argument("--lora", default="", help="RANK:PATHS: linear layers in these modules are frozen, with two trained matrices beside each")
    parser.add_argument("--offload", default="", help="on the host: optimizer, activations, or both with a comma between")
    parser.add_argument("--alloc-conf", default="", help="settings of the allocator, before anything is on the device")
    parser.add_argument("--empty-cache", choices=("before-backward", "before-optimizer", "after-step"), default="", help="where the cache is given back")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--variants", metavar="JSON", help="a list of lists of switches: each is trained in a process of its own, forked before anything is on the device; "
                        "prints a line for each: process, peaks of allocated and reserved bytes, or zeros when it failed")
    return parser


def make_subject(options: argparse.Namespace) -> Subject:
    torch.manual_seed(0)
    subject = MODELS[options.model](options.size)
    if not isinstance(getattr(subject.model, "config", {}), dict):  # that of diffusers is a dict without settable attributes
        subject.model.config.use_cache = False  # checkpointing sets it, too: so it is no difference between the variants
    return subject


def train(options: argparse.Namespace, subject: Subject) -> None:
    if options.alloc_conf:
        torch.cuda.memory._set_allocator_settings(options.alloc_conf)
    # Python collects cycles after a number of new objects, and a recorded step creates more of them: tensors in cycles would be freed at another moment.
    gc.disable()
    LENGTH.factor = options.sequence
    low = TYPES.get(options.precision)
    if options.quantize:
        adapters.quantize(subject.model, *options.quantize.split(":", 1))
    if options.lora:
        rank, _, patterns = options.lora.partition(":")
        adapters.add_lora(subject.model, int(rank), patterns)
    model = subject.model.to(dtype=low).train()
    freeze(model, options.freeze)
    kind, *numbers = options.shard.split(":")
    if kind == "pp":
        pipeline.keep_first_stage(model, options.model, int(numbers[0]))
    model = shard(model, options.shard, options.units) if options.shard and kind != "pp" else model.to("cuda")
    if options.checkpoint:
        checkpoint_blocks(model, options.keep_ops)
    if options.attention and getattr(getattr(model, "config", None), "_attn_implementation", "sdpa") != "sdpa":
        model.set_attn_implementation("sdpa")
    loss = chunked_loss.without_logits(model, options.model, options.cross_entropy) if options.cross_entropy else subject.loss
    turns = subject.turns or (("", loss),)
    optimizers = [OnHost(part) if "optimizer" in options.offload else make_optimizer(part, options.optimizer, options.shard.startswith("zero1"))
                  for part in (model.get_submodule(path) for path, _ in turns)]
    scaler = torch.amp.GradScaler("cuda", enabled=options.amp == "fp16")
    for _ in range(options.steps):
        for (_, loss_of), optimizer in zip(turns, optimizers):
            if kind == "pp":
                stages, parts = (int(number) for number in numbers)
                pipeline.run_parts(model, lambda parts=parts: [tensor.to("cuda") for tensor in subject.batch(options.batch // parts)], stages, parts)
            for _ in range(options.accumulate if kind != "pp" else 0):
                batch = [tensor.to("cuda", low if tensor.is_floating_point() else None) for tensor in subject.batch(options.batch // options.accumulate)]
                kept = torch.autograd.graph.save_on_cpu() if "activations" in options.offload else contextlib.nullcontext()
                kernel = sdpa_kernel(ATTENTION[options.attention]) if options.attention else contextlib.nullcontext()
                with kept, kernel, torch.autocast("cuda", TYPES.get(options.amp), enabled=options.amp is not None):
                    loss = loss_of(model, *batch)
                if options.empty_cache == "before-backward":
                    torch.cuda.empty_cache()
                if options.free_early:
                    scaled = scaler.scale(loss / options.accumulate)
                    del batch, loss  # autograd has what it needs of them
                    scaled.backward()
                    del scaled
                else:
                    scaler.scale(loss / options.accumulate).backward()
            if options.empty_cache == "before-optimizer":
                torch.cuda.empty_cache()
            if options.amp == "fp16":
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step()
            for each in optimizers:
                each.zero_grad(set_to_none=not options.keep_gradients)
        if options.empty_cache == "after-step":
            torch.cuda.empty_cache()


def counters() -> str:
    """pid, and the peaks that PyTorch itself counted."""
    return f"{os.getpid()} {torch.cuda.max_memory_allocated()} {torch.cuda.max_memory_reserved()}"


def in_child(work: Callable[[], None]) -> None:
    """Runs work() in a fork. Prints one line with counters, or with a 0 if it failed."""
    sys.stdout.flush()
    pid = os.fork()
    if pid != 0:
        if os.waitpid(pid, 0)[1] != 0:
            print("0 0 0", flush=True)
        return
    try:
        work()
        print(counters(), flush=True)
    except BaseException:  # the child must not go on with its parent's work
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def train_variants(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Runs each variant in a fork. A model is created once, here, for several variants: nothing of it is on the device yet."""
    importlib.import_module("torch._dynamo")  # every optimizer imports it: once for all
    made: Tuple[Any, ...] = (None, None)  # the model of the variants before, and its name
    common = ["--model", options.model, "--size", options.size, "--batch", str(options.batch)]
    variants: List[List[str]] = json.loads(options.variants)
    for switches in variants:
        variant = parser.parse_args(common + switches)
        if made[1] != (variant.model, variant.size):
            made = (None, None)
            gc.collect()  # MONAI's U-Net is in a reference cycle: next to an old one, a new one would get other names
            made = (make_subject(variant), (variant.model, variant.size))
        in_child(lambda variant=variant, model=made[0]: train(variant, model))


def main() -> None:
    parser = arguments()
    options = parser.parse_args()
    if options.variants is not None:
        train_variants(parser, options)
        return
    train(options, make_subject(options))
    print(counters())


if __name__ == "__main__":
    sys.exit(main())
