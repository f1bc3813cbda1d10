# SPDX-License-Identifier: Apache-2.0
"""--shard ddp:N: MirroredStrategy over the first N GPUs, for programs that train with Model.fit().

The strategy is created when the program creates its first layer or optimizer. Earlier would be too early: a strategy initializes the GPUs, and the
program may still want to set their memory growth. It becomes the default strategy of the whole program, so fit() divides each batch among the replicas.

A loop of the program's own must call strategy.run() itself. Without it, TensorFlow raises an error when the loop asks for gradients, and the change
counts as refused."""

import importlib
import sys
from typing import Any

from vramscope_core import guard, patches
from vramscope_try.notes import Notes

HOOK = "try.shard"


def install(shard: str, notes: Notes) -> None:
    kind, _, count = shard.partition(":")
    if kind != "ddp":
        notes.refused("shard", f"Keras has no switch for {kind}; it can copy the model to each GPU: --shard ddp:2")
        return
    tensorflow = sys.modules["tensorflow"]
    replicas = Replicas(tensorflow, int(count), notes)
    notes.expected("shard", "no optimizer applied gradients of a Keras model")
    create = notes.guarded("shard", replicas.create, "MirroredStrategy could not be created")
    base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
    for owner in (sys.modules["keras"].layers.Layer, base):
        patches.wrap_method(owner, "__init__", guard.before(HOOK, create))
    patches.wrap_method(base, "apply", guard.before(HOOK, notes.guarded("shard", replicas.applies)))
    patches.wrap_method(tensorflow.GradientTape, "gradient", guard.before(HOOK, notes.guarded("shard", replicas.asks_for_gradients)))


class Replicas:
    def __init__(self, tensorflow: Any, count: int, notes: Notes) -> None:
        self._tensorflow = tensorflow
        self._count = count
        self._notes = notes
        self._decided = False
        self._ours: Any = None  # the strategy that this module made the default

    def create(self, *_: Any, **__: Any) -> None:
        """The program is about to create a layer or an optimizer."""
        if self._decided:
            return
        self._decided = True
        distribute = self._tensorflow.distribute
        if distribute.has_strategy():
            self._notes.refused("shard", f"the program distributes itself, with {type(distribute.get_strategy()).__name__}")
            return
        gpus = self._tensorflow.config.list_physical_devices("GPU")
        if len(gpus) < self._count:
            self._notes.refused("shard", f"the program sees {len(gpus)} GPU{'s' if len(gpus) != 1 else ''}, and {self._count} are needed; with --dry: "
                                         f"--gpu MODEL:{self._count}")
            return
        strategy = distribute.MirroredStrategy([f"GPU:{number}" for number in range(self._count)])
        distribute.experimental_set_strategy(strategy)
        self._ours = strategy

    def applies(self, *_: Any, **__: Any) -> None:
        """An optimizer is about to apply gradients, or its step is being traced."""
        distribute = self._tensorflow.distribute
        if self._ours is None:
            return
        if distribute.get_strategy() is not self._ours:
            self._notes.refused("shard", "the program distributes a part of its training itself")
        elif not distribute.in_cross_replica_context():
            self._notes.applied("shard", f"MirroredStrategy over {self._count} GPUs; each gets 1/{self._count} of a batch")

    def asks_for_gradients(self, *_: Any, **__: Any) -> None:
        """A tape is about to compute gradients."""
        if self._ours is not None and self._tensorflow.distribute.in_cross_replica_context():
            self._notes.refused("shard", "the program's own loop does not call strategy.run()")
