# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

HELD_OUT: Dict[str, Facts] = {
    "mask2former": Facts((8, 12, 16), ("model.pixel_level_module.encoder.swin.encoder.layers.*,model.pixel_level_module.decoder.encoder.layers.*",
                                       "model.pixel_level_module,model.transformer_module.queries_embedder,model.transformer_module.queries_features,model.transformer_module.level_embed,"
                                       "model.transformer_module.decoder.layers,model.transformer_module.decoder.layernorm"),
                         (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                         units=":model.pixel_level_module.encoder.swin.encoder.layers.*,model.pixel_level_module.decoder.input_projections.*,model.pixel_level_module.decoder.encoder.layers.*,"
                               "model.transformer_module.decoder.layers.*"),
    "reformer": Facts((4, 8, 8), ("reformer.encoder.layers.*", "reformer"),
                      (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention",  # which it writes out; and it says itself how many words there must be
                       "fsdp", "lora")),  # its backward calls what is in a layer, and no layer; and there is none where what goes into the first needs no gradient
    "mm_grounding_dino": Facts((4, 8, 8), ("model.encoder.layers.*,model.decoder.layers.*",
                                           "model.backbone,model.input_proj_vision,model.text_backbone,model.text_projection,model.query_position_embeddings,model.encoder,model.level_embed,model.decoder.layers,"
                                           "model.decoder.layer_norm,model.decoder.reference_points_head"),
                               (*NO_BLOCKS, *NO_WIDTHS, "fsdp", "zero2", "attention flash")),  # which refuse a number that is no vector; whose kernel takes no mask
    "timm_vision_transformer_sam": Facts((8, 12, 16), ("blocks.*", "pos_embed,patch_embed,blocks,neck"), (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                                         ":blocks.*.mlp", units=":blocks.*", checkpointed="blocks.*"),
    "timm_maxxvit": Facts((8, 12, 16), ("stages.*", "stem,stages,norm"), (*NO_WIDTHS, *NO_TOKENS, "lora", "quantize", "attention flash"),  # likewise
                          units=":stages.*", checkpointed="stages.*.blocks.*"),
    "timm_fasternet": Facts((8, 12, 16), ("stages.*", "patch_embed,stages,conv_head"), (*NO_LINEAR, *NO_TOKENS), units=":stages.*", checkpointed="stages.*.blocks.*"),
    "diffusers_wan_vae": Facts((4, 8, 8), ("vae.encoder,vae.decoder.mid_block", "vae.encoder,vae.quant_conv,vae.post_quant_conv,vae.decoder.conv_in,vae.decoder.mid_block,vae.decoder.up_blocks"),
                               (*NO_BLOCKS, "lora", "quantize", *NO_WIDTHS, *NO_TOKENS),
                               units=":vae.encoder.down_blocks.*,vae.encoder.mid_block.attentions.*,vae.encoder.mid_block.resnets.*,"
                                     "vae.decoder.mid_block.attentions.*,vae.decoder.mid_block.resnets.*,vae.decoder.up_blocks.*"),
    "diffusers_hunyuan_image_vae": Facts((4, 8, 12), ("vae.encoder,vae.decoder.mid_block", "vae.encoder,vae.decoder.conv_in,vae.decoder.mid_block,vae.decoder.up_blocks"),
                                         (*NO_BLOCKS, "lora", "quantize", *NO_WIDTHS, *NO_TOKENS),
                                         units=":vae.encoder.down_blocks.*,vae.encoder.mid_block.attentions.*,vae.encoder.mid_block.resnets.*,"
                                               "vae.decoder.mid_block.attentions.*,vae.decoder.mid_block.resnets.*,vae.decoder.up_blocks.*"),
    "mlcd": Facts((8, 12, 16), ("encoder.layers.*", "class_pos_emb,embeddings,pre_layrnorm,encoder,post_layernorm"), (*ONE_RANK, *NO_TOKENS), ":encoder.layers.*.mlp"),
    "mgp_str": Facts((8, 12, 16), ("mgp_str.encoder.blocks.*", "mgp_str"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention"),  # which it writes out
                     ":mgp_str.encoder.blocks.*.mlp", units=":mgp_str.encoder.blocks.*"),
    "exaone4_5": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), NO_WIDTHS, units=":model.visual.blocks.*,model.language_model.layers.*",
                       checkpointed="model.visual.blocks.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens+model.visual.patch_embed"),
    "timm_levit": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_WIDTHS, *NO_TOKENS, "attention"),  # which it writes out
                        units=":stem.*,stages.*", checkpointed="stages.*"),
    "timm_mobilenetv5": Facts((8, 12, 16), ("blocks.*", "conv_stem,blocks,msfa"), (*NO_WIDTHS, *NO_TOKENS, "lora", "quantize", "fsdp, checkpoint"),  # which calls what is in a stage, and no stage
                              units=":blocks.*", checkpointed="blocks.*.*"),
    "timm_vovnet": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_LINEAR, *NO_TOKENS), units=":stem.*,stages.*", checkpointed="stages.*.blocks.*"),
    "diffusers_wan_vace": Facts((4, 8, 8), ("blocks.*,vace_blocks.*", "patch_embedding,vace_patch_embedding,condition_embedder,blocks,vace_blocks"), (*NO_WIDTHS, *NO_TOKENS),
                                units=":blocks.*,vace_blocks.*", checkpointed="blocks.*,vace_blocks.*"),
    "diffusers_cosmos3": Facts((4, 8, 8), ("layers.*", "embed_tokens,proj_in,time_embedder,layers,norm_moe_gen"), (*NO_WIDTHS, *NO_TOKENS)),
}
