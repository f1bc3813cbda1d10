# SPDX-License-Identifier: Apache-2.0
"""Which layers of the validation's models a change must know by name, without torch."""

from typing import Dict, List, Tuple

# The layer before the loss, and whether labels are those of the next token: of models whose loss can be computed without logits.
HEADS: Dict[str, Tuple[str, bool]] = {
    "transformer": ("head", False), "bert": ("cls.predictions.decoder", False), "roberta": ("lm_head.decoder", False), "distilbert": ("vocab_projector", False),
    "electra": ("generator_lm_head", False),
    "megatron_bert": ("cls.predictions.decoder", False), "roformer": ("cls.predictions.decoder", False), "modernbert": ("decoder", False), "convbert": ("generator_lm_head", False),
    "ernie": ("cls.predictions.decoder", False), "nystromformer": ("cls.predictions.decoder", False),
    "rembert": ("cls.predictions.decoder", False), "eurobert": ("lm_head", False), "roberta_prelayernorm": ("lm_head.decoder", False),
    "camembert": ("lm_head.decoder", False), "xmod": ("lm_head.decoder", False), "layoutlm": ("cls.predictions.decoder", False), "squeezebert": ("cls.predictions.decoder", False),
    "nomic_bert": ("cls.predictions.decoder", False), "gpt_neox_japanese": ("embed_out", True), "modernbert_decoder": ("decoder", True), "bert_generation": ("lm_head.decoder", True),
    "big_bird": ("cls.predictions.decoder", False), "fnet": ("cls.predictions.decoder", False), "gte": ("lm_head.decoder", False),
    "xlm_roberta_xl": ("lm_head.decoder", False), "xlm_roberta": ("lm_head.decoder", False), "longformer": ("lm_head.decoder", False), "ultrabert": ("head.decoder", False), "biogpt": ("output_projection", True), "reformer": ("lm_head.decoder", True),
    **{name: ("lm_head", True) for name in ("gpt2", "gpt_neox", "llama", "opt", "qwen2", "qwen3", "mistral", "phi3", "gemma", "olmo2", "phi", "starcoder2", "bloom", "falcon", "xglm", "stablelm", "smollm3", "gemma3", "exaone4", "helium",
                                              "apertus", "gpt_bigcode", "persimmon", "olmo", "glm4", "nemotron", "mpt", "seed_oss",
                                              "minicpm3", "olmo3", "ctrl", "arcee", "hunyuan_v1_dense", "ernie4_5", "ministral", "ministral3", "openai", "glm", "jais2", "youtu", "lfm2", "imagegpt", "cwm", "bitnet", "doge", "emu3", "gemma4_unified", "kosmos2_5", "bark", "moshi", "qwen3_5", "bamba", "clvp", "olmo_hybrid", "mamba")}}
# The blocks, and what comes behind them: of models that can be cut into stages.
STAGES: Dict[str, Tuple[str, List[str]]] = {
    "bamba": ("model.layers", ["model.final_layernorm", "lm_head"]), "clvp": ("model.decoder.layers", ["model.decoder.layer_norm", "final_norm", "lm_head"]),
    "falcon_mamba": ("backbone.layers", ["backbone.norm_f", "lm_head"]), "mamba": ("backbone.layers", ["backbone.norm_f", "lm_head"]), "mamba2": ("backbone.layers", ["backbone.norm_f", "lm_head"]), "xlstm": ("backbone.blocks", ["backbone.out_norm", "lm_head"]), "falcon_h1": ("model.layers", ["model.final_layernorm", "lm_head"]),
    "reformer": ("reformer.encoder.layers", ["reformer.encoder.layer_norm", "lm_head"]), "kosmos2_5": ("model.layers", ["model.layer_norm", "lm_head"]), "bark": ("layers", ["layernorm_final", "lm_head"]),
    "transformer": ("layers", ["head"]), "opt": ("model.decoder.layers", ["model.decoder.final_layer_norm", "lm_head"]), "xglm": ("model.layers", ["model.layer_norm", "lm_head"]),
    "phi": ("model.layers", ["model.final_layernorm", "lm_head"]), "persimmon": ("model.layers", ["model.final_layernorm", "lm_head"]),
    "ctrl": ("transformer.h", ["transformer.layernorm", "lm_head"]),
    "openai": ("transformer.h", ["lm_head"]), "gpt_neo": ("transformer.h", ["transformer.ln_f", "lm_head"]), "imagegpt": ("transformer.h", ["transformer.ln_f", "lm_head"]), "mpt": ("transformer.blocks", ["transformer.norm_f", "lm_head"]),
    "gpt_neox": ("gpt_neox.layers", ["gpt_neox.final_layer_norm", "lm_head"]),
    **{name: ("transformer.h", ["transformer.ln_f", "lm_head"]) for name in ("gpt2", "bloom", "falcon")},
    **{name: ("model.layers", ["model.norm", "lm_head"]) for name in ("llama", "qwen2", "qwen3", "mistral", "phi3", "gemma", "gemma2", "olmo2", "starcoder2", "granite", "stablelm", "smollm3", "gemma3", "cohere",
                                                                         "exaone4", "helium", "apertus", "olmo", "glm4", "nemotron", "seed_oss", "cohere2",
                                                                         "minicpm3", "olmo3", "arcee", "hunyuan_v1_dense", "ernie4_5", "ministral", "ministral3", "glm", "jais2", "vaultgemma", "youtu", "cwm", "bitnet", "doge", "cohere_compass", "emu3", "gemma4_unified", "moshi", "qwen3_5", "olmo_hybrid")}}
