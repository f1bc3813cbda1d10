# SPDX-License-Identifier: Apache-2.0
"""Models from the packages monai, vit_pytorch and x_transformers."""

from typing import List

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import VOCABULARY, length, width
from .subject import Batch, Subject, images, labeled, scaled, tokens


def vit_pytorch_pit(size: str) -> Subject:
    """A ViT of overlapping patches in three stages. Between stages, convolutions make fewer and wider positions, and a linear layer widens the class token.
    Attention consists of separate operators."""
    from vit_pytorch.pit import PiT

    pixels, wide = scaled(size, 128, 144, 160), scaled(size, 144, 192, 256)
    model = PiT(image_size=pixels, patch_size=16, num_classes=100, dim=wide, depth=(2, 3, 2), heads=(2, 4, 8), mlp_dim=8 * wide, dropout=0.1, emb_dropout=0.1)
    return labeled(model, pixels)


def x_transformers_vi_transformer(size: str) -> Subject:
    """Patches of an image after two norms, layers of the package's own encoder, and the mean of all positions for classification."""
    from x_transformers import Encoder, ViTransformerWrapper

    pixels, kinds = scaled(size, 64, 96, 128), 100
    model = ViTransformerWrapper(image_size=pixels, patch_size=8, num_classes=kinds, attn_layers=Encoder(dim=width(size), depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 6, 8)))
    return Subject(model, images(pixels, kinds), lambda module, pixels, labels: F.cross_entropy(module(pixels), labels))


def x_transformers_full_bandwidth(size: str) -> Subject:
    """A text is read twice: in the second pass, the last layer's output for the previous position is fed to the first layer, slightly blurred. Both passes
    predict the next token, and the head shares the embedding table."""
    from x_transformers import Decoder, TransformerWrapper
    from x_transformers.full_bandwidth import FullBandwidth

    layers = Decoder(dim=width(size), depth=4, heads=4, depth_scale_residual=True, rotary_pos_emb=True)
    net = TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=1024, tie_embedding=True, post_emb_norm=True, attn_layers=layers)
    return Subject(FullBandwidth(net), tokens(VOCABULARY, length(size)), lambda module, ids: module(ids))


def vit_pytorch_cait(size: str) -> Subject:
    """Heads are mixed with each other before and after the softmax. In the last two blocks, only the class token has queries. No layer is dropped at
    random."""
    from vit_pytorch.cait import CaiT

    pixels, wide = scaled(size, 64, 96, 112), scaled(size, 192, 256, 384)
    model = CaiT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), cls_depth=2, heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dropout=0.1, emb_dropout=0.1)
    return labeled(model, pixels)


def monai_patchgan_discriminator(size: str) -> Subject:
    """A discriminator that tells real scans from generated ones of the same body parts, at each position of a fine and a coarse map, with strided
    convolutions and instance norms. Trained as in its turn next to a generator (SPADE), whose scans are given."""
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


def monai_vista3d(size: str) -> Subject:
    """Segments body parts that are requested by class: a residual encoder and decoder, and class embeddings, whose similarity to the features at each
    position is the mask. Fine-tuned as by its authors without point prompts: the branch for points is not used, and not trained. The model itself calls
    empty_cache()."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import vista3d132

    side, deep, asked, kinds = scaled(size, 32, 48, 32), 48, scaled(size, 3, 4, 4), 132
    model = vista3d132(encoder_embed_dim=scaled(size, 8, 8, 16))
    model.image_encoder.up_layers.requires_grad_(False)
    model.point_head.requires_grad_(False)
    apart = DiceCELoss(include_background=True, sigmoid=True, smooth_dr=1e-5, smooth_nr=0, squared_pred=True)

    def marked(module: nn.Module, scan: Tensor, parts: Tensor, names: Tensor) -> Tensor:
        made = module(scan, class_vector=names[:, None])
        return apart(made, (parts.transpose(0, 1) == names.view(-1, 1, 1, 1, 1)).to(made.dtype))

    return Subject(model, lambda count: (torch.rand(count, 1, side, side, deep), torch.randint(kinds, (count, 1, side, side, deep)), torch.randperm(kinds)[:asked]), marked)


def monai_dynunet(size: str) -> Subject:
    """A U-Net with kernels and strides for each level. Outputs of coarser levels are trained too, each with half the weight of the one before, as in
    MONAI's tutorial.

    The small one has 2D slices, the medium one a flat first level, and the large one residual blocks.
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


def monai_highresnet(size: str) -> Subject:
    """A scan keeps its resolution through all layers, which have growing dilation. If a layer has more channels than the one before, its shortcut is padded
    with zeros. Sizes differ only in the scans."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import HighResNet

    organs, sides = scaled(size, 2, 4, 8), {"small": (16, 16, 16), "medium": (24, 24, 16), "large": (32, 32, 16)}[size]
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    return Subject(HighResNet(out_channels=organs), lambda count: (torch.randn(count, 1, *sides), torch.randint(organs, (count, 1, *sides))), lambda module, scan, labels: loss(module(scan), labels))


def vit_pytorch_vit_with_keel_post_ln(size: str) -> Subject:
    """The input of a layer, times the number of layers, is added to the layer's output, and then normalized."""
    from vit_pytorch.vit_with_keel_post_ln import ViT

    pixels, wide = scaled(size, 64, 96, 112), scaled(size, 192, 320, 384)
    model = ViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dropout=0.1, emb_dropout=0.1)
    return Subject(model, images(pixels, 100), lambda module, given, labels: F.cross_entropy(module(given), labels))


def vit_pytorch_simple(size: str) -> Subject:
    """Positions are no parameters and stay on the host: each step copies them. Neither dropout nor a class token."""
    from vit_pytorch import SimpleViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    model = SimpleViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide)
    return labeled(model, pixels)
