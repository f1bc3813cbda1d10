# SPDX-License-Identifier: Apache-2.0
"""Models of the packages timm, diffusers, monai and vit_pytorch that read images of other shapes each, make films of an image, look far without steps, and add much of what came before to each layer."""

from typing import List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .subject import Batch, Subject, images, scaled


def timm_naflexvit(size: str) -> Subject:
    """Images upright, across and square, as patches of which a mask says which there are: places are made of one picture of them as large as each shape, and the answer is of the mean of what there is. As wide as timm's
    naflexvit_base_patch16_gap in parts. The program says which shapes there are, since the model looks on the device for them."""
    from timm.models import naflexvit

    side, heads = scaled(size, 8, 12, 16), scaled(size, 3, 5, 6)
    narrow, long = int(side * 0.75**0.5), int(side / 0.75**0.5)
    settings = naflexvit.NaFlexVitCfg(patch_size=16, embed_dim=64 * heads, depth=scaled(size, 4, 5, 6), num_heads=heads, init_values=1e-5, global_pool="avg", reg_tokens=4, fc_norm=True)

    def shapes(given: Tensor) -> List[Tuple[int, int]]:
        return [((side, side), (narrow, long), (long, narrow))[place % 3] for place in range(len(given))]

    naflexvit.calculate_naflex_grid_sizes = shapes

    def sample(samples: int) -> Batch:
        patches, places, known = torch.zeros(samples, side * side, 3 * 16 * 16), torch.zeros(samples, side * side, 2, dtype=torch.int64), torch.zeros(samples, side * side, dtype=torch.bool)
        for image, (rows, columns) in enumerate(shapes(patches)):
            there = rows * columns
            patches[image, :there], known[image, :there] = torch.randn(there, 3 * 16 * 16), True
            places[image, :there] = torch.cartesian_prod(torch.arange(rows), torch.arange(columns))
        return patches, places, known, torch.randint(100, (samples,))

    def named(module: nn.Module, patches: Tensor, places: Tensor, known: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(module({"patches": patches, "patch_coord": places, "patch_valid": known}), labels)

    return Subject(naflexvit.NaFlexVit(settings, num_classes=100), sample, named)


def diffusers_unet_spatio_temporal_condition(size: str) -> Subject:
    """Stable Video Diffusion's denoiser: each layer of a frame is followed by one along time, and a learned part of each is taken; beside each frame goes the image that the film is made of, and attention sees what an encoder says
    of it. Noise is as large as is drawn for each film, and losses weigh more where it is small."""
    pixels, frames, states = 16, scaled(size, 2, 4, 5), scaled(size, 128, 256, 256)
    wide, heads = {"small": (32, 32, 64, 64), "medium": (32, 64, 128, 128), "large": (64, 128, 128, 128)}[size], scaled(size, 32, 32, 64)
    model = of_diffusers("UNetSpatioTemporalConditionModel")(block_out_channels=wide, layers_per_block=1, cross_attention_dim=states, num_attention_heads=tuple(part // heads for part in wide), num_frames=frames)

    def sample(samples: int) -> Batch:
        film = (samples, frames, 4, pixels, pixels)
        told = torch.tensor([[6.0, 127.0, 0.02]]).repeat(samples, 1)
        return torch.randn(film), torch.randn(film), (0.7 + 1.6 * torch.randn(samples)).exp(), torch.randn(samples, 4, pixels, pixels), torch.randn(samples, 1, states), told

    def mended(module: nn.Module, latents: Tensor, noise: Tensor, sizes: Tensor, image: Tensor, seen: Tensor, told: Tensor) -> Tensor:
        sigmas = sizes[:, None, None, None, None]
        noisy = latents + noise * sigmas
        beside = image.unsqueeze(1).repeat(1, frames, 1, 1, 1)
        made = module(torch.cat([noisy / (sigmas**2 + 1) ** 0.5, beside], 2), 0.25 * sizes.log(), seen, told).sample
        mended_film = made * (-sigmas / (sigmas**2 + 1) ** 0.5) + noisy / (sigmas**2 + 1)
        weights = (1 + sigmas**2) * sigmas**-2.0
        return (weights.float() * (mended_film.float() - latents.float()) ** 2).reshape(len(latents), -1).mean(1).mean()

    return Subject(model, sample, mended)


def monai_highresnet(size: str) -> Subject:
    """A scan stays as large as it is through all layers, which look ever farther between their places; where a layer has more channels than the last, what goes past it is filled up with zeros. Sizes are those of scans alone."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import HighResNet

    organs, sides = scaled(size, 2, 4, 8), {"small": (16, 16, 16), "medium": (24, 24, 16), "large": (32, 32, 16)}[size]
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    return Subject(HighResNet(out_channels=organs), lambda count: (torch.randn(count, 1, *sides), torch.randint(organs, (count, 1, *sides))), lambda module, scan, labels: loss(module(scan), labels))


def vit_pytorch_vit_with_keel_post_ln(size: str) -> Subject:
    """What came before a layer is multiplied by the number of layers, added to what the layer makes, and normed."""
    from vit_pytorch.vit_with_keel_post_ln import ViT

    pixels, wide = scaled(size, 64, 96, 112), scaled(size, 192, 320, 384)
    model = ViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dropout=0.1, emb_dropout=0.1)
    return Subject(model, images(pixels, 100), lambda module, given, labels: F.cross_entropy(module(given), labels))
