# SPDX-License-Identifier: Apache-2.0
"""Models of images, from the packages transformers and torchvision."""

import functools
from typing import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .subject import Subject, classified, images, labelled, scaled


def _classifier(make: Callable[..., nn.Module], pixels: int) -> Subject:
    """One of torchvision, which hands out logits alone."""
    return labelled(make(num_classes=100), pixels)


def vit(size: str) -> Subject:
    from transformers import ViTConfig, ViTForImageClassification

    pixels = scaled(size, 64, 96, 128)
    config = ViTConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, num_labels=100)
    return Subject(ViTForImageClassification(config), images(pixels, 100), classified)


def resnet50(size: str) -> Subject:
    from torchvision.models import resnet50 as make

    return _classifier(make, scaled(size, 64, 80, 96))


def convnext(size: str) -> Subject:
    from transformers import ConvNextConfig, ConvNextForImageClassification

    width = scaled(size, 32, 48, 64)
    config = ConvNextConfig(hidden_sizes=[width, 2 * width, 4 * width, 8 * width], depths=[2, 2, 3, 2], num_labels=100)
    return Subject(ConvNextForImageClassification(config), images(scaled(size, 64, 96, 128), 100), classified)


def mobilenet(size: str) -> Subject:
    from torchvision.models import mobilenet_v3_small as make

    return _classifier(make, scaled(size, 64, 96, 128))


def swin(size: str) -> Subject:
    from transformers import SwinConfig, SwinForImageClassification

    config = SwinConfig(image_size=scaled(size, 64, 128, 128), embed_dim=scaled(size, 32, 48, 64), depths=[2, 2, 2], num_heads=[2, 4, 8], window_size=4, num_labels=100)
    return Subject(SwinForImageClassification(config), images(scaled(size, 64, 128, 128), 100), classified)


def _segmented(model: nn.Module, pixels: Tensor, labels: Tensor) -> Tensor:
    return model(pixel_values=pixels, labels=labels).loss


def segformer(size: str) -> Subject:
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 16, 24, 32)
    config = SegformerConfig(hidden_sizes=[width, 2 * width, 4 * width, 8 * width], depths=[1, 1, 2, 1], decoder_hidden_size=64, num_labels=19)
    return Subject(SegformerForSemanticSegmentation(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, pixels, pixels))), _segmented)


def dinov2(size: str) -> Subject:
    from transformers import Dinov2Config, Dinov2ForImageClassification

    pixels = scaled(size, 56, 84, 112)
    config = Dinov2Config(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, image_size=pixels, patch_size=14, num_labels=100)
    return Subject(Dinov2ForImageClassification(config), images(pixels, 100), classified)


def densenet(size: str) -> Subject:
    from torchvision.models import densenet121 as make

    return _classifier(make, scaled(size, 64, 80, 96))


def efficientnet(size: str) -> Subject:
    from torchvision.models import efficientnet_b0 as make

    return _classifier(make, scaled(size, 64, 80, 96))


def beit(size: str) -> Subject:
    """With a table of relative positions in each layer."""
    from transformers import BeitConfig, BeitForImageClassification

    pixels = scaled(size, 64, 96, 128)
    config = BeitConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, num_labels=100,
                        use_relative_position_bias=True)
    return Subject(BeitForImageClassification(config), images(pixels, 100), classified)


def regnet(size: str) -> Subject:
    from torchvision.models import regnet_y_400mf as make

    return _classifier(make, scaled(size, 64, 96, 128))


def shufflenet(size: str) -> Subject:
    from torchvision.models import shufflenet_v2_x1_0 as make

    return _classifier(make, scaled(size, 64, 96, 128))


def vgg(size: str) -> Subject:
    from torchvision.models import vgg11_bn as make

    return _classifier(make, scaled(size, 32, 48, 64))


def mnasnet(size: str) -> Subject:
    from torchvision.models import mnasnet1_0 as make

    return _classifier(make, scaled(size, 64, 96, 128))


