# SPDX-License-Identifier: Apache-2.0
"""More models of the packages vit_pytorch, segmentation_models_pytorch and open_clip, as their own examples build and train them."""

from typing import Any

import torch
from torch import nn

from .more_libraries import OF_CAMVID, on_camvid
from .sizes import VOCABULARY
from .subject import Subject, labelled, scaled


def vit_pytorch_max(size: str) -> Subject:
    """Each block is a convolution, then attention within windows, then attention between the same places of all windows; written out, with a learned bias for each distance."""
    from vit_pytorch.max_vit import MaxViT

    window = scaled(size, 3, 4, 7)
    pixels, depths = 32 * window, (scaled(size, 1, 1, 2), scaled(size, 1, 2, 2), scaled(size, 2, 3, 5), scaled(size, 1, 1, 2))
    model = MaxViT(num_classes=100, dim_conv_stem=32, dim=32, dim_head=32, depth=depths, window_size=window, dropout=0.1)
    return labelled(model, pixels)


def vit_pytorch_vit5(size: str) -> Subject:
    """Norms, registers and scales of residuals of later years in one: queries and keys are normed and turned, the class token's are not."""
    from vit_pytorch.vit_5 import ViT

    pixels, wide = scaled(size, 64, 96, 112), scaled(size, 192, 320, 384)
    model = ViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dim_head=scaled(size, 32, 64, 64), dropout=0.1,
                emb_dropout=0.1, num_registers=4)
    return labelled(model, pixels)


def smp_fpn(size: str) -> Subject:
    """Four depths of an EfficientNet, of which some blocks are left out for some samples, are made alike and added up. Trained as in the package's example on pets."""
    from segmentation_models_pytorch import FPN
    from segmentation_models_pytorch.losses import BINARY_MODE, DiceLoss

    pixels = scaled(size, 64, 96, 128)
    model = FPN(f"efficientnet-b{scaled(size, 0, 2, 3)}", encoder_weights=None, classes=1)
    overlap = DiceLoss(BINARY_MODE, from_logits=True)
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(2, (count, 1, pixels, pixels)).float()), lambda module, given, masks: overlap(module(given), masks))


def open_clip_eva02(size: str) -> Subject:
    """A tower of timm's for images, whose places are turns and whose MLPs are gated and normed, and open_clip's own for texts, in a module of its own as its configurations of EVA02 have it."""
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIPTextCfg, CLIPVisionCfg, CustomTextCLIP
    from timm.models import eva, register_model

    pixels, wide, words, layers = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32), scaled(size, 3, 4, 6)

    def narrower(pretrained: bool = False, **settings: Any) -> nn.Module:
        return eva.eva02_base_patch16_clip_224(pretrained, img_size=pixels, embed_dim=wide, depth=layers, num_heads=wide // 64, **settings)

    narrower.__name__ = f"eva02_base_patch16_clip_{size}"
    register_model(narrower)
    model = CustomTextCLIP(128, CLIPVisionCfg(timm_model_name=narrower.__name__, timm_pool="token", timm_proj=None, image_size=pixels),
                           CLIPTextCfg(context_length=words, vocab_size=VOCABULARY, width=wide, heads=4, layers=layers), nonscalar_logit_scale=True)
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))


def vit_pytorch_deepvit(size: str) -> Subject:
    """What heads attend to is mixed among them by a learned matrix, and normed over heads, before values are."""
    from vit_pytorch.deepvit import DeepViT

    pixels, wide = scaled(size, 64, 96, 112), scaled(size, 192, 256, 384)
    model = DeepViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dropout=0.1, emb_dropout=0.1)
    return labelled(model, pixels)


def vit_pytorch_simple(size: str) -> Subject:
    """Places are no parameters and stay on the host: each step copies them. Neither dropout nor a token of the class."""
    from vit_pytorch import SimpleViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    model = SimpleViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide)
    return labelled(model, pixels)


def smp_unetplusplus(size: str) -> Subject:
    """Between the encoder and each level up are more levels, each of which sees all those before it in its row. The encoder is one of timm's; trained as in the package's example on CamVid."""
    from segmentation_models_pytorch import UnetPlusPlus

    return on_camvid(UnetPlusPlus(f"tu-regnety_00{scaled(size, 2, 4, 8)}", encoder_weights=None, classes=OF_CAMVID), size)


def open_clip_rn50(size: str) -> Subject:
    """Its own ResNet for images, whose last layer is attention of what is there on average to all places, and its own tower for texts."""
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    pixels, wide, words = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32)
    model = CLIP(128, CLIPVisionCfg(layers=(3, 4, 6, 3), width=scaled(size, 16, 24, 32), image_size=pixels),
                 CLIPTextCfg(context_length=words, vocab_size=VOCABULARY, width=wide, heads=4, layers=scaled(size, 3, 4, 6)), nonscalar_logit_scale=True)
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))
