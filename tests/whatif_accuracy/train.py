#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains one of the validation's models for a few steps, with every lever that the code itself can pull as a switch.

The same program is the recorded baseline and, with a switch, the truth of a prediction. Models are made from configurations, without weights
and without data: batches are random numbers. Hugging Face models need the package transformers, the others torch alone.

    python train.py --model bert --size small --batch 4 --checkpoint
"""

import argparse
import json
import os
import sys
import traceback
from typing import Any, Callable, Dict, NamedTuple, Tuple

import torch
import torch.distributed as dist
import torch.utils.checkpoint
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn import functional as F

import adapters

SIZES = ("small", "large")
TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Subject(NamedTuple):
    """A model, how to make a batch of it, its loss, and how its blocks are checkpointed."""

    model: nn.Module
    batch: Callable[[int], Tuple[Tensor, ...]]
    loss: Callable[..., Tensor]


def tokens(vocabulary: int, length: int) -> Callable[[int], Tuple[Tensor, ...]]:
    return lambda count: (torch.randint(vocabulary, (count, length)),)


def images(pixels: int, classes: int) -> Callable[[int], Tuple[Tensor, ...]]:
    return lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(classes, (count,)))


def causal(model: nn.Module, ids: Tensor) -> Tensor:
    return model(input_ids=ids, labels=ids).loss


def classified(model: nn.Module, pixels: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(model(pixel_values=pixels).logits, labels)


def scaled(size: str, small: int, large: int) -> int:
    return small if size == "small" else large


def gpt2(size: str) -> Subject:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=1000, n_positions=256, n_embd=scaled(size, 256, 384), n_layer=4, n_head=4)
    model = GPT2LMHeadModel(config)
    return Subject(model, tokens(1000, scaled(size, 32, 256)), causal)


def llama(size: str) -> Subject:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=1000, hidden_size=scaled(size, 256, 384), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2)
    model = LlamaForCausalLM(config)
    return Subject(model, tokens(1000, scaled(size, 32, 256)), causal)


def bert(size: str) -> Subject:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(vocab_size=1000, hidden_size=scaled(size, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, attn_implementation="eager")
    model = BertForMaskedLM(config)
    return Subject(model, tokens(1000, scaled(size, 32, 256)), causal)


def t5(size: str) -> Subject:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(vocab_size=1000, d_model=scaled(size, 256, 384), d_kv=64, d_ff=1024, num_layers=3, num_heads=4, decoder_start_token_id=0)
    model = T5ForConditionalGeneration(config)
    return Subject(model, tokens(1000, scaled(size, 32, 128)), causal)


def vit(size: str) -> Subject:
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(hidden_size=scaled(size, 192, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=scaled(size, 64, 128), num_labels=100)
    model = ViTForImageClassification(config)
    return Subject(model, images(scaled(size, 64, 128), 100), classified)


def resnet50(size: str) -> Subject:
    from torchvision.models import resnet50 as make

    model = make(num_classes=100)
    return Subject(model, images(scaled(size, 64, 96), 100), lambda module, pixels, labels: F.cross_entropy(module(pixels), labels))


class Layer(nn.Module):
    """A pre-norm transformer layer, in torch alone."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        count, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(count, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(count, length, width)
        x = x + self.out(y)
        return x + self.narrow(F.gelu(self.wide(self.second(x))))


class Transformer(nn.Module):
    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        self.table, self.places = nn.Embedding(500, width), nn.Parameter(torch.zeros(length, width))
        self.layers = nn.ModuleList(Layer(width) for _ in range(3))
        self.head = nn.Linear(width, 500)
        self.checkpointed = False

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids) + self.places
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False) if self.checkpointed else layer(x)
        return self.head(x)


class ConvolutionalBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(channels, channels, 3, padding=1), nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(F.relu(self.norm(self.first(x))))


