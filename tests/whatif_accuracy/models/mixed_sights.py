# SPDX-License-Identifier: Apache-2.0
"""Models of images and scans from the packages timm, monai and vit_pytorch: attention of one head, attention that is taken apart, gates, and masks that are learned."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .subject import Subject, images, labelled, scaled


def timm_iformer(size: str) -> Subject:
    """Convolutions, and in two of four stages attention with one head, whose result is weighed by a gate that is made along with its values; norms are of batches, and whole blocks are left out by chance."""
    from timm.models.iformer import IFormer

    pixels, wide = scaled(size, 96, 128, 160), scaled(size, 32, 32, 48)
    model = IFormer(num_classes=100, dims=(wide, 2 * wide, 4 * wide, 8 * wide), depths=(2, 2, scaled(size, 7, 10, 16), scaled(size, 3, 6, 6)), attn_groups=(0, 0, scaled(size, 1, 2, 3), scaled(size, 1, 2, 2)),
                    conv_ratio=scaled(size, 3, 3, 4), ffn_ratio=scaled(size, 2, 2, 3), drop_path_rate=0.1)
    return labelled(model, pixels)


def timm_coat(size: str) -> Subject:
    """Attention of what keys and values make of each other first, and convolutions of values for places; after four stages blocks that see three of them at once, each made as large as the others.

    All blocks of a stage have their convolutions in common, and the three stages in such a block one MLP.
    """
    from timm.models.coat import CoaT

    pixels, heads = scaled(size, 64, 96, 128), scaled(size, 4, 8, 8)
    narrow, wide = scaled(size, 16, 19, 19) * heads, scaled(size, 32, 27, 40) * heads
    windows = {3: heads // 4, 5: 3 * heads // 8, 7: heads - heads // 4 - 3 * heads // 8}
    model = CoaT(img_size=pixels, patch_size=4, num_classes=100, embed_dims=(narrow, wide, wide, wide), serial_depths=(2, 2, 2, 2), parallel_depth=scaled(size, 2, 4, 6), num_heads=heads, crpe_window=windows)
    return labelled(model, pixels)


def monai_attentionunet(size: str) -> Subject:
    """A U-Net in three dimensions: what goes across at each level is weighed first, by one number for each place, which comes of it and of what comes up."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import AttentionUnet

    wide, side, organs = scaled(size, 8, 12, 20), scaled(size, 32, 32, 48), scaled(size, 2, 3, 3)
    model = AttentionUnet(spatial_dims=3, in_channels=1, out_channels=organs, channels=[wide << level for level in range(5)], strides=(2, 2, 2, 2), dropout=0.1)
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    return Subject(model, lambda count: (torch.randn(count, 1, side, side, side), torch.randint(organs, (count, 1, side, side, side))), lambda module, scan, labels: loss(module(scan), labels))


def vit_pytorch_simple_vit_with_sparse_gating(size: str) -> Subject:
    """To what is attended, small queries and keys say as well, whose products are a mask between nothing and all; how much of it there is in all layers is part of the loss."""
    from vit_pytorch.simple_vit_with_sparse_gating import SimpleViTWithSparseGating

    pixels, wide = scaled(size, 64, 96, 112), scaled(size, 192, 256, 384)
    model = SimpleViTWithSparseGating(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide)

    def loss(module: nn.Module, given: Tensor, labels: Tensor) -> Tensor:
        logits, density = module(given, return_loss=True)
        return F.cross_entropy(logits, labels) + density

    return Subject(model, images(pixels, 100), loss)
