# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

HELD_OUT: Dict[str, Facts] = {
    "x_clip": Facts((4, 8, 8), ("text_model.encoder.layers.*,vision_model.encoder.layers.*", "text_model,vision_model"),
                    (*ONE_RANK, *NO_TOKENS, "fsdp", "zero2"),  # which take no parameter that is a single number, as what distances are multiplied by
                    ":text_model.encoder.layers.*.mlp,vision_model.encoder.layers.*.mlp,mit.encoder.layers.*.mlp",
                    units=":text_model.encoder.layers.*,vision_model.encoder.layers.*,mit.encoder.layers.*,prompts_generator.decoder.*",
                    checkpointed="text_model.encoder.layers.*,vision_model.encoder.layers.*,mit.encoder.layers.*,inputs:text_model.embeddings.token_embedding+vision_model.embeddings.patch_embedding"),
    "qwen3_vl": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), NO_WIDTHS, units=":model.visual.blocks.*,model.visual.deepstack_merger_list.*,model.language_model.layers.*",
                      checkpointed="model.visual.blocks.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "timm_tnt": Facts((8, 8, 8), ("blocks.*", "cls_token,patch_pos,pixel_pos,pixel_embed,norm1_proj,proj,norm2_proj,blocks,norm"), (*ONE_RANK, *NO_TOKENS, "attention"),  # which it writes out
                      ":blocks.*.mlp_in,blocks.*.mlp", units=":blocks.*"),
    "diffusers_unet_kandinsky3": Facts((4, 8, 8), ("down_blocks.*", "time_embedding,add_time_condition,conv_in,encoder_hid_proj,down_blocks,up_blocks"),
                                       (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                                       units=":down_blocks.*,up_blocks.*"),
    "monai_diffusion_model_unet": Facts((8, 8, 8), ("down_blocks.*,middle_block", "conv_in,time_embed,down_blocks,middle_block,up_blocks"),
                                        (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention"),  # which it writes out
                                        units=":down_blocks.*,up_blocks.*,out.0,out.2"),
    "vit_pytorch_twins_svt": Facts((8, 8, 8), ("layers.*.1.layers.*,layers.*.3.layers.*", "layers.0,layers.1,layers.2,layers.3"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":layers.*"),
    "smp_pspnet": Facts((8, 8, 8), ("encoder.layer1.*,encoder.layer2.*", "encoder,decoder"),
                        (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS, "ddp", "zero1"),  # which wait for gradients of its encoder's last levels, which it does not call
                        units=":encoder.layer1.*,encoder.layer2.*,encoder.layer3.*,encoder.layer4.*,decoder.psp.blocks.*,segmentation_head.*"),
    "timm_xception_aligned": Facts((8, 8, 8), ("blocks.*", "stem,blocks"), (*NO_LINEAR, *NO_TOKENS), units=":blocks.*,stem.*", checkpointed="blocks.*"),
}
