# SPDX-License-Identifier: Apache-2.0
"""The models of the last draw, without torch: by lot, and looked at once, when the rules were frozen. What was mended since, docs/accuracy.md says."""

from typing import Dict

from facts import NO_BLOCKS, NO_LINEAR, NO_TOKENS, NO_WIDTHS, ONE_RANK, Facts

_WRITTEN_OUT = ("attention",)  # in each of them

HELD_OUT: Dict[str, Facts] = {
    "monai_transformer": Facts((4, 8, 8), ("blocks.*", "token_embeddings,position_embeddings,blocks"),
                               (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "ddp", "zero1"),  # which wait for gradients of norms before attention to something else, of which there is none
                               ":blocks.*.mlp", units=":blocks.*"),
    "monai_basic_unet": Facts((4, 4, 4), ("conv_0,down_1,down_2,down_3,down_4", "conv_0,down_1,down_2,down_3,down_4,upcat_4,upcat_3,upcat_2,upcat_1"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS),
                              units=":conv_0.*,down_1.*,down_2.*,down_3.*,down_4.*,upcat_4.convs.*,upcat_3.convs.*,upcat_2.convs.*,upcat_1.convs.*"),
    "x_transformers_vi_transformer": Facts((8, 12, 8), ("attn_layers.layers.*", "pos_embedding,patch_to_embedding,attn_layers"), (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT),
                                           ":attn_layers.layers.*.1.ff", units=":patch_to_embedding.*,attn_layers.layers.*.0.*,attn_layers.layers.*.1"),
    "x_transformers_full_bandwidth": Facts((4, 8, 8), ("net.attn_layers.layers.*", "net.post_emb_norm,net.attn_layers,transitions"), (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT),
                                           ":net.attn_layers.layers.*.1.ff", units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1"),
    "monai_vit": Facts((8, 8, 8), ("blocks.*", "cls_token,patch_embedding,blocks,norm"),
                       (*NO_BLOCKS, *ONE_RANK, *NO_TOKENS, *_WRITTEN_OUT, "ddp", "zero1"),  # as of its other transformer
                       ":blocks.*.mlp", units=":blocks.*"),
    "monai_senet": Facts((8, 8, 8), ("layer1.*,layer2.*,layer3.*,layer4.*", "layer0,layer1,layer2,layer3,layer4"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention"),  # of which there is none
                         units=":layer1.*,layer2.*,layer3.*,layer4.*"),
    "x_transformers_free_transformer": Facts((4, 8, 8), ("encoder.layers.*,decoder_head.layers.*,decoder_tail.layers.*",
                                                         "token_emb,query_token_for_latents,encoder,to_latent_bit_logits,from_latent_to_condition,decoder_head,decoder_tail"),
                                             (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "precision"),  # in which it multiplies what each code is, in 32 bits
                                             ":encoder.layers.*.1.ff,decoder_head.layers.*.1.ff,decoder_tail.layers.*.1.ff",
                                             units=":encoder.layers.*.0.*,encoder.layers.*.1,decoder_head.layers.*.0.*,decoder_head.layers.*.1,decoder_tail.layers.*.0.*,decoder_tail.layers.*.1"),
    "x_transformers_encoder": Facts((4, 8, 8), ("attn_layers.layers.*", "token_emb,pos_emb,attn_layers"),
                                    (*NO_BLOCKS, *ONE_RANK, *_WRITTEN_OUT, "precision"),  # where its mask says so, attention makes zeros of 32 bits
                                    ":attn_layers.layers.*.1.ff", units=":attn_layers.layers.*.0.*,attn_layers.layers.*.1"),
}
