# SPDX-License-Identifier: Apache-2.0
"""Models of other packages than transformers and torchvision that came by lot last, without torch, and were looked into since."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

_WRITTEN_OUT = ("attention",)  # in each of them
_SERIAL = ("serial_blocks1", "serial_blocks2", "serial_blocks3", "serial_blocks4")

LIBRARIES_DRAWN: Dict[str, Facts] = {
    "timm_repvit": Facts((8, 8, 12), ("stages.*", "stem,stages"), (*NO_LINEAR, *NO_TOKENS), units=":stages.*", checkpointed="stages.*"),
    "timm_rexnet": Facts((8, 12, 16), ("features.*", "stem,features"), (*NO_LINEAR, *NO_TOKENS), units=":features.*", checkpointed="features.*"),
    "diffusers_autoencoder_kl_kvae_video": Facts((4, 4, 4), ("vae.encoder.down.*.block.*,vae.encoder.mid.*", "vae.encoder,vae.decoder.conv_in,vae.decoder.mid,vae.decoder.up"),
                                                 (*NO_LINEAR, *NO_TOKENS),
                                                 units=":vae.encoder.down.*.block.*,vae.encoder.down.*.downsample,vae.decoder.up.*.block.*,vae.decoder.up.*.upsample",
                                                 checkpointed="vae.encoder.down.*.block.*,vae.encoder.mid.*,vae.decoder.mid.*,vae.decoder.up.*.block.*"),
    "diffusers_transformer_flux2": Facts((4, 8, 8), ("transformer_blocks.*,single_transformer_blocks.*",
                                                     "time_guidance_embed,double_stream_modulation_img,double_stream_modulation_txt,single_stream_modulation,x_embedder,context_embedder,"
                                                     "transformer_blocks,single_transformer_blocks"),
                                         (*NO_WIDTHS, *NO_TOKENS), units=":transformer_blocks.*,single_transformer_blocks.*", checkpointed="transformer_blocks.*,single_transformer_blocks.*"),
    "timm_nfnet": Facts((8, 12, 16), ("stages.*", "stem,stages,final_conv"), (*NO_LINEAR, *NO_TOKENS), units=":stages.*", checkpointed="stages.*"),
    "timm_xcit": Facts((8, 12, 12), ("blocks.*,cls_attn_blocks.*", "cls_token,patch_embed,pos_embed,blocks,cls_attn_blocks,norm"), (*ONE_RANK, *NO_TOKENS), ":blocks.*.mlp,cls_attn_blocks.*.mlp",
                       units=":patch_embed.proj.*,blocks.*,cls_attn_blocks.*", checkpointed="blocks.*,cls_attn_blocks.*"),
    "diffusers_transformer_z_image": Facts((8, 8, 8), ("noise_refiner.*,context_refiner.*,layers.*",
                                                       "all_x_embedder,noise_refiner,context_refiner,t_embedder,cap_embedder,x_pad_token,cap_pad_token,layers"),
                                           (*NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                                           units=":noise_refiner.*,context_refiner.*,layers.*", checkpointed="noise_refiner.*,context_refiner.*,layers.*"),
    "diffusers_autoencoder_kl_qwenimage21": Facts((4, 8, 4), ("vae.encoder,vae.decoder.mid_block",
                                                              "vae.encoder,vae.quant_conv,vae.post_quant_conv,vae.decoder.conv_in,vae.decoder.mid_block,vae.decoder.up_blocks"),
                                                  (*NO_BLOCKS, "lora", "quantize", *NO_WIDTHS, *NO_TOKENS,
                                                   "ddp", "zero1"),  # which wait for gradients of its layers along time, which one frame does not need
                                                  units=":vae.encoder.down_blocks.*,vae.encoder.mid_block.attentions.*,vae.encoder.mid_block.resnets.*,"
                                                        "vae.decoder.mid_block.attentions.*,vae.decoder.mid_block.resnets.*,vae.decoder.up_blocks.*"),
    "timm_crossvit": Facts((8, 8, 8), ("blocks.*", "pos_embed_0,cls_token_0,pos_embed_1,cls_token_1,patch_embed,blocks,norm"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS), ":blocks.*.blocks.*.*.mlp",
                           units=":patch_embed.*,blocks.*"),
    "diffusers_autoencoder_kl_hunyuan_video": Facts(
        (4, 4, 4), ("vae.encoder,vae.decoder.mid_block", "vae.encoder,vae.quant_conv,vae.post_quant_conv,vae.decoder.conv_in,vae.decoder.mid_block,vae.decoder.up_blocks"),
        (*NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
        units=":vae.encoder.down_blocks.*,vae.encoder.mid_block.attentions.*,vae.encoder.mid_block.resnets.*,vae.decoder.mid_block.attentions.*,vae.decoder.mid_block.resnets.*,vae.decoder.up_blocks.*",
        checkpointed="vae.encoder.down_blocks.*,vae.encoder.down_blocks.*.resnets.*,vae.encoder.mid_block,vae.encoder.mid_block.resnets.*,"
                     "vae.decoder.mid_block,vae.decoder.mid_block.resnets.*,vae.decoder.up_blocks.*,vae.decoder.up_blocks.*.resnets.*"),
    "timm_fastvit": Facts((8, 12, 12), ("stages.*", "stem,stages,final_conv"), (*NO_WIDTHS, *NO_TOKENS), units=":stem.*,stages.*,final_conv.conv_kxk.*", checkpointed="stages.*.blocks.*"),
    "diffusers_transformer_sana_wm_refiner": Facts(
        (4, 8, 8), ("transformer_blocks.*", "proj_in,audio_proj_in,caption_projection,audio_caption_projection,time_embed,audio_time_embed,av_cross_attn_video_scale_shift,av_cross_attn_audio_scale_shift,"
                                            "av_cross_attn_video_a2v_gate,av_cross_attn_audio_v2a_gate,transformer_blocks,audio_scale_shift_table,audio_proj_out"),
        (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash",  # whose kernel takes no mask
         "ddp", "zero1"),  # which wait for gradients of layers for sound, which are not used
        units=":transformer_blocks.*"),
    "monai_voxelmorph": Facts((4, 4, 4), ("backbone.net.0.0,backbone.net.0.1", "backbone.net.0,backbone.net.1.final_conv_0,backbone.net.1.final_conv_1"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                              units=":backbone.net.*"),
    "vit_pytorch_mae": Facts((8, 12, 12), ("encoder.transformer.layers.*,decoder.layers.*", "encoder,enc_to_dec,mask_token,decoder,decoder_pos_emb"),
                             (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT, "precision",  # in which it puts 16 bits where its own have 32
                              "ddp", "zero1"),  # which wait for gradients of the encoder's own head, which is not used
                             ":encoder.transformer.layers.*.1,decoder.layers.*.1", units=":encoder.transformer.layers.*.*,decoder.layers.*.*"),
    "smp_upernet": Facts((8, 8, 8), ("encoder.model.stages_0,encoder.model.stages_1,encoder.model.stages_2,encoder.model.stages_3", "encoder,decoder"),
                         (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                         units=":encoder.model.stages_0.blocks.*,encoder.model.stages_1.blocks.*,encoder.model.stages_2.blocks.*,encoder.model.stages_3.blocks.*,"
                               "decoder.psp.blocks.*,decoder.fpn_lateral_blocks.*,decoder.fpn_conv_blocks.*,segmentation_head.*"),
    "open_clip_mammut": Facts((8, 12, 16), ("visual.transformer.resblocks.*.mlp,text.resblocks.*.mlp,text.cross_attn.*.mlp",  # of attention's other layer it takes the weight itself
                                            "visual,map_viz2txt_kv,text.token_embedding,text.positional_embedding,text.resblocks,text.cross_attn,text.ln_final"),
                              (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                              ":visual.transformer.resblocks.*.mlp,text.resblocks.*.mlp,text.cross_attn.*.mlp",
                              units=":visual.transformer.resblocks.*,text.resblocks.*,text.cross_attn.*", checkpointed="visual.transformer.resblocks.*,text.resblocks.*,text.cross_attn.*"),
    "monai_transchex": Facts((8, 8, 8), ("multimodal.language_encoder.*,multimodal.vision_encoder.*,multimodal.mixed_encoder.*", "multimodal,vision_proj,norm_vision_pos,pos_embed_vis,pooler"),
                             (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "ddp", "zero1"),  # which wait for gradients of the last layer's half for patches, which is not read
                             ":multimodal.language_encoder.*.intermediate,multimodal.vision_encoder.*.intermediate",
                             units=":multimodal.language_encoder.*,multimodal.vision_encoder.*,multimodal.mixed_encoder.*"),
    "vit_pytorch_vit_with_decorr": Facts((8, 12, 8), ("transformer.layers.*", "to_patch_embedding,cls_token,pos_embedding,transformer"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                                         ":transformer.layers.*.1", units=":transformer.layers.*.*"),
    "smp_deeplabv3": Facts((8, 8, 8), ("encoder.model.blocks.*", "encoder,decoder"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                           units=":encoder.model.blocks.*,decoder.aspp.convs.*,segmentation_head.*"),
    "open_clip_so400m": Facts((8, 12, 16), ("visual.trunk.blocks.*,text.transformer.resblocks.*.mlp.c_proj",  # of the texts' other layers it takes the weight, or its type, itself
                                            "visual.trunk.pos_embed,visual.trunk.patch_embed,visual.trunk.blocks,visual.trunk.norm,text.token_embedding,text.positional_embedding,text.transformer,text.ln_final"),
                              (*ONE_RANK, *NO_TOKENS), ":visual.trunk.blocks.*.mlp,visual.trunk.attn_pool.mlp,text.transformer.resblocks.*.mlp",
                              units=":visual.trunk.blocks.*,text.transformer.resblocks.*", checkpointed="visual.trunk.blocks.*,text.transformer.resblocks.*"),
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
    "diffusers_transformer_qwenimage21": Facts((4, 8, 8), ("transformer_blocks.*", "time_text_embed,txt_in,img_in,modulation,transformer_blocks,norm_out"),
                                               (*NO_WIDTHS, *NO_TOKENS, "attention flash")),  # whose kernel takes no mask
    "timm_iformer": Facts((8, 12, 16), ("stages.*", "stem,stages"),
                          (*NO_WIDTHS, *NO_TOKENS, "lora", "quantize",  # its layers are convolutions
                           "attention efficient", "attention flash"),  # whose kernels take nothing that lies in memory with channels first
                          units=":stages.*", checkpointed="stages.*.blocks.*"),
    "timm_coat": Facts((8, 8, 4), (",".join(f"{blocks}.*" for blocks in (*_SERIAL, "parallel_blocks")),
                                   ",".join((*(f"{part}{stage}" for stage in range(1, 5) for part in ("cls_token", "patch_embed", "cpe", "crpe")), *_SERIAL, "parallel_blocks,norm2,norm3,norm4"))),
                       (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention",  # it refuses to be checkpointed; and writes attention out
                        "fsdp", "zero2"),  # which take no blocks that have modules in common, as all of a stage have their convolutions
                       ":" + ",".join((*(f"{blocks}.*.mlp" for blocks in _SERIAL), "parallel_blocks.*.mlp2"))),
    "monai_attentionunet": Facts((4, 8, 4), ("model.0,model.1.submodule.0,model.1.submodule.1.submodule.0,model.1.submodule.1.submodule.1.submodule.0,model.1.submodule.1.submodule.1.submodule.1.submodule",
                                             "model.0,model.1"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":model.*"),
    "vit_pytorch_simple_vit_with_sparse_gating": Facts((8, 12, 12), ("transformer.layers.*", "to_patch_embedding,register_tokens,transformer"),
                                                       (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention"),  # which it writes out
                                                       ":transformer.layers.*.1", units=":transformer.layers.*.*"),
    "diffusers_transformer_flux3": Facts((4, 8, 8), ("mode_blocks.*.*,txt_mode_blocks.*,single_transformer_blocks.*",
                                                     "timestep_embedder,early_stream_modulations,single_stream_modulations,x_embedders,context_embedder,mode_blocks,txt_mode_blocks,single_transformer_blocks,norm_out"),
                                         (*NO_WIDTHS, *NO_TOKENS), units=":mode_blocks.*.*,txt_mode_blocks.*,single_transformer_blocks.*",
                                         checkpointed="mode_blocks.*.*,txt_mode_blocks.*,single_transformer_blocks.*"),
    "timm_mlp_mixer": Facts((8, 12, 8), ("blocks.*", "stem,blocks,norm"), (*ONE_RANK, *NO_TOKENS, "attention"),  # of which there is none
                            ":blocks.*.mlp_tokens,blocks.*.mlp_channels", units=":blocks.*", checkpointed="blocks.*"),
    "monai_hovernet": Facts((4, 4, 4), ("res_blocks.*", "conv0,res_blocks,bottleneck,nucleus_prediction.decoder_blocks,horizontal_vertical.decoder_blocks,type_prediction.decoder_blocks"),
                            (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS, "fsdp", "zero2",  # which gather what is called: of its blocks it calls forward, and of its decoders the layers
                             "offload activations, batch x2")),  # for which the host must have 27 GiB, and that which measured had less
    "vit_pytorch_simple_vit_with_qk_norm": Facts((8, 12, 12), ("transformer.layers.*", "to_patch_embedding,transformer"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention"),  # which it writes out
                                                 ":transformer.layers.*.1", units=":transformer.layers.*.*"),
    "diffusers_unet_1d": Facts((4, 4, 4), ("down_blocks.*,mid_block", "down_blocks,mid_block,up_blocks.0,up_blocks.1,up_blocks.2,up_blocks.3,up_blocks.4"),
                               (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention"),  # likewise
                               units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*"),
    "diffusers_transformer_kandinsky6_sr": Facts((4, 4, 4), ("visual_transformer_blocks.*", "time_embeddings,pooled_bias,visual_embeddings,visual_transformer_blocks"),
                                                 (*NO_WIDTHS, *NO_TOKENS, "attention"),  # which its library writes out
                                                 units=":visual_transformer_blocks.*", checkpointed="visual_transformer_blocks.*"),
    "timm_naflexvit": Facts((8, 12, 12), ("blocks.*", "embeds,blocks"), (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                            ":blocks.*.mlp", units=":blocks.*", checkpointed="blocks.*"),
    "diffusers_unet_spatio_temporal_condition": Facts((4, 4, 4), ("down_blocks.*,mid_block", "conv_in,time_embedding,add_embedding,down_blocks,mid_block,up_blocks"), (*NO_WIDTHS, *NO_TOKENS),
                                                      units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*",
                                                      checkpointed="down_blocks.*.resnets.*,down_blocks.*.attentions.*.transformer_blocks.*,mid_block.attentions.*.transformer_blocks.*,mid_block.resnets.1,"
                                                                   "up_blocks.*.resnets.*,up_blocks.*.attentions.*.transformer_blocks.*"),
    "monai_highresnet": Facts((4, 4, 4), ("blocks.1,blocks.2,blocks.3,blocks.4,blocks.5,blocks.6,blocks.7,blocks.8,blocks.9", ",".join(f"blocks.{place}" for place in range(11))),
                              (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":blocks.*"),
    "vit_pytorch_vit_with_keel_post_ln": Facts((8, 12, 12), ("transformer.layers.*", "to_patch_embedding,cls_token,pos_embedding,transformer"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention"),  # which it writes out
                                               ":transformer.layers.*.net", units=":transformer.layers.*"),
    "timm_cpubone": Facts((8, 12, 12), ("stages.*", "stem,stages"), (*NO_WIDTHS, *NO_TOKENS, "lora", "quantize",  # of linear layers, which its blocks have not
                                             "attention efficient", "attention flash"),  # whose kernels refuse channels, as they lie in memory
                          units=":stem.*,stages.*", checkpointed="stages.*"),
    "diffusers_autoencoder_kl_mochi": Facts((4, 4, 4), ("vae.encoder.down_blocks.*,vae.encoder.block_out", "vae.encoder,vae.decoder.conv_in,vae.decoder.block_in,vae.decoder.up_blocks"),
                                            (*NO_WIDTHS, *NO_TOKENS),
                                            units=":vae.encoder.block_in.resnets.*,vae.encoder.down_blocks.*,vae.encoder.block_out.resnets.*,vae.encoder.block_out.norms.*,vae.encoder.block_out.attentions.*,"
                                                  "vae.decoder.block_in.resnets.*,vae.decoder.up_blocks.*,vae.decoder.block_out.resnets.*",
                                            checkpointed="vae.encoder.block_in,vae.encoder.block_in.resnets.*,vae.encoder.down_blocks.*,vae.encoder.down_blocks.*.resnets.*,vae.encoder.block_out.resnets.*,"
                                                         "vae.decoder.block_in,vae.decoder.block_in.resnets.*,vae.decoder.up_blocks.*,vae.decoder.up_blocks.*.resnets.*,vae.decoder.block_out.resnets.*"),
    "diffusers_transformer_wan": Facts((4, 4, 4), ("blocks.*", "patch_embedding,condition_embedder,blocks"), (*NO_WIDTHS, *NO_TOKENS), units=":blocks.*", checkpointed="blocks.*"),
    "monai_vqvae": Facts((4, 4, 4), ("encoder.blocks.*", ",".join(("encoder", *(f"decoder.blocks.{place}" for place in range(12))))),
                         (*NO_LINEAR, *NO_TOKENS, "precision"),  # in which what is coded has 32 bits, and codes have not
                         units=":encoder.blocks.*,decoder.blocks.*", checkpointed="encoder,decoder"),
    "vit_pytorch_attn_residual_with_dca_simple_vit": Facts((8, 8, 8), ("transformer.layers.*", "to_patch_embedding,initial_ff,transformer"),
                                                           (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention"),  # its MLPs' widths are shared out among heads; attention is written out
                                                           units=":transformer.layers.*"),
    "timm_dpn": Facts((8, 8, 8), (",".join(f"features.conv{stage}_{place}" for stage, deep in ((2, 3), (3, 4), (4, 6)) for place in range(1, deep + 1)), "features"), (*NO_LINEAR, *NO_TOKENS),
                      units=":features.*", checkpointed="features.*"),
    "diffusers_autoencoder_kl_temporal_decoder": Facts((4, 4, 4), ("vae.encoder.down_blocks.*,vae.encoder.mid_block,vae.decoder.mid_block",
                                                                         "vae.encoder,vae.quant_conv,vae.decoder.conv_in,vae.decoder.mid_block,vae.decoder.up_blocks"),
                                                       (*NO_WIDTHS, *NO_TOKENS),
                                                       units=":vae.encoder.down_blocks.*,vae.encoder.mid_block.attentions.*,vae.encoder.mid_block.resnets.*,vae.decoder.mid_block.attentions.*,vae.decoder.mid_block.resnets.*,"
                                                             "vae.decoder.up_blocks.*",
                                                       checkpointed="vae.encoder.down_blocks.*,vae.encoder.mid_block,vae.encoder.mid_block.resnets.1,vae.decoder.mid_block,vae.decoder.up_blocks.*"),
    "diffusers_ltx2_diffusion_decoder": Facts((4, 4, 4), ("decoder.det_stages.*.*,decoder.diff_blocks.*",
                                                          "decoder.conv_in,decoder.det_stages,decoder.upsamples,decoder.t_embedder,decoder.conv_in_x_t,decoder.shared_adaln,decoder.diff_blocks"),
                                              (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention"),  # which is another function's
                                              units=":decoder.det_stages.*.*,decoder.upsamples.*,decoder.diff_blocks.*"),
    "monai_daf3d": Facts((4, 4, 4), ("backbone_with_fpn.body.*", "backbone_with_fpn,fuse,attention,refine,aspp"),
                         (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS, "ddp", "zero1"),  # which wait for gradients of convolutions of its pyramid and of activations, which it does not call
                         units=":backbone_with_fpn.body.layer1.1,backbone_with_fpn.body.layer2.*,backbone_with_fpn.body.layer3.*,backbone_with_fpn.body.layer4.*,backbone_with_fpn.fpn.inner_blocks.*,fuse.*,"
                               "attention.attentive_map.*,attention.refine.*,refine.*,aspp.convs.*,aspp.conv_k1.*"),
    "vit_pytorch_scalable_vit": Facts((8, 8, 8), ("layers.*.0.layers.*", "to_patches,layers"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":layers.*.*"),
    "timm_dla": Facts((8, 8, 8), ("base_layer,level0,level1,level2,level3", "base_layer,level0,level1,level2,level3,level4,level5"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "diffusers_transformer_rfd4_proteina": Facts((4, 4, 4), ("transformer_layers.*,pair_update_layers.*",
                                                             "init_repr_factory,cond_factory,transition_c_1,transition_c_2,pair_repr_builder,transformer_layers,pair_update_layers,s_cycle_norm,s_cycle_proj,"
                                                             "z_cycle_norm,z_cycle_proj"),
                                                 (*NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                                                 units=":transformer_layers.*", checkpointed="transformer_layers.*"),
    "diffusers_transformer_bria_fibo": Facts((4, 4, 4), ("transformer_blocks.*,single_transformer_blocks.*", "time_embed,context_embedder,x_embedder,transformer_blocks,single_transformer_blocks,norm_out,caption_projection"),
                                             (*NO_WIDTHS, *NO_TOKENS, "attention flash"),  # likewise
                                             units=":transformer_blocks.*,single_transformer_blocks.*,caption_projection.*", checkpointed="transformer_blocks.*,single_transformer_blocks.*"),
    "monai_vista3d": Facts((4, 4, 4), ("image_encoder.encoder.layers.*", "image_encoder,class_head.image_post_mapping"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                           units=":image_encoder.encoder.layers.*.blocks,image_encoder.encoder.layers.*.downsample,image_encoder.up_layers.*.upsample,image_encoder.up_layers.*.blocks,image_encoder.up_layers.*.head,"
                                 "image_encoder.up_layers_auto.*.upsample,image_encoder.up_layers_auto.*.blocks,image_encoder.up_layers_auto.*.head,point_head.transformer.layers.*,class_head.image_post_mapping.*"),
    "vit_pytorch_sep_vit": Facts((8, 8, 8), ("layers.*.2.layers.*", "layers"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS,
                                                                                "ddp", "zero1"),  # which wait for gradients of how windows attend to one another where there is one, which is not used
                                 units=":layers.*.*"),
    "diffusers_transformer_anyflow": Facts((4, 4, 4), ("blocks.*", "patch_embedding,condition_embedder,blocks"), (*NO_WIDTHS, *NO_TOKENS), units=":blocks.*", checkpointed="blocks.*"),
    "vit_pytorch_pit": Facts((8, 8, 8), ("layers.*.layers.*", "to_patch_embedding,pos_embedding,cls_token,layers"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention"),  # which it writes out
                             ":layers.*.layers.*.1", units=":layers.*"),
    "vit_pytorch_mp3": Facts((8, 8, 8), ("vit.transformer.layers.*", "vit"),
                             (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention",  # which it writes out
                              "ddp", "zero1"),  # which wait for gradients of the ViT's own head, which is not used
                             ":vit.transformer.layers.*.1", units=":vit.transformer.layers.*.*"),
    "vit_pytorch_na_vit_nested_tensor_3d": Facts((8, 8, 8), ("transformer.layers.*", "to_patch_embedding,pos_embed_frame,pos_embed_height,pos_embed_width,register_tokens,transformer,attn_pool_queries,attn_pool"),
                                                 (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention math",  # which takes a nested tensor apart by what the device says
                                                  "ddp", "zero1"),  # which wait for gradients of all before the nested tensor, of which it takes but the values
                                                 ":transformer.layers.*.1", units=":transformer.layers.*.*"),
}
