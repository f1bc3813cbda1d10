# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

HELD_OUT: Dict[str, Facts] = {
    "xlstm": Facts((4, 8, 8), ("backbone.blocks.*", "backbone"), (*NO_WIDTHS, "attention"), units=":backbone.blocks.*", checkpointed="backbone.blocks.*,inputs:backbone.embeddings"),
    "olmo_hybrid": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "hunyuan_vl": Facts((4, 8, 8), ("model.language_model.layers.*", "model.vision_tower,model.language_model.layers.*,model.language_model.norm"), NO_WIDTHS,
                        units=":model.vision_tower.layers.*,model.language_model.layers.*",
                        checkpointed="model.vision_tower.layers.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "timm_vgg": Facts((8, 12, 16), ("features", "features,pre_logits"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),  # which refuses to be checkpointed, and so does the next
    "timm_pit": Facts((8, 12, 16), ("transformers.*", "pos_embed,cls_token,patch_embed,transformers,norm"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS), ":transformers.*.blocks.*.mlp",
                      units=":transformers.*"),
    "timm_davit": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*ONE_RANK, *NO_TOKENS), ":stages.*.blocks.*.*.mlp", units=":stages.*", checkpointed="stages.*,stages.*.blocks.*"),
    "diffusers_cogvideox": Facts((4, 8, 8), ("transformer_blocks.*", "patch_embed,time_embedding,transformer_blocks,norm_final"), (*NO_WIDTHS, *NO_TOKENS)),
    "diffusers_dreamlite": Facts((4, 8, 12), ("down_blocks.*,mid_block", "conv_in,time_embedding,encoder_hid_proj,add_embedding,down_blocks,mid_block,up_blocks"), (*NO_WIDTHS, *NO_TOKENS),
                                 units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*",
                                 checkpointed="down_blocks.*.resnets.*,down_blocks.*.attentions.*.transformer_blocks.*,mid_block.attentions.*.transformer_blocks.*,mid_block.resnets.1,"
                                              "up_blocks.*.resnets.*,up_blocks.*.attentions.*.transformer_blocks.*"),
}
