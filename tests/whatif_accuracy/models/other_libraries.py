# SPDX-License-Identifier: Apache-2.0
"""Models of images from the packages timm and diffusers."""

import importlib
import os
from typing import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from .subject import Subject, images, scaled


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


def of_diffusers(name: str) -> Callable[..., nn.Module]:
    """As its import touches no device, for train.py makes models before it forks: it asks the driver whether there is one, and imports bitsandbytes."""
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    from diffusers.utils import import_utils

    import_utils._bitsandbytes_available = False
    return getattr(importlib.import_module("diffusers"), name)
