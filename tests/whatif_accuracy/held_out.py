# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

HELD_OUT: Dict[str, Facts] = {
    "pp_lcnet_v4": Facts((8, 12, 12), ("backbone.encoder.blocks.*", "backbone,last_convolution"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":backbone.encoder.blocks.*"),
    "audioflamingo3": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), (*ONE_RANK, "attention flash"),  # whose kernel takes no mask
                            ":model.audio_tower.layers.*.fc1",
                            units=":model.audio_tower.layers.*,model.language_model.layers.*",
                            checkpointed="model.audio_tower.layers.*,model.language_model.layers.*,inputs:model.audio_tower.conv1+model.language_model.embed_tokens"),
    "kimi_k25": Facts((4, 4, 4), ("model.language_model.layers.*", "model.vision_tower,model.mm_projector,model.language_model.layers,model.language_model.norm"),
                      (*ONE_RANK, "attention flash"),  # whose kernel takes no values that are narrower than keys
                      ":model.vision_tower.layers.*.mlp", units=":model.vision_tower.layers.*,model.language_model.layers.*",
                      checkpointed="model.vision_tower.layers.*,model.language_model.layers.*,inputs:model.language_model.embed_tokens"),
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
}
