# SPDX-License-Identifier: Apache-2.0
"""Settings that models of the package transformers share: the vocabulary, and lengths and widths for each size."""

from typing import Any

from .subject import scaled

VOCABULARY = 1000
SPECIAL: Any = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
TWO_SIDED: Any = {"vocab_size": VOCABULARY, "max_position_embeddings": 512, **{f"{side}_{part}": size for side in ("encoder", "decoder")
                  for part, size in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 1024))}, **SPECIAL}


def length(size: str) -> int:
    return scaled(size, 32, 96, 256)


def width(size: str) -> int:
    return scaled(size, 256, 320, 384)


def stack(size: str) -> Any:
    """The settings of most models: four layers with four heads each."""
    return {"vocab_size": VOCABULARY, "hidden_size": width(size), "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 4}
