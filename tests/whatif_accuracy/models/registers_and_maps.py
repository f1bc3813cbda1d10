# SPDX-License-Identifier: Apache-2.0
"""Models of the packages vit_pytorch, segmentation_models_pytorch and open_clip that came by lot, as their own examples build and train them."""

from typing import Any

import torch
from torch import nn

from .more_libraries import OF_CAMVID, on_camvid
from .sizes import VOCABULARY
from .subject import Subject, labelled, scaled


def vit_pytorch_registers(size: str) -> Subject:
    """Behind the patches are learned tokens that stand for no place, packed into one sequence with them and left out of the mean. Places are no parameters and stay on the host."""
    from vit_pytorch.simple_vit_with_register_tokens import SimpleViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    model = SimpleViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, num_register_tokens=4)
    return labelled(model, pixels)


def vit_pytorch_uvit(size: str) -> Subject:
    """What goes into each block of the first half is kept, and set beside what goes into its opposite in the second half; with learned tokens for no place. Of five blocks one has no opposite."""
    from vit_pytorch.simple_uvit import SimpleUViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    model = SimpleUViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, num_register_tokens=4)
    return labelled(model, pixels)


def smp_segformer(size: str) -> Subject:
    """Attention to what convolutions have left of all places, in four depths, and MLPs with a convolution of each channel; what linear layers make of the four is made as large as the first.

    As its released networks are, by the name of their encoder. Trained as in the package's example on CamVid.
    """
    from segmentation_models_pytorch import Segformer

    return on_camvid(Segformer(f"mit_b{scaled(size, 0, 1, 2)}", encoder_weights=None, decoder_segmentation_channels=scaled(size, 256, 256, 768), classes=OF_CAMVID), size)


def open_clip_vitamin(size: str) -> Subject:
    """A tower of timm's for images, of convolutions first and then of attention with gated MLPs, as open_clip's configurations of ViTamin have it; and its own for texts, in a module of its own."""
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIPTextCfg, CLIPVisionCfg, CustomTextCLIP
    from timm.models import register_model, vitamin

    part, pixels, wide, words, layers = scaled(size, 32, 48, 64), scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32), scaled(size, 3, 4, 6)
    convolved = vitamin.VitCfg(embed_dim=(part, 2 * part, wide), depths=(2, 4, 1), stem_width=part, conv_cfg=vitamin.VitConvCfg(norm_layer="layernorm2d", norm_eps=1e-6), head_type="1d")

    def narrower(pretrained: bool = False, **settings: Any) -> nn.Module:
        return vitamin.vitamin_small_224(pretrained, img_size=pixels, embed_dim=wide, depth=layers, num_heads=wide // 64, embed_cfg=convolved, **settings)

    narrower.__name__ = f"vitamin_small_{size}"
    register_model(narrower)
    model = CustomTextCLIP(128, CLIPVisionCfg(timm_model_name=narrower.__name__, timm_pool="", timm_proj="linear", timm_drop=0.0, timm_drop_path=0.1, image_size=pixels),
                           CLIPTextCfg(context_length=words, vocab_size=VOCABULARY, width=wide, heads=wide // 64, layers=layers), nonscalar_logit_scale=True)
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))
