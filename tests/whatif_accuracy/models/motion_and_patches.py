# SPDX-License-Identifier: Apache-2.0
"""Models of images and films from the packages timm and diffusers, drawn anew."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .subject import Batch, Subject, labelled, scaled


def timm_qwen3_vit(size: str) -> Subject:
    """What sees in Qwen3-VL: places are learned for a larger grid, of which each step makes one of the image's size, and turned in attention as well; the last norm, of the mean, has no weights."""
    from timm.models.qwen3_vit import Qwen3VitClassifier

    pixels, heads = scaled(size, 128, 192, 256), scaled(size, 3, 5, 6)
    return labelled(Qwen3VitClassifier(img_size=pixels, num_classes=100, embed_dim=64 * heads, depth=scaled(size, 4, 5, 8), num_heads=heads, mlp_ratio=4.0), pixels)


def timm_inception_v4(size: str) -> Subject:
    """Up to four rows of convolutions beside each other, some as wide as one place; the network has one width, so sizes are those of images alone."""
    from timm.models.inception_v4 import InceptionV4

    return labelled(InceptionV4(num_classes=100, drop_rate=0.2), scaled(size, 96, 112, 128))


def diffusers_unet_motion_model(size: str) -> Subject:
    """Stable Diffusion's denoiser for films: behind each of its layers one attends along time, to places that are added to it; these alone are trained, as the adapter to it that they are."""
    pixels, wide, heads, frames, states = scaled(size, 8, 8, 16), scaled(size, 32, 48, 64), scaled(size, 8, 6, 8), scaled(size, 4, 8, 5), scaled(size, 128, 256, 256)
    model: Any = of_diffusers("UNetMotionModel")(sample_size=pixels, block_out_channels=(wide, 2 * wide, 4 * wide, 4 * wide), layers_per_block=1, norm_num_groups=16, cross_attention_dim=states,
                                                  num_attention_heads=heads, motion_num_attention_heads=heads)
    model.freeze_unet2d_params()

    def sample(samples: int) -> Batch:
        film = (samples, 4, frames, pixels, pixels)
        return torch.randn(film), torch.randn(film), torch.randint(1000, (samples,)), torch.randn(samples, 77, states)

    def mended(module: nn.Module, latents: Tensor, noise: Tensor, times: Tensor, words: Tensor) -> Tensor:
        return F.mse_loss(module(latents, times, words.repeat_interleave(frames, 0)).sample, noise)

    return Subject(model, sample, mended)


def diffusers_uvit_2d(size: str) -> Subject:
    """Guesses which of a codebook's entries stand where a mask is, for words: convolutions and attention to words around layers that attend to both; the large one halves its places at first, as the
    released one for large images does.

    How much is masked is drawn for each image, and losses are of what is masked.
    """
    heads, narrow, side, entries = scaled(size, 3, 5, 6), scaled(size, 2, 3, 4), scaled(size, 10, 12, 32), scaled(size, 512, 1024, 1024)
    hidden, wide = 64 * heads, 64 * narrow
    model = of_diffusers("UVit2DModel")(
        hidden_size=hidden, cond_embed_dim=256, micro_cond_encode_dim=64, micro_cond_embed_dim=5 * 64, encoder_hidden_size=256, vocab_size=entries + 64, codebook_size=entries, in_channels=wide, block_out_channels=wide,
        downsample=size == "large", upsample=size == "large", block_num_heads=narrow, num_hidden_layers=scaled(size, 3, 4, 4), num_attention_heads=heads, intermediate_size=11 * hidden // 4, sample_size=side)

    def sample(samples: int) -> Batch:
        return torch.randint(entries, (samples, side * side)), torch.randn(samples, 77, 256), torch.randn(samples, 256), torch.rand(samples, 5)

    def guessed(module: nn.Module, image: Tensor, states: Tensor, words: Tensor, conditions: Tensor) -> Tensor:
        samples, places = image.shape
        masked = (places * torch.cos(torch.rand(samples, device=image.device) * math.pi * 0.5)).round().clamp(min=1)
        mask = torch.rand(samples, places, device=image.device).argsort(dim=-1) < masked.unsqueeze(-1)
        given, labels = torch.where(mask, entries + 63, image), torch.where(mask, image, -100)
        logits = module(given.view(samples, side, side), states, words, conditions)
        return F.cross_entropy(logits.reshape(samples, entries, -1), labels, ignore_index=-100)

    return Subject(model, sample, guessed)
