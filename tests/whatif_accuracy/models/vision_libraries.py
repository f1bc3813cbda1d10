# SPDX-License-Identifier: Apache-2.0
"""Models of images from the packages timm, torchvision, segmentation_models_pytorch and open_clip."""

from dataclasses import replace
from typing import Any, Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import SPECIAL, VOCABULARY, length, stack
from .subject import Batch, LENGTH, Subject, labeled, scaled


def fast_vlm(size: str) -> Subject:
    """A Qwen2 that gets an image before text. The encoder is timm's FastViT, with the branches of its convolutions already merged, and with attention in
    the last two of five stages. The program joins text and images itself, because the model would look up their places on the device."""
    from transformers import FastVlmConfig, FastVlmForConditionalGeneration

    pixels, wide = scaled(size, 128, 256, 320), scaled(size, 16, 24, 32)
    layers, widths = [1, scaled(size, 1, 2, 2), scaled(size, 2, 3, 4), 2, 1], [part * wide for part in (1, 2, 4, 8, 16)]
    vision_libraries = {"model_type": "timm_wrapper", "architecture": "fastvit_mci3", "do_pooling": True, "global_pool": "avg", "hidden_size": 32 * wide, "initializer_range": 0.02,
             "model_args": {"inference_mode": True, "layers": layers, "embed_dims": widths}}
    text = {"model_type": "qwen2", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = FastVlmConfig(vision_config=vision_libraries, text_config=text, image_token_index=999)

    class JoinedForConditionalGeneration(FastVlmForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            seen = self.model.get_image_features(given).pooler_output
            labels = torch.cat((ids.new_full(seen.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((seen, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def smp_upernet(size: str) -> Subject:
    """The deepest feature map is pooled to four sizes. Each level is merged with the next one on the way up, and then all of them together. The encoder is
    timm's ConvNeXt; trained as in the package's example on CamVid."""
    from segmentation_models_pytorch import UPerNet

    encoder = {"small": "atto", "medium": "pico", "large": "nano"}[size]
    return on_camvid(UPerNet(f"tu-convnextv2_{encoder}", encoder_weights=None, decoder_channels=scaled(size, 96, 128, 192), classes=OF_CAMVID), size)


def timm_twins(size: str) -> Subject:
    """Attention within windows, which are padded beyond the image, alternates with attention to positions that convolutions have subsampled. After the
    first block of a stage, a convolution encodes positions."""
    from timm.models.twins import Twins

    heads, pixels = scaled(size, 1, 2, 3), scaled(size, 64, 96, 128)
    model = Twins(img_size=pixels, num_classes=100, embed_dims=(32 * heads, 64 * heads, 128 * heads, 256 * heads), num_heads=(heads, 2 * heads, 4 * heads, 8 * heads), depths=(2, 2, scaled(size, 2, 4, 4), 2),
                  wss=(7, 7, 7, 7), sr_ratios=(8, 4, 2, 1))
    return labeled(model, pixels)


OF_CAMVID = 12  # classes


def on_camvid(model: nn.Module, size: str) -> Subject:
    """Trained as in smp's example: one class for each pixel, Dice loss."""
    from segmentation_models_pytorch.losses import MULTICLASS_MODE, DiceLoss

    pixels, overlap = scaled(size, 64, 96, 160), DiceLoss(MULTICLASS_MODE, from_logits=True)
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(OF_CAMVID, (count, pixels, pixels))), lambda module, given, masks: overlap(module(given), masks))


def timm_efficientvit_mit(size: str) -> Subject:
    """Convolutions, and in two of four stages attention without softmax, in float32, with queries, keys and values at two scales."""
    from timm.models.efficientvit_mit import EfficientVit

    wide = scaled(size, 16, 24, 32)
    model = EfficientVit(widths=(wide, 2 * wide, 4 * wide, 8 * wide, 16 * wide), depths=(1, 2, 2, 2, 2), head_dim=16, head_widths=(1024, 1280), num_classes=100)
    return labeled(model, scaled(size, 64, 128, 192))


def timm_efficientvit_msra(size: str) -> Subject:
    """Within windows, each head attends with a part of the channels, to which the output of the head before is added. All norms are batch norms, even the
    one before the last layer."""
    from timm.models.efficientvit_msra import EfficientVitMsra

    part, pixels = scaled(size, 32, 64, 96), scaled(size, 128, 192, 256)
    return labeled(EfficientVitMsra(pixels, num_classes=100, embed_dim=(2 * part, 4 * part, 6 * part)), pixels)


def timm_maxxvit(size: str) -> Subject:
    """Two stages of convolutions, then two of attention between all positions, whose linear layers are convolutions too."""
    from timm.models.maxxvit import MaxxVit, model_cfgs

    pixels, wide = scaled(size, 96, 128, 192), scaled(size, 32, 48, 80)
    config = replace(model_cfgs["coatnet_pico_rw"], embed_dim=(wide, 2 * wide, 4 * wide, 8 * wide), depths=(2, 3, scaled(size, 3, 4, 5), 2), stem_width=(wide // 2, wide))
    return labeled(MaxxVit(config, img_size=pixels, num_classes=100), pixels)


def timm_rexnet(size: str) -> Subject:
    """Each block is wider than the one before: its input is added to its first output channels, and the others are appended."""
    from timm.models.rexnet import RexNet

    return labeled(RexNet(num_classes=100, width_mult=scaled(size, 10, 13, 15) / 10), scaled(size, 64, 96, 128))


def timm_nfnet(size: str) -> Subject:
    """Without norms: the weights of convolutions are standardized in each step, and residual branches are scaled down. The large one is ECA-NFNet-L0."""
    from timm.models.nfnet import NormFreeNet, model_cfgs

    parts = scaled(size, 1, 2, 4)  # of four
    return labeled(NormFreeNet(model_cfgs["eca_nfnet_l0"], num_classes=100, width_factor=parts / 4, group_size=16 * parts), scaled(size, 96, 128, 128))


def timm_xcit(size: str) -> Subject:
    """Channels attend to each other; convolutions connect neighboring positions. At the end a class token attends to all positions. As wide as XCiT-N, T
    and S."""
    from timm.models.xcit import Xcit

    pixels = scaled(size, 128, 160, 192)
    return labeled(Xcit(img_size=pixels, num_classes=100, embed_dim=scaled(size, 128, 192, 384), depth=scaled(size, 4, 6, 6), num_heads=scaled(size, 4, 4, 8), tokens_norm=True), pixels)


def _classifier(make: Callable[..., nn.Module], pixels: int) -> Subject:
    """A model of torchvision, whose forward returns only logits."""
    return labeled(make(num_classes=100), pixels)


def mobilenet(size: str) -> Subject:
    from torchvision.models import mobilenet_v3_small as make

    return _classifier(make, scaled(size, 64, 96, 128))


def shufflenet(size: str) -> Subject:
    from torchvision.models import shufflenet_v2_x1_0 as make

    return _classifier(make, scaled(size, 64, 96, 128))


def r3d_18(size: str) -> Subject:
    """3D convolutions over clips of eight frames."""
    from torchvision.models.video import r3d_18 as make

    pixels = scaled(size, 32, 48, 64)
    return _classifier(make, pixels)._replace(batch=lambda count: (torch.randn(count, 3, 8, pixels, pixels), torch.randint(100, (count,))))


def deeplabv3(size: str) -> Subject:
    """Semantic segmentation: parallel convolutions with different dilation, upsampled to the size of the image."""
    from torchvision.models.segmentation import deeplabv3_mobilenet_v3_large as make

    pixels = scaled(size, 64, 96, 128)
    return Subject(make(weights=None, weights_backbone=None, num_classes=19), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, pixels, pixels))),
                   lambda module, given, labels: F.cross_entropy(module(given)["out"], labels))


def fcn(size: str) -> Subject:
    """Semantic segmentation: a residual network with dilation in its last stages, whose small output is upsampled."""
    from torchvision.models.segmentation import fcn_resnet50 as make

    pixels = scaled(size, 64, 96, 128)
    return Subject(make(weights=None, weights_backbone=None, num_classes=19), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, pixels, pixels))),
                   lambda module, given, labels: F.cross_entropy(module(given)["out"], labels))


def timm_gcvit(size: str) -> Subject:
    """Attention within windows, in turns with queries of the window and with queries that convolutions compute from the whole image. Whole blocks are
    dropped at random."""
    from timm.models.gcvit import GlobalContextVit

    pixels, heads, deep = scaled(size, 64, 96, 128), scaled(size, 1, 2, 2), scaled(size, 2, 3, 4)
    model = GlobalContextVit(img_size=pixels, num_classes=100, embed_dim=scaled(size, 32, 48, 64), depths=(2, 2, 2 * deep, 2), num_heads=(heads, 2 * heads, 4 * heads, 8 * heads), drop_path_rate=0.2)
    return labeled(model, pixels)


def timm_lowformer(size: str) -> Subject:
    """Convolutions, and in two of four stages attention at a lower resolution, between a convolution that reduces it and one that restores it. Linear
    layers of attention and MLPs are convolutions too."""
    from timm.models.lowformer import LowFormer

    wide, deep = scaled(size, 16, 20, 24), scaled(size, 2, 3, 4)
    model = LowFormer(width_list=[wide, 2 * wide, 4 * wide, 8 * wide, 16 * wide], depth_list=[scaled(size, 0, 1, 1), 1, 1, deep, deep], num_classes=100,
                      head_widths=(scaled(size, 768, 1536, 2304), scaled(size, 800, 1600, 2560)), downsample_expand_ratios=(6, 6, 6, 6))
    return labeled(model, scaled(size, 96, 128, 160))


def smp_fpn(size: str) -> Subject:
    """Feature maps from four depths of an EfficientNet are made the same size and added. Some blocks are skipped for some samples. Trained as in the
    package's example on pets."""
    from segmentation_models_pytorch import FPN
    from segmentation_models_pytorch.losses import BINARY_MODE, DiceLoss

    pixels = scaled(size, 64, 96, 128)
    model = FPN(f"efficientnet-b{scaled(size, 0, 2, 3)}", encoder_weights=None, classes=1)
    overlap = DiceLoss(BINARY_MODE, from_logits=True)
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(2, (count, 1, pixels, pixels)).float()), lambda module, given, masks: overlap(module(given), masks))


def open_clip_rn50(size: str) -> Subject:
    """CLIP with a ResNet for images, whose last layer is attention pooling: the mean attends to all positions. Texts have an encoder of their own."""
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    pixels, wide, words = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32)
    model = CLIP(128, CLIPVisionCfg(layers=(3, 4, 6, 3), width=scaled(size, 16, 24, 32), image_size=pixels),
                 CLIPTextCfg(context_length=words, vocab_size=VOCABULARY, width=wide, heads=4, layers=scaled(size, 3, 4, 6)), nonscalar_logit_scale=True)
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))
