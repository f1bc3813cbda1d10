# SPDX-License-Identifier: Apache-2.0
"""Again of the packages monai and x_transformers, as their own examples build and train them."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import VOCABULARY, length, width
from .subject import LENGTH, Batch, Subject, scaled, tokens


def monai_vnet(size: str) -> Subject:
    """Convolutions of five places a side, residual units of one to three of them, and whole channels dropped on both ways; in the large size of scans, else of slices.

    Its widths are fixed, and so is its depth.
    """
    from monai.losses import DiceLoss
    from monai.networks.nets import VNet

    axes, organs = scaled(size, 2, 2, 3), scaled(size, 2, 3, 4)
    sides = (scaled(size, 48, 128, 32),) * axes
    model = VNet(spatial_dims=axes, out_channels=organs, dropout_dim=axes)
    loss = DiceLoss(to_onehot_y=True, softmax=True, squared_pred=True)
    return Subject(model, lambda count: (torch.randn(count, 1, *sides), torch.randint(organs, (count, 1, *sides))), lambda module, scan, labels: loss(module(scan), labels))


def monai_restormer(size: str) -> Subject:
    """Channels attend to one another, not places, and a gate stands between convolutions of single channels; a U-Net of such blocks makes images clean again.

    The large one has the blocks and heads of its paper, and half its width.
    """
    from monai.networks.nets.restormer import Restormer

    wide, pixels = scaled(size, 16, 24, 24), scaled(size, 32, 48, 48)
    blocks, heads = {"small": (1, 1, 1, 1), "medium": (2, 3, 3, 4), "large": (4, 6, 6, 8)}[size], (1, 2, 4, 8)
    model = Restormer(dim=wide, num_blocks=blocks, heads=heads, num_refinement_blocks=scaled(size, 2, 2, 4))

    def sample(count: int) -> Batch:
        clean = torch.rand(count, 3, pixels, pixels)
        return clean + 0.1 * torch.randn_like(clean), clean

    return Subject(model, sample, lambda module, noisy, clean: F.l1_loss(module(noisy), clean))


def x_transformers_continuous_autoencoder(size: str) -> Subject:
    """A sequence of vectors becomes one, of which, put before it, and of what came before each place a decoder makes it again; at times it is taken for not there."""
    from x_transformers.continuous_autoencoder import ContinuousTransformerAutoencoder

    given = scaled(size, 512, 640, 768)
    model = ContinuousTransformerAutoencoder(dim=width(size), dim_input=given, dim_latent=128, enc_depth=3, dec_depth=3, max_seq_len=1024, heads=4)

    def loss(module: nn.Module, vectors: Tensor) -> Tensor:
        return module(vectors)

    return Subject(model, lambda count: (torch.randn(count, int(length(size) * LENGTH.factor), given),), loss)


def x_transformers_discover_wrapper(size: str) -> Subject:
    """One network in two turns: what it makes of the last place is all that it is given of a list of letters, which it is to say the other way round."""
    from x_transformers import Decoder, TransformerWrapper
    from x_transformers.discover_wrapper import DiscoverDecoder

    layers = Decoder(dim=width(size), depth=4, heads=4, attn_dropout=0.05, ff_dropout=0.05)
    net = TransformerWrapper(num_tokens=VOCABULARY + 2, max_seq_len=1024, emb_dropout=0.05, attn_layers=layers)
    model = DiscoverDecoder(decoder=net, num_fillers=VOCABULARY, bos_id=VOCABULARY, pad_id=VOCABULARY + 1, max_seq_len=1024)

    def loss(module: nn.Module, letters: Tensor) -> Tensor:
        wanted = letters.flip(-1)
        logits = module(letters, wanted)
        return F.cross_entropy(logits.reshape(-1, VOCABULARY + 2), wanted.reshape(-1))

    return Subject(model, tokens(VOCABULARY, length(size)), loss)


def monai_resnet(size: str) -> Subject:
    """Classes of whole scans, by residual blocks of two kinds in three dimensions: as deep as the variants of 10, 18 and 50 layers."""
    from monai.networks.nets import ResNet

    part, side, kinds = scaled(size, 32, 40, 48), scaled(size, 32, 40, 40), 2
    blocks = {"small": [1, 1, 1, 1], "medium": [2, 2, 2, 2], "large": [3, 4, 6, 3]}[size]
    model = ResNet("bottleneck" if size == "large" else "basic", blocks, [part << level for level in range(4)], n_input_channels=1, num_classes=kinds)
    return Subject(model, lambda count: (torch.randn(count, 1, side, side, side), torch.randint(kinds, (count,))), lambda module, scan, labels: F.cross_entropy(module(scan), labels))


def monai_basic_unetplusplus(size: str) -> Subject:
    """Between an encoder and the last of its decoder stand nets of the same kind for each depth, and each level sees all that were made before it; the last of four answers is trained."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import BasicUNetPlusPlus

    wide, organs, sides = scaled(size, 8, 16, 32), scaled(size, 2, 3, 4), (32, 32, scaled(size, 16, 32, 32))
    model = BasicUNetPlusPlus(out_channels=organs, features=(wide, wide, 2 * wide, 4 * wide, 8 * wide, wide))
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    return Subject(model, lambda count: (torch.randn(count, 1, *sides), torch.randint(organs, (count, 1, *sides))), lambda module, scan, labels: loss(module(scan)[0], labels))


def x_transformers_multi_input(size: str) -> Subject:
    """Each place has a note, a pitch and a tone, whose vectors are added; what is next is said of each, by a head of its own."""
    from x_transformers import Decoder, MultiInputTransformerWrapper

    kinds = {"note": scaled(size, 1000, 2000, 5000), "pitch": 32, "tone": 16}
    model = MultiInputTransformerWrapper(num_tokens=kinds, max_seq_len=1024, attn_layers=Decoder(dim=width(size), depth=4, heads=4))

    def sample(count: int) -> Batch:
        places = int(length(size) * LENGTH.factor)
        return tuple(torch.randint(many, (count, places)) for many in kinds.values())

    def loss(module: nn.Module, *played: Tensor) -> Tensor:
        logits = module({kind: ids[:, :-1] for kind, ids in zip(kinds, played)})
        return sum(F.cross_entropy(logits[kind].transpose(1, 2), ids[:, 1:]) for kind, ids in zip(kinds, played))

    return Subject(model, sample, loss)


def x_transformers_gpt_vae(size: str) -> Subject:
    """A text becomes one vector, by an encoder and by chance, which stands before the text when a decoder says what is next; at times the decoder does not see it.

    As in the package's own example, of bytes.
    """
    from x_transformers.gpt_vae import GPTVAE

    letters = 256
    model = GPTVAE(num_tokens=letters, dim=width(size), depth=4, enc_depth=2, max_seq_len=1024, dim_latent=scaled(size, 1, 16, 32), heads=4, rotary_pos_emb=True)
    return Subject(model, tokens(letters, length(size)), lambda module, ids: module(ids))