def mobilevit(size: str) -> Subject:
    """Convolutions, with transformers between them."""
    from transformers import MobileViTConfig, MobileViTForImageClassification

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 48, 64, 96)
    config = MobileViTConfig(image_size=pixels, hidden_sizes=[width, width + 16, width + 32], neck_hidden_sizes=[16, 16, 24, 32, 48, 64, 96], num_labels=100)
    return Subject(MobileViTForImageClassification(config), images(pixels, 100), classified)


def googlenet(size: str) -> Subject:
    """Four branches beside each other in each block."""
    from torchvision.models import googlenet as make

    return _classifier(functools.partial(make, aux_logits=False, init_weights=False), scaled(size, 64, 96, 128))


def squeezenet(size: str) -> Subject:
    from torchvision.models import squeezenet1_1 as make

    return _classifier(make, scaled(size, 64, 96, 128))


def deit(size: str) -> Subject:
    from transformers import DeiTConfig, DeiTForImageClassification

    pixels = scaled(size, 64, 96, 128)
    config = DeiTConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, num_labels=100)
    return Subject(DeiTForImageClassification(config), images(pixels, 100), classified)


def resnext(size: str) -> Subject:
    from torchvision.models import resnext50_32x4d as make

    return _classifier(make, scaled(size, 64, 80, 96))


def alexnet(size: str) -> Subject:
    from torchvision.models import alexnet as make

    return _classifier(make, scaled(size, 64, 96, 128))


def convnextv2(size: str) -> Subject:
    """Each block has a norm over all places of a channel."""
    from transformers import ConvNextV2Config, ConvNextV2ForImageClassification

    width = scaled(size, 32, 48, 64)
    config = ConvNextV2Config(hidden_sizes=[width, 2 * width, 4 * width, 8 * width], depths=[2, 2, 3, 2], num_labels=100)
    return Subject(ConvNextV2ForImageClassification(config), images(scaled(size, 64, 96, 128), 100), classified)


def mobilenet_v2(size: str) -> Subject:
    from torchvision.models import mobilenet_v2 as make

    return _classifier(make, scaled(size, 64, 96, 128))


def inception(size: str) -> Subject:
    """Filters of many shapes beside each other in each block."""
    from torchvision.models import inception_v3 as make

    return _classifier(functools.partial(make, aux_logits=False, init_weights=False), scaled(size, 80, 112, 160))


def swinv2(size: str) -> Subject:
    """Attention to angles, written out, and biases that a small network makes of positions."""
    from transformers import Swinv2Config, Swinv2ForImageClassification

    config = Swinv2Config(image_size=scaled(size, 64, 128, 128), embed_dim=scaled(size, 32, 48, 64), depths=[2, 2, 2], num_heads=[2, 4, 8], window_size=4, num_labels=100)
    return Subject(Swinv2ForImageClassification(config), images(scaled(size, 64, 128, 128), 100), classified)


def wide_resnet(size: str) -> Subject:
    from torchvision.models import wide_resnet50_2 as make

    return _classifier(make, scaled(size, 64, 80, 96))


def efficientnet_v2(size: str) -> Subject:
    """Its first blocks convolve once where those of its first version convolve twice."""
    from torchvision.models import efficientnet_v2_s as make

    return _classifier(make, scaled(size, 64, 80, 96))


def focalnet(size: str) -> Subject:
    """Convolutions of growing widths, in place of attention, scale what they look at."""
    from transformers import FocalNetConfig, FocalNetForImageClassification

    pixels = scaled(size, 64, 96, 128)
    config = FocalNetConfig(image_size=pixels, embed_dim=scaled(size, 32, 48, 64), depths=[2, 2, 2], focal_levels=[2, 2, 2], focal_windows=[3, 3, 3], num_labels=100)
    return Subject(FocalNetForImageClassification(config), images(pixels, 100), classified)


def pvt_v2(size: str) -> Subject:
    """Keys and values of each stage come of a smaller picture; MLPs convolve."""
    from transformers import PvtV2Config, PvtV2ForImageClassification

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 16, 24, 32)
    config = PvtV2Config(image_size=pixels, hidden_sizes=[width, 2 * width, 4 * width, 8 * width], depths=[1, 1, 2, 1], num_attention_heads=[1, 2, 4, 8], num_labels=100)
    return Subject(PvtV2ForImageClassification(config), images(pixels, 100), classified)


