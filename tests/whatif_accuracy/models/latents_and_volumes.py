# SPDX-License-Identifier: Apache-2.0
"""Further ones of the packages monai and x_transformers, as their own examples build and train them."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import VOCABULARY, length, width
from .subject import LENGTH, Batch, Subject, images, scaled, tokens


def monai_transformer(size: str) -> Subject:
    """Codes of a picture, one after the other, each of which is said of those before it; what a first code begins stands before them, as in MONAI's tutorial on it."""
    from monai.networks.nets import DecoderOnlyTransformer

    codes = scaled(size, 256, 512, 1024)
    model = DecoderOnlyTransformer(num_tokens=codes + 1, max_seq_len=512, attn_layers_dim=width(size), attn_layers_depth=scaled(size, 4, 5, 6), attn_layers_heads=scaled(size, 4, 8, 8))

    def loss(module: nn.Module, ids: Tensor) -> Tensor:
        return F.cross_entropy(module(F.pad(ids, (1, 0), value=codes)[:, :-1]).transpose(1, 2), ids)

    return Subject(model, tokens(codes, length(size)), loss)


def monai_basic_unet(size: str) -> Subject:
    """Two convolutions on each level of a U-Net in three dimensions, with the largest places before and transposed convolutions behind; the last level has a width of its own."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import BasicUNet

    wide, organs, sides = scaled(size, 16, 24, 32), scaled(size, 2, 3, 4), (32, 32, scaled(size, 16, 32, 48))
    model = BasicUNet(out_channels=organs, features=(wide, wide, 2 * wide, 4 * wide, 8 * wide, wide))
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    return Subject(model, lambda count: (torch.randn(count, 1, *sides), torch.randint(organs, (count, 1, *sides))), lambda module, scan, labels: loss(module(scan), labels))


def x_transformers_vi_transformer(size: str) -> Subject:
    """Patches of an image behind two norms, layers of the package's own encoder, and the mean of all places for the kind of image."""
    from x_transformers import Encoder, ViTransformerWrapper

    pixels, kinds = scaled(size, 64, 96, 128), 100
    model = ViTransformerWrapper(image_size=pixels, patch_size=8, num_classes=kinds, attn_layers=Encoder(dim=width(size), depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 6, 8)))
    return Subject(model, images(pixels, kinds), lambda module, pixels, labels: F.cross_entropy(module(pixels), labels))


def x_transformers_full_bandwidth(size: str) -> Subject:
    """A text is read twice: the second time, what the last layer made of the place before is let into the first, a little blurred; both readings are to say what is next, and the head is the table of words."""
    from x_transformers import Decoder, TransformerWrapper
    from x_transformers.full_bandwidth import FullBandwidth

    layers = Decoder(dim=width(size), depth=4, heads=4, depth_scale_residual=True, rotary_pos_emb=True)
    net = TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=1024, tie_embedding=True, post_emb_norm=True, attn_layers=layers)
    return Subject(FullBandwidth(net), tokens(VOCABULARY, length(size)), lambda module, ids: module(ids))


def monai_vit(size: str) -> Subject:
    """Kinds of whole scans: patches, which a convolution makes, and a place for the answer, with positions that are trained; what each block makes is handed out too."""
    from monai.networks.nets import ViT

    side, patch, wide, kinds = scaled(size, 32, 40, 48), 8, scaled(size, 192, 384, 576), 4
    model = ViT(1, side, patch, hidden_size=wide, mlp_dim=4 * wide, num_layers=scaled(size, 4, 5, 6), classification=True, num_classes=kinds)
    return Subject(model, lambda count: (torch.randn(count, 1, side, side, side), torch.randint(kinds, (count,))), lambda module, scan, labels: F.cross_entropy(module(scan)[0], labels))


def monai_senet(size: str) -> Subject:
    """Kinds of pictures, by residual blocks of which all places have a say in how much of a channel there is to be: those of SE-ResNet, of SE-ResNeXt, and of SENet-154, each with fewer of them."""
    from monai.networks.nets import SENet154, SEResNet50, SEResNext50

    make, blocks = {"small": (SEResNet50, (1, 1, 1, 1)), "medium": (SEResNext50, (2, 3, 3, 2)), "large": (SENet154, (2, 3, 4, 1))}[size]
    kinds = 100
    model = make(spatial_dims=2, in_channels=3, num_classes=kinds, layers=blocks)
    return Subject(model, images(scaled(size, 64, 96, 112), kinds), lambda module, pictures, labels: F.cross_entropy(module(pictures), labels))


def x_transformers_free_transformer(size: str) -> Subject:
    """In the middle of a decoder, each place draws one of many codes, bit by bit, of what an encoder makes of the text so far; the layers behind it see which, and less is to be said by it than would be easy."""
    from x_transformers.free_transformer import FreeTransformer

    layers = scaled(size, 2, 2, 3)
    model = FreeTransformer(num_tokens=VOCABULARY, dim=width(size), dec_head_depth=layers, dec_tail_depth=layers, max_seq_len=1024, heads=4, latent_bits=scaled(size, 8, 9, 10))
    return Subject(model, tokens(VOCABULARY, length(size)), lambda module, ids: module(ids))


def x_transformers_encoder(size: str) -> Subject:
    """Some words of a text are hidden, and to be said of all others; a mask says which words there are."""
    from x_transformers import Encoder, TransformerWrapper

    hidden, ignored = VOCABULARY, -100
    model = TransformerWrapper(num_tokens=VOCABULARY + 1, max_seq_len=1024, attn_layers=Encoder(dim=width(size), depth=4, heads=4))

    def sample(samples: int) -> Batch:
        words = int(length(size) * LENGTH.factor)
        ids, there = torch.randint(VOCABULARY, (samples, words)), torch.arange(words) < words - torch.arange(samples)[:, None] % (words // 2)
        asked = there & (torch.rand(samples, words) < 0.15)
        return ids.masked_fill(asked, hidden), ids.masked_fill(~asked, ignored), there

    def loss(module: nn.Module, ids: Tensor, labels: Tensor, there: Tensor) -> Tensor:
        return F.cross_entropy(module(ids, mask=there).transpose(1, 2), labels, ignore_index=ignored)

    return Subject(model, sample, loss)
