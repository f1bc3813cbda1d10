# SPDX-License-Identifier: Apache-2.0
"""Runs a training program and writes, at several points of chosen steps, what PyTorch reports about its own memory.

    vramscope record -o run.vms -- python oracle.py --points points.jsonl --steps 1,3,5 samples/gpt.py --steps 5 [--then --steps 5 --amp bf16]

One JSON object per line, point and device:
    training                      0 = first; --then begins another one, with other arguments, in the same process
    device                        "cpu", "cuda:0"
    step, kind                    kind: batch_ready, forward_done, backward_middle, backward_done, optimizer_begin, optimizer_done
    in_optimizer                  an optimizer step is under way: LBFGS calls forward and backward from there
    before_ns, after_ns           CLOCK_MONOTONIC around the reading; no tensor memory comes or goes between the two
    parameter, buffer, gradient, optimizer_state      [[address, bytes, [names]], ...]
    saved, input, given, visible  [[address, bytes], ...]: held by autograd graphs; the batch; tensors that the program passes to a model
                                  (the batch, and noise and the like); every tensor that Python can see
    blocks, allocated_bytes       on a GPU: [[address, bytes, requested bytes], ...] and their sum, from the caching allocator; cudaMallocAsync
                                  reports no blocks, and its sum is the driver's, which rounds

With --memory-events FILE the whole program runs under torch.profiler. Written there: first [begin, end], CLOCK_MONOTONIC of the profiled
part, then the profiler's memory events in order of time, [bytes, total] per line.
The program is a sample: a Python file with main(argv) whose batches come from training.endless_batches.
"""
import argparse
import gc
import importlib
import itertools
import json
import sys
import time
import weakref
from pathlib import Path
from typing import Any, Callable, Dict, IO, Iterable, Iterator, List, Optional, Set, Tuple

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import introspection
from in_turn import trainings
from introspection import Live, Names

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples"
MOST_PER_STEP = 4  # points of one kind in one step: gradient accumulation and LBFGS run backward many times


class Followed:
    """Tensors to look at later without keeping them alive."""

    def __init__(self) -> None:
        self._references: List[weakref.ref[torch.Tensor]] = []

    def follow(self, tensors: Iterable[torch.Tensor]) -> None:
        self._references = [reference for reference in self._references if reference() is not None]
        self._references += [weakref.ref(tensor) for tensor in tensors]

    def alive(self) -> List[torch.Tensor]:
        return [tensor for tensor in (reference() for reference in self._references) if tensor is not None]


class Points:
    """Writes the points; knows which step the program is in by counting optimizer steps."""

    def __init__(self, file: IO[str], steps: Set[int], devices: List[torch.device]) -> None:
        self._file = file
        self._steps = steps
        self._devices = devices
        self._training = -1
        self.begin_training()

    def begin_training(self) -> None:
        self._training += 1
        self._done: Dict[int, int] = {}  # optimizer -> its finished steps
        self._in_optimizer = False
        self._taken: Dict[Tuple[int, str], int] = {}
        self._batches = Followed()
        self._given = Followed()

    def step(self) -> int:
        """The training step that is running (1 = first): one more than the least stepped optimizer has finished."""
        return 1 + min(self._done.values(), default=0)

    def optimizer_begin(self, optimizer: torch.optim.Optimizer) -> None:
        self._done.setdefault(id(optimizer), 0)
        self.take("optimizer_begin")
        self._in_optimizer = True

    def optimizer_done(self, optimizer: torch.optim.Optimizer) -> None:
        self._in_optimizer = False
        self.take("optimizer_done")
        self._done[id(optimizer)] = self._done.get(id(optimizer), 0) + 1

    def batch(self, batch: Any) -> None:
        self._batches.follow(introspection.tensors_in(batch))

    def call(self, arguments: Any) -> None:
        """The program calls a model."""
        for introspection.device in self._devices if self.step() in self._steps else ():
            self._given.follow(introspection.handed_in(arguments, Live()))

    def take(self, kind: str) -> None:
        step = self.step()
        count = self._taken.get((step, kind), 0)
        if step not in self._steps or count == MOST_PER_STEP:
            return
        self._taken[step, kind] = count + 1
        for introspection.device in self._devices:
            point = {"training": self._training, "device": str(introspection.device), "step": step, "kind": kind, "in_optimizer": self._in_optimizer,
                     **self._read()}
            self._file.write(json.dumps(point) + "\n")
        self._file.flush()

    def _read(self) -> Dict[str, Any]:
        before = time.monotonic_ns()
        live = Live()
        facts = {
            "parameter": _named(introspection.parameters(live)),
            "buffer": _named(introspection.buffers(live)),
            "gradient": _named(introspection.gradients(live)),
            "optimizer_state": _named(introspection.optimizer_state(live)),
            "saved": sorted(introspection.saved_for_backward(live)),
            "input": sorted(introspection.storages_of(self._batches.alive())),
            "given": sorted(introspection.storages_of(self._given.alive())),
            "visible": sorted(introspection.storages_of(live.tensors)),
        }
        if introspection.device.type == "cuda" and torch.cuda.get_allocator_backend() == "native":
            facts.update(blocks=introspection.cuda_blocks(), allocated_bytes=torch.cuda.memory_allocated(introspection.device))
        del live
        return {"before_ns": before, "after_ns": time.monotonic_ns(), **facts}


def _named(names: Names) -> List[Tuple[int, int, List[str]]]:
    return [(address, size, sorted(found)) for (address, size), found in sorted(names.items())]


