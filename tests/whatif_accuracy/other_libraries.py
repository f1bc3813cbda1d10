# SPDX-License-Identifier: Apache-2.0
"""The models of other packages than transformers and torchvision, without torch: their batches, what is frozen of them, and what cannot be done to them in code."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

_OF_KANDINSKY = "video_text_transformer_blocks.*,audio_text_transformer_blocks.*,visual_transformer_blocks.*"
_WRITTEN_OUT = ("attention",)  # in each of them
_OF_XCEPTION = [f"block{number}" for number in range(1, 13)]
_OF_VAE = ",".join(f"{side}.layers.{number}" for side in ("encoder", "decoder") for number in range(1, 6))
_DOWN = ("conv_0_0", "conv_1_0", "conv_2_0", "conv_3_0", "conv_4_0")
_UP = tuple(f"upcat_{level}_{step}" for level in range(4) for step in range(1, 5 - level))  # of BasicUNetPlusPlus

OTHER_LIBRARIES: Dict[str, Facts] = {
    "timm_vit": Facts((8, 12, 16), ("blocks.*", "cls_token,pos_embed,patch_embed,blocks,norm"), (*ONE_RANK, *NO_TOKENS), ":blocks.*.mlp"),
    "diffusers_unet": Facts((4, 8, 16), ("down_blocks.*,mid_block", "conv_in,time_embedding,down_blocks,mid_block,up_blocks"), (*NO_WIDTHS, *NO_TOKENS),
                            units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*",
                            checkpointed="down_blocks.*.resnets.*,down_blocks.*.attentions.*.transformer_blocks.*,mid_block.attentions.*.transformer_blocks.*,mid_block.resnets.1,"
                                         "up_blocks.*.resnets.*,up_blocks.*.attentions.*.transformer_blocks.*"),
    "timm_efficientnet": Facts((8, 12, 16), ("blocks.*", "conv_stem,bn1,blocks,conv_head,bn2"), (*NO_LINEAR, *NO_TOKENS, "fsdp, checkpoint"),  # which calls what is in a stage, and no stage
                               units=":blocks.*", checkpointed="blocks.*.*"),
    "diffusers_sd3": Facts((4, 8, 16), ("transformer_blocks.*", "pos_embed,time_text_embed,context_embedder,transformer_blocks"), (*NO_WIDTHS, *NO_TOKENS)),
    "timm_metaformer": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_WIDTHS, *NO_TOKENS), units=":stages.*,head.norm,head.fc", checkpointed="stages.*,stages.*.blocks.*"),
    "diffusers_vae": Facts((4, 8, 16), ("vae.encoder,vae.decoder.mid_block", "vae.encoder,vae.quant_conv,vae.post_quant_conv,vae.decoder.conv_in,vae.decoder.mid_block,vae.decoder.up_blocks"),
                           (*NO_WIDTHS, *NO_TOKENS), units=":vae.encoder.down_blocks.*,vae.encoder.mid_block.attentions.*,vae.encoder.mid_block.resnets.*,"
                                                           "vae.decoder.up_blocks.*,vae.decoder.mid_block.attentions.*,vae.decoder.mid_block.resnets.*",
                           checkpointed="vae.encoder.down_blocks.*,vae.encoder.mid_block,vae.encoder.mid_block.resnets.1,vae.decoder.mid_block,vae.decoder.mid_block.resnets.1,vae.decoder.up_blocks.*"),
    "timm_regnet": Facts((8, 12, 16), ("s1.*,s2.*", "stem,s1,s2,s3,s4"), (*NO_LINEAR, *NO_TOKENS), checkpointed="s1.*,s2.*,s3.*,s4.*"),
    "diffusers_dit": Facts((4, 8, 16), ("transformer_blocks.*.attn1,transformer_blocks.*.ff", "pos_embed,transformer_blocks"), (*NO_WIDTHS, *NO_TOKENS, "fsdp")),  # its head calls a layer in the first block
    "timm_efficientvit_mit": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_LINEAR, *NO_TOKENS), units=":stem.*,stages.*", checkpointed="stages.*"),
    "timm_mobilevit": Facts((8, 12, 16), ("stages.*", "stem,stages,final_conv"), (*ONE_RANK, *NO_TOKENS), inner=":stages.*.1.transformer.*.mlp", units=":stages.*", checkpointed="stages.*"),
    "timm_efficientvit_msra": Facts((8, 12, 16), ("stages.*", "patch_embed,stages"), (*NO_LINEAR, *NO_TOKENS), units=":patch_embed.*,stages.*", checkpointed="stages.*"),
    "diffusers_unet2d": Facts((4, 8, 12), ("down_blocks.*,mid_block", "conv_in,time_embedding,down_blocks,mid_block,up_blocks"), (*NO_WIDTHS, *NO_TOKENS),
                              units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*", checkpointed="down_blocks.*.resnets.*,mid_block.resnets.1,up_blocks.*.resnets.*"),
    "diffusers_minimax_h3": Facts((4, 8, 8), ("encoder.down_blocks.*,decoder.transformer_blocks.*",
                                              "encoder,quant_conv,post_quant_conv,decoder.proj_in,decoder.register_tokens,decoder.transformer_blocks,decoder.norm_out"),
                                  (*NO_WIDTHS, *NO_TOKENS), units=":encoder.down_blocks.*,decoder.transformer_blocks.*", checkpointed="encoder.down_blocks.*.resnets.*,decoder.transformer_blocks.*"),
    "timm_vgg": Facts((8, 12, 16), ("features", "features,pre_logits"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),  # which refuses to be checkpointed, and so does the next
    "timm_pit": Facts((8, 12, 16), ("transformers.*", "pos_embed,cls_token,patch_embed,transformers,norm"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS), ":transformers.*.blocks.*.mlp",
                      units=":transformers.*"),
    "timm_davit": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*ONE_RANK, *NO_TOKENS), ":stages.*.blocks.*.*.mlp", units=":stages.*", checkpointed="stages.*,stages.*.blocks.*"),
    "diffusers_cogvideox": Facts((4, 8, 8), ("transformer_blocks.*", "patch_embed,time_embedding,transformer_blocks,norm_final"), (*NO_WIDTHS, *NO_TOKENS)),
    "diffusers_dreamlite": Facts((4, 8, 12), ("down_blocks.*,mid_block", "conv_in,time_embedding,encoder_hid_proj,add_embedding,down_blocks,mid_block,up_blocks"), (*NO_WIDTHS, *NO_TOKENS),
                                 units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*",
                                 checkpointed="down_blocks.*.resnets.*,down_blocks.*.attentions.*.transformer_blocks.*,mid_block.attentions.*.transformer_blocks.*,mid_block.resnets.1,"
                                              "up_blocks.*.resnets.*,up_blocks.*.attentions.*.transformer_blocks.*"),
    "monai_unet": Facts((4, 4, 4), ("model.0,model.1.submodule.0,model.1.submodule.1.submodule.0", "model.0,model.1,model.2.0"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":model.*"),
    "smp_unet": Facts((4, 8, 8), ("encoder.layer1.*,encoder.layer2.*,encoder.layer3.*,encoder.layer4.*", "encoder,decoder"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                      units=":encoder.layer1.*,encoder.layer2.*,encoder.layer3.*,encoder.layer4.*,decoder.blocks.*,segmentation_head.*"),
    "open_clip_vit": Facts((8, 12, 16), ("visual.transformer.resblocks.*.mlp.c_proj,transformer.resblocks.*.mlp.c_proj",  # of the other layers it takes the weight, or its type, itself
                                         "visual,positional_embedding,token_embedding,transformer,ln_final"),
                           (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                           inner=":visual.transformer.resblocks.*.mlp,transformer.resblocks.*.mlp", units=":visual.transformer.resblocks.*,transformer.resblocks.*",
                           checkpointed="visual.transformer.resblocks.*,transformer.resblocks.*"),
    "vit_pytorch_vit": Facts((8, 12, 16), ("transformer.layers.*", "to_patch_embedding,cls_token,pos_embedding,transformer"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention"),
                             units=":transformer.layers.*.*"),
    "x_transformers_decoder": Facts((4, 8, 8), ("net.attn_layers.layers.*", "net.token_emb,net.pos_emb,net.attn_layers"), (*NO_BLOCKS, *NO_WIDTHS, "attention"),
                                    units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1"),
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
    "timm_levit": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_WIDTHS, *NO_TOKENS, "attention"),  # which it writes out
                        units=":stem.*,stages.*", checkpointed="stages.*"),
    "timm_mobilenetv5": Facts((8, 12, 16), ("blocks.*", "conv_stem,blocks,msfa"), (*NO_WIDTHS, *NO_TOKENS, "lora", "quantize", "fsdp, checkpoint"),  # which calls what is in a stage, and no stage
                              units=":blocks.*", checkpointed="blocks.*.*"),
    "timm_vovnet": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_LINEAR, *NO_TOKENS), units=":stem.*,stages.*", checkpointed="stages.*.blocks.*"),
    "diffusers_wan_vace": Facts((4, 8, 8), ("blocks.*,vace_blocks.*", "patch_embedding,vace_patch_embedding,condition_embedder,blocks,vace_blocks"), (*NO_WIDTHS, *NO_TOKENS),
                                units=":blocks.*,vace_blocks.*", checkpointed="blocks.*,vace_blocks.*"),
    "diffusers_cosmos3": Facts((4, 8, 8), ("layers.*", "embed_tokens,proj_in,time_embedder,layers,norm_moe_gen"), (*NO_WIDTHS, *NO_TOKENS)),
    "timm_mambaout": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_WIDTHS, *NO_TOKENS, "attention"),  # of which there is none
                           units=":stages.*", checkpointed="stages.*.blocks.*"),
    "timm_twins": Facts((8, 12, 16), ("blocks.*.*", "patch_embeds,blocks,pos_block,norm"),
                         (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention efficient", "attention flash"),  # whose kernels take no windows beside samples and heads
                         inner=":blocks.*.*.mlp", units=":patch_embeds.*,blocks.*.*,pos_block.*"),
    "diffusers_qwen_image": Facts((4, 8, 8), ("transformer_blocks.*", "time_text_embed,txt_norm,img_in,txt_in,transformer_blocks"), (*NO_WIDTHS, *NO_TOKENS, "attention flash")),  # whose kernel takes no mask
    "diffusers_kandinsky6": Facts((4, 8, 8), (_OF_KANDINSKY, "visual_embeddings,visual_token_type_embeddings,audio_embeddings,video_time_embeddings,audio_time_embeddings,video_text_embeddings,audio_text_embeddings,"
                                                             "video_pooled_text_embeddings,audio_pooled_text_embeddings,video_text_transformer_blocks,audio_text_transformer_blocks,visual_transformer_blocks"),
                                  (*NO_WIDTHS, *NO_TOKENS, "attention flash"),  # likewise
                                  units=":" + _OF_KANDINSKY, checkpointed=_OF_KANDINSKY),
    "smp_deeplabv3plus": Facts((8, 8, 8), ("encoder.layer1.*,encoder.layer2.*,encoder.layer3.*,encoder.layer4.*", "encoder,decoder"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                               units=":encoder.layer1.*,encoder.layer2.*,encoder.layer3.*,encoder.layer4.*,decoder.aspp.*,decoder.block2.*,segmentation_head.*"),
    "open_clip_convnext": Facts((8, 12, 16), ("visual.trunk.stages.*,transformer.resblocks.*.mlp.c_proj",  # of the texts' other layers it takes the weight, or its type, itself
                                              "visual.trunk,positional_embedding,token_embedding,transformer,ln_final"),
                                (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                                inner=":visual.trunk.stages.*.blocks.*.mlp,visual.head.mlp,transformer.resblocks.*.mlp", units=":visual.trunk.stages.*,visual.head.*,transformer.resblocks.*",
                                checkpointed="visual.trunk.stages.*.blocks.*,transformer.resblocks.*"),
    "monai_unetr": Facts((4, 4, 4), ("vit.blocks.*", "vit,encoder1,encoder2,encoder3,encoder4,decoder5,decoder4,decoder3,decoder2"),
                         (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT), ":vit.blocks.*.mlp", units=":vit.blocks.*,encoder2.blocks.*,encoder3.blocks.*"),
    "monai_densenet": Facts((8, 8, 8), ("features.denseblock1,features.denseblock2,features.denseblock3,features.denseblock4", "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                            units=":features.*"),
    "vit_pytorch_hyper": Facts((8, 8, 8), ("transformer.layers.*", "to_patch_embedding,register_tokens,transformer"),
                               (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT, "fsdp", "zero2"),  # which refuse a number that is no vector
                               ":transformer.layers.*.3"),
    "vit_pytorch_dca": Facts((8, 8, 8), ("transformer.layers.*", "to_patch_embedding,initial_ff,transformer"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                             ":transformer.layers.*.ff", units=":transformer.layers.*"),
    "x_transformers_xval": Facts((4, 8, 8), ("net.attn_layers.layers.*", "net.token_emb,net.pos_emb,net.attn_layers"), (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT),
                                 ":net.attn_layers.layers.*.1.ff", units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1"),
    "x_transformers_xl": Facts((4, 4, 4), ("net.attn_layers.layers.*", "net.token_emb,net.attn_layers"), (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT),
                               ":net.attn_layers.layers.*.1.ff", units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1"),
    "timm_gcvit": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*ONE_RANK, *NO_TOKENS, "attention"),  # which it writes out
                        inner=":stages.*.blocks.*.mlp", units=":stages.*", checkpointed="stages.*.blocks.*"),
    "timm_lowformer": Facts((8, 12, 16), ("stages.*", "stem,stages"), (*NO_WIDTHS, *NO_TOKENS, "lora", "quantize",
                                                                       "attention efficient", "attention flash"),  # whose kernels refuse channels, as they lie in memory
                            units=":stem.*,stages.*", checkpointed="stages.*"),
    "diffusers_kandinsky6_sr_vae": Facts((4, 4, 4), ("vae.encoder,vae.decoder.mid", "vae.encoder,vae.decoder.conv_in,vae.decoder.mid,vae.decoder.up"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                                         units=":vae.encoder.down.*.block.*,vae.encoder.down.*.downsample,vae.decoder.up.*.block.*,vae.decoder.up.*.upsample"),
    "diffusers_wan_animate": Facts((4, 4, 4), ("blocks.*,face_adapter.*", "patch_embedding,pose_patch_embedding,condition_embedder,motion_encoder,face_encoder,blocks,face_adapter"),
                                   (*NO_WIDTHS, *NO_TOKENS), units=":condition_embedder.image_embedder.ff.net.*,motion_encoder.res_blocks.*,blocks.*,face_adapter.*", checkpointed="blocks.*"),
    "monai_mednext": Facts((4, 4, 4), ("enc_stages.*,down_blocks.*,bottleneck.*", "stem,enc_stages,down_blocks,bottleneck,up_blocks,dec_stages"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                           units=":enc_stages.*,down_blocks.*,bottleneck.*,up_blocks.*,dec_stages.*,out_blocks.*"),
    "monai_ahnet": Facts((4, 4, 4), ("layer1.*,layer2.*,layer3.*,layer4.*", "conv1,bn0,layer1,layer2,layer3,layer4,up0,dense0,up1,dense1,up2,dense2,trans1,dense3,up3,dense4,psp"),
                         (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                         units=":layer1.*,layer2.*,layer3.*,layer4.*,dense0.*,dense1.*,dense2.*,dense3.*,dense4.*"),
    "x_transformers_latent_decoder": Facts((4, 8, 8), ("net.attn_layers.layers.*", "net.token_emb,net.pos_emb,net.attn_layers"), (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "precision"),  # what it draws by chance has 32 bits
                                           ":net.attn_layers.layers.*.1.ff", units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1"),
    "x_transformers_encoder_decoder": Facts((4, 8, 8), ("encoder.attn_layers.layers.*,decoder.net.attn_layers.layers.*", "encoder,decoder.net.pos_emb,decoder.net.attn_layers"),
                                            (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "precision"),  # where its mask says so, attention makes zeros of 32 bits
                                            ":encoder.attn_layers.layers.*.1.ff,decoder.net.attn_layers.layers.*.1.ff",
                                            units=":encoder.attn_layers.layers.*.0.*,encoder.attn_layers.layers.*.1,decoder.net.attn_layers.layers.*.0.*,decoder.net.attn_layers.layers.*.1"),
    "vit_pytorch_max": Facts((4, 8, 4), ("layers.*", "conv_stem,layers"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT), ":layers.*.3.fn,layers.*.7.fn", units=":layers.*"),
    "vit_pytorch_vit5": Facts((8, 12, 12), ("transformer.layers.*", "to_patch_embedding,cls_token,register_tokens,pos_embedding,transformer"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                              ":transformer.layers.*.1", units=":transformer.layers.*.*"),
    "smp_fpn": Facts((8, 8, 8), ("encoder._blocks.*", "encoder,decoder"),
                     (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS, "ddp", "zero1"),  # which wait for gradients of its encoder's last convolution, which it does not call
                     units=":encoder._blocks.*,decoder.seg_blocks.*,segmentation_head.*"),
    "open_clip_eva02": Facts((8, 12, 16), ("visual.trunk.blocks.*,text.transformer.resblocks.*.mlp.c_proj",  # of the texts' other layers it takes the weight, or its type, itself
                                           "visual.trunk.cls_token,visual.trunk.pos_embed,visual.trunk.patch_embed,visual.trunk.blocks,visual.trunk.norm,"
                                           "text.token_embedding,text.positional_embedding,text.transformer,text.ln_final"),
                             (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                             inner=":text.transformer.resblocks.*.mlp", units=":visual.trunk.blocks.*,text.transformer.resblocks.*",
                             checkpointed="visual.trunk.blocks.*,text.transformer.resblocks.*"),
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
    "timm_resnest": Facts((8, 12, 16), ("layer1.*,layer2.*,layer3.*,layer4.*", "conv1,bn1,layer1,layer2,layer3,layer4"), (*NO_LINEAR, *NO_TOKENS),
                          units=":layer1.*,layer2.*,layer3.*,layer4.*", checkpointed="layer1.*,layer2.*,layer3.*,layer4.*"),
    "timm_res2net": Facts((8, 12, 16), ("layer1.*,layer2.*,layer3.*,layer4.*", "conv1,bn1,layer1,layer2,layer3,layer4"), (*NO_LINEAR, *NO_TOKENS),
                          units=":layer1.*,layer2.*,layer3.*,layer4.*", checkpointed="layer1.*,layer2.*,layer3.*,layer4.*"),
    "diffusers_prior_transformer": Facts((8, 12, 16), ("transformer_blocks.*", "time_embedding,proj_in,embedding_proj,encoder_hidden_states_proj,positional_embedding,prd_embedding,transformer_blocks,norm_out"),
                                         (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash")),  # whose kernel takes no mask
    "diffusers_autoencoder_longcat_audio_dit": Facts((4, 4, 4), (_OF_VAE, "encoder,decoder.layers.0," + ",".join(f"decoder.layers.{number}" for number in range(1, 7))),
                                                     (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":encoder.layers.*,decoder.layers.*"),
    "timm_nextvit": Facts((8, 12, 16), ("stages.*", "stem,stages,norm"), (*NO_WIDTHS, *NO_TOKENS), units=":stem.*,stages.*", checkpointed="stages.*,stages.*.blocks.*"),
    "timm_nest": Facts((8, 12, 16), ("levels.*", "patch_embed,levels,norm"), (*ONE_RANK, *NO_TOKENS, "attention efficient", "attention flash"),  # whose kernels take no blocks beside samples and heads
                       inner=":levels.*.transformer_encoder.*.mlp", units=":levels.*", checkpointed="levels.*.transformer_encoder.*"),
    "diffusers_transformer_hunyuan_video_framepack": Facts((8, 8, 8), ("transformer_blocks.*,single_transformer_blocks.*",
                                                                       "x_embedder,clean_x_embedder,context_embedder,image_projection,time_text_embed,transformer_blocks,single_transformer_blocks"),
                                                           (*NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                                                           units=":context_embedder.token_refiner.refiner_blocks.*,transformer_blocks.*,single_transformer_blocks.*",
                                                           checkpointed="transformer_blocks.*,single_transformer_blocks.*"),
    "diffusers_transformer_longcat_audio_dit": Facts((8, 8, 8), ("blocks.*", "time_embed,input_embed,text_embed,blocks,adaln_global_mlp,text_conv_layer,latent_embed,latent_cond_embedder"),
                                                     (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash"),  # likewise
                                                     units=":blocks.*,text_conv_layer.*"),
    "monai_vnet": Facts((8, 8, 4), ("down_tr32,down_tr64,down_tr128,down_tr256", "in_tr,down_tr32,down_tr64,down_tr128,down_tr256,up_tr256,up_tr128,up_tr64,up_tr32"),
                        (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                        units=":in_tr.conv_block.*,down_tr32.ops.*,down_tr64.ops.*,down_tr128.ops.*,down_tr256.ops.*,up_tr256.ops.*,up_tr128.ops.*,up_tr64.ops.*,up_tr32.ops.*,out_tr.conv_block.*"),
    "monai_restormer": Facts((8, 4, 4), ("encoder_levels.*,latent", "patch_embed,encoder_levels,downsamples,latent,upsamples,reduce_channels,decoder_levels,refinement"),
                             (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                             units=":encoder_levels.*,downsamples.*,latent.*,upsamples.*,reduce_channels.*,decoder_levels.*,refinement.*"),
    "x_transformers_continuous_autoencoder": Facts((4, 8, 8), ("encoder.attn_layers.layers.*,decoder.attn_layers.layers.*",
                                                               "encoder,bottleneck,from_latent_to_prepend_token,decoder.pos_emb,decoder.attn_layers,decoder.project_in"),
                                                   (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT), ":encoder.attn_layers.layers.*.1.ff,decoder.attn_layers.layers.*.1.ff",
                                                   units=":encoder.attn_layers.layers.*.0.*,encoder.attn_layers.layers.*.1,decoder.attn_layers.layers.*.0.*,decoder.attn_layers.layers.*.1"),
    "x_transformers_discover_wrapper": Facts((4, 8, 8), ("decoder.attn_layers.layers.*", "decoder.token_emb,decoder.pos_emb,decoder.attn_layers"),
                                             (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "precision"),  # where its mask says so, attention makes zeros of 32 bits
                                             ":decoder.attn_layers.layers.*.1.ff", units=":decoder.attn_layers.layers.*.0.*,decoder.attn_layers.layers.*.1"),
    "monai_resnet": Facts((4, 4, 4), ("layer1.*,layer2.*,layer3.*,layer4.*", "conv1,bn1,layer1,layer2,layer3,layer4"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                          units=":layer1.*,layer2.*,layer3.*,layer4.*"),
    "monai_basic_unetplusplus": Facts((4, 4, 4), (",".join(_DOWN), ",".join((*_DOWN, *_UP))),
                                      (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS, "ddp", "zero1"),  # which wait for gradients of the answers that are not trained
                                      units=":" + ",".join(name + (".convs.*" if name in _UP else ".*") for name in (*_DOWN, *_UP))),
    "x_transformers_multi_input": Facts((4, 8, 8), ("attn_layers.layers.*", "embeds,pos_emb,attn_layers"), (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT),
                                        ":attn_layers.layers.*.1.ff", units=":attn_layers.layers.*.0.*,attn_layers.layers.*.1"),
    "x_transformers_gpt_vae": Facts((4, 8, 8), ("encoder.attn_layers.layers.*,decoder.attn_layers.layers.*",
                                                "encoder,to_latent_mean_log_variance,from_latent_to_prepend_token,decoder.token_emb,decoder.attn_layers"),
                                    (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "precision"),  # as in DISCOVER: zeros of 32 bits
                                    ":encoder.attn_layers.layers.*.1.ff,decoder.attn_layers.layers.*.1.ff",
                                    units=":encoder.attn_layers.layers.*.0.*,encoder.attn_layers.layers.*.1,decoder.attn_layers.layers.*.0.*,decoder.attn_layers.layers.*.1"),
    "vit_pytorch_nest": Facts((8, 8, 8), ("layers.*.0.layers.*", "to_patch_embedding,layers"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":layers.*.*"),
    "vit_pytorch_look_vit": Facts((8, 12, 12), ("layers.*", "to_patches,pos_embedding,layers,norm,highres_norm"),
                                  (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT, "precision",  # the places that it adds have 32 bits, and so what its layers are given
                                   "ddp", "zero1"),  # which wait for gradients of its learned places, which it does not use
                                  ":layers.*.1,layers.*.5", units=":to_patches.*,layers.*.*"),
    "smp_linknet": Facts((8, 8, 8), ("encoder.stage1.*,encoder.stage2.*,encoder.stage3.*,encoder.stage4.*", "encoder,decoder"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                         units=":encoder.stage0.rbr_conv.*,encoder.stage1.*,encoder.stage2.*,encoder.stage3.*,encoder.stage4.*,decoder.blocks.*,segmentation_head.*"),
    "open_clip_roberta": Facts((8, 12, 16), ("visual.transformer.resblocks.*.mlp,text.transformer.encoder.layer.*",  # of the other layers for images it takes the weight itself
                                             "visual,text.transformer"),
                               (*ONE_RANK, *NO_TOKENS),
                               inner=":visual.transformer.resblocks.*.mlp,text.transformer.encoder.layer.*.intermediate",
                               units=":visual.transformer.resblocks.*,text.transformer.encoder.layer.*",
                               checkpointed="visual.transformer.resblocks.*,text.transformer.encoder.layer.*,inputs:text.transformer.embeddings.word_embeddings"),
    "vit_pytorch_rvt": Facts((8, 12, 12), ("transformer.layers.*", "to_patch_embedding,cls_token,transformer"),
                             (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, *_WRITTEN_OUT, "precision"),  # its turns have 32 bits, and so has what they turned; values have not
                             units=":transformer.layers.*.*"),
    "vit_pytorch_xcit": Facts((8, 12, 12), ("xcit_transformer.layers.*,cls_transformer.layers.*", "to_patch_embedding,pos_embedding,cls_token,xcit_transformer,final_norm,cls_transformer"),
                              (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT), ":xcit_transformer.layers.*.2.fn,cls_transformer.layers.*.1.fn",
                              units=":xcit_transformer.layers.*.*,cls_transformer.layers.*.*"),
    "smp_dpt": Facts((8, 8, 4), ("encoder.model.blocks.*", "encoder,decoder"),
                     (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "ddp", "zero1"),  # which wait for gradients of its encoder's last norm and head, which it does not call
                     ":encoder.model.blocks.*.mlp",
                     units=":encoder.model.blocks.*,decoder.projection_blocks.*,decoder.reassemble_blocks.*,decoder.fusion_blocks.*"),
    "open_clip_coca": Facts((8, 12, 16), ("visual.transformer.resblocks.*.mlp,text.transformer.resblocks.*.mlp.c_proj,text_decoder.resblocks.*.mlp,text_decoder.cross_attn.*.mlp",  # of others it takes the weight, or its type, itself
                                          "visual,text,text_decoder.resblocks,text_decoder.cross_attn,text_decoder.ln_final"),
                            (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                            inner=":visual.transformer.resblocks.*.mlp,text.transformer.resblocks.*.mlp,text_decoder.resblocks.*.mlp,text_decoder.cross_attn.*.mlp",
                            units=":visual.transformer.resblocks.*,text.transformer.resblocks.*,text_decoder.resblocks.*,text_decoder.cross_attn.*",
                            checkpointed="visual.transformer.resblocks.*,text.transformer.resblocks.*,text_decoder.resblocks.*,text_decoder.cross_attn.*"),
    "timm_qwen3_vit": Facts((8, 12, 8), ("encoder.blocks.*", "encoder"), (*ONE_RANK, *NO_TOKENS), ":encoder.blocks.*.mlp", units=":encoder.blocks.*", checkpointed="encoder.blocks.*"),
    "timm_inception_v4": Facts((8, 8, 12), (",".join(f"features.{number}" for number in range(10)), "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),  # it refuses to be checkpointed
                               units=":features.*"),
    "diffusers_unet_motion_model": Facts((4, 4, 4), ("down_blocks.*.motion_modules.*,mid_block.motion_modules.*", "conv_in,time_embedding,down_blocks,mid_block,up_blocks.0,up_blocks.1,up_blocks.2"),
                                         (*NO_WIDTHS, *NO_TOKENS),
                                         units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*,mid_block.motion_modules.*",
                                         checkpointed="down_blocks.*.resnets.*,down_blocks.*.attentions.*.transformer_blocks.*,mid_block.attentions.*.transformer_blocks.*,mid_block.motion_modules.*,"
                                                      "mid_block.resnets.1,up_blocks.*.resnets.*,up_blocks.*.attentions.*.transformer_blocks.*"),
    "diffusers_uvit_2d": Facts((4, 4, 4), ("transformer_layers.*", "encoder_proj,encoder_proj_layer_norm,embed,cond_embed,down_block,project_to_hidden_norm,project_to_hidden,transformer_layers,"
                                                                   "project_from_hidden_norm,project_from_hidden,up_block"),
                               (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS),  # what it checkpoints with takes no arguments by name, which it gives it
                               units=":down_block.res_blocks.*,down_block.attention_blocks.*,transformer_layers.*,up_block.res_blocks.*,up_block.attention_blocks.*"),
    "monai_dynunet": Facts((4, 4, 4), ("input_block,downsamples.*,bottleneck", "input_block,downsamples,bottleneck,upsamples"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                           units=":downsamples.*,upsamples.*,deep_supervision_heads.*"),
    "monai_efficientnet": Facts((8, 8, 12), ("_blocks.*", "_conv_stem,_bn0,_blocks,_conv_head,_bn1"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":_blocks.*"),
    "x_transformers_recirculation": Facts((16, 32, 48), ("net.attn_layers.layers.*", "net"),
                                          (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "freeze blocks", "freeze all", "freeze,"),  # which are frozen as it is
                                          ":net.attn_layers.layers.*.1.ff", units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1,learned_mixers.*"),
    "x_transformers_neo_mlp": Facts((256, 256, 256), ("transformer.layers.*", "input_embed,hidden_embed,output_embed,random_fourier,transformer"),
                                    (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                                    ":transformer.layers.*.1.ff", units=":random_fourier.*,transformer.layers.*.0.*,transformer.layers.*.1"),
    "vit_pytorch_registers": Facts((8, 12, 16), ("transformer.layers.*", "to_patch_embedding,register_tokens,transformer"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                                   ":transformer.layers.*.1", units=":transformer.layers.*.*"),
    "vit_pytorch_uvit": Facts((8, 12, 12), ("transformer.layers.*", "to_patch_embedding,register_tokens,transformer"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                              ":transformer.layers.*.2", units=":transformer.layers.*.*"),
    "smp_segformer": Facts((8, 8, 4), ("encoder.block1.*,encoder.block2.*,encoder.block3.*,encoder.block4.*", "encoder,decoder"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, *_WRITTEN_OUT),
                           units=":encoder.block1.*,encoder.block2.*,encoder.block3.*,encoder.block4.*,decoder.mlp_stage.*,segmentation_head.*"),
    "open_clip_vitamin": Facts((8, 12, 12), ("visual.trunk.blocks.*,text.transformer.resblocks.*.mlp.c_proj",  # of the texts' other layers it takes the weight, or its type, itself
                                             "visual.trunk.pos_embed,visual.trunk.patch_embed,visual.trunk.blocks,visual.trunk.fc_norm,"
                                             "text.token_embedding,text.positional_embedding,text.transformer,text.ln_final"),
                               (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                               inner=":text.transformer.resblocks.*.mlp", units=":visual.trunk.patch_embed.backbone.stages.*,visual.trunk.blocks.*,text.transformer.resblocks.*",
                               checkpointed="visual.trunk.patch_embed.backbone.stages.*,visual.trunk.blocks.*,text.transformer.resblocks.*"),
    "vit_pytorch_learnable_memory": Facts((8, 12, 12), ("vit.transformer.layers.*", "vit,memory_cls_token,memories_per_layer"),
                                          (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT, "freeze blocks", "freeze, precision", "freeze, sgd"),  # which are frozen as it is
                                          ":vit.transformer.layers.*.1", units=":vit.transformer.layers.*.*"),
    "vit_pytorch_cait": Facts((8, 12, 12), ("patch_transformer.layers.*,cls_transformer.layers.*", "to_patch_embedding,pos_embedding,cls_token,patch_transformer,cls_transformer"),
                              (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT), ":patch_transformer.layers.*.1.fn,cls_transformer.layers.*.1.fn",
                              units=":patch_transformer.layers.*.*,cls_transformer.layers.*.*"),
    "smp_manet": Facts((8, 8, 8), ("encoder.model.s1.*,encoder.model.s2.*,encoder.model.s3.*,encoder.model.s4.*", "encoder,decoder"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                       units=":decoder.blocks.*,segmentation_head.*"),
    "open_clip_nllb": Facts((8, 12, 16), ("text.transformer.layers.*", "text.transformer"), (*ONE_RANK, *NO_TOKENS), ":visual.transformer.resblocks.*.mlp,text.transformer.layers.*.fc1",
                            units=":visual.transformer.resblocks.*,text.transformer.layers.*",
                            checkpointed="visual.transformer.resblocks.*,text.transformer.layers.*,inputs:text.transformer.embed_tokens"),
    "vit_pytorch_regionvit": Facts((4, 8, 4), ("layers.*.2.layers.*", "local_encoder,region_encoder,layers"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                                   ":layers.*.2.layers.*.1", units=":layers.*.*"),
    "vit_pytorch_cvt": Facts((8, 12, 12), ("layers.*.2.layers.*", "layers"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":layers.*"),
    "smp_pan": Facts((8, 8, 8), ("encoder.model.blocks.*", "encoder,decoder"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                     units=":encoder.model.blocks.*,decoder.fpa.branch1.*,decoder.fpa.mid.*,decoder.fpa.down1.*,decoder.fpa.down2.*,decoder.fpa.down3.*,"
                           "decoder.gau3.conv1.*,decoder.gau2.conv1.*,decoder.gau1.conv1.*,segmentation_head.*"),
    "open_clip_clipa": Facts((8, 12, 16), ("visual.transformer.resblocks.*.mlp.c_proj,transformer.resblocks.*.mlp.c_proj",  # of the other layers it takes the weight, or its type, itself
                                           "visual,positional_embedding,token_embedding,transformer,ln_final"), (*ONE_RANK, *NO_TOKENS),
                             ":visual.transformer.resblocks.*.mlp,transformer.resblocks.*.mlp", units=":visual.transformer.resblocks.*,transformer.resblocks.*",
                             checkpointed="visual.transformer.resblocks.*,transformer.resblocks.*"),
    "monai_transformer": Facts((4, 8, 8), ("blocks.*", "token_embeddings,position_embeddings,blocks"),
                               (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "ddp", "zero1"),  # which wait for gradients of norms before attention to something else, of which there is none
                               ":blocks.*.mlp", units=":blocks.*"),
    "monai_basic_unet": Facts((4, 4, 4), ("conv_0,down_1,down_2,down_3,down_4", "conv_0,down_1,down_2,down_3,down_4,upcat_4,upcat_3,upcat_2,upcat_1"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                              units=":conv_0.*,down_1.*,down_2.*,down_3.*,down_4.*,upcat_4.convs.*,upcat_3.convs.*,upcat_2.convs.*,upcat_1.convs.*"),
    "x_transformers_vi_transformer": Facts((8, 12, 8), ("attn_layers.layers.*", "pos_embedding,patch_to_embedding,attn_layers"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                                           ":attn_layers.layers.*.1.ff", units=":patch_to_embedding.*,attn_layers.layers.*.0.*,attn_layers.layers.*.1"),
    "x_transformers_full_bandwidth": Facts((4, 8, 8), ("net.attn_layers.layers.*", "net.post_emb_norm,net.attn_layers,transitions"), (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT),
                                           ":net.attn_layers.layers.*.1.ff", units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1"),
    "monai_vit": Facts((8, 8, 8), ("blocks.*", "cls_token,patch_embedding,blocks,norm"),
                       (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT, "ddp", "zero1"),  # as of its other transformer
                       ":blocks.*.mlp", units=":blocks.*"),
    "monai_senet": Facts((8, 8, 8), ("layer1.*,layer2.*,layer3.*,layer4.*", "layer0,layer1,layer2,layer3,layer4"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention"),  # of which there is none
                         units=":layer1.*,layer2.*,layer3.*,layer4.*"),
    "x_transformers_free_transformer": Facts((4, 8, 8), ("encoder.layers.*,decoder_head.layers.*,decoder_tail.layers.*",
                                                         "token_emb,query_token_for_latents,encoder,to_latent_bit_logits,from_latent_to_condition,decoder_head,decoder_tail"),
                                             (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "precision"),  # in which it multiplies what each code is, in 32 bits
                                             ":encoder.layers.*.1.ff,decoder_head.layers.*.1.ff,decoder_tail.layers.*.1.ff",
                                             units=":encoder.layers.*.0.*,encoder.layers.*.1,decoder_head.layers.*.0.*,decoder_head.layers.*.1,decoder_tail.layers.*.0.*,decoder_tail.layers.*.1"),
    "x_transformers_encoder": Facts((4, 8, 8), ("attn_layers.layers.*", "token_emb,pos_emb,attn_layers"),
                                    (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "precision"),  # where its mask says so, attention makes zeros of 32 bits
                                    ":attn_layers.layers.*.1.ff", units=":attn_layers.layers.*.0.*,attn_layers.layers.*.1"),
}
