# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

HELD_OUT: Dict[str, Facts] = {
    "minicpm_ocr": Facts((4, 8, 8), ("model.language_model.layers.*", "model.vision_tower,model.merger,model.language_model.layers,model.language_model.norm"),
                         (*ONE_RANK, "ddp", "zero1"),  # which wait for gradients of what makes patches fewer on their way, which is not used
                         ":model.vision_tower.encoder.layers.*.mlp", units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*,model.merger.mlp.*",
                         checkpointed="model.vision_tower.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "nemotron_asr_streaming": Facts((4, 8, 8), ("encoder.layers.*", "encoder,encoder_projector,decoder"), (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask; what it hears has another length than what was said
                                    ":encoder.layers.*.feed_forward1,encoder.layers.*.feed_forward2", units=":encoder.subsampling.layers.*,encoder.layers.*", checkpointed="encoder.layers.*"),
    "qianfan_ocr": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), ONE_RANK, ":model.vision_tower.layers.*.mlp",
                         units=":model.vision_tower.layers.*,model.language_model.layers.*",
                         checkpointed="model.vision_tower.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embeddings+model.language_model.embed_tokens"),
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
}
