# SPDX-License-Identifier: Apache-2.0
"""Models of the packages diffusers, monai and vit_pytorch that make films few numbers and draw them, say scans in few codes, and give each head what it likes best of all that came before."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import Reconstruction, of_diffusers
from .subject import Batch, Subject, labelled, scaled


def diffusers_autoencoder_kl_mochi(size: str) -> Subject:
    """Films as few numbers, and back: sines of colours stand beside them, convolutions look back in time, and where there are fewer places, each attends to itself in frames before; norms are of eight frames at a time, and
    linear layers of channels alone make films larger again."""
    pixels, frames, part = scaled(size, 24, 32, 32), scaled(size, 7, 7, 13), scaled(size, 1, 2, 2)
    layers = {"small": (1, 1, 1, 1, 1), "medium": (1, 1, 2, 2, 1), "large": (2, 2, 2, 3, 2)}[size]
    model = of_diffusers("AutoencoderKLMochi")(encoder_block_out_channels=(32, 32, 32 * part, 64 * part), decoder_block_out_channels=(32, 32 * part, 64 * part, 96 * part), layers_per_block=layers)

    def restored(module: nn.Module, given: Tensor) -> Tensor:
        made, divergence = module(given)
        return F.mse_loss(made, given) + 1e-6 * divergence.mean()

    return Subject(Reconstruction(model), lambda samples: (torch.randn(samples, 3, frames, pixels, pixels),), restored)


def diffusers_transformer_wan(size: str) -> Subject:
    """Draws films after words: patches of a film attend to one another, turned by where and when they are, then to 512 places of words; norms and what is added after them are scaled by times, in 32 bits."""
    pixels, frames, wide = scaled(size, 16, 20, 24), scaled(size, 2, 3, 4), scaled(size, 128, 192, 256)
    model = of_diffusers("WanTransformer3DModel")(num_attention_heads=4, attention_head_dim=wide // 4, text_dim=512, freq_dim=256, ffn_dim=6 * wide, num_layers=scaled(size, 4, 5, 6))

    def sample(samples: int) -> Batch:
        film = (samples, 16, frames, pixels, pixels)
        return torch.randn(film), torch.randn(film), torch.rand(samples), torch.randn(samples, 512, 512)

    def drawn(module: nn.Module, film: Tensor, noise: Tensor, parts: Tensor, states: Tensor) -> Tensor:
        part = parts.view(-1, 1, 1, 1, 1)
        return F.mse_loss(module((1 - part) * film + part * noise, 1000 * parts, states).sample, noise - film)

    return Subject(model, sample, drawn)


def monai_vqvae(size: str) -> Subject:
    """A scan is said in few codes, and made again of them: a code is the mean of what was likest to it before, not trained by gradients, and is given back as if nothing had been chosen. Its own switch computes the encoder, and
    the decoder, again as a whole."""
    from monai.networks.nets import VQVAE

    class Checkpointed(VQVAE):
        def enable_gradient_checkpointing(self) -> None:
            self.use_checkpointing = True

    side, wide = scaled(size, 32, 48, 48), scaled(size, 32, 64, 96)
    model = Checkpointed(spatial_dims=3, in_channels=1, out_channels=1, channels=(wide, wide, 2 * wide), num_res_channels=(wide, wide, 2 * wide), num_embeddings=scaled(size, 32, 128, 256))

    def restored(module: nn.Module, scan: Tensor) -> Tensor:
        made, apart = module(scan)
        return F.l1_loss(made, scan) + apart

    return Subject(model, lambda count: (torch.rand(count, 1, side, side, side),), restored)


def vit_pytorch_attn_residual_with_dca_simple_vit(size: str) -> Subject:
    """Each head's queries, keys and values are mixtures of their own of what all blocks before it made, and so is what each fourth of an MLP is given: layers that make them are a list of such, in one weight."""
    from vit_pytorch.attn_residual_with_dca_simple_vit import SimpleViT

    pixels, wide = scaled(size, 64, 96, 96), scaled(size, 128, 192, 256)
    model = SimpleViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 3, 4, 5), heads=4, mlp_dim=2 * wide, per_head=True, ffn_heads=4)
    return labelled(model, pixels)
