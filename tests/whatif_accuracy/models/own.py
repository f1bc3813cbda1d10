# SPDX-License-Identifier: Apache-2.0
"""Models that need only torch, written for the measurements."""

import torch
import torch.utils.checkpoint
from torch import Tensor, nn
from torch.nn import functional as F

from .subject import Subject, images, scaled, tokens


class Layer(nn.Module):
    """A pre-norm transformer layer, in torch alone."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = 4

    def forward(self, x: Tensor) -> Tensor:
        count, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(count, length, 3, self.heads, width // 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(count, length, -1)
        x = x + self.out(y)
        return x + self.narrow(F.gelu(self.wide(self.second(x))))


class Transformer(nn.Module):
    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        self.table, self.places = nn.Embedding(500, width), nn.Parameter(torch.zeros(length, width))
        self.layers = nn.ModuleList(Layer(width) for _ in range(3))
        self.head = nn.Linear(width, 500)
        self.checkpointed = False

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids) + (self.places if ids.shape[1] == len(self.places) else self.places[: ids.shape[1]])
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False) if self.checkpointed else layer(x)
        return self.head(x)


class ConvolutionalBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(channels, channels, 3, padding=1), nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(F.relu(self.norm(self.first(x))))


class Convolutional(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.blocks = nn.ModuleList(ConvolutionalBlock(channels) for _ in range(3))
        self.head = nn.Linear(channels, 10)
        self.checkpointed = False

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.head(x.mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(500, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, 500)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.lstm(self.table(ids))[0])


class Level(nn.Module):
    """Two convolutions of a U-Net, with group norms, as for small batches."""

    def __init__(self, before: int, channels: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(before, channels, 3, padding=1), nn.Conv2d(channels, channels, 3, padding=1)
        self.one, self.two = nn.GroupNorm(8, channels), nn.GroupNorm(8, channels)

    def forward(self, x: Tensor) -> Tensor:
        return F.silu(self.two(self.second(F.silu(self.one(self.first(x))))))


class UNet(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        widths = [channels, 2 * channels, 4 * channels]
        self.down = nn.ModuleList(Level(before, width) for before, width in zip([3, *widths], widths))
        self.up = nn.ModuleList(Level(3 * width, width) for width in widths[1::-1])
        self.head = nn.Conv2d(channels, 3, 1)
        self.checkpointed = False

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for level in self.down:
            x = self.through(level, x if not kept else F.max_pool2d(x, 2))
            kept.append(x)
        for level, beside in zip(self.up, kept[-2::-1]):
            x = self.through(level, torch.cat([F.interpolate(x, scale_factor=2), beside], 1))
        return self.head(x)

    def through(self, level: nn.Module, x: Tensor) -> Tensor:
        return torch.utils.checkpoint.checkpoint(level, x, use_reentrant=False) if self.checkpointed else level(x)


class Adversaries(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.maker = nn.Sequential(nn.ConvTranspose2d(64, 2 * channels, 4), nn.BatchNorm2d(2 * channels), nn.ReLU(),
                                   nn.ConvTranspose2d(2 * channels, channels, 4, 2, 1), nn.BatchNorm2d(channels), nn.ReLU(),
                                   nn.ConvTranspose2d(channels, channels, 4, 2, 1), nn.BatchNorm2d(channels), nn.ReLU(),
                                   nn.ConvTranspose2d(channels, 3, 4, 2, 1), nn.Tanh())
        self.judge = nn.Sequential(nn.Conv2d(3, channels, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(channels, 2 * channels, 4, 2, 1), nn.BatchNorm2d(2 * channels), nn.LeakyReLU(0.2),
                                   nn.Conv2d(2 * channels, 4 * channels, 4, 2, 1), nn.BatchNorm2d(4 * channels), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(64 * channels, 1))


def transformer(size: str) -> Subject:
    length = scaled(size, 16, 64, 128)
    model = Transformer(scaled(size, 128, 192, 256), length)
    return Subject(model, tokens(500, length), lambda module, ids: F.cross_entropy(module(ids).flatten(0, 1), ids.flatten()))


def convolutional(size: str) -> Subject:
    model = Convolutional(scaled(size, 16, 32, 64))
    return Subject(model, images(32, 10), lambda module, pixels, labels: F.cross_entropy(module(pixels), labels))


def recurrent(size: str) -> Subject:
    model = Recurrent(scaled(size, 128, 256, 512))
    return Subject(model, tokens(500, scaled(size, 16, 32, 64)), lambda module, ids: F.cross_entropy(module(ids).flatten(0, 1), ids.flatten()))


def unet(size: str) -> Subject:
    pixels = scaled(size, 32, 48, 64)
    return Subject(UNet(scaled(size, 16, 24, 32)), lambda count: (torch.randn(count, 3, pixels, pixels),), lambda module, noisy: F.mse_loss(module(noisy), noisy))


def gan(size: str) -> Subject:
    """The judge (discriminator) is trained on real and generated images, then the maker (generator) on the judge's output."""

    def judged(model: nn.Module, real: Tensor, noise: Tensor) -> Tensor:
        made = model.maker(noise).detach()
        return F.softplus(-model.judge(real)).mean() + F.softplus(model.judge(made)).mean()

    def made_well(model: nn.Module, real: Tensor, noise: Tensor) -> Tensor:
        return F.softplus(-model.judge(model.maker(noise))).mean()

    model = Adversaries(scaled(size, 16, 32, 64))
    return Subject(model, lambda count: (torch.randn(count, 3, 32, 32), torch.randn(count, 64, 1, 1)), made_well, (("judge", judged), ("maker", made_well)))
