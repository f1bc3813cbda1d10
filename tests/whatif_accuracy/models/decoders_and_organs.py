# SPDX-License-Identifier: Apache-2.0
"""Models of the packages diffusers, monai and vit_pytorch that make films few numbers and draw them again, find organs in scans, and name images."""

from typing import Any, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import Reconstruction, of_diffusers
from .subject import Batch, Subject, labelled, scaled


def diffusers_autoencoder_kl_temporal_decoder(size: str) -> Subject:
    """Images of a film become few numbers one by one, and a film again together: behind each block of convolutions of places comes one of times, and a trained number says how much of each goes on. As Stable Video Diffusion's,
    narrower."""
    pixels, frames, wide = scaled(size, 32, 40, 40), scaled(size, 4, 4, 3), scaled(size, 32, 32, 64)
    model = of_diffusers("AutoencoderKLTemporalDecoder")(down_block_types=("DownEncoderBlock2D",) * 4, block_out_channels=(wide, 2 * wide, 4 * wide, 4 * wide), layers_per_block=2, sample_size=pixels)

    class Film(Reconstruction):
        def forward(self, film: Tensor) -> Tuple[Tensor, Tensor]:
            latents = self.vae.encode(film.flatten(0, 1)).latent_dist
            return self.vae.decode(latents.sample(), num_frames=film.shape[1]).sample.view_as(film), latents.kl()

    def restored(module: nn.Module, film: Tensor) -> Tensor:
        made, divergence = module(film)
        return F.mse_loss(made, film) + 1e-6 * divergence.mean()

    return Subject(Film(model), lambda samples: (torch.randn(samples, frames, 3, pixels, pixels),), restored)


def diffusers_ltx2_diffusion_decoder(size: str) -> Subject:
    """Draws the film that few numbers stand for: in three stages, each place attends to those nearby in time and place, and linear layers make more places of them; what they made is added to patches of the film with noise, in
    blocks that times scale. Attention is `flex_attention`, whose mask is computed in each step; films are smaller than its authors', and so is what is nearby."""
    wide, side = scaled(size, 64, 96, 128), 3
    base: Any = of_diffusers("LTX2VideoDiffusionDecoderModel")

    class Denoiser(base):
        def forward(self, latents: Tensor, noisy: Tensor, times: Tensor) -> Tensor:
            context = self.decoder.forward_stage_4(self.decoder.forward_stages_1_to_3(latents))
            return self.decoder.forward_diffusion_step(context, noisy, times)

    near, deep = (3, 3, 3), {"small": (2, 2, 2, 2), "medium": (2, 2, 2, 3), "large": (3, 4, 3, 5)}[size]
    model = Denoiser(latent_channels=32, decoder_head_dim=32, decoder_stage_channels=(4 * wide, 2 * wide, wide, wide), decoder_stage_depths=deep,
                     decoder_stage_kernels=(near, near, near), decoder_upsample_strides=((1, 2, 2), (2, 1, 1), (2, 2, 2)), decoder_upsample_channel_reductions=(2, 2, 1), decoder_stage5_kernel=(5, 5, 5),
                     spatial_compression_ratio=16, temporal_compression_ratio=4)

    def sample(samples: int) -> Batch:
        film = (samples, 3, 5, 16 * side, 16 * side)
        return torch.randn(samples, 32, 2, side, side), torch.randn(film), torch.randn(film), torch.rand(samples)

    def drawn(module: nn.Module, latents: Tensor, film: Tensor, noise: Tensor, times: Tensor) -> Tensor:
        part = times.view(-1, 1, 1, 1, 1)
        return F.mse_loss(module(latents, (1 - part) * film + part * noise, times), film)

    return Subject(model, sample, drawn)


def monai_daf3d(size: str) -> Subject:
    """Finds an organ in scans: convolutions in groups, in two of four stages with gaps, make features of four depths, each of which attends to all of them together by what convolutions say of each place; all of them are held
    against the same truth, as its tutorial does. The small and the medium one have fewer and narrower layers than the package has."""
    from monai.losses import DiceLoss
    from monai.networks.nets import DAF3D
    from monai.networks.nets.daf3d import Daf3dBackbone, Daf3dBackboneWithFPN, Daf3dResNet

    class Narrower(Daf3dBackbone):
        def __init__(self) -> None:
            nn.Module.__init__(self)
            made = list(Daf3dResNet(layers=[2, 2, 3, 2] if size == "small" else [3, 4, 6, 3], block_inplanes=[64, 128, 256, 512], n_input_channels=1, num_classes=2, bias_downsample=False).children())
            self.layer0, self.layer1, self.layer2, self.layer3, self.layer4 = nn.Sequential(*made[:3]), nn.Sequential(*made[3:5]), *made[5:8]

    side = scaled(size, 28, 32, 32)
    model = DAF3D(in_channels=1, out_channels=1)
    if size != "large":
        model.backbone_with_fpn = Daf3dBackboneWithFPN(backbone=Narrower(), return_layers={f"layer{place}": f"feat{place}" for place in range(1, 5)},
                                                             in_channels_list=[128, 256, 512, 1024], out_channels=128, spatial_dims=3)
    overlap = DiceLoss(sigmoid=True)

    def found(module: nn.Module, scan: Tensor, truth: Tensor) -> Tensor:
        weights = (0.4, 0.5, 0.7, 0.8, 0.4, 0.5, 0.7, 0.8, 1.0)
        losses = [weight * (F.binary_cross_entropy_with_logits(each, truth) + overlap(each, truth)) for weight, each in zip(weights, module(scan))]
        return sum(losses[1:], losses[0])

    def sample(count: int) -> Batch:
        return torch.rand(count, 1, side, side, side), (torch.rand(count, 1, side, side, side) > 0.8).float()

    return Subject(model, sample, found)


def vit_pytorch_scalable_vit(size: str) -> Subject:
    """In four stages, each image's places attend to fewer that convolutions have made of them, and then within windows, to which what a convolution makes of values is added; all layers are convolutions, as those of MLPs."""
    from vit_pytorch.scalable_vit import ScalableViT

    model = ScalableViT(num_classes=100, dim=scaled(size, 32, 40, 64), heads=(2, 4, 8, 16), depth=(2, 2, scaled(size, 4, 4, 6), 2), ssa_dim_key=(40, 40, 40, 32), reduction_factor=(8, 4, 2, 1),
                        window_size=(scaled(size, 8, 12, 16), None, None, None), dropout=0.1)
    return labelled(model, scaled(size, 64, 96, 128))
