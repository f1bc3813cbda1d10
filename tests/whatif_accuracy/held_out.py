# SPDX-License-Identifier: Apache-2.0
"""The models that no rule was made for, without torch: drawn by lot, and looked at once, when the rules were frozen."""

from typing import Dict

from facts import NO_BLOCKS, NO_TOKENS, NO_WIDTHS, Facts

HELD_OUT: Dict[str, Facts] = {
    "bamba": Facts((4, 8, 8), ("model.layers.*.mamba.in_proj,model.layers.*.self_attn,model.layers.*.feed_forward", "model"), NO_WIDTHS, units=":model.layers.*",
                   checkpointed="model.layers.*,inputs:model.embed_tokens"),
    "clvp": Facts((4, 8, 8), ("model.decoder.layers.*", "model"), (*NO_BLOCKS, *NO_WIDTHS, "attention")),
    "neomme": Facts((4, 8, 8), ("model.layers.*", "model.patch_embeddings,model.layers.*,model.value_embeddings"), (*NO_WIDTHS, "attention flash"),  # whose kernel takes no mask
                    checkpointed="model.layers.*,inputs:model.embed_tokens.word_embeddings"),
    "florence2": Facts((4, 8, 8), ("model.vision_tower.blocks.*,model.language_model.encoder.layers.*",
                                   "model.vision_tower,model.multi_modal_projector,model.language_model.encoder,model.language_model.decoder.layers.*"),
                       (*NO_WIDTHS, "fsdp", "zero2", "attention efficient", "attention flash"),  # whose kernels refuse channels, as they lie in memory
                       checkpointed="model.language_model.encoder.layers.*,model.language_model.decoder.layers.*,inputs:model.language_model.shared+model.language_model.decoder.embed_tokens"),
    "pp_ocrv5_server_rec": Facts((8, 12, 16), ("model.backbone.encoder,head.encoder.svtr_block.*", "model,head.encoder"), (*NO_WIDTHS, *NO_TOKENS),
                                 units=":model.backbone.encoder.stages.*,head.encoder.conv_block.*,head.encoder.svtr_block.*", checkpointed="head.encoder.svtr_block.*"),
    "prompt_depth_anything": Facts((8, 12, 16), ("backbone.encoder.layer.*", "backbone,neck"), (*NO_WIDTHS, *NO_TOKENS, "attention"),
                                   units=":backbone.encoder.layer.*,neck.reassemble_stage.layers.*,neck.fusion_stage.layers.*", checkpointed="backbone.encoder.layer.*"),
    "esmfold2": Facts((4, 4, 4), ("folding_trunk.layers.*,lm_encoder.layers.*,msa_encoder.layers.*", "input_embedder,language_model,lm_encoder,msa_encoder,folding_trunk,parcae"),
                      (*NO_WIDTHS, *NO_TOKENS, "attention flash", "precision"),  # whose kernel takes no mask; its norms count in 32 bits, with weights that must have as many
                      units=":input_embedder.atom_encoder.layers.*,esmc.layers.*,folding_trunk.layers.*,lm_encoder.layers.*,parcae.output_stack.layers.*,structure_head.atom_encoder.layers.*,"
                            "structure_head.atom_decoder.layers.*,structure_head.token_transformer.layers.*,confidence_head.folding_trunk.layers.*,msa_encoder.layers.*",
                      checkpointed="input_embedder.atom_encoder.layers.*,folding_trunk.layers.*,lm_encoder.layers.*,parcae.output_stack.layers.*,msa_encoder.layers.*"),
    "pe_audio": Facts((8, 12, 16), ("text_model.layers.*,audio_encoder.layers.*", "text_model,audio_encoder"), (*NO_WIDTHS, *NO_TOKENS, "attention flash"),  # whose kernel takes no mask
                      units=":text_model.layers.*,audio_encoder.embedder.dac_encoder.block.*,audio_encoder.layers.*", checkpointed="text_model.layers.*,audio_encoder.layers.*,inputs:text_model.embeddings.tok_embeddings"),
}
