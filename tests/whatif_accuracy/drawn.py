# SPDX-License-Identifier: Apache-2.0
"""Models of transformers that came by lot and were looked at once, as docs/accuracy.md has it; rules have been made of them since. Without torch."""

from typing import Dict

from facts import NO_BLOCKS, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

DRAWN: Dict[str, Facts] = {
    "eomt_dinov3": Facts((8, 12, 16), ("layers.*", "embeddings,layernorm,query,layers"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                         units=":layers.*,upscale_block.block.*"),
    "nemotron3_diarization": Facts((4, 8, 8), ("model.audio_tower.layers.*", "silence_embeds,model"), (*ONE_RANK, *NO_TOKENS), inner=":model.audio_tower.layers.*.mlp",
                                   units=":model.audio_tower.layers.*", checkpointed="model.audio_tower.layers.*"),
    "mamba2": Facts((4, 8, 8), ("backbone.layers.*.mixer.in_proj", "backbone"), (*NO_WIDTHS, "attention"), units=":backbone.layers.*", checkpointed="backbone.layers.*,inputs:backbone.embeddings"),
    "xlstm": Facts((4, 8, 8), ("backbone.blocks.*", "backbone"), (*NO_WIDTHS, "attention"), units=":backbone.blocks.*", checkpointed="backbone.blocks.*,inputs:backbone.embeddings"),
    "olmo_hybrid": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "hunyuan_vl": Facts((4, 8, 8), ("model.language_model.layers.*", "model.vision_tower,model.language_model.layers.*,model.language_model.norm"), NO_WIDTHS,
                        units=":model.vision_tower.layers.*,model.language_model.layers.*",
                        checkpointed="model.vision_tower.layers.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
}
