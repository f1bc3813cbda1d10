# SPDX-License-Identifier: Apache-2.0
"""Models of images and films from the packages timm and diffusers."""

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


def timm_efficientvit_mit(size: str) -> Subject:
    """Convolutions, and in two of four stages attention without softmax, in float32, of queries, keys and values in two scales."""
    from timm.models.efficientvit_mit import EfficientVit

    wide = scaled(size, 16, 24, 32)
    model = EfficientVit(widths=(wide, 2 * wide, 4 * wide, 8 * wide, 16 * wide), depths=(1, 2, 2, 2, 2), head_dim=16, head_widths=(1024, 1280), num_classes=100)
    return _labelled(model, scaled(size, 64, 128, 192))


def timm_mobilevit(size: str) -> Subject:
    """Convolutions, and in three of five stages attention between the same points of all patches."""
    from timm.models.byobnet import ByobNet, ByoModelCfg
    from timm.models.mobilevit import _inverted_residual_block, _mobilevit_block

    wide = scaled(size, 16, 32, 32)
    late = [_mobilevit_block(d=1, c=part * wide, s=2, transformer_dim=(part + 1) * wide, transformer_depth=depth, patch_size=2, br=2.0) for part, depth in ((3, 2), (4, 4), (5, 3))]
    config = ByoModelCfg(blocks=(_inverted_residual_block(d=1, c=wide, s=1, br=2.0), _inverted_residual_block(d=3, c=3 * wide // 2, s=2, br=2.0), *late), stem_chs=wide, stem_type="3x3", stem_pool="", downsample="",
                         act_layer="silu", num_features=20 * wide)
    return _labelled(ByobNet(config, num_classes=100), scaled(size, 64, 128, 192))


def timm_efficientvit_msra(size: str) -> Subject:
    """Each head attends within windows to a share of the channels, to which is added what the head before it has made; norms are of batches, also before the last layer."""
    from timm.models.efficientvit_msra import EfficientVitMsra

    part, pixels = scaled(size, 32, 64, 96), scaled(size, 128, 192, 256)
    return _labelled(EfficientVitMsra(pixels, num_classes=100, embed_dim=(2 * part, 4 * part, 6 * part)), pixels)


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


def diffusers_unet2d(size: str) -> Subject:
    """Says what was added to an image, and is told how much: four sizes of it, and attention in all but the largest."""
    wide, pixels = scaled(size, 32, 48, 64), scaled(size, 32, 32, 48)
    model = of_diffusers("UNet2DModel")(sample_size=pixels, block_out_channels=(wide, 2 * wide, 3 * wide, 4 * wide), norm_num_groups=16)

    def mended(model: nn.Module, given: Tensor, steps: Tensor, noise: Tensor) -> Tensor:
        return F.mse_loss(model(given, steps).sample, noise)

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3, pixels, pixels), torch.randint(1000, (samples,)), torch.randn(samples, 3, pixels, pixels)

    return Subject(model, sample, mended)


def diffusers_minimax_h3(size: str) -> Subject:
    """Films as few numbers, and back: convolutions in three dimensions that look back in time make them, five frames at a time, and a transformer that sees three of them in time, and all places, draws them."""
    wide, pixels, frames = scaled(size, 16, 32, 48), scaled(size, 32, 48, 48), 6

    base: Any = of_diffusers("AutoencoderKLMiniMaxH3")

    class Both(base):
        def forward(self, film: Tensor) -> Any:
            likely = self.encode(film).latent_dist
            return self.decode(likely.sample()).sample, likely.kl()

    model = Both(latent_channels=16, block_out_channels=(wide, 2 * wide, 2 * wide, 4 * wide), spatial_downsample_factors=(2, 2, 2, 1), temporal_downsample_factors=(1, 2, 2, 1), norm_num_groups=16, decoder_num_layers=4,
                 decoder_num_attention_heads=4, decoder_attention_head_dim=scaled(size, 48, 64, 96), clip_length=5, token_drop=1, latents_mean=(0.0,) * 16, latents_std=(1.0,) * 16)

    def drawn(model: nn.Module, film: Tensor) -> Tensor:
        again, far = model(film)
        return F.mse_loss(again, film) + 1e-6 * far.mean()

    return Subject(model, lambda samples: (torch.randn(samples, 3, frames, pixels, pixels),), drawn)
