# SPDX-License-Identifier: Apache-2.0
"""The models that no rule was made for, without torch: drawn by lot, and looked at once, when the rules were frozen."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

HELD_OUT: Dict[str, Facts] = {
    "eomt_dinov3": Facts((8, 12, 16), ("layers.*", "embeddings,layernorm,query,layers"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                         units=":layers.*,upscale_block.block.*"),
    "nemotron3_diarization": Facts((4, 8, 8), ("model.audio_tower.layers.*", "silence_embeds,model"), (*ONE_RANK, *NO_TOKENS), inner=":model.audio_tower.layers.*.mlp",
                                   units=":model.audio_tower.layers.*", checkpointed="model.audio_tower.layers.*"),
    "mamba2": Facts((4, 8, 8), ("backbone.layers.*.mixer.in_proj", "backbone"), (*NO_WIDTHS, "attention"), units=":backbone.layers.*", checkpointed="backbone.layers.*,inputs:backbone.embeddings"),
    "timm_efficientvit_mit": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_LINEAR, *NO_TOKENS), units=":stem.*,stages.*", checkpointed="stages.*"),
    "timm_mobilevit": Facts((8, 12, 16), ("stages.*", "stem,stages,final_conv"), (*ONE_RANK, *NO_TOKENS), inner=":stages.*.1.transformer.*.mlp", units=":stages.*", checkpointed="stages.*"),
    "timm_efficientvit_msra": Facts((8, 12, 16), ("stages.*", "patch_embed,stages"), (*NO_LINEAR, *NO_TOKENS), units=":patch_embed.*,stages.*", checkpointed="stages.*"),
    "diffusers_unet2d": Facts((4, 8, 12), ("down_blocks.*,mid_block", "conv_in,time_embedding,down_blocks,mid_block,up_blocks"), (*NO_WIDTHS, *NO_TOKENS),
                              units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*", checkpointed="down_blocks.*.resnets.*,mid_block.resnets.1,up_blocks.*.resnets.*"),
    "diffusers_minimax_h3": Facts((4, 8, 8), ("encoder.down_blocks.*,decoder.transformer_blocks.*",
                                              "encoder,quant_conv,post_quant_conv,decoder.proj_in,decoder.register_tokens,decoder.transformer_blocks,decoder.norm_out"),
                                  (*NO_WIDTHS, *NO_TOKENS), units=":encoder.down_blocks.*,decoder.transformer_blocks.*", checkpointed="encoder.down_blocks.*.resnets.*,decoder.transformer_blocks.*"),
}
