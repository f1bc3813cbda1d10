# SPDX-License-Identifier: Apache-2.0
"""Models of the packages diffusers, monai and timm that draw images after words, tell scans from those that are made up, make half of their channels of the other half, and attend in windows by angles alone."""

from typing import List

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .subject import Batch, Subject, labelled, scaled


def diffusers_transformer_bria(size: str) -> Subject:
    """Draws an image after words, which are filled up to one length and all attended to: first words and image go through layers of their own that share their attention, then as one line through layers whose attention
    and MLP are beside each other. It learns the way from an image to noise, of which there is more or less."""
    side, heads, words, states = scaled(size, 14, 16, 16), scaled(size, 4, 5, 6), scaled(size, 32, 48, 64), 512
    model = of_diffusers("BriaTransformer2DModel")(in_channels=16, num_layers=2, num_single_layers=scaled(size, 4, 5, 7), attention_head_dim=64, num_attention_heads=heads, joint_attention_dim=states,
                                                  axes_dims_rope=[8, 28, 28])

    def sample(samples: int) -> Batch:
        latents = (samples, side * side, 16)
        return torch.randn(latents), torch.randn(latents), torch.rand(samples), torch.randn(samples, words, states)

    def drawn(module: nn.Module, latents: Tensor, noise: Tensor, parts: Tensor, read: Tensor) -> Tensor:
        share, once = parts.view(-1, 1, 1), torch.arange(1)
        places = torch.cartesian_prod(once, torch.arange(side), torch.arange(side)).to(latents.device)
        made = module((1 - share) * latents + share * noise, encoder_hidden_states=read, timestep=1000 * parts, img_ids=places, txt_ids=places.new_zeros(words, 3)).sample
        return F.mse_loss(made.float(), (noise - latents).float())

    return Subject(model, sample, drawn)


def monai_patchgan_discriminator(size: str) -> Subject:
    """Tells scans from those that another network has made up for the same parts of a body, at each place of two maps, a fine one and a coarse one: convolutions that make half as many places each, and norms of each
    sample alone. It is trained as in its turn beside a network that draws after parts, SPADE, whose scans are given."""
    from monai.losses import PatchAdversarialLoss
    from monai.networks.nets import MultiScalePatchDiscriminator

    pixels, parts = scaled(size, 128, 128, 160), 6

    class Judge(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scales = MultiScalePatchDiscriminator(num_d=2, num_layers_d=3, spatial_dims=2, channels=scaled(size, 20, 24, 32), in_channels=parts + 1, kernel_size=3, norm="INSTANCE", minimum_size_im=pixels)

        def forward(self, named: Tensor, scan: Tensor) -> List[Tensor]:
            likely, _ = self.scales(torch.cat((named, scan), 1))
            return likely

    told = PatchAdversarialLoss(criterion="hinge")

    def judged(module: nn.Module, scan: Tensor, made_up: Tensor, where: Tensor) -> Tensor:
        named = F.one_hot(where, parts).permute(0, 3, 1, 2).to(scan.dtype)
        wrong = told(module(named, made_up), target_is_real=False, for_discriminator=True)
        return (wrong + told(module(named, scan), target_is_real=True, for_discriminator=True)) / 2

    def sample(count: int) -> Batch:
        scan = (count, 1, pixels, pixels)
        return torch.rand(scan), torch.rand(scan), torch.randint(parts, (count, pixels, pixels))

    return Subject(Judge(), sample, judged)


def timm_ghostnet(size: str) -> Subject:
    """Convolutions make half of the channels, and cheap ones, of each channel alone, the other half of these; what goes past a block is added in place. As timm's ghostnet_100, and the large one as its ghostnet_130."""
    from timm.models.ghostnet import ghostnet_100, ghostnet_130

    return labelled((ghostnet_130 if size == "large" else ghostnet_100)(num_classes=100), scaled(size, 176, 224, 256))


def timm_swin_transformer_v2_cr(size: str) -> Subject:
    """Attention within windows, which are moved in every other block, by angles between what asks and what is asked, and by what an MLP says of how far places are apart; norms are behind attention and MLPs, and one
    more is at the end of each of four stages. As timm's swinv2_cr_tiny_ns_224, narrower and shallower."""
    from timm.models.swin_transformer_v2_cr import SwinTransformerV2Cr

    pixels, wide = scaled(size, 128, 160, 192), scaled(size, 56, 64, 64)
    model = SwinTransformerV2Cr(img_size=(pixels, pixels), embed_dim=wide, depths=(2, 2, scaled(size, 2, 2, 4), 2), num_heads=(2, 4, 8, 16), num_classes=100, extra_norm_stage=True)
    return labelled(model, pixels)
