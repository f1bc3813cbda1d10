# SPDX-License-Identifier: Apache-2.0
"""The same program with another order of its data: the run that another seed would have given.

If batches differ in shape (padded to their longest, bucketed), the peak depends on which samples meet. This changes the seeds that the program passes
to PyTorch, NumPy and Python's random, PyTorch's initial seed, and the numbers that PyTorch's samplers draw from their own generators. A program that
orders its data by other means keeps its order."""

import functools
import random
import sys
from typing import Any, Callable, Iterator

from vramscope_core import guard

HOOK = "dryrun.shuffle"
_ODD = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: neighboring orders and seeds fall far apart
_SAMPLERS = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")


def arrange(order: int, when_imported: Callable[[str, Callable[[], None]], None]) -> None:
    random.seed = _reseeded(random.seed, order)
    when_imported("numpy", lambda: _change_numpy(order))
    when_imported("torch.random", lambda: _change_torch(order))
    when_imported("torch.utils.data.sampler", lambda: _change_samplers(order))
    when_imported("torch.utils.data.distributed", lambda: _change_distributed(order))


def other(seed: int, order: int, bits: int) -> int:
    return ((seed + order) * _ODD & (1 << 64) - 1) >> 64 - bits


def _reseeded(function: Callable[..., Any], order: int, bits: int = 63) -> Callable[..., Any]:
    """`function` with its seed changed. A seed that is not a number (None: from the clock) stays."""

    def seed(call: guard.Call, *args: Any, **kwargs: Any) -> Any:
        values = list(args)
        if values and isinstance(values[0], int):
            values[0] = other(values[0], order, bits)
        elif isinstance(kwargs.get("seed"), int):
            kwargs["seed"] = other(kwargs["seed"], order, bits)
        return call(*values, **kwargs)

    return guard.instead(HOOK, function, seed)


def _change_numpy(order: int) -> None:
    numpy_random = sys.modules["numpy"].random
    numpy_random.seed = _reseeded(numpy_random.seed, order, bits=32)
    numpy_random.default_rng = _reseeded(numpy_random.default_rng, order)


def _change_torch(order: int) -> None:
    module = sys.modules["torch.random"]  # from which torch imports manual_seed afterwards
    module.manual_seed = _reseeded(module.manual_seed, order)
    module.default_generator.manual_seed(other(module.default_generator.initial_seed(), order, 63))


def _change_samplers(order: int) -> None:
    module = sys.modules["torch.utils.data.sampler"]
    for name in _SAMPLERS:
        sampler = getattr(module, name)
        sampler.__iter__ = _with_other_generator(sampler.__iter__, order)


def _with_other_generator(iterate: Callable[..., Iterator[Any]], order: int) -> Callable[..., Iterator[Any]]:
    """A sampler without a generator uses PyTorch's own, whose seed is already changed."""

    def shuffle(call: guard.Call, sampler: Any) -> Iterator[Any]:
        torch = sys.modules["torch"]
        given = sampler.generator
        if given is None:
            return call(sampler)
        drawn = int(torch.empty((), dtype=torch.int64).random_(generator=given))  # each epoch another one
        return _with(torch.Generator().manual_seed(other(drawn, order, 63)), sampler, call(sampler))

    return guard.instead(HOOK, iterate, shuffle)


def _with(generator: Any, sampler: Any, order: Iterator[Any]) -> Iterator[Any]:
    given, sampler.generator = sampler.generator, generator
    try:
        yield from order
    finally:
        sampler.generator = given


def _change_distributed(order: int) -> None:
    sampler = sys.modules["torch.utils.data.distributed"].DistributedSampler

    def change(made: Any, *_: Any, **__: Any) -> None:
        made.seed = other(made.seed, order, 31)  # the same for every rank

    sampler.__init__ = functools.wraps(sampler.__init__)(guard.after(HOOK, change)(sampler.__init__))
