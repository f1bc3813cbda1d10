# SPDX-License-Identifier: Apache-2.0
"""Models of images, films and sound from the packages timm and diffusers, drawn for another look."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .subject import Batch, Subject, labelled, scaled


def timm_resnest(size: str) -> Subject:
    """What two groups of a convolution make is added up by shares that all places of a channel have a say in; the large one is ResNeSt-50d, the medium one ResNeSt-26d."""
    from timm.models import resnest

    make, wide = getattr(resnest, f"resnest{scaled(size, 14, 26, 50)}d"), scaled(size, 32, 64, 64)
    return labelled(make(num_classes=100, channels=(wide, 2 * wide, 4 * wide, 8 * wide)), scaled(size, 64, 96, 112))


def timm_res2net(size: str) -> Subject:
    """Channels of a block are split in four, of which each goes through a convolution with what the one before has made, and are put beside each other again; the large one is Res2Net-50."""
    from timm.models.res2net import res2net50_26w_4s

    wide = scaled(size, 32, 48, 64)
    model = res2net50_26w_4s(num_classes=100, layers=(scaled(size, 2, 3, 3), scaled(size, 2, 4, 4), scaled(size, 2, 6, 6), scaled(size, 2, 3, 3)), channels=(wide, 2 * wide, 4 * wide, 8 * wide))
    return labelled(model, scaled(size, 64, 96, 128))


def diffusers_prior_transformer(size: str) -> Subject:
    """Makes of a text what CLIP would say of its image, as the prior of Kandinsky does: words, the text as a whole, time, what there is of the image and a place for the answer, of which each sees those before it."""
    heads, said, words = scaled(size, 32, 64, 96), scaled(size, 320, 640, 1280), 77
    model: Any = of_diffusers("PriorTransformer")(num_attention_heads=4, attention_head_dim=heads, num_layers=4, embedding_dim=said, num_embeddings=words)
    for known in (model.clip_mean, model.clip_std):  # of all images, before training
        known.requires_grad_(False)

    def sample(samples: int) -> Batch:
        there = torch.arange(words) < words - 7 * torch.arange(samples)[:, None] % 70
        return torch.randn(samples, said), torch.randn(samples, said), torch.rand(samples), torch.randint(1000, (samples,)), torch.randn(samples, said), torch.randn(samples, words, said), there

    def told(module: nn.Module, image: Tensor, noise: Tensor, parts: Tensor, times: Tensor, text: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        part = parts.view(-1, 1)
        made = module(part.sqrt() * image + (1 - part).sqrt() * noise, times, text, states, mask).predicted_image_embedding
        return F.mse_loss(made.float(), image.float())

    return Subject(model, sample, told)


def diffusers_autoencoder_longcat_audio_dit(size: str) -> Subject:
    """Sound as few numbers, and back: convolutions, whose weights are directions and lengths, and waves between them that are trained; past each block, means of its channels, or copies.

    It is to sound alike, and to look alike in spectra of two windows.
    """
    length = scaled(size, 4096, 4096, 8192)
    model = of_diffusers("LongCatAudioDiTVae")(channels=scaled(size, 8, 16, 24), c_mults=[1, 2, 4, 8, 16], strides=[2, 4, 4, 8, 8])

    def spectrum(sound: Tensor, window: int) -> Tensor:
        return torch.stft(sound, window, window // 4, window=torch.hann_window(window, device=sound.device), return_complex=True).abs()

    def alike(module: nn.Module, sound: Tensor) -> Tensor:
        made, wanted = module(sound, sample_posterior=True).sample.squeeze(1).float(), sound.squeeze(1).float()
        apart = F.l1_loss(made, wanted)
        for window in (2048, 512):
            first, second = spectrum(made, window), spectrum(wanted, window)
            apart = apart + F.l1_loss(first, second) + F.l1_loss(first.clamp(min=1e-5).log10(), second.clamp(min=1e-5).log10())
        return apart

    return Subject(model, lambda samples: (torch.randn(samples, 1, length),), alike)


def timm_nextvit(size: str) -> Subject:
    """Blocks of convolutions in groups, and after some of them one in which most channels attend to fewer places, and a convolution makes the others; the network has one width, the large one is Next-ViT-S."""
    from timm.models.nextvit import NextViT

    model = NextViT(in_chans=3, num_classes=100, depths=(scaled(size, 1, 2, 3), scaled(size, 1, 2, 4), scaled(size, 5, 5, 10), scaled(size, 1, 1, 3)))
    return labelled(model, scaled(size, 64, 96, 112))


def timm_nest(size: str) -> Subject:
    """Attention within blocks of an image, of which four are put together for each level; half of the branches are left out by chance in the end; the large one is NesT-T."""
    from timm.models.nest import Nest

    heads, pixels = scaled(size, 2, 2, 3), scaled(size, 64, 96, 128)
    model = Nest(img_size=pixels, num_classes=100, embed_dims=(32 * heads, 64 * heads, 128 * heads), num_heads=(heads, 2 * heads, 4 * heads), depths=(2, 2, scaled(size, 2, 5, 8)))
    return labelled(model, pixels)


def diffusers_transformer_hunyuan_video_framepack(size: str) -> Subject:
    """Draws the next frames of a film: the more a frame lies back, the more of it is a patch. Words, of which a mask says how many there are, are refined before, and come with an image's patches into each attention.

    In its last blocks, one layer makes of attention and of the MLP beside it what is added.
    """
    pixels, heads, frames, words = scaled(size, 8, 12, 16), scaled(size, 32, 48, 64), scaled(size, 3, 4, 5), 32
    turned = 2 * (7 * heads // 32)
    near, middle, far = 2, 2, 16  # frames that lie back: the first one, with the last, those before, and all before these
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


def diffusers_transformer_longcat_audio_dit(size: str) -> Subject:
    """Makes speech of a text, and of how it begins: latents attend to each other, then to the text, which convolutions have been through; masks say how long both are, and all blocks share what times and text scale."""
    wide, length, words = scaled(size, 128, 256, 384), scaled(size, 64, 128, 192), scaled(size, 32, 48, 64)
    model = of_diffusers("LongCatAudioDiTTransformer")(dit_dim=wide, dit_depth=4, dit_heads=4, dit_text_dim=256)

    def sample(samples: int) -> Batch:
        sound, each = (samples, length, 64), torch.arange(samples)[:, None]
        said, there = torch.arange(words) < words - 3 * each % (words // 2), torch.arange(length) < length - 5 * each % (length // 2)
        return torch.randn(sound), torch.randn(sound), torch.rand(samples), torch.randn(samples, words, 256), said, there, there & (torch.arange(length) >= length // 4)

    def spoken(module: nn.Module, sound: Tensor, noise: Tensor, parts: Tensor, states: Tensor, said: Tensor, there: Tensor, asked: Tensor) -> Tensor:
        part, wanted = parts.view(-1, 1, 1), asked.unsqueeze(-1)
        made = module(part * sound + (1 - part) * noise, states, said, parts, there, sound.masked_fill(wanted, 0)).sample
        return ((made - (sound - noise)).square() * wanted).sum() / wanted.sum() / sound.shape[-1]

    return Subject(model, sample, spoken)