class Watch:
    """Calls Points at the right moments, through patches and global hooks that touch no tensor's memory."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self._module_depth = 0
        self._forward_next = True  # the next outermost module call begins a forward pass
        self._backward_depth = 0   # a reentrant checkpoint runs backward inside backward

    def install(self) -> None:
        register_module_forward_pre_hook(self._before_module)
        register_module_forward_hook(self._after_module)
        register_optimizer_step_pre_hook(lambda optimizer, *_: self._points.optimizer_begin(optimizer))
        register_optimizer_step_post_hook(self._after_optimizer)
        torch.autograd.backward = self._wrap_backward(torch.autograd.backward)

    def begin_training(self) -> None:
        self._module_depth, self._forward_next = 0, True
        self._points.begin_training()

    def batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The same batches, seen by the oracle."""
        for batch in batches:
            self._points.batch(batch)
            yield batch
            del batch  # or it would live until the next one is ready

    def _before_module(self, module: torch.nn.Module, inputs: Tuple[Any, ...]) -> None:
        if self._backward_depth:  # a checkpoint recomputes, and may leave the module by an exception
            return
        self._module_depth += 1
        if self._module_depth == 1:
            self._points.call(inputs)
            if self._forward_next:
                self._forward_next = False
                self._points.take("batch_ready")

    def _after_module(self, module: torch.nn.Module, inputs: Tuple[Any, ...], output: Any) -> None:
        if not self._backward_depth:
            self._module_depth -= 1

    def _after_optimizer(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        self._points.optimizer_done(optimizer)
        self._forward_next = True

    def _wrap_backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            if self._backward_depth:
                return original(tensors, *args, **kwargs)
            self._points.take("forward_done")
            hook = self._hook_in_the_middle(list(introspection.tensors_in([tensors])))
            self._backward_depth += 1
            try:
                original(tensors, *args, **kwargs)
            finally:
                self._backward_depth -= 1
                if hook is not None:
                    hook.remove()
            self._points.take("backward_done")
            self._forward_next = True
        return backward

    def _hook_in_the_middle(self, roots: List[torch.Tensor]) -> Optional[Any]:
        """A hook on a leaf whose gradient comes about halfway through this backward."""
        leaves = introspection.leaves_in_backward_order(root for root in roots if root.grad_fn is not None)
        if not leaves:
            return None
        return leaves[len(leaves) // 2].register_hook(lambda gradient: self._points.take("backward_middle"))


def load_program(path: Path, watch: Watch) -> Any:
    """The program as a module, its batches followed."""
    sys.path[:0] = [str(path.parent), str(SAMPLES)]
    training = importlib.import_module("training")
    endless_batches = training.endless_batches
    training.endless_batches = lambda *arguments: watch.batches(endless_batches(*arguments))
    return importlib.import_module(path.stem)


def _cpu_events(results: Any) -> List[Tuple[int, int, int]]:
    """(time, bytes, total) in order of time."""
    events = []
    waiting = list(results.experimental_event_tree())
    while waiting:
        event = waiting.pop()
        waiting.extend(event.children)
        if event.name == "[memory]" and event.extra_fields.device.type == "cpu":
            events.append((event.start_time_ns, event.extra_fields.alloc_size, event.extra_fields.total_allocated))
    return sorted(events, key=lambda event: event[0])


def _cuda_events(results: Any, index: int) -> List[Tuple[int, int, int]]:
    """The same. The event tree lacks what CUDA frees outside of operators; the event list has it, but no totals, so they are added up."""
    changes = [(event.start_ns(), event.nbytes()) for event in results.events()
               if event.name() == "[memory]" and event.device_type() == torch.autograd.DeviceType.CUDA and event.device_index() == index]
    changes.sort(key=lambda change: change[0])
    return [(time_ns, size, total) for (time_ns, size), total in zip(changes, itertools.accumulate(size for _, size in changes))]


def run_profiled(run: Callable[[], None], file: Path, device: torch.device) -> None:
    """Runs under torch.profiler and writes its memory events of one device."""
    begin = time.monotonic_ns()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
        run()
        end = time.monotonic_ns()  # before the profiler stops, which takes a while
    results = profiler.profiler.kineto_results
    events = _cuda_events(results, device.index) if device.type == "cuda" else _cpu_events(results)
    file.write_text(f"[{begin}, {end}]\n" + "".join(f"[{size}, {total}]\n" for _, size, total in events))


def train_in_turn(program: Any, arguments: List[str], watch: Watch) -> None:
    """Trains once for each part of the arguments between --then. If this PyTorch cannot do one, that is printed, and the next begins."""
    for part in trainings(arguments):
        try:
            program.main(part)
        except SystemExit as exit:
            print(exit, file=sys.stderr)
        gc.collect()  # a model in a cycle would live on into the next training
        watch.begin_training()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=Path, required=True)
    parser.add_argument("--steps", default="1,3,5", help="steps to look at, 1 = first")
    parser.add_argument("--memory-events", type=Path)
    parser.add_argument("--devices", default="cpu", help="whose memory: cpu, cuda:0 or cuda:0,cuda:1; --memory-events are of the first")
    parser.add_argument("program", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    devices = [torch.device(name) for name in options.devices.split(",")]
    introspection.guard_unpack_hooks()
    with options.points.open("w") as file:
        watch = Watch(Points(file, {int(step) for step in options.steps.split(",")}, devices))
        watch.install()
        program = load_program(options.program, watch)

        def run() -> None:
            train_in_turn(program, options.arguments, watch)

        if options.memory_events:
            run_profiled(run, options.memory_events, devices[0])
        else:
            run()


if __name__ == "__main__":
    main()
