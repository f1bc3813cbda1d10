# SPDX-License-Identifier: Apache-2.0
"""Still more models of the packages vit_pytorch, segmentation_models_pytorch and open_clip, as their own examples build and train them."""

import tempfile
from typing import Any

import torch
from torch import nn

from .more_libraries import OF_CAMVID, on_camvid
from .sizes import VOCABULARY
from .subject import Subject, labelled, scaled


def vit_pytorch_nest(size: str) -> Subject:
    """Attention within squares of a map, of which there are fewer at each level and in the end one: squares are samples meanwhile. All layers are convolutions, and channels lie first."""
    from vit_pytorch.nest import NesT

    pixels, heads = scaled(size, 64, 96, 128), scaled(size, 2, 3, 3)
    model = NesT(image_size=pixels, patch_size=4, dim=32 * heads, heads=heads, num_hierarchies=3, block_repeats=(2, 2, scaled(size, 2, 4, 6)), num_classes=100)
    return labelled(model, pixels)


def vit_pytorch_look_vit(size: str) -> Subject:
    """Few tokens look at many, and the many at the few by the same matrix turned round, without queries and keys of their own. Its learned places are not used."""
    from vit_pytorch.look_vit import LookViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 128, 192, 256)
    model = LookViT(image_size=pixels, num_classes=100, dim=wide, depth=scaled(size, 2, 3, 3), heads=4, dim_head=scaled(size, 32, 48, 64), patch_size=16, highres_patch_size=8, highres_mlp_factor=2,
                    cross_attn_heads=4, cross_attn_dim_head=scaled(size, 32, 48, 64), dropout=0.1)
    return labelled(model, pixels)


def smp_linknet(size: str) -> Subject:
    """What the encoder made of each level is added on the way up. The encoder is a MobileOne, whose layers are sums of several branches while it is trained, as in the package's example on CamVid."""
    from segmentation_models_pytorch import Linknet

    return on_camvid(Linknet(f"mobileone_s{scaled(size, 0, 1, 4)}", encoder_weights=None, classes=OF_CAMVID), size)


def open_clip_roberta(size: str) -> Subject:
    """Its own tower for images, and one of transformers for texts, which is taken from a folder with its configuration; of its words the mean is made. Texts are as long as can be: none is filled up."""
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIPTextCfg, CLIPVisionCfg, CustomTextCLIP
    from transformers import RobertaConfig

    pixels, wide, words, layers = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32), scaled(size, 3, 4, 4)
    with tempfile.TemporaryDirectory() as folder:
        RobertaConfig(vocab_size=VOCABULARY, hidden_size=wide, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=4 * wide, max_position_embeddings=words + 2,
                      type_vocab_size=1).save_pretrained(folder)
        model = CustomTextCLIP(128, CLIPVisionCfg(layers=layers, width=wide, patch_size=16, image_size=pixels), CLIPTextCfg(hf_model_name=folder, hf_model_pretrained=False), quick_gelu=True,
                               nonscalar_logit_scale=True)
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(2, VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))


def vit_pytorch_rvt(size: str) -> Subject:
    """Queries and keys are turned by their places in two dimensions, but for the class token's; queries are made by convolutions, and MLPs are gated."""
    from vit_pytorch.rvt import RvT

    pixels, wide = scaled(size, 64, 96, 112), scaled(size, 192, 256, 384)
    model = RvT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dim_head=scaled(size, 32, 64, 64), dropout=0.1,
                emb_dropout=0.1)
    return labelled(model, pixels)


def vit_pytorch_xcit(size: str) -> Subject:
    """Attention among channels, not places, which convolutions look after; then two blocks in which the class token alone asks. No layer is left out by chance."""
    from vit_pytorch.xcit import XCiT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 128, 256, 384)
    model = XCiT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), cls_depth=2, heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dim_head=scaled(size, 32, 64, 64),
                 dropout=0.1, emb_dropout=0.1)
    return labelled(model, pixels)


def smp_dpt(size: str) -> Subject:
    """What a transformer made of patches in four depths, each beside its class token, is made into maps of four sizes, which meet on the way up. Its encoder's last norm and head are not used."""
    from segmentation_models_pytorch import DPT
    from timm.models import register_model, vision_transformer

    wide, part = scaled(size, 192, 256, 384), scaled(size, 48, 96, 96)

    def narrower(pretrained: bool = False, **settings: Any) -> nn.Module:
        return vision_transformer.vit_base_patch16_224(pretrained, embed_dim=wide, depth=scaled(size, 4, 8, 12), num_heads=wide // 64, **settings)

    narrower.__name__ = f"vit_base_patch16_dpt_{size}"
    register_model(narrower)
    return on_camvid(DPT(f"tu-{narrower.__name__}", encoder_weights=None, decoder_intermediate_channels=(part, 2 * part, 4 * part, 8 * part), decoder_fusion_channels=scaled(size, 64, 96, 128),
                         classes=OF_CAMVID, dynamic_img_size=True), size)


def open_clip_coca(size: str) -> Subject:
    """Towers of images and of texts, and a third that tells from both of each word the next: learned queries ask what there is in the image."""
    from open_clip.coca_model import CoCa, MultimodalCfg
    from open_clip.loss import CoCaLoss
    from open_clip.model import CLIPTextCfg, CLIPVisionCfg

    pixels, wide, words, layers = scaled(size, 64, 96, 128), scaled(size, 128, 192, 256), scaled(size, 16, 24, 32), scaled(size, 3, 4, 4)
    text: Any = {"context_length": words, "vocab_size": VOCABULARY, "width": wide, "heads": 4, "layers": layers}
    model = CoCa(wide, MultimodalCfg(**text, attn_pooler_heads=8), CLIPTextCfg(**text, embed_cls=True, output_tokens=True),
                 CLIPVisionCfg(layers=layers, width=scaled(size, 192, 256, 384), patch_size=16, image_size=pixels, attentional_pool=True, attn_pooler_heads=8, output_tokens=True), nonscalar_logit_scale=True)
    losses = CoCaLoss(caption_loss_weight=2.0, clip_loss_weight=1.0)
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: sum(losses(**module(pictures, texts))))
