# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

_WRITTEN_OUT = ("attention",)  # in each of them

HELD_OUT: Dict[str, Facts] = {
    "lfm2_vl": Facts((4, 8, 8), ("model.language_model.layers.*", "model.vision_tower,model.multi_modal_projector,model.language_model.layers,model.language_model.embedding_norm"), ONE_RANK,
                     ":model.vision_tower.encoder.layers.*.mlp", units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*",
                     checkpointed="model.vision_tower.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "video_llama_3": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), ONE_RANK,
                           ":model.vision_model.encoder.layers.*.mlp", units=":model.vision_model.encoder.layers.*,model.language_model.layers.*",
                           checkpointed="model.vision_model.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_model.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "fun_asr_nano": Facts((4, 8, 8), ("model.audio_tower.layers.*,model.language_model.layers.*",
                                      "model.audio_tower,model.multi_modal_projector,model.language_model.layers,model.language_model.norm"),
                          (*ONE_RANK, "attention flash"),  # whose kernel takes no mask
                          ":model.audio_tower.layers.*.mlp,model.multi_modal_projector.layers.*.mlp",
                          units=":model.audio_tower.layers.*,model.language_model.layers.*,model.multi_modal_projector.layers.*",
                          checkpointed="model.audio_tower.layers.*,model.language_model.layers.*,model.multi_modal_projector.layers.*,inputs:model.language_model.embed_tokens"),
    "tapas": Facts((4, 8, 8), ("tapas.encoder.layer.*", "tapas"), (*ONE_RANK, "attention",  # which it writes out
                                                                   "fsdp", "zero2"),  # which refuse a number that is no vector
                   ":tapas.encoder.layer.*.intermediate", checkpointed="all,inputs:tapas.embeddings.word_embeddings"),
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
}
