# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_TOKENS, ONE_RANK, Facts

HELD_OUT: Dict[str, Facts] = {
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
}
