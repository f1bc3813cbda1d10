# SPDX-License-Identifier: Apache-2.0
"""Once more of the packages monai and x_transformers, as their own examples build and train them."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import VOCABULARY, width
from .subject import Batch, Subject, scaled, tokens


def monai_dynunet(size: str) -> Subject:
    """A U-Net whose kernels and strides are said level by level, with answers of coarser levels that are trained too, each half as much as the one before; as in MONAI's tutorial on it.

    The small one is of slices, the medium one of flat places, and the large one of residual blocks.
    """
    from monai.losses import DiceCELoss
    from monai.networks.nets import DynUNet

    sides, organs, levels = {"small": (64, 64), "medium": (32, 32, 16), "large": (32, 32, 32)}[size], scaled(size, 2, 3, 4), scaled(size, 4, 4, 5)
    flat = size == "medium"
    kernels, strides = [[3, 3, 1] if flat else 3, *[3] * (levels - 1)], [1, [2, 2, 1] if flat else 2, *[2] * (levels - 2)]
    model = DynUNet(len(sides), 1, organs, kernels, strides, strides[1:], norm_name="instance", deep_supervision=True, deep_supr_num=scaled(size, 1, 2, 3), res_block=size == "large")
    one = DiceCELoss(to_onehot_y=True, softmax=True)

    def loss(module: nn.Module, scan: Tensor, labels: Tensor) -> Tensor:
        return sum(0.5**level * one(answer, labels) for level, answer in enumerate(torch.unbind(module(scan), dim=1)))

    return Subject(model, lambda count: (torch.randn(count, 1, *sides), torch.randint(organs, (count, 1, *sides))), loss)


def monai_efficientnet(size: str) -> Subject:
    """Kinds of grey pictures, by blocks that widen and look at each channel by itself; their activations are computed again in the backward pass, and whole samples pass blocks by."""
    from monai.networks.nets import EfficientNetBN

    pixels, kinds = scaled(size, 64, 96, 128), 6
    model = EfficientNetBN(f"efficientnet-b{scaled(size, 0, 2, 3)}", pretrained=False, in_channels=1, num_classes=kinds)
    return Subject(model, lambda count: (torch.randn(count, 1, pixels, pixels), torch.randint(kinds, (count,))), lambda module, pictures, labels: F.cross_entropy(module(pictures), labels))


def x_transformers_recirculation(size: str) -> Subject:
    """Word by word, what deep layers made of it is mixed into shallow ones, and the word is read again; how much of it is learned, through all words, and the rest stays as it is.

    As the package's own learn_parameters() trains it.
    """
    from x_transformers import Decoder, TransformerWrapper
    from x_transformers.recirculation import Recirculation

    net = TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=1024, attn_layers=Decoder(dim=width(size), depth=4, heads=4))
    model = Recirculation(net.requires_grad_(False), source_layer=(2, 3), destination_layer=(0, 1), use_learned=True)

    def loss(module: nn.Module, ids: Tensor) -> Tensor:
        return F.cross_entropy(module(ids)[:, :-1].transpose(1, 2), ids[:, 1:], ignore_index=0)

    return Subject(model, tokens(VOCABULARY, scaled(size, 8, 12, 16)), loss)


def x_transformers_neo_mlp(size: str) -> Subject:
    """What goes into a multilayer perceptron, what is hidden in it and what comes out are places that attend to one another: here of points in a film, and of their colours."""
    from x_transformers.neo_mlp import NeoMLP

    axes, colours = 3, 3
    model = NeoMLP(dim_in=axes, dim_hidden=scaled(size, 8, 12, 16), dim_out=colours, dim_model=scaled(size, 128, 192, 256), depth=scaled(size, 4, 5, 6))

    def sample(count: int) -> Batch:
        return torch.rand(count, axes), torch.rand(count, colours)

    return Subject(model, sample, lambda module, points, wanted: F.mse_loss(module(points), wanted))
