# SPDX-License-Identifier: Apache-2.0
"""Training loops as people write them, without the switches of the samples: nothing here uses mixed precision, loss scaling or checkpointing,
unless a flag requests the change in code. So `vramscope try` must do everything itself.

    --shape loop       one model, clipping of gradients, evaluation between the steps
            evaluates  the same, and the evaluation keeps gradients on
            penalty    a gradient penalty: torch.autograd.grad(create_graph=True) inside the loss
            raises     a forward that fails once and is tried again
            closure    an optimizer that is given its closure, as Lightning does it
            compiled   torch.compile
            two        an optimizer for each half of the model
            looks      a loss that is no cross-entropy
            attends    layers with attention, over four tokens in a sample
"""
import argparse
import contextlib
import fnmatch
import functools
import sys
from typing import Any, Callable, Iterator, List, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

from chunked_loss import ChunkedLoss


PRODUCTS = [torch.ops.aten.mm.default, torch.ops.aten.addmm.default]
KEEP_MATRICES: Any = {False: {}, True: {"context_fn": functools.partial(create_selective_checkpoint_contexts, PRODUCTS)}}


ATTENTION = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}


class Layer(nn.Module):
    def __init__(self, width: int, attends: bool) -> None:
        super().__init__()
        self.attends = attends
        self.norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        if self.attends:
            tokens = x.view(len(x), 1, 4, -1)
            x = x + F.scaled_dot_product_attention(tokens, tokens, tokens).reshape(x.shape)
        return x + scale * self.narrow(F.gelu(self.wide(self.norm(x))))


class Lora(nn.Module):
    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Linear(base.in_features, rank, bias=False, device=base.weight.device)
        self.up = nn.Linear(rank, base.out_features, bias=False, device=base.weight.device)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.up(self.down(x))


def choose_trained(model: nn.Module, options: argparse.Namespace) -> None:
    """The lines before an optimizer is made, for LoRA and frozen modules."""
    if options.lora:
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        for path, layer in list(model.named_modules()):
            if isinstance(layer, nn.Linear) and fnmatch.fnmatch(path, options.lora_in):
                parent, _, name = path.rpartition(".")
                setattr(model.get_submodule(parent), name, Lora(layer, options.lora))
    for path, parameter in model.named_parameters():
        if fnmatch.fnmatch(path, options.freeze):
            parameter.requires_grad_(False)


class Rate(float):
    """A learning rate that only an AdamW accepts."""

    def __lt__(self, other: float) -> bool:
        if type(sys._getframe(1).f_locals["self"]) is not torch.optim.AdamW:
            raise ValueError("not for this optimizer")
        return float(self) < other


class Pairs:
    """A sampler of batches that is none of PyTorch's."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count // 2

    def __iter__(self) -> Iterator[List[int]]:
        return iter([[2 * pair, 2 * pair + 1] for pair in range(len(self))])


class Model(nn.Module):
    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        self.options = options
        self.trunk = nn.Sequential(*(Layer(32, options.shape == "attends") for _ in range(4)))
        self.head = nn.Linear(32, 4)
        self.fails = options.shape == "raises"

    def forward(self, x: Tensor) -> Tensor:
        for position, layer in enumerate(self.trunk):
            recompute = self.options.checkpoint == "all" or (self.options.checkpoint == "every:2" and position % 2 == 0)
            x = checkpoint(layer, x, scale=0.5, use_reentrant=False, **KEEP_MATRICES[self.options.keep_matrices]) if recompute else layer(x, scale=0.5)
            if self.fails:
                self.fails = False
                raise ValueError("once")
        return x if self.options.parts and self.training else self.head(x)


def loss_of(model: Any, x: Tensor, y: Tensor, options: argparse.Namespace) -> Tensor:
    if options.parts:
        hidden = model(x)
        return ChunkedLoss.apply(hidden.view(-1, hidden.shape[-1]), model.head.weight, model.head.bias, y, -(-len(x) // options.parts))
    if options.shape == "looks":
        return model(x).square().mean()
    logits = model(x)
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), y)


KEPT: List[Any] = []  # to the end of the process, like the scaler that `vramscope try` creates


class Changed:
    """The changes in code, each where PyTorch's documentation puts it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.dtype = {"none": None, "bf16": torch.bfloat16, "fp16": torch.float16}[options.amp]
        self.scaler: Any = torch.amp.GradScaler("cuda") if options.amp == "fp16" else None
        self.idle: Any = torch.amp.GradScaler("cuda", enabled=False) if options.idle_scaler else None
        self.offload = options.offload
        self.attention = options.attention
        self.empty_cache = options.empty_cache
        self.weight = None if options.accumulate == 1 else 1 / options.accumulate
        KEPT.append((self.scaler, self.idle))

    def autocast(self) -> Any:
        return torch.autocast("cuda", dtype=self.dtype) if self.dtype else contextlib.nullcontext()

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        """Forward and loss of a step that is trained."""
        with torch.autograd.graph.save_on_cpu() if self.offload else contextlib.nullcontext(), self.autocast():
            with sdpa_kernel(ATTENTION[self.attention]) if self.attention else contextlib.nullcontext():
                yield

    def empties(self, when: str) -> None:
        if self.empty_cache == when:
            torch.cuda.empty_cache()

    def backward(self, loss: Tensor) -> None:
        self.empties("before-backward")
        scaler = self.scaler or self.idle
        scaled = scaler.scale(loss) if scaler else loss
        scaled.backward(gradient=torch.full_like(scaled, self.weight) if self.weight else None)

    def clip(self, optimizer: torch.optim.Optimizer, model: nn.Module) -> None:
        if self.scaler:
            self.scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    def step(self, *optimizers: torch.optim.Optimizer) -> None:
        for optimizer in optimizers:
            self.empties("before-optimizer")
            if self.scaler:
                self.scaler.step(optimizer)
            else:
                optimizer.step()
        if self.scaler:
            self.scaler.update()


