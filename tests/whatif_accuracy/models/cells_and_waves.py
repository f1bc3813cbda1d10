# SPDX-License-Identifier: Apache-2.0
"""Models that mix places by layers alone, find nuclei, norm what is asked and what answers, and make sounds of noise, from the packages timm, monai, vit_pytorch and diffusers."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .subject import Batch, Subject, labelled, scaled


def timm_mlp_mixer(size: str) -> Subject:
    """Two MLPs in each block, the first of which goes along places and the second along channels; blocks are left out by chance for some samples, as its paper trains it. The large one is as deep and wide as timm's mixer_s16."""
    from timm.models.mlp_mixer import MlpMixer

    pixels = scaled(size, 128, 160, 224)
    model = MlpMixer(num_classes=100, img_size=pixels, num_blocks=scaled(size, 4, 6, 8), embed_dim=scaled(size, 256, 384, 512), drop_path_rate=0.1)
    return labelled(model, pixels)


def monai_hovernet(size: str) -> Subject:
    """A residual encoder and three decoders of dense blocks: which places are of nuclei, how far from the middle of each they lie, of which also the slopes are compared, and of what kind they are.

    As in MONAI's tutorial on pathology: the small one as in its first stage, in which most of the encoder is frozen, the others as in its second. Widths and images are fixed, so sizes differ in this, and in the mode: the large
    one has the original's images, and decoders whose convolutions are of five places a side.
    """
    from monai.apps.pathology.losses import HoVerNetLoss
    from monai.networks.nets import HoVerNet

    mode, given, made = (HoVerNet.Mode.ORIGINAL, 270, 80) if size == "large" else (HoVerNet.Mode.FAST, 256, 164)
    kinds, branch = 5, HoVerNet.Branch
    model = HoVerNet(mode=mode, out_classes=kinds, freeze_encoder=size == "small")
    loss = HoVerNetLoss(lambda_hv_mse=1.0)

    def one_of(count: int, classes: int) -> Tensor:
        return F.one_hot(torch.randint(classes, (count, made, made)), classes).permute(0, 3, 1, 2).float().contiguous()

    def sample(count: int) -> Batch:
        return torch.rand(count, 3, given, given), one_of(count, 2), 2 * torch.rand(count, 2, made, made) - 1, one_of(count, kinds)

    def found(module: nn.Module, tiles: Tensor, nuclei: Tensor, distances: Tensor, types: Tensor) -> Tensor:
        return loss(module(tiles), {branch.NP: nuclei, branch.HV: distances, branch.NC: types})

    return Subject(model, sample, found)


def vit_pytorch_simple_vit_with_qk_norm(size: str) -> Subject:
    """Queries and keys are brought to one length, and scaled in each head; places stay on the host. Its head is a norm alone, so that classes are the first of its channels."""
    from vit_pytorch.simple_vit_with_qk_norm import SimpleViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    model = SimpleViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide)
    return labelled(model, pixels)


def diffusers_unet_1d(size: str) -> Subject:
    """Dance Diffusion: makes sounds of noise, by convolutions along time, and on the deeper levels attention, which is written out; what makes sounds shorter and longer is a matrix that each call makes anew. What the time is
    stands beside the sound in each place, and is the first level's alone."""
    wide, places = scaled(size, 32, 48, 64), scaled(size, 1024, 2048, 3072)
    model = of_diffusers("UNet1DModel")(sample_size=places, extra_in_channels=16, time_embedding_dim=16, block_out_channels=(wide, wide, 2 * wide, 2 * wide, 4 * wide, 4 * wide),
                                        down_block_types=("DownBlock1DNoSkip", "DownBlock1D", "DownBlock1D", "AttnDownBlock1D", "AttnDownBlock1D", "AttnDownBlock1D"),
                                        up_block_types=("AttnUpBlock1D", "AttnUpBlock1D", "AttnUpBlock1D", "UpBlock1D", "UpBlock1D", "UpBlock1DNoSkip"))

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 2, places), torch.randn(samples, 2, places), torch.rand(samples)

    def made(module: nn.Module, sound: Tensor, noise: Tensor, times: Tensor) -> Tensor:
        angle = times.view(-1, 1, 1) * math.pi / 2
        known, drawn = angle.cos(), angle.sin()
        return F.mse_loss(module(known * sound + drawn * noise, times).sample, known * noise - drawn * sound)

    return Subject(model, sample, made)
