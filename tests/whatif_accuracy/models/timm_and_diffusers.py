# SPDX-License-Identifier: Apache-2.0
"""Models of images and films from the packages timm and diffusers, drawn once more."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import Reconstruction, of_diffusers
from .subject import Batch, Subject, labelled, scaled


def timm_gcvit(size: str) -> Subject:
    """Attention within windows, in turns among their own places and of what convolutions have made of the whole image, which asks in every window; whole blocks are left out by chance."""
    from timm.models.gcvit import GlobalContextVit

    pixels, heads, deep = scaled(size, 64, 96, 128), scaled(size, 1, 2, 2), scaled(size, 2, 3, 4)
    model = GlobalContextVit(img_size=pixels, num_classes=100, embed_dim=scaled(size, 32, 48, 64), depths=(2, 2, 2 * deep, 2), num_heads=(heads, 2 * heads, 4 * heads, 8 * heads), drop_path_rate=0.2)
    return labelled(model, pixels)


def timm_lowformer(size: str) -> Subject:
    """Convolutions, and in two of four stages attention between places that a convolution has made fewer of and another makes as many again; its layers, and those of MLPs, are convolutions too."""
    from timm.models.lowformer import LowFormer

    wide, deep = scaled(size, 16, 20, 24), scaled(size, 2, 3, 4)
    model = LowFormer(width_list=[wide, 2 * wide, 4 * wide, 8 * wide, 16 * wide], depth_list=[scaled(size, 0, 1, 1), 1, 1, deep, deep], num_classes=100,
                      head_widths=(scaled(size, 768, 1536, 2304), scaled(size, 800, 1600, 2560)), downsample_expand_ratios=(6, 6, 6, 6))
    return labelled(model, scaled(size, 96, 128, 160))


def diffusers_kandinsky6_sr_vae(size: str) -> Subject:
    """Films as few numbers, and back, by convolutions that look back in time, and write what they make into tensors that are there; latents are seen again by each norm of the decoder.

    The large one's films go through in two parts, with the last frames of each layer kept between them.
    """
    wide, pixels, frames = scaled(size, 4, 6, 6), scaled(size, 32, 48, 32), scaled(size, 5, 5, 21)
    model = of_diffusers("Kandinsky6SRVAE")(latent_channels=16, encoder_block_out_channels=(wide, 4 * wide, 8 * wide, 8 * wide, 16 * wide),
                                            decoder_block_out_channels=(wide, 8 * wide, 8 * wide, 16 * wide, 16 * wide), layers_per_block=scaled(size, 1, 1, 2))

    def restored(module: nn.Module, given: Tensor) -> Tensor:
        made, divergence = module(given)
        return F.mse_loss(made, given) + 1e-6 * divergence.mean()

    return Subject(Reconstruction(model), lambda samples: (torch.randn(samples, 3, frames, pixels, pixels),), restored)


def diffusers_wan_animate(size: str) -> Subject:
    """Draws a film of a person after the poses and the face of another: faces go through convolutions eight at a time, what moves in them is written in directions that are made orthogonal, and after
    every other block each frame attends to its own face.

    Before the film comes a frame of the person, and beside it what is known of each frame; of the person attention sees an image too, with keys and values of its own.
    """
    pixels, heads, frames, face = scaled(size, 16, 20, 24), scaled(size, 32, 48, 64), scaled(size, 2, 2, 3), scaled(size, 32, 64, 64)
    wide = 4 * heads
    model: Any = of_diffusers("WanAnimateTransformer3DModel")(
        num_attention_heads=4, attention_head_dim=heads, text_dim=256, freq_dim=64, ffn_dim=12 * heads, num_layers=scaled(size, 2, 4, 4), image_dim=320, added_kv_proj_dim=wide, motion_encoder_size=face, motion_style_dim=128,
        motion_encoder_dim=128, motion_encoder_channel_sizes={str(side): min(128, 2048 // side) for side in (4, 8, 16, 32, 64)}, face_encoder_hidden_dim=wide, inject_face_latents_blocks=2)

    def sample(samples: int) -> Batch:
        film = (samples, 16, frames + 1, pixels, pixels)
        return (torch.randn(film), torch.randn(film), torch.randn(samples, 20, frames + 1, pixels, pixels), torch.randint(1000, (samples,)), torch.randn(samples, 512, 256), torch.randn(samples, 257, 320),
                torch.randn(samples, 16, frames, pixels, pixels), torch.randn(samples, 3, 4 * frames - 3, face, face))

    def drawn(module: nn.Module, latents: Tensor, velocity: Tensor, known: Tensor, times: Tensor, states: Tensor, image: Tensor, poses: Tensor, faces: Tensor) -> Tensor:
        made = module(torch.cat([latents, known], 1), times, states, image, poses, faces).sample
        return F.mse_loss(made[:, :, 1:], velocity[:, :, 1:])

    return Subject(model, sample, drawn)


def timm_xception(size: str) -> Subject:
    """Each convolution is of single channels, then of single places; the network has one width, so sizes are those of images alone."""
    from timm.models.xception import Xception

    return labelled(Xception(num_classes=100), scaled(size, 64, 96, 128))


def timm_lcnetv2(size: str) -> Subject:
    """Convolutions of single channels in up to three widths at once, which are added up, and one that all places of a channel have a say in; the last layers come after the mean."""
    from timm.models.lcnetv2 import LCNetV2

    model = LCNetV2(scale=scaled(size, 2, 3, 5) / 4, depths=(2, 2, scaled(size, 4, 6, 8), 2), num_classes=100, head_hidden_size=scaled(size, 640, 1280, 1280), drop_rate=0.2)
    return labelled(model, scaled(size, 64, 128, 160))


def diffusers_i2vgen_xl(size: str) -> Subject:
    """Makes a film of an image: layers of each frame and layers along time in turns, and attention to words and to what two encoders say of the image, which goes beside each frame too."""
    pixels, wide, frames, words, states = 16, scaled(size, 16, 24, 48), scaled(size, 3, 4, 6), 24, 128
    model = of_diffusers("I2VGenXLUNet")(block_out_channels=(wide, 2 * wide, 4 * wide, 4 * wide), layers_per_block=1, norm_num_groups=8, cross_attention_dim=states,
                                         attention_head_dim=scaled(size, 8, 8, 16))

    def sample(samples: int) -> Batch:
        film = (samples, 4, frames, pixels, pixels)
        return torch.randn(film), torch.randn(film), torch.randint(1000, (samples,)), torch.full((samples,), 16), torch.randn(film), torch.randn(samples, states), torch.randn(samples, words, states)

    def mended(module: nn.Module, latents: Tensor, noise: Tensor, times: Tensor, rate: Tensor, image: Tensor, seen: Tensor, said: Tensor) -> Tensor:
        return F.mse_loss(module(latents, times, rate, image, seen, said).sample, noise)

    return Subject(model, sample, mended)


def diffusers_ltx2(size: str) -> Subject:
    """Films and their sound at once, with layers of their own, and attention to words and to the other in each block; a mask says which words there are. With the turns that its released weights have."""
    side, frames, heads, sounds, words = scaled(size, 8, 10, 12), scaled(size, 2, 3, 3), scaled(size, 32, 48, 64), scaled(size, 24, 40, 40), 32
    wide = 4 * heads
    model = of_diffusers("LTX2VideoTransformer3DModel")(
        num_attention_heads=4, attention_head_dim=heads, cross_attention_dim=wide, audio_num_attention_heads=4, audio_attention_head_dim=heads // 2, audio_cross_attention_dim=wide // 2, num_layers=4,
        caption_channels=256, rope_type="split")

    def sample(samples: int) -> Batch:
        film, sound = (samples, frames * side * side, 128), (samples, sounds, 128)
        known = torch.arange(words) < words - torch.arange(samples)[:, None] % (words // 2)
        return torch.randn(film), torch.randn(film), torch.randn(sound), torch.randn(sound), torch.rand(samples), torch.randn(samples, words, 256), torch.randn(samples, words, 256), known

    def drawn(module: nn.Module, film: Tensor, noise: Tensor, sound: Tensor, sound_noise: Tensor, parts: Tensor, states: Tensor, sound_states: Tensor, mask: Tensor) -> Tensor:
        part, times = parts.view(-1, 1, 1), 1000 * parts
        made = module((1 - part) * film + part * noise, (1 - part) * sound + part * sound_noise, states, sound_states, times, sigma=times, encoder_attention_mask=mask.long(),
                      audio_encoder_attention_mask=mask.long(), num_frames=frames, height=side, width=side, audio_num_frames=sounds)
        return F.mse_loss(made.sample, noise - film) + F.mse_loss(made.audio_sample, sound_noise - sound)

    return Subject(model, sample, drawn)
