# SPDX-License-Identifier: Apache-2.0
"""What is said of a model that predictions are measured on, without torch: its batches, what is frozen of it, and what cannot be done to it in code."""

from typing import NamedTuple, Tuple

SIZES = ("small", "medium", "large")


class Facts(NamedTuple):
    batches: Tuple[int, int, int]  # of the three sizes
    freeze: Tuple[str, str]  # the blocks, and all but the head; where the head is the embedding too, all but this
    impossible: Tuple[str, ...] = ()  # parts of the names of changes for which the code has no switch
    inner: str = ""  # modules to prune, when it is the inner widths of MLPs alone, since the program is written for its heads
    units: str = ""  # what train.py shards one by one, where it is no list of numbers
    checkpointed: str = "all"  # modules that its own switch wraps, where these are not the blocks; and what it lets require gradients


NO_BLOCKS = ("checkpoint",)  # or no switch for them
NOT_SHARDED = ("shard", "fsdp", "ddp")
NO_TOKENS = ("sequence",)  # in its samples, or other lengths beside theirs
ONE_RANK = ("tp",)  # no code that shares its layers out
NO_WIDTHS = ("prune", *ONE_RANK)  # nor code that narrows them
NO_LINEAR = ("lora", "quantize", "attention", *NO_WIDTHS)  # layers in their blocks, nor attention
