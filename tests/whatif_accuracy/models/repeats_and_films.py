# SPDX-License-Identifier: Apache-2.0
"""Models of images and films from the packages timm and diffusers, drawn after the rules."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import Reconstruction, of_diffusers
from .subject import Batch, Subject, labelled, scaled


def _restored(model: nn.Module, given: Tensor) -> Tensor:
    made, divergence = model(given)
    return F.mse_loss(made, given) + 1e-6 * divergence.mean()


def timm_repvit(size: str) -> Subject:
    """Convolutions of single channels in two widths, which are added to what they are given, then of single places; norms are of batches, also in its two heads, whose mean it answers.

    The small one is as wide as RepViT-M0.9, the large one is RepViT-M1.1.
    """
    from timm.models.repvit import RepVit

    wide = scaled(size, 48, 56, 64)
    return labelled(RepVit(num_classes=100, embed_dim=(wide, 2 * wide, 4 * wide, 8 * wide), depth=(2, 2, scaled(size, 4, 8, 12), 2)), scaled(size, 64, 128, 160))


def timm_rexnet(size: str) -> Subject:
    """Each block is wider than the one before: what it is given is added to the first of its channels, and the others are put beside them."""
    from timm.models.rexnet import RexNet

    return labelled(RexNet(num_classes=100, width_mult=scaled(size, 10, 13, 15) / 10), scaled(size, 64, 96, 128))


def diffusers_autoencoder_kl_kvae_video(size: str) -> Subject:
    """Films as few numbers, and back, by convolutions that look back in time and write what they make into tensors that are there; latents are seen again by each norm of the decoder.

    The large one's films go through in two parts, with the last frames of each layer kept between them.
    """
    pixels, frames, part = 24, scaled(size, 5, 9, 25), scaled(size, 1, 2, 2)
    model = of_diffusers("AutoencoderKLKVAEVideo")(ch=32, ch_mult=(1, part, part, scaled(size, 2, 4, 4)), num_res_blocks=1)
    return Subject(Reconstruction(model), lambda samples: (torch.randn(samples, 3, frames, pixels, pixels),), _restored)


def diffusers_transformer_flux2(size: str) -> Subject:
    """Words and patches in one attention, each with layers of its own; in its last blocks, which are most, one layer makes queries, keys, values and the MLP's widths. All blocks share what times and
    guidance scale.

    Places have four numbers, of which each turns a part of a head.
    """
    side, part, words, states = scaled(size, 12, 16, 20), scaled(size, 8, 12, 16), scaled(size, 32, 48, 64), 384
    model = of_diffusers("Flux2Transformer2DModel")(num_layers=2, num_single_layers=scaled(size, 4, 5, 6), attention_head_dim=4 * part, num_attention_heads=4, joint_attention_dim=states,
                                                    axes_dims_rope=(part,) * 4)

    def sample(samples: int) -> Batch:
        latents = (samples, side * side, 128)
        return torch.randn(latents), torch.randn(latents), torch.rand(samples), torch.full((samples,), 3.5), torch.randn(samples, words, states)

    def drawn(module: nn.Module, latents: Tensor, noise: Tensor, parts: Tensor, guidance: Tensor, said: Tensor) -> Tensor:
        share, once = parts.view(-1, 1, 1), torch.arange(1)
        image_places = torch.cartesian_prod(once, torch.arange(side), torch.arange(side), once).to(latents.device)
        word_places = torch.cartesian_prod(once, once, once, torch.arange(words)).to(latents.device)
        made = module((1 - share) * latents + share * noise, said, parts, image_places, word_places, guidance).sample
        return (made.float() - (noise - latents).float()).square().flatten(1).mean(1).mean()

    return Subject(model, sample, drawn)


def timm_nfnet(size: str) -> Subject:
    """Without norms: the weights of convolutions are made even each time, and what a block adds is made smaller; the large one is ECA-NFNet-L0."""
    from timm.models.nfnet import NormFreeNet, model_cfgs

    parts = scaled(size, 1, 2, 4)  # of four
    return labelled(NormFreeNet(model_cfgs["eca_nfnet_l0"], num_classes=100, width_factor=parts / 4, group_size=16 * parts), scaled(size, 96, 128, 128))


def timm_xcit(size: str) -> Subject:
    """Channels attend to each other, places only to those beside them, by convolutions; in the end a place for the answer attends to all. As wide as XCiT-N, T and S."""
    from timm.models.xcit import Xcit

    pixels = scaled(size, 128, 160, 192)
    return labelled(Xcit(img_size=pixels, num_classes=100, embed_dim=scaled(size, 128, 192, 384), depth=scaled(size, 4, 6, 6), num_heads=scaled(size, 4, 4, 8), tokens_norm=True), pixels)


def diffusers_transformer_z_image(size: str) -> Subject:
    """Draws images one by one in a list, with texts of different lengths: both are filled up to whole parts of 32 places, refined each for itself, and put behind each other; a mask says what is there."""
    side, heads, words, states = scaled(size, 16, 20, 28), scaled(size, 32, 48, 64), 60, 256
    model = of_diffusers("ZImageTransformer2DModel")(dim=4 * heads, n_layers=4, n_heads=4, n_kv_heads=4, cap_feat_dim=states, axes_dims=[heads // 4, 3 * heads // 8, 3 * heads // 8])

    def sample(samples: int) -> Batch:
        latents = (samples, 16, side, side)
        return torch.randn(latents), torch.randn(latents), torch.rand(samples), torch.randn(samples, words, states)

    def drawn(module: nn.Module, latents: Tensor, noise: Tensor, parts: Tensor, said: Tensor) -> Tensor:
        share = parts.view(-1, 1, 1, 1)
        noisy = ((1 - share) * latents + share * noise).unsqueeze(2)
        captions = [states[:words // (1 + number % 2) - number % 5] for number, states in enumerate(said)]  # every other one is half as long
        made = -torch.stack(module(list(noisy.unbind(0)), 1 - parts, captions).sample, 0).squeeze(2)
        return F.mse_loss(made.float(), (noise - latents).float())

    return Subject(model, sample, drawn)


def diffusers_autoencoder_kl_qwenimage21(size: str) -> Subject:
    """Images with what can be seen through as few numbers, and back: a film's autoencoder for one frame, which keeps what it would need of it for the next; past each block, means of channels, or copies."""
    pixels, wide = scaled(size, 48, 64, 96), scaled(size, 12, 16, 20)
    model = of_diffusers("AutoencoderKLQwenImage21")(base_dim=wide, decoder_base_dim=3 * wide // 2)
    return Subject(Reconstruction(model), lambda samples: (torch.randn(samples, 4, 1, pixels, pixels),), _restored)
