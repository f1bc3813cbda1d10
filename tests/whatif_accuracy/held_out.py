# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

HELD_OUT: Dict[str, Facts] = {
    "grounding_dino": Facts((4, 4, 4), ("model.encoder.layers.*,model.decoder.layers.*",
                                        "model.backbone,model.input_proj_vision,model.text_backbone,model.text_projection,model.query_position_embeddings,model.encoder,model.level_embed,model.decoder.layers,"
                                        "model.decoder.layer_norm,model.decoder.reference_points_head,model.enc_output,model.enc_output_norm"),
                            (*NO_BLOCKS, *NO_WIDTHS, "attention flash"),  # whose kernel takes no mask
                            units=":model.backbone.conv_encoder.model.swin.encoder.layers.*,model.input_proj_vision.*,model.text_backbone.encoder.layer.*,model.encoder.layers.*,model.decoder.layers.*"),
    "gradium_phonon_tts": Facts((4, 4, 4), ("model.layers.*", "model"), (*ONE_RANK, "attention flash"),  # whose kernel takes no mask
                                ":model.layers.*.mlp,flow_head.timestep_embeddings.*,flow_head.layers.*", units=":model.layers.*,flow_head.timestep_embeddings.*,flow_head.layers.*",
                                checkpointed="model.layers.*,inputs:model.embed_tokens"),
    "lightglue": Facts((4, 4, 4), ("transformer_layers.*", "positional_encoder,transformer_layers"),
                       (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash"),  # likewise; within its MLPs is a norm, which keeps its width
                       units=":transformer_layers.*,match_assignment_layers.*,token_confidence.*"),
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
}