def dinov3(size: str) -> Subject:
    """Positions turn queries and keys, and registers stand beside the patches."""
    from transformers import DINOv3ViTConfig, DINOv3ViTModel

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    config = DINOv3ViTConfig(image_size=pixels, hidden_size=width, num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, num_register_tokens=4)
    return Subject(DINOv3ViTModel(config), images(pixels, width), lambda model, given, labels: F.cross_entropy(model(pixel_values=given).pooler_output, labels))


def ast(size: str) -> Subject:
    """A transformer of the patches of a spectrogram."""
    from transformers import ASTConfig, ASTForAudioClassification

    frames = scaled(size, 64, 128, 256)
    config = ASTConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, max_length=frames, num_mel_bins=64, num_labels=100)
    return Subject(ASTForAudioClassification(config), lambda count: (torch.randn(count, frames, 64), torch.randint(100, (count,))),
                   lambda model, given, labels: F.cross_entropy(model(given).logits, labels))


def hiera(size: str) -> Subject:
    """Attention within windows that are sorted beside each other before the first layer, and pooled between stages."""
    from transformers import HieraConfig, HieraForImageClassification

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 32, 48, 64)
    config = HieraConfig(image_size=[pixels, pixels], embed_dim=width, depths=[1, 1, 2, 1], num_heads=[1, 2, 4, 8], num_labels=100)
    return Subject(HieraForImageClassification(config), images(pixels, 100), classified)


def levit(size: str) -> Subject:
    """Attention with norms of batches and biases of places, on pictures that shrink."""
    from transformers import LevitConfig, LevitForImageClassification

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 64, 96, 128)
    config = LevitConfig(image_size=pixels, hidden_sizes=[width, width + 32, width + 64], num_attention_heads=[2, 3, 4], depths=[2, 2, 2], num_labels=100)
    return Subject(LevitForImageClassification(config), images(pixels, 100), classified)


def mobilevitv2(size: str) -> Subject:
    """Attention of each place to one summary of all, between convolutions."""
    from transformers import MobileViTV2Config, MobileViTV2ForImageClassification

    pixels = scaled(size, 64, 96, 128)
    config = MobileViTV2Config(image_size=pixels, width_multiplier=scaled(size, 2, 3, 4) / 4, num_labels=100)
    return Subject(MobileViTV2ForImageClassification(config), images(pixels, 100), classified)


def bit(size: str) -> Subject:
    """A residual network whose weights are made even in each convolution, with norms of groups before them."""
    from transformers import BitConfig, BitForImageClassification

    width = scaled(size, 128, 192, 256)
    config = BitConfig(hidden_sizes=[width, 2 * width, 4 * width, 8 * width], depths=[2, 2, 2, 2], embedding_size=64, num_groups=8, num_labels=100)
    return Subject(BitForImageClassification(config), images(scaled(size, 64, 96, 128), 100), classified)


def vit_msn(size: str) -> Subject:
    from transformers import ViTMSNConfig, ViTMSNForImageClassification

    pixels = scaled(size, 64, 96, 128)
    config = ViTMSNConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, num_labels=100)
    return Subject(ViTMSNForImageClassification(config), images(pixels, 100), classified)


def pvt(size: str) -> Subject:
    """Keys and values of each stage come of a smaller picture; tables of positions are stretched to each picture."""
    from transformers import PvtConfig, PvtForImageClassification

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 16, 24, 32)
    config = PvtConfig(image_size=pixels, hidden_sizes=[width, 2 * width, 4 * width, 8 * width], depths=[1, 1, 2, 1], num_attention_heads=[1, 2, 4, 8], num_labels=100)
    return Subject(PvtForImageClassification(config), images(pixels, 100), classified)


def r3d_18(size: str) -> Subject:
    """Convolutions over eight pictures of a clip at a time."""
    from torchvision.models.video import r3d_18 as make

    pixels = scaled(size, 32, 48, 64)
    return _classifier(make, pixels)._replace(batch=lambda count: (torch.randn(count, 3, 8, pixels, pixels), torch.randint(100, (count,))))


