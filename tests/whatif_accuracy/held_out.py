# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

HELD_OUT: Dict[str, Facts] = {
    "diffusers_transformer_bria": Facts((4, 4, 4), ("transformer_blocks.*,single_transformer_blocks.*", "time_embed,context_embedder,x_embedder,transformer_blocks,single_transformer_blocks,norm_out"),
                                        (*NO_WIDTHS, *NO_TOKENS), units=":transformer_blocks.*,single_transformer_blocks.*", checkpointed="transformer_blocks.*,single_transformer_blocks.*"),
    "monai_patchgan_discriminator": Facts((8, 8, 8), ("scales.*.initial_conv,scales.*.0,scales.*.1,scales.*.2", ",".join(f"scales.*.{name}" for name in ("initial_conv", *range(6)))),
                                          (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":scales.*"),
    "timm_ghostnet": Facts((8, 8, 8), ("blocks.*", "conv_stem,bn1,blocks,conv_head"), (*NO_LINEAR, *NO_TOKENS, "fsdp, checkpoint"),  # which calls what is in a stage, and no stage
                           units=":blocks.*", checkpointed="blocks.*.*"),
    "timm_swin_transformer_v2_cr": Facts((8, 8, 8), ("stages.*", "patch_embed,stages"), (*ONE_RANK, *NO_TOKENS, "attention"),  # which it writes out
                                         ":stages.*.blocks.*.mlp", units=":stages.*", checkpointed="stages.*.blocks.*"),
    "diffusers_transformer_helios": Facts((4, 4, 4), ("blocks.*", "patch_embedding,patch_short,patch_mid,patch_long,condition_embedder,blocks"), (*NO_WIDTHS, *NO_TOKENS), units=":blocks.*", checkpointed="blocks.*"),
    "deepseek_vl_hybrid": Facts((4, 4, 4), ("model.language_model.layers.*",
                                            "model.high_res_vision_model,model.high_res_vision_neck,model.high_res_vision_proj,model.high_res_vision_alpha,model.vision_model,model.aligner,model.language_model.layers,"
                                            "model.language_model.norm"),
                                (*ONE_RANK, "attention flash"),  # whose kernel takes no mask
                                ":model.vision_model.encoder.layers.*.mlp", units=":model.high_res_vision_model.vision_encoder.layers.*,model.vision_model.encoder.layers.*,model.language_model.layers.*",
                                checkpointed="model.high_res_vision_model.vision_encoder.layers.*,model.vision_model.encoder.layers.*,model.language_model.layers.*,"
                                             "inputs:model.high_res_vision_model.vision_encoder.patch_embed+model.vision_model.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "diffusers_unet_stable_cascade": Facts((4, 4, 4), ("down_blocks.*.*,up_blocks.*.*", "clip_txt_pooled_mapper,clip_txt_mapper,clip_img_mapper,embedding,down_blocks,down_downscalers,up_blocks,up_upscalers"),
                                           (*NO_WIDTHS, *NO_TOKENS), units=":down_blocks.*.*,down_downscalers.1,up_blocks.*.*,up_upscalers.0", checkpointed="down_blocks.*.*,up_blocks.*.*"),
    "dinov3_convnext": Facts((8, 8, 8), ("backbone.model.stages.*.layers.*", "backbone"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention"), units=":backbone.model.stages.*"),
}
