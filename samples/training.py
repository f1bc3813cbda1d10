# SPDX-License-Identifier: Apache-2.0
"""What the samples share: the command line, precision, optimizers, batches, and the ordinary training loop.

Each sample is one file with `build(options) -> Job` and `main(argv)`. To look at a training run from inside, pass an `observe` function
to the loop. It is called at the points of a step where memory is worth looking at:

    batch ─► forward ─► backward  (repeated --accumulate times) ─► step ─► zero_grad
"""

import argparse
import contextlib
import os
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

# observe(point, step, losses): `losses` are the roots of the autograd graphs that are alive at that point.
Observer = Callable[[str, int, Sequence[Tensor]], None]
OPTIMIZERS = ("sgd", "momentum", "adam", "adamw")


def ignore(_point: str, _step: int, _losses: Sequence[Tensor]) -> None:
    """The observer of an ordinary run."""


class Job(NamedTuple):
    """All that a training loop needs."""

    model: nn.Module
    optimizers: Tuple[torch.optim.Optimizer, ...]
    batches: Iterator[Sequence[Tensor]]  # endless, already on the device
    loss: Callable[..., Tensor]  # of the tensors of one batch
    precision: "Precision"


# ---- command line


class _Help(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Shows the defaults, and the description as it is written."""


def parser(description: Optional[str], optimizers: Sequence[str] = OPTIMIZERS, amp: Sequence[str] = ("none", "bf16", "fp16"),
           **defaults: Any) -> argparse.ArgumentParser:
    """The flags that every sample has; `defaults` are those of this sample."""
    result = argparse.ArgumentParser(description=description, formatter_class=_Help)
    add = result.add_argument
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="cpu, cuda or cuda:N")
    add("--batch", type=_positive, help="samples in a batch")
    add("--layers", type=_positive, help="depth of the model")
    add("--dim", type=_positive, help="width of the model")
    add("--steps", type=_positive, help="optimizer steps")
    add("--seed", type=int, default=1)
    add("--amp", choices=amp, default="none", help="automatic mixed precision; fp16 scales the loss")
    add("--checkpoint", action="store_true", help="recompute the activations of each block in backward")
    add("--accumulate", type=_positive, default=1, metavar="N", help="batches per optimizer step")
    add("--optimizer", choices=optimizers, default="adamw" if "adamw" in optimizers else optimizers[0])
    add("--optimizer-impl", choices=("foreach", "for-loop", "fused"), help="PyTorch's own choice if not given")
    add("--lr", type=float, help="learning rate")
    add("--workers", type=int, default=0, metavar="N", help="DataLoader processes; 0 = batches are cut from one tensor, without a DataLoader")
    add("--log-every", type=_positive, default=1, metavar="N", help="print the loss at every Nth step")
    result.set_defaults(**defaults)
    return result


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


# ---- precision


class Precision:
    """Autocast and, for fp16, loss scaling."""

    def __init__(self, device: str, amp: str) -> None:
        self._device_type = torch.device(device).type
        self._dtype: Optional[torch.dtype] = {"none": None, "bf16": torch.bfloat16, "fp16": torch.float16}[amp]
        scaled = amp == "fp16"
        if hasattr(torch.amp, "GradScaler"):
            self.scaler: Any = torch.amp.GradScaler(self._device_type, enabled=scaled)
        elif scaled and self._device_type != "cuda":
            raise SystemExit("--amp fp16 on the CPU needs PyTorch 2.3 or newer; use --amp bf16")
        else:
            self.scaler = torch.cuda.amp.GradScaler(enabled=scaled)

    def autocast(self) -> Any:
        return torch.autocast(self._device_type, dtype=self._dtype) if self._dtype else contextlib.nullcontext()


# ---- model


def run_block(block: nn.Module, x: Tensor, recompute: bool) -> Tensor:
    """`block(x)`; with `recompute` its activations are discarded, and computed again in backward."""
    return checkpoint(block, x, use_reentrant=False) if recompute else block(x)


def distribute(model: nn.Module, device: str) -> nn.Module:
    """If started by torchrun, the model as one replica of a data-parallel group; else the model itself."""
    if "RANK" not in os.environ:
        return model
    torch.distributed.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    return nn.parallel.DistributedDataParallel(model)


# ---- optimizer


def make_optimizer(model: nn.Module, options: argparse.Namespace, **settings: Any) -> torch.optim.Optimizer:
    implementation: Dict[str, Any] = {
        None: {},
        "foreach": {"foreach": True},
        "for-loop": {"foreach": False},
        "fused": {"fused": True},
    }[options.optimizer_impl]
    settings = {"lr": options.lr, **implementation, **settings}
    kinds = {"sgd": torch.optim.SGD, "momentum": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    if options.optimizer == "momentum":
        settings["momentum"] = 0.9
    try:
        return kinds[options.optimizer](model.parameters(), **settings)
    except (RuntimeError, TypeError) as error:
        # PyTorch before 2.4 has fused optimizers for CUDA only.
        raise SystemExit(f"PyTorch {torch.__version__} has no {options.optimizer_impl} {options.optimizer} on {options.device}: {error}") from error


# ---- data


def rank() -> int:
    return int(os.environ.get("RANK", "0"))


def endless_batches(data: Sequence[Tensor], options: argparse.Namespace) -> Iterator[Sequence[Tensor]]:
    """Endless random batches of the rows of `data`, on the device."""
    return _loaded_batches(data, options) if options.workers else _cut_batches(data, options)


def _cut_batches(data: Sequence[Tensor], options: argparse.Namespace) -> Iterator[Sequence[Tensor]]:
    random = torch.Generator().manual_seed(options.seed + rank())
    while True:
        rows = torch.randint(len(data[0]), (options.batch,), generator=random)
        yield [column[rows].to(options.device) for column in data]


def _loaded_batches(data: Sequence[Tensor], options: argparse.Namespace) -> Iterator[Sequence[Tensor]]:
    loader = DataLoader(
        TensorDataset(*data),
        batch_size=options.batch,
        shuffle=True,
        generator=torch.Generator().manual_seed(options.seed + rank()),
        drop_last=True,
        num_workers=options.workers,
        persistent_workers=True,
        pin_memory=options.device.startswith("cuda"),
    )
    while True:
        for batch in loader:
            yield [column.to(options.device, non_blocking=True) for column in batch]


# ---- the loop


def train(job: Job, options: argparse.Namespace, observe: Observer = ignore) -> List[float]:
    """One model, one optimizer; returns the loss of each step."""
    (optimizer,) = job.optimizers
    scaler = job.precision.scaler
    history = []
    for step in range(1, options.steps + 1):
        mean_loss = 0.0
        for _ in range(options.accumulate):
            batch = next(job.batches)
            observe("batch", step, ())
            with job.precision.autocast():
                loss = job.loss(*batch) / options.accumulate
            observe("forward", step, (loss,))
            scaler.scale(loss).backward()
            observe("backward", step, (loss,))
            mean_loss += loss.item()
        scaler.step(optimizer)
        scaler.update()
        observe("step", step, (loss,))
        optimizer.zero_grad()
        observe("zero_grad", step, (loss,))
        report(step, mean_loss, options)
        history.append(mean_loss)
    return history


def report(step: int, loss: float, options: argparse.Namespace, extra: str = "") -> None:
    if rank() == 0 and (step % options.log_every == 0 or step == 1):
        print(f"step {step:4d}  loss {loss:.4f}{extra}", flush=True)


def start(arguments: argparse.ArgumentParser, argv: Optional[Sequence[str]]) -> argparse.Namespace:
    """Reads the command line and seeds PyTorch."""
    options = arguments.parse_args(argv)
    torch.manual_seed(options.seed)
    return options