class Convolutional(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.blocks = nn.ModuleList(ConvolutionalBlock(channels) for _ in range(3))
        self.head = nn.Linear(channels, 10)
        self.checkpointed = False

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.head(x.mean((2, 3)))


def own_transformer(size: str) -> Subject:
    length = scaled(size, 16, 128)
    model = Transformer(scaled(size, 128, 256), length)
    return Subject(model, tokens(500, length), lambda module, ids: F.cross_entropy(module(ids).flatten(0, 1), ids.flatten()))


def own_convolutional(size: str) -> Subject:
    model = Convolutional(scaled(size, 16, 64))
    return Subject(model, images(32, 10), lambda module, pixels, labels: F.cross_entropy(module(pixels), labels))


class Recurrent(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(500, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, 500)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.lstm(self.table(ids))[0])


def own_recurrent(size: str) -> Subject:
    model = Recurrent(scaled(size, 128, 512))
    return Subject(model, tokens(500, scaled(size, 16, 64)), lambda module, ids: F.cross_entropy(module(ids).flatten(0, 1), ids.flatten()))


MODELS: Dict[str, Callable[[str], Subject]] = {
    "transformer": own_transformer,
    "convolutional": own_convolutional,
    "recurrent": own_recurrent,
    "gpt2": gpt2,
    "llama": llama,
    "bert": bert,
    "t5": t5,
    "vit": vit,
    "resnet50": resnet50,
}


def checkpoint_blocks(model: nn.Module) -> None:
    if hasattr(model, "gradient_checkpointing_enable"):
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    elif hasattr(model, "checkpointed"):
        model.checkpointed = True
    else:
        raise SystemExit("this model has no switch for checkpointing")


def shard(model: nn.Module, kind: str) -> nn.Module:
    """The model as one rank of those that WORLD_SIZE says."""
    dist.init_process_group("nccl")
    if kind.startswith(("ddp", "zero1")):
        return nn.parallel.DistributedDataParallel(model.to("cuda"), gradient_as_bucket_view=kind.endswith(":view"))
    lists = {path: module for path, module in model.named_modules() if isinstance(module, (nn.ModuleList, nn.Sequential)) and any(next(child.children(), None) for child in module)}
    for path, blocks in lists.items():
        if not any(path.startswith(other + ".") for other in lists):
            for block in blocks:
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
            copy.grad = parameter.grad.cpu()
        self.optimizer.step()
        with torch.no_grad():
            for parameter, copy in zip(self.trained, self.copies):
                parameter.copy_(copy)

    def zero_grad(self, set_to_none: bool) -> None:
        for parameter in self.trained:
            parameter.grad = None


def make_optimizer(model: nn.Module, name: str, sharded: bool) -> torch.optim.Optimizer:
    family, _, way = name.partition(":")
    options: Dict[str, Any] = {"": {}, "foreach": {"foreach": True}, "for-loop": {"foreach": False}, "fused": {"fused": True}}[way]
    parameters = model.parameters()
    if sharded:
        return ZeroRedundancyOptimizer(parameters, optimizer_class=torch.optim.AdamW, lr=1e-3)
    if family in ("sgd", "momentum"):
        return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9 if family == "momentum" else 0.0, **options)
    return {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[family](parameters, lr=1e-3, **options)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=sorted(MODELS), required=True)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--checkpoint", action="store_true")
    parser.add_argument("--optimizer", default="adamw")
    parser.add_argument("--keep-gradients", action="store_true")
    parser.add_argument("--amp", choices=sorted(TYPES), help="autocast around the model and its loss; fp16 with a GradScaler")
    parser.add_argument("--precision", choices=sorted(TYPES), help="the whole model, and float inputs, in 16 bits")
    parser.add_argument("--quantize", default="", help="int8:PATHS or nf4:PATHS: the weights of linear layers in these modules are stored so, and not trained")
    parser.add_argument("--shard", choices=("ddp", "ddp:view", "zero1", "zero2", "fsdp"), default="", help="as one rank of those that torchrun's environment says")
    parser.add_argument("--freeze", default="", help="paths of modules and parameters, with commas, in which * stands for one name")
    parser.add_argument("--lora", default="", help="RANK:PATHS: linear layers in these modules are frozen, with two trained matrices beside each")
    parser.add_argument("--offload", action="store_true", help="the optimizer steps on the host")
    parser.add_argument("--alloc-conf", default="", help="settings of the allocator, before anything is on the device")
    parser.add_argument("--empty-cache", choices=("before-backward", "before-optimizer", "after-step"), default="", help="where the cache is given back")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--variants", metavar="JSON", help="a list of lists of switches: each is trained in a process of its own, forked before anything is on the device")
    return parser


def train(options: argparse.Namespace) -> None:
    if options.alloc_conf:
        torch.cuda.memory._set_allocator_settings(options.alloc_conf)
    torch.manual_seed(0)
    subject = MODELS[options.model](options.size)
    if hasattr(subject.model, "config"):
        subject.model.config.use_cache = False  # as checkpointing does of itself: one change at a time
    low = TYPES.get(options.precision)
    if options.quantize:
        adapters.quantize(subject.model, *options.quantize.split(":", 1))
    if options.lora:
        rank, _, patterns = options.lora.partition(":")
        adapters.add_lora(subject.model, int(rank), patterns)
    model = subject.model.to(dtype=low).train()
    for name, parameter in model.named_parameters():
        if adapters.matches(name, options.freeze):
            parameter.requires_grad_(False)
    model = shard(model, options.shard) if options.shard else model.to("cuda")
    if options.checkpoint:
        checkpoint_blocks(model)
    optimizer = OnHost(model) if options.offload else make_optimizer(model, options.optimizer, options.shard.startswith("zero1"))
    scaler = torch.amp.GradScaler("cuda", enabled=options.amp == "fp16")
    for _ in range(options.steps):
        for _ in range(options.accumulate):
            batch = [tensor.to("cuda", low if tensor.is_floating_point() else None) for tensor in subject.batch(options.batch // options.accumulate)]
            with torch.autocast("cuda", TYPES.get(options.amp), enabled=options.amp is not None):
                loss = subject.loss(model, *batch)
            if options.empty_cache == "before-backward":
                torch.cuda.empty_cache()
            scaler.scale(loss / options.accumulate).backward()
        if options.empty_cache == "before-optimizer":
            torch.cuda.empty_cache()
        if options.amp == "fp16":
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        optimizer.zero_grad(set_to_none=not options.keep_gradients)
        if options.empty_cache == "after-step":
            torch.cuda.empty_cache()


def counters() -> str:
    """pid, and what PyTorch itself counted at most."""
    return f"{os.getpid()} {torch.cuda.max_memory_allocated()} {torch.cuda.max_memory_reserved()}"


def in_child(work: Callable[[], None]) -> None:
    """One line with counters, or with a 0 when it failed."""
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


def main() -> None:
    parser = arguments()
    options = parser.parse_args()
    if options.variants is None:
        train(options)
        print(counters())
        return
    common = ["--model", options.model, "--size", options.size, "--batch", str(options.batch)]
    for switches in json.loads(options.variants):
        variant = parser.parse_args(common + switches)
        in_child(lambda: train(variant))


if __name__ == "__main__":
    sys.exit(main())
