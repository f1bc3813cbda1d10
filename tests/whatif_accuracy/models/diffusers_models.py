# SPDX-License-Identifier: Apache-2.0
"""Models from the package diffusers."""

import importlib
import os
from typing import Callable, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .subject import Batch, Subject, scaled


def diffusers_transformer_wan(size: str) -> Subject:
    """Text to video: patches of a video attend to each other, with rotary positions in space and time, then to 512 text tokens. The timestep scales norms
    and residual branches, in float32."""
    pixels, frames, wide = scaled(size, 16, 20, 24), scaled(size, 2, 3, 4), scaled(size, 128, 192, 256)
    model = of_diffusers("WanTransformer3DModel")(num_attention_heads=4, attention_head_dim=wide // 4, text_dim=512, freq_dim=256, ffn_dim=6 * wide, num_layers=scaled(size, 4, 5, 6))

    def sample(samples: int) -> Batch:
        film = (samples, 16, frames, pixels, pixels)
        return torch.randn(film), torch.randn(film), torch.rand(samples), torch.randn(samples, 512, 512)

    def drawn(module: nn.Module, film: Tensor, noise: Tensor, parts: Tensor, states: Tensor) -> Tensor:
        part = parts.view(-1, 1, 1, 1, 1)
        return F.mse_loss(module((1 - part) * film + part * noise, 1000 * parts, states).sample, noise - film)

    return Subject(model, sample, drawn)


def _padded(samples: int, words: int) -> Tensor:
    """The mask of captions of different lengths; the first one is the longest."""
    return torch.arange(words) < words - torch.arange(samples)[:, None] % (words // 2)


def diffusers_kandinsky6(size: str) -> Subject:
    """Video and its sound together, each with tokens and layers of its own, and attention to the other in each block.

    With the options of its released weights, and an image to start from, which is one more frame at the position of the first.
    """
    pixels, heads, frames, sounds, words = scaled(size, 16, 20, 24), scaled(size, 32, 48, 64), scaled(size, 2, 2, 3), 40, 24
    model = of_diffusers("Kandinsky6Transformer3DModel")(
        in_text_dim=256, in_text_dim2=128, time_dim=heads, model_dim=4 * heads, ff_dim=16 * heads, num_text_blocks=2, num_visual_blocks=3, axes_dims=(heads // 4, 3 * heads // 8, 3 * heads // 8),
        text_token_padding=True, ca_rope=True, cross_gates=True, fix_modulation=True, visual_token_type_num_embeddings=2)

    def sample(samples: int) -> Batch:
        film, sound = torch.randn(samples, frames, pixels, pixels, 16), torch.randn(samples, sounds, 20)
        return film, torch.randn_like(film), torch.randn(samples, 1, pixels, pixels, 16), sound, torch.randn_like(sound), 1000 * torch.rand(samples), torch.randn(samples, words, 256), torch.randn(samples, 128), \
            _padded(samples, words)

    def drawn(module: nn.Module, film: Tensor, flow: Tensor, first: Tensor, sound: Tensor, sound_flow: Tensor, times: Tensor, states: Tensor, pooled: Tensor, mask: Tensor) -> Tensor:
        seen = torch.cat([film, first], 1)
        given = seen.new_zeros(*seen.shape[:-1], 1)
        given[:, -1] = 1
        kinds = torch.zeros(seen.shape[:2], dtype=torch.long, device=seen.device)
        kinds[:, -1] = 1
        side = torch.arange(pixels // 2, device=seen.device)
        places = torch.cat([torch.arange(frames, device=seen.device), side.new_zeros(1)]), side, side
        made = module(torch.cat([seen, torch.zeros_like(seen), given], -1), states, pooled, times, sound, places, mask, kinds)
        return F.mse_loss(made.sample[:, :-1], flow) + F.mse_loss(made.audio_sample, sound_flow)

    return Subject(model, sample, drawn)


def of_diffusers(name: str) -> Callable[..., nn.Module]:
    """Imports a class so that nothing uses the device before train.py forks: diffusers would check whether there is one, and so would bitsandbytes, which
    it imports."""
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    from diffusers.utils import import_utils

    import_utils._bitsandbytes_available = False
    return getattr(importlib.import_module("diffusers"), name)


def _noisy(pixels: int, channels: int, beside: Callable[[int], Tuple[Tensor, ...]]) -> Callable[[int], Batch]:
    """Latents, noise, timesteps, and the model's other inputs."""
    return lambda count: (torch.randn(count, channels, pixels, pixels), torch.randn(count, channels, pixels, pixels), torch.randint(1000, (count,)), *beside(count))


def diffusers_unet(size: str) -> Subject:
    """The denoiser of Stable Diffusion."""
    width = scaled(size, 32, 64, 96)
    model = of_diffusers("UNet2DConditionModel")(
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        block_out_channels=(width, 2 * width, 2 * width), layers_per_block=1, norm_num_groups=16, cross_attention_dim=128, attention_head_dim=4)
    return Subject(model, _noisy(scaled(size, 16, 24, 32), 4, lambda count: (torch.randn(count, 24, 128),)),
                   lambda module, latents, noise, times, states: F.mse_loss(module(latents, times, states).sample, noise))


def diffusers_dit(size: str) -> Subject:
    """The timestep and the class scale the norms of each block."""
    pixels = scaled(size, 16, 24, 32)
    model = of_diffusers("DiTTransformer2DModel")(num_attention_heads=4, attention_head_dim=scaled(size, 32, 64, 96), in_channels=4, num_layers=4, sample_size=pixels, num_embeds_ada_norm=100)
    return Subject(model, _noisy(pixels, 4, lambda count: (torch.randint(100, (count,)),)),
                   lambda module, latents, noise, times, labels: F.mse_loss(module(latents, times, labels).sample, noise))


def diffusers_cogvideox(size: str) -> Subject:
    """Text tokens and the patches of a video in one attention, with shared layers. The timestep scales norms and residual branches, separately for text and
    patches."""
    pixels, frames = scaled(size, 16, 24, 28), scaled(size, 3, 3, 4)
    model = of_diffusers("CogVideoXTransformer3DModel")(
        num_attention_heads=4, attention_head_dim=scaled(size, 48, 64, 96), time_embed_dim=scaled(size, 128, 256, 512), text_embed_dim=256, num_layers=4,
        sample_width=pixels, sample_height=pixels, sample_frames=4 * (frames - 1) + 1, max_text_seq_length=24)

    def sample(samples: int) -> Batch:
        return torch.randn(samples, frames, 16, pixels, pixels), torch.randn(samples, frames, 16, pixels, pixels), torch.randint(1000, (samples,)), torch.randn(samples, 24, 256)

    return Subject(model, sample, lambda module, latents, velocity, times, states: F.mse_loss(module(latents, states, times).sample, velocity))


def diffusers_wan_vace(size: str) -> Subject:
    """Video that follows another video: blocks of their own read the control video, and their outputs are added after every other block of the main model."""
    pixels, frames, heads = scaled(size, 16, 24, 32), scaled(size, 3, 3, 4), scaled(size, 32, 64, 96)
    model = of_diffusers("WanVACETransformer3DModel")(num_attention_heads=4, attention_head_dim=heads, text_dim=256, freq_dim=64, ffn_dim=16 * heads, num_layers=4, vace_layers=[0, 2])

    def sample(samples: int) -> Batch:
        film = (frames, pixels, pixels)
        return torch.randn(samples, 16, *film), torch.randn(samples, 16, *film), torch.randint(1000, (samples,)), torch.randn(samples, 24, 256), torch.randn(samples, 96, *film)

    return Subject(model, sample, lambda module, latents, velocity, times, states, followed: F.mse_loss(module(latents, times, states, control_hidden_states=followed).sample, velocity))


def diffusers_unet_spatio_temporal_condition(size: str) -> Subject:
    """The denoiser of Stable Video Diffusion: each layer within frames is followed by one along time, and a learned factor mixes the two. The image from
    which the video starts is concatenated to each frame, and attention sees its encoding. Each video has its own noise level, and losses weigh more for
    small noise."""
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


def diffusers_transformer_hunyuan_video_framepack(size: str) -> Subject:
    """Predicts the next frames of a video: the older a frame, the larger its patches. Text tokens, with a mask, are refined first, and join an image's
    tokens in each attention.

    In its last blocks, attention and MLP run in parallel and share one output layer.
    """
    pixels, heads, frames, words = scaled(size, 8, 12, 16), scaled(size, 32, 48, 64), scaled(size, 3, 4, 5), 32
    turned = 2 * (7 * heads // 32)
    near, middle, far = 2, 2, 16  # past frames: the first and the last one, those before the last, all older ones
    model = of_diffusers("HunyuanVideoFramepackTransformer3DModel")(
        num_attention_heads=4, attention_head_dim=heads, num_layers=2, num_single_layers=scaled(size, 2, 4, 4), text_embed_dim=256, pooled_projection_dim=128,
        rope_axes_dim=(heads - 2 * turned, turned, turned), has_image_proj=True, image_proj_dim=192, has_clean_x_embedder=True)

    def sample(samples: int) -> Batch:
        film, past = (samples, 16, frames, pixels, pixels), (torch.randn(samples, 16, part, pixels, pixels) for part in (near, middle, far))
        there = torch.arange(words) < words - 5 * torch.arange(samples)[:, None] % (words // 2)
        return (torch.randn(film), torch.randn(film), torch.rand(samples), torch.randn(samples, words, 256), there.float(), torch.randn(samples, 128), torch.randn(samples, 64, 192),
                torch.full((samples,), 6000.0), *past)

    def drawn(module: nn.Module, film: Tensor, noise: Tensor, parts: Tensor, states: Tensor, mask: Tensor, pooled: Tensor, image: Tensor, guidance: Tensor, last: Tensor, before: Tensor, first: Tensor) -> Tensor:
        part = parts.view(-1, 1, 1, 1, 1)
        beginning, long_ago, ago, just, now = torch.arange(near + middle + far + frames).split([1, far, middle, near - 1, frames])
        made = module((1 - part) * film + part * noise, 1000 * parts, states, mask, pooled, image, now, guidance, last, torch.cat([beginning, just]), before, ago, first, long_ago).sample
        return F.mse_loss(made, noise - film)

    return Subject(model, sample, drawn)