def loader(options: argparse.Namespace) -> Any:
    data = TensorDataset(torch.randn(256, 32), torch.randint(4, (256,)))
    if options.own and options.sampler:
        return DataLoader(data, batch_sampler=Pairs(256))
    if options.sampler:
        return DataLoader(data, batch_sampler=BatchSampler(sampler=RandomSampler(data), batch_size=options.batch, drop_last=True))
    return DataLoader(data, options.batch, shuffle=True, drop_last=True)


def make_optimizer(options: argparse.Namespace, model: Any) -> torch.optim.Optimizer:
    if options.optimizer == "momentum":
        return torch.optim.SGD(model.parameters(), lr=1e-3, weight_decay=0.1, momentum=0.9)
    if options.optimizer == "adamw8bit":
        import bitsandbytes

        return bitsandbytes.optim.AdamW8bit(model.parameters(), lr=1e-3, weight_decay=0.1)
    if options.optimizer == "adafactor":
        return torch.optim.Adafactor(model.parameters(), lr=1e-3, weight_decay=0.1)
    if options.optimizer == "adam":
        return torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=0.1)
    if options.groups:
        decayed = [(name, parameter) for name, parameter in model.named_parameters() if parameter.ndim > 1]
        others = [(name, parameter) for name, parameter in model.named_parameters() if parameter.ndim < 2]
        return torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], 1e-3)
    if options.own:
        return torch.optim.AdamW((parameter for parameter in model.parameters()), lr=Rate(1e-3))
    return torch.optim.AdamW((parameter for parameter in model.parameters()), 1e-3, weight_decay=0.1)


def evaluate(model: nn.Module, x: Tensor, changed: Changed, gradients: bool) -> None:
    model.eval()
    with contextlib.nullcontext() if gradients else torch.no_grad():
        with changed.autocast():
            result = model(x)
    model.train()
    del result


def step_by_closure(optimizer: torch.optim.Optimizer, changed: Changed, closure: Callable[[], Any]) -> None:
    if not changed.scaler:
        optimizer.step(closure)
        return
    loss = closure()
    changed.step(optimizer)
    del loss


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(1)
    model: Any = Model(options).to(options.device)
    if options.shape == "compiled":
        model = torch.compile(model, backend="aot_eager")
    choose_trained(model, options)
    parts = [model] if options.shape != "two" else [model.trunk, model.head]
    optimizers, changed = [make_optimizer(options, part) for part in parts], Changed(options)
    optimizer = optimizers[0]
    settings = {} if options.zero_grad_to_none is None else {"set_to_none": options.zero_grad_to_none == "yes"}
    for number, (x, y) in zip(range(1, options.steps + 1), loader(options)):
        x, y = x.to(options.device), y.to(options.device)
        if options.shape == "closure":

            def closure(x: Tensor = x, y: Tensor = y) -> Any:
                with changed.around():
                    loss = F.cross_entropy(model(x), y)
                optimizer.zero_grad()
                changed.backward(loss)
                return loss.detach()

            step_by_closure(optimizer, changed, closure)
            continue
        if options.shape == "raises" and model.fails:
            with contextlib.suppress(ValueError), changed.around():
                model(x)
        if options.shape == "penalty":
            x.requires_grad_()
        with changed.around():
            loss = loss_of(model, x, y, options)
        if options.shape == "penalty":
            (slope,) = torch.autograd.grad(loss, x, create_graph=True)
            with changed.around():
                loss = loss + slope.square().mean()
        changed.backward(loss)
        if number % options.accumulate == 0:
            if options.shape == "loop":
                changed.clip(optimizer, model)
            changed.step(*optimizers)
            for each in optimizers:
                each.zero_grad(**settings)
            changed.empties("after-step")
        if options.shape in ("loop", "evaluates"):
            evaluate(model, x, changed, options.shape == "evaluates")
        print("loss", loss.item())


def main(argv: Optional[List[str]] = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shape", default="loop")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--sampler", action="store_true")
    parser.add_argument("--own", action="store_true", help="with --sampler: one of its own")
    parser.add_argument("--amp", default="none")
    parser.add_argument("--idle-scaler", action="store_true", help="a disabled GradScaler scales the losses, and the optimizers step without it")
    parser.add_argument("--checkpoint", default="none")
    parser.add_argument("--keep-matrices", action="store_true", help="with --checkpoint: products of matrices are not computed again")
    parser.add_argument("--offload", action="store_true", help="what autograd keeps is on the host")
    parser.add_argument("--attention", default="", help="with --shape attends: which kernel")
    parser.add_argument("--parts", type=int, default=0, help="of the rows, for the last layer and the loss")
    parser.add_argument("--lora", type=int, default=0, help="a rank")
    parser.add_argument("--lora-in", default="trunk.*", help="these linear layers")
    parser.add_argument("--freeze", default="", help="these parameters")
    parser.add_argument("--empty-cache", default="", help="before-backward, before-optimizer or after-step")
    parser.add_argument("--groups", action="store_true", help="an optimizer with two groups of named parameters")
    parser.add_argument("--optimizer", default="adamw")
    parser.add_argument("--without", default="", help="as if this package were not installed")
    parser.add_argument("--zero-grad-to-none", default=None)
    options = parser.parse_args(argv)
    if options.without:
        sys.modules[options.without] = None  # type: ignore[assignment]
    train(options)


if __name__ == "__main__":
    main()
