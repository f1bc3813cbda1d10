# SPDX-License-Identifier: Apache-2.0
"""Models of transformers that came by lot and were looked at once, as docs/accuracy.md has it; rules have been made of them since. Without torch."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts
_REPVIT = "vision_encoder.backbone.timm_model.stages_"

DRAWN: Dict[str, Facts] = {
    "eomt_dinov3": Facts((8, 12, 16), ("layers.*", "embeddings,layernorm,query,layers"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                         units=":layers.*,upscale_block.block.*"),
    "nemotron3_diarization": Facts((4, 8, 8), ("model.audio_tower.layers.*", "silence_embeds,model"), (*ONE_RANK, *NO_TOKENS), inner=":model.audio_tower.layers.*.mlp",
                                   units=":model.audio_tower.layers.*", checkpointed="model.audio_tower.layers.*"),
    "mamba2": Facts((4, 8, 8), ("backbone.layers.*.mixer.in_proj", "backbone"), (*NO_WIDTHS, "attention"), units=":backbone.layers.*", checkpointed="backbone.layers.*,inputs:backbone.embeddings"),
    "xlstm": Facts((4, 8, 8), ("backbone.blocks.*", "backbone"), (*NO_WIDTHS, "attention"), units=":backbone.blocks.*", checkpointed="backbone.blocks.*,inputs:backbone.embeddings"),
    "olmo_hybrid": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "hunyuan_vl": Facts((4, 8, 8), ("model.language_model.layers.*", "model.vision_tower,model.language_model.layers.*,model.language_model.norm"), NO_WIDTHS,
                        units=":model.vision_tower.layers.*,model.language_model.layers.*",
                        checkpointed="model.vision_tower.layers.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "mask2former": Facts((8, 12, 16), ("model.pixel_level_module.encoder.swin.encoder.layers.*,model.pixel_level_module.decoder.encoder.layers.*",
                                       "model.pixel_level_module,model.transformer_module.queries_embedder,model.transformer_module.queries_features,model.transformer_module.level_embed,"
                                       "model.transformer_module.decoder.layers,model.transformer_module.decoder.layernorm"),
                         (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                         units=":model.pixel_level_module.encoder.swin.encoder.layers.*,model.pixel_level_module.decoder.input_projections.*,model.pixel_level_module.decoder.encoder.layers.*,"
                               "model.transformer_module.decoder.layers.*"),
    "reformer": Facts((4, 8, 8), ("reformer.encoder.layers.*", "reformer"),
                      (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention",  # which it writes out; and it says itself how many words there must be
                       "fsdp", "lora")),  # its backward calls what is in a layer, and no layer; and there is none where what goes into the first needs no gradient
    "mm_grounding_dino": Facts((4, 8, 8), ("model.encoder.layers.*,model.decoder.layers.*",
                                           "model.backbone,model.input_proj_vision,model.text_backbone,model.text_projection,model.query_position_embeddings,model.encoder,model.level_embed,model.decoder.layers,"
                                           "model.decoder.layer_norm,model.decoder.reference_points_head"),
                               (*NO_BLOCKS, *NO_WIDTHS, "fsdp", "zero2", "attention flash")),  # which refuse a number that is no vector; whose kernel takes no mask
    "mlcd": Facts((8, 12, 16), ("encoder.layers.*", "class_pos_emb,embeddings,pre_layrnorm,encoder,post_layernorm"), (*ONE_RANK, *NO_TOKENS), ":encoder.layers.*.mlp"),
    "mgp_str": Facts((8, 12, 16), ("mgp_str.encoder.blocks.*", "mgp_str"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention"),  # which it writes out
                     ":mgp_str.encoder.blocks.*.mlp", units=":mgp_str.encoder.blocks.*"),
    "exaone4_5": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), NO_WIDTHS, units=":model.visual.blocks.*,model.language_model.layers.*",
                       checkpointed="model.visual.blocks.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens+model.visual.patch_embed"),
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
    "llava_next": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), (*ONE_RANK, "ddp", "zero1"),  # which wait for gradients of the last layer that sees, which is not read
                        ":model.vision_tower.encoder.layers.*.mlp", units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*",
                        checkpointed="model.vision_tower.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "vipllava": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), ONE_RANK,
                      ":model.vision_tower.encoder.layers.*.mlp", units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*",
                      checkpointed="model.vision_tower.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "instructblip": Facts((4, 8, 8), ("qformer.encoder.layer.*", "vision_model,query_tokens,qformer,language_model"), (*ONE_RANK, "attention flash"),  # whose kernel takes no mask
                          ":vision_model.encoder.layers.*.mlp,qformer.encoder.layer.*.intermediate",
                          units=":vision_model.encoder.layers.*,qformer.encoder.layer.*,language_model.encoder.block.*,language_model.decoder.block.*",
                          checkpointed="vision_model.encoder.layers.*,qformer.encoder.layer.*,language_model.encoder.block.*,language_model.decoder.block.*,masks:language_model.decoder.block.0.layer.1.EncDecAttention"),
    "flava": Facts((8, 12, 16), ("flava.image_model.encoder.layer.*,flava.text_model.encoder.layer.*,flava.multimodal_model.encoder.layer.*", "flava"),
                   (*ONE_RANK, "attention",  # which it writes out
                    "fsdp", "zero2", "ddp", "zero1"),  # which refuse a number that is no vector; which wait for gradients of poolers and heads that are not used
                   ":flava.image_model.encoder.layer.*.intermediate,flava.text_model.encoder.layer.*.intermediate,flava.multimodal_model.encoder.layer.*.intermediate",
                   units=":flava.image_model.encoder.layer.*,flava.text_model.encoder.layer.*,flava.multimodal_model.encoder.layer.*,image_codebook.blocks.*",
                   checkpointed="flava.image_model.encoder.layer.*,flava.text_model.encoder.layer.*,flava.multimodal_model.encoder.layer.*,"
                                "inputs:flava.text_model.embeddings.word_embeddings+flava.image_model.embeddings.patch_embeddings"),
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
    "idefics3": Facts((4, 8, 8), ("model.text_model.layers.*", "model"), ONE_RANK, ":model.vision_model.encoder.layers.*.mlp",
                      units=":model.vision_model.encoder.layers.*,model.text_model.layers.*",
                      checkpointed="model.vision_model.encoder.layers.*,model.text_model.layers.*,inputs:model.vision_model.embeddings+model.text_model.embed_tokens"),
    "minicpmv4_7": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), ONE_RANK, ":model.vision_tower.encoder.layers.*.mlp",
                         units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*,model.merger.mlp.*",
                         checkpointed="model.vision_tower.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "mamba": Facts((4, 8, 8), ("backbone.layers.*.mixer.in_proj,backbone.layers.*.mixer.x_proj,backbone.layers.*.mixer.out_proj", "backbone.layers,backbone.norm_f"),
                   (*NO_WIDTHS, "attention", "cross-entropy chunked:8, precision"),  # which is given 32 bits beside the 16 of its weights
                   units=":backbone.layers.*", checkpointed="backbone.layers.*,inputs:backbone.embeddings"),
    "lfm3_vl": Facts((4, 8, 8), ("model.language_model.layers.*", "model.vision_tower,model.multi_modal_projector,model.language_model.layers,model.language_model.embedding_norm"),
                     (*NO_WIDTHS, "attention flash"),  # whose kernel takes no mask, as there is beyond a window
                     units=":model.vision_tower.layers.*,model.language_model.layers.*",
                     checkpointed="model.vision_tower.layers.*,model.language_model.layers.*,inputs:model.vision_tower.patch_embed+model.language_model.embed_tokens"),
    "sam_hq": Facts((4, 8, 8), ("vision_encoder.layers.*,mask_decoder.transformer.layers.*",
                                "shared_image_embedding,vision_encoder,prompt_encoder,mask_decoder.iou_token,mask_decoder.mask_tokens,mask_decoder.transformer"),
                    (*NO_WIDTHS, *NO_TOKENS, "attention flash", "ddp", "zero1"),  # whose kernel takes no mask; which wait for gradients of what says how good masks are, which is not trained on
                    units=":vision_encoder.layers.*,mask_decoder.transformer.layers.*,mask_decoder.output_hypernetworks_mlps.*", checkpointed="vision_encoder.layers.*"),
    "dpr": Facts((4, 8, 8), ("question_model.question_encoder.bert_model.encoder.layer.*,ctx_model.ctx_encoder.bert_model.encoder.layer.*", "ctx_model"), ONE_RANK,
                 inner=":question_model.question_encoder.bert_model.encoder.layer.*.intermediate,ctx_model.ctx_encoder.bert_model.encoder.layer.*.intermediate",
                 units=":question_model.question_encoder.bert_model.encoder.layer.*,ctx_model.ctx_encoder.bert_model.encoder.layer.*",
                 checkpointed="question_model.question_encoder.bert_model.encoder.layer.*,ctx_model.ctx_encoder.bert_model.encoder.layer.*,"
                              "inputs:question_model.question_encoder.bert_model.embeddings.word_embeddings+ctx_model.ctx_encoder.bert_model.embeddings.word_embeddings"),
    "pp_ocrv5_mobile_det": Facts((8, 8, 8), ("model.backbone.encoder.blocks.*", "model"), (*NO_LINEAR, *NO_TOKENS, "ddp", "zero1"),  # which wait for gradients of scales behind strides, which are not used
                                 units=":model.backbone.encoder.blocks.*,model.neck.insert_conv.*,model.neck.input_conv.*",
                                 checkpointed="model.backbone.encoder.blocks.*.layers.*"),
    "deformable_detr": Facts((4, 8, 8), ("model.encoder.layers.*,model.decoder.layers.*", "model"),
                             (*ONE_RANK, *NO_TOKENS, "precision",  # in which queries cannot be compared with things
                              "offload activations, checkpoint"),  # where the first queries, of which all samples have the same, come back as their own, and are computed otherwise
                             ":model.encoder.layers.*.mlp,model.decoder.layers.*.mlp",
                             units=":model.backbone.model.layer1.*,model.backbone.model.layer2.*,model.backbone.model.layer3.*,model.backbone.model.layer4.*,model.input_proj.*,model.encoder.layers.*,model.decoder.layers.*",
                             checkpointed="model.encoder.layers.*,model.decoder.layers.*"),
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
    "pi0": Facts((4, 8, 8), ("model.dit.layers.*", "model,embed_action_time"),
                 (*NO_BLOCKS, *ONE_RANK, "attention flash",  # in which layers keep no keys and values, of which actions are made; whose kernel takes no mask
                  "ddp", "zero1", "fsdp"),  # which wait for gradients of what is behind the keys and values of the last layer of words; which does not gather this layer again, whose result is not read
                 ":model.vlm.vision_tower.encoder.layers.*.mlp", units=":model.dit.layers.*,model.vlm.vision_tower.encoder.layers.*,model.vlm.language_model.layers.*"),
    "videoprism": Facts((4, 8, 8), ("video_model.vision_model.spatial_layers.*,text_model.layers.*",
                                    "video_model.vision_model,video_model.auxiliary_layers,text_model.embeddings,text_model.layers"),
                        (*ONE_RANK, "attention"),  # which it writes out, and has no other
                        ":video_model.vision_model.spatial_layers.*.mlp,video_model.vision_model.temporal_layers.*.mlp,video_model.auxiliary_layers.*.mlp,text_model.layers.*.mlp",
                        units=":video_model.vision_model.spatial_layers.*,video_model.vision_model.temporal_layers.*,video_model.auxiliary_layers.*,text_model.layers.*",
                        checkpointed="video_model.vision_model.spatial_layers.*,video_model.vision_model.temporal_layers.*,video_model.auxiliary_layers.*,text_model.layers.*"),
    "pp_doclayout_v3": Facts((4, 8, 8), ("model.encoder.aifi.*,model.decoder.layers.*",
                                         "model.backbone,model.encoder_input_proj,model.encoder,model.denoising_class_embed,model.enc_output,model.decoder_input_proj,model.decoder.layers,"
                                         "model.decoder.query_pos_head,model.decoder_norm"),
                             (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention flash",  # whose kernel takes no mask
                              "precision"),  # in which boxes that queries are told stay 32 bits, which no layer takes
                             ":model.encoder.aifi.*.layers.*.mlp,model.decoder.layers.*.mlp",
                             units=":model.backbone.model.encoder.stages.*,model.encoder_input_proj.*,model.encoder.aifi.*,model.encoder.lateral_convs.*,model.encoder.fpn_blocks.*,model.encoder.downsample_convs.*,"
                                   "model.encoder.pan_blocks.*,model.encoder.mask_feature_head.scale_heads.*,model.decoder_input_proj.*,model.decoder.layers.*"),
    "video_llava": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), (*ONE_RANK, "ddp", "zero1"),  # which wait for gradients of the last layers that see, which are not read
                         ":model.video_tower.encoder.layers.*.mlp,model.image_tower.encoder.layers.*.mlp",
                         units=":model.video_tower.encoder.layers.*,model.image_tower.encoder.layers.*,model.language_model.layers.*",
                         checkpointed="model.video_tower.encoder.layers.*,model.image_tower.encoder.layers.*,model.language_model.layers.*,"
                                      "inputs:model.video_tower.embeddings.patch_embedding+model.image_tower.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "llava_onevision": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), (*ONE_RANK, "ddp", "zero1"),  # which wait for gradients of the norm behind the last layer that sees, which is not read
                             ":model.vision_tower.encoder.layers.*.mlp", units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*",
                             checkpointed="model.vision_tower.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "vibevoice_asr": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), (*ONE_RANK, "attention flash"),  # whose kernel takes no mask
                           ":model.acoustic_tokenizer_encoder.stem.stage.*.ffn,model.acoustic_tokenizer_encoder.conv_layers.*.stage.*.ffn,"
                           "model.semantic_tokenizer_encoder.stem.stage.*.ffn,model.semantic_tokenizer_encoder.conv_layers.*.stage.*.ffn",
                           units=":model.acoustic_tokenizer_encoder.stem.stage.*,model.acoustic_tokenizer_encoder.conv_layers.*,model.semantic_tokenizer_encoder.stem.stage.*,"
                                 "model.semantic_tokenizer_encoder.conv_layers.*,model.language_model.layers.*",
                           checkpointed="model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "mistral3": Facts((4, 8, 8), ("model.language_model.layers.*", "model.vision_tower,model.multi_modal_projector,model.language_model.layers,model.language_model.norm"),
                      (*NO_WIDTHS, "attention flash"),  # whose kernel takes no mask
                      units=":model.vision_tower.transformer.layers.*,model.language_model.layers.*",
                      checkpointed="model.vision_tower.transformer.layers.*,model.language_model.layers.*,inputs:model.vision_tower.patch_conv+model.language_model.embed_tokens"),
    "sam3_lite_text": Facts((4, 8, 8), ("vision_encoder.backbone.layers.*,text_encoder.layers.*,detr_encoder.layers.*,detr_decoder.layers.*",
                                        "vision_encoder,text_encoder,text_projection,geometry_encoder,detr_encoder,detr_decoder"),
                            (*ONE_RANK, "attention flash",  # whose kernel takes no mask
                             "ddp", "zero1"),  # which wait for gradients of the coarsest picture, and of what sums up words, which are not read
                            ":vision_encoder.backbone.layers.*.mlp,text_encoder.layers.*.mlp,geometry_encoder.layers.*.mlp,detr_encoder.layers.*.mlp,detr_decoder.layers.*.mlp",
                            units=":vision_encoder.backbone.layers.*,vision_encoder.neck.fpn_layers.*,text_encoder.layers.*,geometry_encoder.layers.*,detr_encoder.layers.*,detr_decoder.layers.*",
                            checkpointed="vision_encoder.backbone.layers.*,text_encoder.layers.1,text_encoder.layers.2"),
    "rt_detr_v2": Facts((4, 4, 4), ("model.encoder.aifi.*,model.decoder.layers.*",
                                    "model.backbone,model.encoder_input_proj,model.encoder,model.denoising_class_embed,model.enc_output,model.decoder_input_proj,model.decoder.layers,model.decoder.query_pos_head"),
                        (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention flash",  # whose kernel takes no mask
                         "precision"),  # in which boxes that queries are told stay 32 bits, which no layer takes
                        ":model.encoder.aifi.*.layers.*.mlp,model.decoder.layers.*.mlp",
                        units=":model.backbone.model.embedder.embedder.*,model.backbone.model.encoder.stages.*,model.encoder_input_proj.*,model.encoder.aifi.*,model.encoder.lateral_convs.*,model.encoder.fpn_blocks.*,"
                              "model.encoder.downsample_convs.*,model.encoder.pan_blocks.*,model.decoder_input_proj.*,model.decoder.layers.*"),
    "perception_lm": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), ONE_RANK, ":model.vision_tower.timm_model.blocks.*.mlp",
                           units=":model.vision_tower.timm_model.blocks.*,model.language_model.layers.*", checkpointed="model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "granite_speech": Facts((4, 8, 8), ("model.encoder.layers.*,model.language_model.layers.*", "model.encoder,model.projector,model.language_model.layers,model.language_model.norm"),
                            (*NO_BLOCKS, *NO_WIDTHS, "attention efficient", "attention flash"),  # whose kernels take no queries that all parts of a speech share
                            units=":model.encoder.layers.*,model.projector.qformer.encoder.layer.*,model.language_model.layers.*"),
    "idefics2": Facts((4, 8, 8), ("model.text_model.layers.*", "model"), ONE_RANK,
                      ":model.vision_model.encoder.layers.*.mlp", units=":model.vision_model.encoder.layers.*,model.connector.perceiver_resampler.layers.*,model.text_model.layers.*",
                      checkpointed="model.vision_model.encoder.layers.*,model.text_model.layers.*,inputs:model.vision_model.embeddings+model.text_model.embed_tokens"),
    "x_clip": Facts((4, 8, 8), ("text_model.encoder.layers.*,vision_model.encoder.layers.*", "text_model,vision_model"),
                    (*ONE_RANK, *NO_TOKENS, "fsdp", "zero2"),  # which take no parameter that is a single number, as what distances are multiplied by
                    ":text_model.encoder.layers.*.mlp,vision_model.encoder.layers.*.mlp,mit.encoder.layers.*.mlp",
                    units=":text_model.encoder.layers.*,vision_model.encoder.layers.*,mit.encoder.layers.*,prompts_generator.decoder.*",
                    checkpointed="text_model.encoder.layers.*,vision_model.encoder.layers.*,mit.encoder.layers.*,inputs:text_model.embeddings.token_embedding+vision_model.embeddings.patch_embedding"),
    "qwen3_vl": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), NO_WIDTHS, units=":model.visual.blocks.*,model.visual.deepstack_merger_list.*,model.language_model.layers.*",
                      checkpointed="model.visual.blocks.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "mimi": Facts((4, 8, 8), ("decoder.decoder_transformer.layers.*",
                              "quantizer,decoder.upsample,decoder.decoder_transformer,decoder.decoder_seanet.layers.0,decoder.decoder_seanet.layers.2,decoder.decoder_seanet.layers.3,decoder.decoder_seanet.layers.5,"
                              "decoder.decoder_seanet.layers.6,decoder.decoder_seanet.layers.8,decoder.decoder_seanet.layers.9,decoder.decoder_seanet.layers.11,decoder.decoder_seanet.layers.12"),
                  (*ONE_RANK, *NO_TOKENS, "attention flash",  # whose kernel takes no mask, as there is beyond a window
                   "ddp", "zero1"),  # which send buffers around, on the simulated device without what is in them: by how much it pads
                  ":encoder.encoder_transformer.layers.*.mlp,decoder.decoder_transformer.layers.*.mlp",
                  units=":encoder.encoder_seanet.layers.*,encoder.encoder_transformer.layers.*,decoder.decoder_transformer.layers.*,decoder.decoder_seanet.layers.*,"
                        "quantizer.semantic_residual_vector_quantizer.layers.*,quantizer.acoustic_residual_vector_quantizer.layers.*",
                  checkpointed="encoder.encoder_transformer.layers.*,decoder.decoder_transformer.layers.*"),
    "pop2piano": Facts((4, 8, 8), ("encoder.block.*,decoder.block.*", "shared,mel_conditioner,encoder,decoder"), (*NO_WIDTHS, "attention flash"),  # whose kernel takes no mask
                       checkpointed="all,inputs:decoder.embed_tokens,masks:decoder.block.0.layer.1.EncDecAttention"),
    "pp_ocrv5_server_det": Facts((4, 8, 8), ("model.backbone.encoder.stages.*", "model"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":model.backbone.encoder.stages.*,model.neck.intraclass_blocks.*"),
    "minicpm_ocr": Facts((4, 8, 8), ("model.language_model.layers.*", "model.vision_tower,model.merger,model.language_model.layers,model.language_model.norm"),
                         (*ONE_RANK, "ddp", "zero1"),  # which wait for gradients of what makes patches fewer on their way, which is not used
                         ":model.vision_tower.encoder.layers.*.mlp", units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*,model.merger.mlp.*",
                         checkpointed="model.vision_tower.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "nemotron_asr_streaming": Facts((4, 8, 8), ("encoder.layers.*", "encoder,encoder_projector,decoder"), (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask; what it hears has another length than what was said
                                    ":encoder.layers.*.feed_forward1,encoder.layers.*.feed_forward2", units=":encoder.subsampling.layers.*,encoder.layers.*", checkpointed="encoder.layers.*"),
    "qianfan_ocr": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), ONE_RANK, ":model.vision_tower.layers.*.mlp",
                         units=":model.vision_tower.layers.*,model.language_model.layers.*",
                         checkpointed="model.vision_tower.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embeddings+model.language_model.embed_tokens"),
    "depth_pro": Facts((4, 4, 4), ("depth_pro.encoder.patch_encoder.model.encoder.layer.*,depth_pro.encoder.image_encoder.model.encoder.layer.*", "depth_pro,fusion_stage"),
                       (*ONE_RANK, *NO_TOKENS, "ddp", "zero1"),  # which wait for gradients of what masks patches, and of what the coarsest picture would be added by
                       ":depth_pro.encoder.patch_encoder.model.encoder.layer.*.mlp,depth_pro.encoder.image_encoder.model.encoder.layer.*.mlp",
                       units=":depth_pro.encoder.patch_encoder.model.encoder.layer.*,depth_pro.encoder.image_encoder.model.encoder.layer.*,depth_pro.neck.feature_upsample.scaled_images.*,"
                             "depth_pro.neck.feature_upsample.intermediate.*,fusion_stage.intermediate.*",
                       checkpointed="depth_pro.encoder.patch_encoder.model.encoder.layer.*,depth_pro.encoder.image_encoder.model.encoder.layer.*"),
    "pp_ocrv6_small_rec": Facts((8, 12, 16), ("model.backbone.encoder,head.encoder.svtr_block.*", "model,head.encoder"), (*ONE_RANK, *NO_TOKENS), ":head.encoder.svtr_block.*.mlp",
                                units=":model.backbone.encoder.blocks.*,head.encoder.conv_block.*,head.encoder.svtr_block.*", checkpointed="head.encoder.svtr_block.*"),
    "fast_vlm": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), NO_WIDTHS, units=":model.vision_tower.timm_model.stem.*,model.vision_tower.timm_model.stages.*,model.language_model.layers.*",
                      checkpointed="model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "pp_lcnet_v4": Facts((8, 12, 12), ("backbone.encoder.blocks.*", "backbone,last_convolution"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":backbone.encoder.blocks.*"),
    "audioflamingo3": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), (*ONE_RANK, "attention flash"),  # whose kernel takes no mask
                            ":model.audio_tower.layers.*.fc1",
                            units=":model.audio_tower.layers.*,model.language_model.layers.*",
                            checkpointed="model.audio_tower.layers.*,model.language_model.layers.*,inputs:model.audio_tower.conv1+model.language_model.embed_tokens"),
    "kimi_k25": Facts((4, 4, 4), ("model.language_model.layers.*", "model.vision_tower,model.mm_projector,model.language_model.layers,model.language_model.norm"),
                      (*ONE_RANK, "attention flash"),  # whose kernel takes no values that are narrower than keys
                      ":model.vision_tower.layers.*.mlp", units=":model.vision_tower.layers.*,model.language_model.layers.*",
                      checkpointed="model.vision_tower.layers.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
    "qwen2_audio": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), (*ONE_RANK, "attention flash"),  # whose kernel takes no mask
                         ":model.audio_tower.layers.*.fc1", units=":model.audio_tower.layers.*,model.language_model.layers.*",
                         checkpointed="model.audio_tower.layers.*,model.language_model.layers.*,inputs:model.audio_tower.conv1+model.language_model.embed_tokens"),
    "neucodec": Facts((4, 8, 8), ("acoustic_decoder.layers.*", "semantic_adapter,acoustic_encoder,fc_encoder,quantizer,acoustic_decoder.fc,acoustic_decoder.embed,acoustic_decoder.prior_net,acoustic_decoder.layers,"
                                  "acoustic_decoder.post_net,acoustic_decoder.norm"),
                      (*ONE_RANK, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                      ":acoustic_decoder.layers.*.mlp",
                      units=":semantic_encoder.encoder.layers.*,acoustic_encoder.block.*,acoustic_decoder.prior_net.*,acoustic_decoder.layers.*,acoustic_decoder.post_net.*", checkpointed="acoustic_decoder.layers.*"),
    "pp_doclayout_v2": Facts((4, 8, 8), ("model.encoder.aifi.*,model.decoder.layers.*,reading_order.encoder.layer.*",
                                         "model.backbone,model.encoder_input_proj,model.encoder,model.denoising_class_embed,model.enc_output,model.decoder_input_proj,model.decoder.layers,model.decoder.query_pos_head,"
                                         "reading_order.embeddings,reading_order.label_embeddings,reading_order.label_features_projection,reading_order.encoder"),
                             (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, "attention flash",  # whose kernel takes no mask
                              "ddp", "zero1",  # which wait for gradients of biases for how far apart boxes are in rows and columns, which are there and are not used
                              "precision"),  # in which boxes that queries are told stay 32 bits, which no layer takes
                             ":model.encoder.aifi.*.layers.*.mlp,model.decoder.layers.*.mlp,reading_order.encoder.layer.*.intermediate",
                             units=":model.backbone.model.encoder.stages.*,model.encoder_input_proj.*,model.encoder.aifi.*,model.encoder.lateral_convs.*,model.encoder.fpn_blocks.*,model.encoder.downsample_convs.*,"
                                   "model.encoder.pan_blocks.*,model.decoder_input_proj.*,model.decoder.layers.*,model.decoder.bbox_embed.*,reading_order.encoder.layer.*"),
    "minicpmv4_6": Facts((4, 4, 4), ("model.language_model.layers.*", "model"), ONE_RANK, ":model.vision_tower.encoder.layers.*.mlp",
                         units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*,model.merger.mlp.*",
                         checkpointed="model.vision_tower.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings.patch_embedding+model.language_model.embed_tokens"),
    "slanet": Facts((4, 4, 4), ("backbone.vision_backbone.encoder.blocks.*,head.structure_attention_cell", "backbone"),
                    (*ONE_RANK, *NO_TOKENS, "attention", "precision"),  # which is written out; its cell is given 32 bits, whatever its weights have
                    ":head.structure_generator",
                    units=":backbone.vision_backbone.encoder.blocks.*,backbone.post_csp_pan.channel_projector.*,backbone.post_csp_pan.top_down_blocks.*,backbone.post_csp_pan.downsamples.*,"
                          "backbone.post_csp_pan.bottom_up_blocks.*",
                    checkpointed="backbone.vision_backbone.encoder.blocks.*.layers.*,backbone.post_csp_pan.top_down_blocks.*.bottlenecks.*.conv2,backbone.post_csp_pan.downsamples.*,"
                                 "backbone.post_csp_pan.bottom_up_blocks.*.bottlenecks.*.conv2"),
    "owlv2": Facts((4, 4, 4), ("owlv2.text_model.encoder.layers.*,owlv2.vision_model.encoder.layers.*", "owlv2"),
                   (*ONE_RANK, "attention flash", "fsdp", "zero2"),  # whose kernel takes no mask; which refuse a parameter without dimensions, as how alike whole images and names are is scaled by
                   ":owlv2.text_model.encoder.layers.*.mlp,owlv2.vision_model.encoder.layers.*.mlp",
                   checkpointed="owlv2.text_model.encoder.layers.*,owlv2.vision_model.encoder.layers.*"),
    "edgetam": Facts((8, 8, 8), (",".join((*(f"{_REPVIT}{place}" for place in range(4)), "mask_decoder.transformer.layers.*")), "vision_encoder,prompt_encoder,mask_decoder.transformer"),
                     (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS),
                     units=":" + ",".join((*(f"{_REPVIT}{place}.blocks.*" for place in range(4)), "mask_decoder.transformer.layers.*", "mask_decoder.output_hypernetworks_mlps.*"))),
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
    "conditional_detr": Facts((4, 4, 4), ("model.encoder.layers.*,model.decoder.layers.*", "model"), (*ONE_RANK, *NO_TOKENS, "precision",  # in which queries cannot be compared with things
                                                                                                           "attention flash"),  # whose kernel wants values as wide as keys, which have places beside them
                              ":model.encoder.layers.*.mlp,model.decoder.layers.*.mlp",
                              units=":model.backbone.model.layer1.*,model.backbone.model.layer2.*,model.backbone.model.layer3.*,model.backbone.model.layer4.*,model.encoder.layers.*,model.decoder.layers.*",
                              checkpointed="model.encoder.layers.*,model.decoder.layers.*"),
    "laguna": Facts((4, 4, 4), ("model.layers.*", "model"), (*NO_WIDTHS, "attention flash"),  # whose kernel takes no mask, as layers that look at the nearest alone give it
                    units=":model.layers.*", checkpointed="model.layers.*,inputs:model.embed_tokens"),
    "aria": Facts((4, 4, 4), ("model.language_model.layers.*", "model"), ONE_RANK, ":model.vision_tower.encoder.layers.*.mlp",
                  units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*",
                  checkpointed="model.vision_tower.encoder.layers.*,model.language_model.layers.*,inputs:model.vision_tower.embeddings+model.language_model.embed_tokens"),
    "olmoe": Facts((4, 4, 4), ("model.layers.*", "model"), NO_WIDTHS, units=":model.layers.*", checkpointed="model.layers.*,inputs:model.embed_tokens"),
}
