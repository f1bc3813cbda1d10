# SPDX-License-Identifier: Apache-2.0
"""The models of other packages than transformers and torchvision, without torch: their batches, what is frozen of them, and what cannot be done to them in code."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

_OF_KANDINSKY = "video_text_transformer_blocks.*,audio_text_transformer_blocks.*,visual_transformer_blocks.*"
_WRITTEN_OUT = ("attention",)  # in each of them

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
}
