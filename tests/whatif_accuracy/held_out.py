# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

_OF_KANDINSKY = "video_text_transformer_blocks.*,audio_text_transformer_blocks.*,visual_transformer_blocks.*"
_WRITTEN_OUT = ("attention",)  # in each of them

HELD_OUT: Dict[str, Facts] = {
    "kosmos2": Facts((4, 8, 8), ("vision_model.model.encoder.layers.*,text_model.model.layers.*", "vision_model,image_to_text_projection,text_model.model.layers,text_model.model.layer_norm"),
                     (*NO_WIDTHS, "attention flash"),  # whose kernel takes no mask
                     units=":vision_model.model.encoder.layers.*,text_model.model.layers.*", checkpointed="vision_model.model.encoder.layers.*,text_model.model.layers.*"),
    "glm4v": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), NO_WIDTHS, units=":model.visual.blocks.*,model.language_model.layers.*",
                   checkpointed="model.visual.blocks.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "decision_transformer": Facts((32, 48, 64), ("encoder.h.*", "encoder,embed_timestep,embed_return,embed_state,embed_action,embed_ln"),
                                  (*ONE_RANK, "attention flash", "ddp", "zero1"),  # likewise; which wait for gradients of what it does not train on
                                  ":encoder.h.*.mlp", units=":encoder.h.*", checkpointed="encoder.h.*"),
    "seamless_m4t_v2": Facts((4, 8, 8), ("speech_encoder.encoder.layers.*,text_decoder.layers.*", "speech_encoder,text_decoder.layers,text_decoder.layer_norm"),
                             (*ONE_RANK, *NO_TOKENS, "attention flash"),  # likewise, of its encoder: where it adds what it knows of distances
                             ":text_decoder.layers.*.ffn", units=":speech_encoder.encoder.layers.*,speech_encoder.adapter.layers.*,text_decoder.layers.*",
                             checkpointed="speech_encoder.encoder.layers.*,text_decoder.layers.*"),
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
}
