# SPDX-License-Identifier: Apache-2.0
"""More models of the packages monai and x_transformers, as their own examples build and train them."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import VOCABULARY, length, width
from .subject import LENGTH, Batch, Subject, scaled, tokens


def monai_mednext(size: str) -> Subject:
    """Depthwise convolutions between wide layers of single places, a U-Net of them in three dimensions, whose coarser levels have losses of their own; as deep as the variants small, base and medium."""
    from monai.losses import DeepSupervisionLoss, DiceCELoss
    from monai.networks.nets import MedNeXt

    organs, deep, sides = scaled(size, 2, 4, 4), scaled(size, 2, 2, 4), (32, 32, scaled(size, 16, 16, 32))
    rising = (2, 3, 4, 4) if size != "small" else (2, 2, 2, 2)
    model = MedNeXt(init_filters=scaled(size, 8, 16, 16), out_channels=organs, encoder_expansion_ratio=rising, decoder_expansion_ratio=rising[::-1], bottleneck_expansion_ratio=rising[-1], kernel_size=3,
                    deep_supervision=True, use_residual_connection=True, blocks_down=(scaled(size, 2, 2, 3), deep, deep, deep), blocks_bottleneck=deep, blocks_up=(deep, deep, deep, scaled(size, 2, 2, 3)))
    loss = DeepSupervisionLoss(DiceCELoss(to_onehot_y=True, softmax=True))
    return Subject(model, lambda count: (torch.randn(count, 1, *sides), torch.randint(organs, (count, 1, *sides)).float()), lambda module, scan, labels: loss(list(module(scan)), labels))


def monai_ahnet(size: str) -> Subject:
    """The residual blocks of an encoder see slices, and those of a dense decoder slices and then what lies across them; the scan is pooled at several scales before the last layer.

    Its widths are fixed, so sizes differ in the number of blocks, of scales and of places.
    """
    from monai.losses import DiceCELoss
    from monai.networks.nets import AHNet

    scans = {"small": (32, 32, 64), "medium": (32, 32, 64), "large": (64, 64, 32)}
    sides, organs = scans[size], scaled(size, 2, 3, 3)
    model = AHNet(layers=(1, 1, 1, 1) if size == "small" else (3, 4, 6, 3), out_channels=organs, psp_block_num=scaled(size, 2, 2, 3))
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    return Subject(model, lambda count: (torch.randn(count, 1, *sides), torch.randint(organs, (count, 1, *sides))), lambda module, scan, labels: loss(module(scan), labels))


def x_transformers_latent_decoder(size: str) -> Subject:
    """Each sequence is read several times, after vectors by chance of which one differs; the reading with the smallest loss is the one that counts."""
    from x_transformers import Decoder, TransformerWrapper
    from x_transformers.xm_latent_decoder import XMLatentDecoder

    model = TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=1024, attn_layers=Decoder(dim=width(size), depth=4, heads=4))
    return Subject(XMLatentDecoder(model), tokens(VOCABULARY, length(size)), lambda module, ids: module(ids))


def x_transformers_encoder_decoder(size: str) -> Subject:
    """Sequences to sequences, with one table of words for both; of what is translated a mask says which words there are."""
    from x_transformers import XTransformer

    model = XTransformer(dim=width(size), tie_token_emb=True, enc_num_tokens=VOCABULARY, enc_depth=3, enc_heads=4, enc_max_seq_len=1024, dec_num_tokens=VOCABULARY, dec_depth=3, dec_heads=4, dec_max_seq_len=1024)

    def sample(samples: int) -> Batch:
        words = int(length(size) * LENGTH.factor)
        return torch.randint(VOCABULARY, (samples, words)), torch.randint(VOCABULARY, (samples, words + 1)), torch.arange(words) < words - torch.arange(samples)[:, None] % (words // 2)

    def loss(module: nn.Module, source: Tensor, target: Tensor, mask: Tensor) -> Tensor:
        return module(source, target, mask=mask)

    return Subject(model, sample, loss)


def monai_milmodel(size: str) -> Subject:
    """Of many tiles of a slide, each of which goes through a network of its own kind of images, a transformer and weights of attention make one answer; as in MONAI's tutorial on grades of cancer."""
    from monai.networks.nets import MILModel, ResNet

    part, blocks = scaled(size, 32, 48, 64), {"small": [1, 1, 1, 1], "medium": [2, 2, 2, 2], "large": [3, 4, 6, 3]}[size]
    tiles, pixels, grades = scaled(size, 6, 8, 12), scaled(size, 48, 64, 80), 5
    net = ResNet("basic", blocks, [part << level for level in range(4)], spatial_dims=2, n_input_channels=3, conv1_t_stride=2, feed_forward=False)
    model = MILModel(grades, "att_trans", pretrained=False, backbone=net, backbone_num_features=8 * part, trans_blocks=scaled(size, 2, 3, 4))

    def sample(samples: int) -> Batch:
        return torch.randn(samples, tiles, 3, pixels, pixels), (torch.arange(grades) < torch.randint(grades + 1, (samples, 1))).float()

    def loss(module: nn.Module, slides: Tensor, reached: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(module(slides), reached)

    return Subject(model, sample, loss)


def monai_masked_autoencoder_vit(size: str) -> Subject:
    """An encoder sees a quarter of a scan's patches, and a decoder all places; the loss is of those that were not seen. Which are is drawn on the host."""
    from monai.networks.nets import MaskedAutoEncoderViT

    side, patch, wide = scaled(size, 32, 40, 48), 8, scaled(size, 192, 384, 576)
    model = MaskedAutoEncoderViT(1, side, patch, hidden_size=wide, mlp_dim=4 * wide, num_layers=scaled(size, 4, 5, 6), decoder_hidden_size=wide // 2, decoder_mlp_dim=2 * wide, decoder_num_layers=scaled(size, 2, 3, 4))
    for block in (*model.blocks, *model.decoder_blocks):
        if hasattr(block, "norm_cross_attn"):
            block.norm_cross_attn.requires_grad_(False)  # which is not used

    def loss(module: nn.Module, scan: Tensor) -> Tensor:
        made, hidden = module(scan)
        count = side // patch
        wanted = scan.view(-1, 1, count, patch, count, patch, count, patch).permute(0, 2, 4, 6, 3, 5, 7, 1).reshape(made.shape)
        return (((made - wanted) ** 2).mean(-1) * hidden).sum() / hidden.sum()

    return Subject(model, lambda count: (torch.randn(count, 1, side, side, side),), loss)


def x_transformers_continuous(size: str) -> Subject:
    """Sequences of vectors, the next of which is to be said: no table, and no classes. As wide as in the package's own example."""
    from x_transformers import ContinuousAutoregressiveWrapper, ContinuousTransformerWrapper, Decoder

    given = 777
    model = ContinuousTransformerWrapper(dim_in=given, dim_out=given, max_seq_len=1024, attn_layers=Decoder(dim=width(size), depth=4, heads=4))

    def loss(module: nn.Module, vectors: Tensor) -> Tensor:
        return module(vectors)

    return Subject(ContinuousAutoregressiveWrapper(model), lambda count: (torch.randn(count, int(length(size) * LENGTH.factor), given),), loss)


def x_transformers_next_latent(size: str) -> Subject:
    """What the last layer makes of a place is to say what it makes of the next three, and of their words what a copy of the head does, which is made in every step."""
    from x_transformers import Decoder, TransformerWrapper
    from x_transformers.next_latent_wrapper import NextLatentWrapper

    model = TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=1024, attn_layers=Decoder(dim=width(size), depth=4, heads=4))
    return Subject(NextLatentWrapper(model, dim=width(size), num_rollouts=3), tokens(VOCABULARY, length(size)), lambda module, ids: module(ids))
