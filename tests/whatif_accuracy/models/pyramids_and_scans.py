# SPDX-License-Identifier: Apache-2.0
"""Models of the packages monai, vit_pytorch, segmentation_models_pytorch and timm that take noise away, look near and far in turns, pool to four sizes, and keep the channels of convolutions apart."""

from functools import partial
from typing import Any, Dict, List

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .more_libraries import OF_CAMVID, on_camvid
from .subject import Batch, Subject, labelled, scaled


def monai_diffusion_model_unet(size: str) -> Subject:
    """The noise in a scan is told from it, at a time drawn for each; the deeper levels attend with one head. As in MONAI's tutorial on DDPM, with its inferer and its scheduler."""
    from monai.inferers import DiffusionInferer
    from monai.networks.nets import DiffusionModelUNet
    from monai.networks.schedulers import DDPMScheduler

    pixels, wide = scaled(size, 32, 48, 64), scaled(size, 32, 64, 96)
    model = DiffusionModelUNet(spatial_dims=2, in_channels=1, out_channels=1, channels=(wide, 2 * wide, 2 * wide), attention_levels=(False, True, True), num_res_blocks=1, num_head_channels=2 * wide)
    inferer = DiffusionInferer(DDPMScheduler(num_train_timesteps=1000))

    def sample(count: int) -> Batch:
        return torch.rand(count, 1, pixels, pixels), torch.randn(count, 1, pixels, pixels), torch.randint(1000, (count,))

    def loss(module: nn.Module, scan: Tensor, noise: Tensor, times: Tensor) -> Tensor:
        return F.mse_loss(inferer(inputs=scan, diffusion_model=module, noise=noise, timesteps=times).float(), noise.float())

    return Subject(model, sample, loss)


def vit_pytorch_twins_svt(size: str) -> Subject:
    """Attention among the places of a window, then of all places to what a convolution makes of them all, in turns; on the last level the second alone. Layers are convolutions, norms are written out."""
    from vit_pytorch.twins_svt import TwinsSVT

    pixels, near, far, wide = scaled(size, 64, 96, 128), scaled(size, 4, 6, 8), scaled(size, 2, 3, 4), scaled(size, 32, 32, 48)
    windows = {f"s{level}_{name}": value for level in (1, 2, 3) for name, value in (("local_patch_size", near), ("global_k", far))}
    model = TwinsSVT(num_classes=100, s1_emb_dim=wide, s2_emb_dim=2 * wide, s3_emb_dim=3 * wide, s4_emb_dim=4 * wide, s3_depth=scaled(size, 1, 2, 2), s4_depth=scaled(size, 1, 2, 2), s4_global_k=far, **windows)
    return labelled(model, pixels)


def smp_pspnet(size: str) -> Subject:
    """What the third level of a ResNet sees is pooled to four sizes, each made as large as it was and laid beside it; some channels are left out by chance. The levels behind are there, and not used. Trained as in the package's
    example on CamVid."""
    from segmentation_models_pytorch import PSPNet

    return on_camvid(PSPNet(f"resnet{scaled(size, 18, 34, 50)}", encoder_weights=None, classes=OF_CAMVID), size)


def timm_xception_aligned(size: str) -> Subject:
    """Xception as DeepLab has it: the last of three convolutions takes steps, not a pool. In the smallest a norm follows each convolution, of single channels too; in the next an activation is before it; in the largest both, as in
    timm's xception41, xception65 and xception41p, each narrower."""
    from timm.models.xception_aligned import XceptionAligned

    wide, deep, before = scaled(size, 184, 240, 368), scaled(size, 8, 16, 8), size == "large"
    last: Dict[str, Any] = {} if before else {"start_with_relu": False}
    blocks: List[Dict[str, Any]] = [{"in_chs": 64, "out_chs": 64, "stride": 2}, {"in_chs": 64, "out_chs": 128, "stride": 2}, {"in_chs": 128, "out_chs": wide, "stride": 2},
                                    *({"in_chs": wide, "out_chs": wide, "stride": 1} for _ in range(deep)),
                                    {"in_chs": wide, "out_chs": (wide, wide * 3 // 2, wide * 3 // 2), "stride": 2},
                                    {"in_chs": wide * 3 // 2, "out_chs": (2 * wide, 2 * wide, 3 * wide), "stride": 1, "no_skip": True, **last}]
    norm = nn.BatchNorm2d if before else partial(nn.BatchNorm2d, eps=0.001, momentum=0.1)
    model = XceptionAligned(blocks, num_classes=100, preact=before, norm_layer=norm)
    return labelled(model, scaled(size, 64, 96, 128))
