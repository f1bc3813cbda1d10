# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

_REPVIT = "vision_encoder.backbone.timm_model.stages_"

HELD_OUT: Dict[str, Facts] = {
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
}
