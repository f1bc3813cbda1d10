# SPDX-License-Identifier: Apache-2.0
"""The models of other packages than transformers and torchvision, without torch: their batches, what is frozen of them, and what cannot be done to them in code."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

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
}
