# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

_OF_XCEPTION = [f"block{number}" for number in range(1, 13)]
_WRITTEN_OUT = ("attention",)  # in each of them

HELD_OUT: Dict[str, Facts] = {
    "pixtral": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), (*NO_WIDTHS, "attention flash"),  # whose kernel takes no mask
                     units=":model.vision_tower.transformer.layers.*,model.language_model.layers.*",
                     checkpointed="model.vision_tower.transformer.layers.*,model.language_model.layers.*,inputs:model.vision_tower.patch_conv+model.language_model.embed_tokens"),
    "dac": Facts((4, 4, 4), ("encoder.block.*,decoder.block.*", "encoder,quantizer,decoder.conv1,decoder.block,decoder.snake1"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                 units=":encoder.block.*,decoder.block.*,quantizer.quantizers.*"),
    "chmv2": Facts((8, 12, 16), ("backbone.model.layer.*,head.fusion_layers.*", "backbone,head.reassemble_stage,head.convs,head.fusion_layers"), (*NO_WIDTHS, *NO_TOKENS),
                   units=":backbone.model.layer.*,head.reassemble_stage.layers.*,head.reassemble_stage.readout_projects.*,head.fusion_layers.*", checkpointed="backbone.model.layer.*"),
    "molmo2": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), (*ONE_RANK, "attention flash"),  # whose kernel takes no mask
                    ":model.vision_tower.layers.*.mlp", units=":model.vision_tower.layers.*,model.language_model.layers.*",
                    checkpointed="model.vision_tower.layers.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "timm_xception": Facts((8, 8, 12), (",".join(_OF_XCEPTION), ",".join(("conv1", "bn1", "conv2", "bn2", *_OF_XCEPTION, "conv3", "bn3", "conv4", "bn4"))),
                           (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":" + ",".join(block + ".rep.*" for block in _OF_XCEPTION)),
    "timm_lcnetv2": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_LINEAR, *NO_TOKENS, "fsdp, checkpoint"),  # which calls what is in a stage, and no stage
                          units=":stem.*,stages.*", checkpointed="stages.*.*"),
    "diffusers_i2vgen_xl": Facts((4, 4, 4), ("down_blocks.*,mid_block", "conv_in,transformer_in,image_latents_proj_in,image_latents_temporal_encoder,image_latents_context_embedding,time_embedding,"
                                                                        "context_embedding,fps_embedding,down_blocks,mid_block,up_blocks"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS),
                                 units=":transformer_in.transformer_blocks.*,image_latents_temporal_encoder.ff.net.*,down_blocks.*,up_blocks.*,"
                                       "mid_block.attentions.*,mid_block.temp_attentions.*,mid_block.resnets.*,mid_block.temp_convs.*"),
    "diffusers_ltx2": Facts((4, 8, 8), ("transformer_blocks.*", "proj_in,audio_proj_in,caption_projection,audio_caption_projection,time_embed,audio_time_embed,av_cross_attn_video_scale_shift,"
                                                                "av_cross_attn_audio_scale_shift,av_cross_attn_video_a2v_gate,av_cross_attn_audio_v2a_gate,transformer_blocks"),
                            (*NO_WIDTHS, *NO_TOKENS, "attention flash"), checkpointed="transformer_blocks.*"),  # whose kernel takes no mask
    "monai_milmodel": Facts((4, 4, 4), ("net.layer1,net.layer2,net.layer3,net.layer4,transformer.layers.*.linear1,transformer.layers.*.linear2",  # of attention's other layer it takes the weight itself
                                        "attention,transformer,net"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS), ":transformer.layers.*.linear1",
                            units=":transformer.layers.*,net.layer1.*,net.layer2.*,net.layer3.*,net.layer4.*"),
    "monai_masked_autoencoder_vit": Facts((8, 8, 8), ("blocks.*,decoder_blocks.*", "cls_token,patch_embedding,blocks,decoder_embed,mask_tokens,decoder_blocks"),
                                          (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT, "amp"),  # which puts 16 bits where its own have 32
                                          ":blocks.*.mlp,decoder_blocks.*.mlp", units=":blocks.*,decoder_blocks.*"),
    "x_transformers_continuous": Facts((4, 8, 8), ("net.attn_layers.layers.*", "net.pos_emb,net.attn_layers,net.project_in"), (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT),
                                       ":net.attn_layers.layers.*.1.ff", units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1"),
    "x_transformers_next_latent": Facts((4, 8, 8), ("net.attn_layers.layers.*", "net.token_emb,net.pos_emb,net.attn_layers"), (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT),
                                        ":net.attn_layers.layers.*.1.ff", units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1,dynamics_model.net.*"),
    "vit_pytorch_deepvit": Facts((8, 12, 12), ("transformer.layers.*", "to_patch_embedding,cls_token,pos_embedding,transformer"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                                 ":transformer.layers.*.1", units=":transformer.layers.*.*"),
    "vit_pytorch_simple": Facts((8, 12, 16), ("transformer.layers.*", "to_patch_embedding,transformer"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                                ":transformer.layers.*.1", units=":transformer.layers.*.*"),
    "smp_unetplusplus": Facts((4, 8, 8), ("encoder.model.s1.*,encoder.model.s2.*,encoder.model.s3.*,encoder.model.s4.*", "encoder,decoder"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                              units=":segmentation_head.*"),
    "open_clip_rn50": Facts((8, 12, 16), ("visual.layer1,visual.layer2,visual.layer3,visual.layer4,transformer.resblocks.*.mlp.c_proj",  # likewise
                                          "visual,positional_embedding,token_embedding,transformer,ln_final"),
                            (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                            inner=":transformer.resblocks.*.mlp", units=":visual.layer1.*,visual.layer2.*,visual.layer3.*,visual.layer4.*,transformer.resblocks.*",
                            checkpointed="transformer.resblocks.*"),
}