def ijepa(size: str) -> Subject:
    """No patch stands for the whole picture: the mean of all does."""
    from transformers import IJepaConfig, IJepaForImageClassification

    pixels = scaled(size, 64, 96, 128)
    config = IJepaConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, num_labels=100)
    return Subject(IJepaForImageClassification(config), images(pixels, 100), classified)


def deeplabv3(size: str) -> Subject:
    """Says of each point what it is: convolutions with holes of several widths beside each other, stretched to the picture."""
    from torchvision.models.segmentation import deeplabv3_mobilenet_v3_large as make

    pixels = scaled(size, 64, 96, 128)
    return Subject(make(weights=None, weights_backbone=None, num_classes=19), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, pixels, pixels))),
                   lambda module, given, labels: F.cross_entropy(module(given)["out"], labels))


def swiftformer(size: str) -> Subject:
    """Attention is a sum of queries that scales keys, behind convolutions in each stage."""
    from transformers import SwiftFormerConfig, SwiftFormerForImageClassification

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 32, 48, 64)
    config = SwiftFormerConfig(image_size=pixels, embed_dims=[width, width + 16, 2 * width, 4 * width], depths=[2, 2, 3, 2], num_labels=100)
    return Subject(SwiftFormerForImageClassification(config), images(pixels, 100), classified)


def dinov2_with_registers(size: str) -> Subject:
    """Four registers stand beside the patches."""
    from transformers import Dinov2WithRegistersConfig, Dinov2WithRegistersForImageClassification

    pixels = scaled(size, 56, 84, 112)
    config = Dinov2WithRegistersConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, image_size=pixels, patch_size=14, num_register_tokens=4,
                                       num_labels=100)
    return Subject(Dinov2WithRegistersForImageClassification(config), images(pixels, 100), classified)


def cvt(size: str) -> Subject:
    """Queries, keys and values come of convolutions with norms of batches; attention is written out."""
    from transformers import CvtConfig, CvtForImageClassification

    width = scaled(size, 32, 48, 64)
    config = CvtConfig(embed_dim=[width, 2 * width, 4 * width], num_heads=[1, 2, 4], depth=[1, 2, 3], num_labels=100)
    return Subject(CvtForImageClassification(config), images(scaled(size, 64, 96, 128), 100), classified)


def fcn(size: str) -> Subject:
    """Says of each point what it is: a residual network with holes in its last stages, whose small picture is stretched."""
    from torchvision.models.segmentation import fcn_resnet50 as make

    pixels = scaled(size, 64, 96, 128)
    return Subject(make(weights=None, weights_backbone=None, num_classes=19), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, pixels, pixels))),
                   lambda module, given, labels: F.cross_entropy(module(given)["out"], labels))


def _matched(model: nn.Module, pixels: Tensor, text: Tensor) -> Tensor:
    return model(input_ids=text, pixel_values=pixels, return_loss=True).loss


def clip(size: str) -> Subject:
    """Two towers, of images and of their texts."""
    from transformers import CLIPConfig, CLIPModel

    pixels, width, words = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32)
    tower = {"hidden_size": width, "intermediate_size": 1024, "num_hidden_layers": 3, "num_attention_heads": 4}
    text = {**tower, "vocab_size": 1000, "max_position_embeddings": words, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = CLIPConfig(text_config=text, vision_config={**tower, "image_size": pixels, "patch_size": 16}, projection_dim=128)
    return Subject(CLIPModel(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(1000, (count, words))), _matched)


def siglip(size: str) -> Subject:
    """Two towers, of which one asks for what it wants of an image."""
    from transformers import SiglipConfig, SiglipModel

    pixels, width, words = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32)
    tower = {"hidden_size": width, "intermediate_size": 1024, "num_hidden_layers": 3, "num_attention_heads": 4}
    text = {**tower, "vocab_size": 1000, "max_position_embeddings": words, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = SiglipConfig(text_config=text, vision_config={**tower, "image_size": pixels, "patch_size": 16})
    return Subject(SiglipModel(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(1000, (count, words))), _matched)
