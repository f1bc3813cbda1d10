# SPDX-License-Identifier: Apache-2.0
"""The layers of the measured models that a change must know by name. Does not import torch."""

from typing import Dict, List, Tuple

# For models whose loss can be computed without logits: the layer before the loss, and whether labels are those of the next token.
HEADS: Dict[str, Tuple[str, bool]] = {
    "transformer": ("head", False),
    "roberta": ("lm_head.decoder", False),
    "megatron_bert": ("cls.predictions.decoder", False),
    "convbert": ("generator_lm_head", False),
    "gpt_neox_japanese": ("embed_out", True),
    "gte": ("lm_head.decoder", False),
    "gemma": ("lm_head", True),
    "gemma3": ("lm_head", True),
    "helium": ("lm_head", True),
    "olmo": ("lm_head", True),
    "mpt": ("lm_head", True),
    "openai": ("lm_head", True),
}
# For models that can be cut into stages: the blocks, and what comes after them.
STAGES: Dict[str, Tuple[str, List[str]]] = {
    "transformer": ("layers", ["head"]),
    "openai": ("transformer.h", ["lm_head"]),
    "mpt": ("transformer.blocks", ["transformer.norm_f", "lm_head"]),
    "gemma": ("model.layers", ["model.norm", "lm_head"]),
    "gemma3": ("model.layers", ["model.norm", "lm_head"]),
    "cohere": ("model.layers", ["model.norm", "lm_head"]),
    "helium": ("model.layers", ["model.norm", "lm_head"]),
    "olmo": ("model.layers", ["model.norm", "lm_head"]),
    "cohere_compass": ("model.layers", ["model.norm", "lm_head"]),
}
