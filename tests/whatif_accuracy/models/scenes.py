# SPDX-License-Identifier: Apache-2.0
"""Models that find things in images, or match images with words, from the package transformers."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import width
from .subject import Subject, scaled


def altclip(size: str) -> Subject:
    """CLIP whose text side is an XLM-RoBERTa with a layer behind it."""
    from transformers import AltCLIPConfig, AltCLIPModel

    wide, pixels, count = width(size), scaled(size, 64, 96, 128), scaled(size, 16, 24, 32)
    common = {"hidden_size": wide, "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 4}
    config = AltCLIPConfig(text_config={**common, "vocab_size": 1000, "project_dim": 192}, vision_config={**common, "image_size": pixels, "patch_size": 16}, projection_dim=128)

    def apart(model: nn.Module, ids: Tensor, seen: Tensor) -> Tensor:
        return model(input_ids=ids, pixel_values=seen, return_loss=True).loss

    return Subject(AltCLIPModel(config), lambda samples: (torch.randint(3, 1000, (samples, count)), torch.randn(samples, 3, pixels, pixels)), apart)


def d_fine(size: str) -> Subject:
    """Finds things: the points that look most like one are asked, at points around them in three sizes of the image, and mend the edges of boxes as distributions. Each is told what and where."""
    from transformers import DFineConfig, DFineForObjectDetection, HGNetV2Config

    pixels, things, wide = scaled(size, 96, 128, 160), 20, scaled(size, 64, 96, 128)
    sight: Any = HGNetV2Config(stem_channels=[3, 16, 32], stage_in_channels=[32, 64, 128, 256], stage_mid_channels=[16, 32, 64, 64], stage_out_channels=[64, 128, 256, 256], hidden_sizes=[64, 128, 256, 256],
                               stage_num_blocks=[1, 1, 1, 1], stage_numb_of_layers=[3, 3, 3, 3], out_features=["stage2", "stage3", "stage4"])
    config: Any = DFineConfig(backbone_config=sight, encoder_hidden_dim=wide, encoder_in_channels=[128, 256, 256], decoder_in_channels=[wide] * 3, encoder_ffn_dim=256, encoder_attention_heads=4,
                              d_model=wide, decoder_ffn_dim=256, decoder_layers=3, decoder_attention_heads=4, num_queries=things, num_denoising=0, num_labels=19)

    def found(model: nn.Module, given: Tensor, kinds: Tensor, boxes: Tensor) -> Tensor:
        seen = model(pixel_values=given)
        steps = seen.intermediate_logits.shape[1]
        named = F.cross_entropy(seen.intermediate_logits.flatten(0, 2), kinds[:, None].expand(-1, steps, -1).flatten()) + F.cross_entropy(seen.enc_topk_logits.flatten(0, 1), kinds.flatten())
        return named + F.l1_loss(seen.intermediate_reference_points, boxes[:, None].expand(-1, steps, -1, -1)) + F.l1_loss(seen.enc_topk_bboxes, boxes)

    return Subject(DFineForObjectDetection(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, things)), torch.rand(count, things, 4)), found)


def upernet(size: str) -> Subject:
    """Says of each point what it is: a ConvNeXt, whose last stage is pooled in four sizes, and whose stages are joined from coarse to fine; a second head looks at the third stage."""
    from transformers import ConvNextConfig, UperNetConfig, UperNetForSemanticSegmentation

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 32, 48, 64)
    sight = ConvNextConfig(hidden_sizes=[wide, 2 * wide, 4 * wide, 8 * wide], depths=[1, 1, 2, 1], out_features=["stage1", "stage2", "stage3", "stage4"])
    config = UperNetConfig(backbone_config=sight, hidden_size=2 * wide, auxiliary_in_channels=4 * wide, auxiliary_channels=wide, num_labels=19)
    return Subject(UperNetForSemanticSegmentation(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, pixels, pixels))),
                   lambda model, given, labels: model(pixel_values=given, labels=labels).loss)
