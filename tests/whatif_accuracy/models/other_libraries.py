# SPDX-License-Identifier: Apache-2.0
"""Models of images from the packages timm and diffusers."""

import importlib
import os
from typing import Any, Callable, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .subject import Batch, Subject, images, scaled


def _labelled(model: nn.Module, pixels: int) -> Subject:
    """One of timm, which hands out logits alone."""
    return Subject(model, images(pixels, 100), lambda module, given, labels: F.cross_entropy(module(given), labels))


def timm_vit(size: str) -> Subject:
    from timm.models.vision_transformer import VisionTransformer

    pixels = scaled(size, 64, 96, 128)
    return _labelled(VisionTransformer(img_size=pixels, num_classes=100, embed_dim=scaled(size, 192, 320, 512), depth=scaled(size, 4, 5, 6), num_heads=4), pixels)


def timm_efficientnet(size: str) -> Subject:
    """Leaves whole blocks out by chance, as its training does."""
    from timm.models import efficientnet

    make = getattr(efficientnet, f"efficientnet_b{scaled(size, 0, 1, 2)}")
    return _labelled(make(num_classes=100, drop_rate=0.2, drop_path_rate=0.2), scaled(size, 64, 96, 128))


def timm_metaformer(size: str) -> Subject:
    """Two stages of convolutions, then two of attention, between which channels go last."""
    from timm.models import metaformer

    width = scaled(size, 32, 48, 64)
    model = metaformer.MetaFormer(num_classes=100, depths=(2, 2, 3, 2), dims=(width, 2 * width, 4 * width, 8 * width),
                                  token_mixers=[metaformer.SepConv, metaformer.SepConv, metaformer.Attention, metaformer.Attention],
                                  norm_layers=[metaformer.LayerNorm2dNoBias] * 2 + [metaformer.LayerNormNoBias] * 2)
    return _labelled(model, scaled(size, 64, 96, 128))


def timm_regnet(size: str) -> Subject:
    from timm.models import regnet

    make = getattr(regnet, f"regnety_{scaled(size, 2, 4, 8):03}")
    return _labelled(make(num_classes=100), scaled(size, 64, 96, 128))


def of_diffusers(name: str) -> Callable[..., nn.Module]:
    """Imported so that nothing asks for the device before train.py forks, as diffusers does to see whether there is one, and bitsandbytes, which it imports."""
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    from diffusers.utils import import_utils

    import_utils._bitsandbytes_available = False
    return getattr(importlib.import_module("diffusers"), name)


def _noisy(pixels: int, channels: int, beside: Callable[[int], Tuple[Tensor, ...]]) -> Callable[[int], Batch]:
    """Latents with noise, the noise, times, and what else the model is told."""
    return lambda count: (torch.randn(count, channels, pixels, pixels), torch.randn(count, channels, pixels, pixels), torch.randint(1000, (count,)), *beside(count))


def diffusers_unet(size: str) -> Subject:
    """The denoiser of Stable Diffusion."""
    width = scaled(size, 32, 64, 96)
    model = of_diffusers("UNet2DConditionModel")(
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        block_out_channels=(width, 2 * width, 2 * width), layers_per_block=1, norm_num_groups=16, cross_attention_dim=128, attention_head_dim=4)
    return Subject(model, _noisy(scaled(size, 16, 24, 32), 4, lambda count: (torch.randn(count, 24, 128),)),
                   lambda module, latents, noise, times, states: F.mse_loss(module(latents, times, states).sample, noise))


def diffusers_sd3(size: str) -> Subject:
    """Words and patches in one attention, each with layers of its own; in the first block patches have another attention for themselves."""
    pixels, heads = scaled(size, 16, 24, 32), scaled(size, 32, 64, 96)
    model = of_diffusers("SD3Transformer2DModel")(sample_size=pixels, in_channels=16, num_layers=4, attention_head_dim=heads, num_attention_heads=4, joint_attention_dim=256,
                                                 caption_projection_dim=4 * heads, pooled_projection_dim=128, pos_embed_max_size=32, dual_attention_layers=(0,), qk_norm="rms_norm")
    return Subject(model, _noisy(pixels, 16, lambda count: (torch.randn(count, 24, 256), torch.randn(count, 128))),
                   lambda module, latents, noise, times, states, pooled: F.mse_loss(module(latents, states, pooled, times).sample, noise))


class Reconstruction(nn.Module):
    """An autoencoder in one pass, which diffusers' own does not give the latents' distribution out of."""

    def __init__(self, vae: Any) -> None:
        super().__init__()
        self.vae = vae

    def enable_gradient_checkpointing(self) -> None:
        self.vae.enable_gradient_checkpointing()

    def forward(self, pixels: Tensor) -> Tuple[Tensor, Tensor]:
        latents = self.vae.encode(pixels).latent_dist
        return self.vae.decode(latents.sample()).sample, latents.kl()


def diffusers_vae(size: str) -> Subject:
    """The autoencoder of Stable Diffusion."""
    pixels, width = scaled(size, 32, 48, 64), scaled(size, 32, 48, 64)
    model = of_diffusers("AutoencoderKL")(down_block_types=("DownEncoderBlock2D",) * 3, up_block_types=("UpDecoderBlock2D",) * 3, block_out_channels=(width, 2 * width, 4 * width), norm_num_groups=16)

    def loss(module: nn.Module, given: Tensor) -> Tensor:
        made, divergence = module(given)
        return F.mse_loss(made, given) + 1e-6 * divergence.mean()

    return Subject(Reconstruction(model), lambda count: (torch.randn(count, 3, pixels, pixels),), loss)


def diffusers_dit(size: str) -> Subject:
    """Each block's norms are scaled by times and classes."""
    pixels = scaled(size, 16, 24, 32)
    model = of_diffusers("DiTTransformer2DModel")(num_attention_heads=4, attention_head_dim=scaled(size, 32, 64, 96), in_channels=4, num_layers=4, sample_size=pixels, num_embeds_ada_norm=100)
    return Subject(model, _noisy(pixels, 4, lambda count: (torch.randint(100, (count,)),)),
                   lambda module, latents, noise, times, labels: F.mse_loss(module(latents, times, labels).sample, noise))
