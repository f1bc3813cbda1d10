# SPDX-License-Identifier: Apache-2.0
"""Models of the packages monai, segmentation_models_pytorch, open_clip, vit_pytorch and x_transformers, as their own examples build and train them."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import VOCABULARY, length, width
from .subject import Batch, Subject, images, scaled, tokens


def monai_unet(size: str) -> Subject:
    """The network of MONAI's tutorial on the spleen: each level is a pair of residual units around the next, in three dimensions."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import UNet

    wide, side, organs = scaled(size, 16, 24, 32), scaled(size, 32, 48, 64), 3
    model = UNet(spatial_dims=3, in_channels=1, out_channels=organs, channels=[wide << level for level in range(5)], strides=(2, 2, 2, 2), num_res_units=2, norm="batch")
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    return Subject(model, lambda count: (torch.randn(count, 1, side, side, side), torch.randint(organs, (count, 1, side, side, side))), lambda module, scan, labels: loss(module(scan), labels))


def smp_unet(size: str) -> Subject:
    """Each level up sees what the encoder made of it: a ResNet of two kinds of blocks."""
    from segmentation_models_pytorch import Unet
    from segmentation_models_pytorch.losses import DiceLoss

    pixels = scaled(size, 64, 128, 192)
    model = Unet(f"resnet{scaled(size, 18, 34, 50)}", encoder_weights=None, classes=1)
    overlap = DiceLoss("binary")

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3, pixels, pixels), torch.randint(2, (samples, 1, pixels, pixels)).float()

    def loss(module: nn.Module, given: Tensor, masks: Tensor) -> Tensor:
        logits = module(given)
        return overlap(logits, masks) + F.binary_cross_entropy_with_logits(logits, masks)

    return Subject(model, sample, loss)


def open_clip_vit(size: str) -> Subject:
    """Two towers, of images and of their texts, whose attention is torch's own module. Its scale is no scalar, as open_clip makes it to be sharded."""
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    pixels, wide, words, layers = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32), scaled(size, 3, 4, 4)
    model = CLIP(128, CLIPVisionCfg(layers=layers, width=wide, patch_size=16, image_size=pixels),
                 CLIPTextCfg(context_length=words, vocab_size=VOCABULARY, width=wide, heads=4, layers=layers), nonscalar_logit_scale=True)
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))


def vit_pytorch_vit(size: str) -> Subject:
    """Attention is written out, and patches are cut by einops."""
    from vit_pytorch import ViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 320, 512)
    model = ViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=4, mlp_dim=2 * wide, dropout=0.1, emb_dropout=0.1)
    return Subject(model, images(pixels, 100), lambda module, given, labels: F.cross_entropy(module(given), labels))


def x_transformers_decoder(size: str) -> Subject:
    """Each layer is a list of norms, attention or an MLP, and what adds it up; the wrapper makes labels of what it is given, and the loss."""
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    model = TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=512, attn_layers=Decoder(dim=width(size), depth=4, heads=4))
    return Subject(AutoregressiveWrapper(model), tokens(VOCABULARY, length(size)), lambda module, ids: module(ids))
