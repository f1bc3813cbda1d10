# SPDX-License-Identifier: Apache-2.0
"""Models that write down tables step by step, find what words name, mark what is pointed at, and carry on in two paths, from the packages transformers and timm."""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import VOCABULARY
from .subject import LENGTH, Batch, Subject, labelled, scaled


def slanet(size: str) -> Subject:
    """Writes down how a table is built: a PP-LCNet, a pyramid up and down again, and a cell of a GRU that looks at all places of the coarsest anew for each sign. The program tells it the sign before, as it is trained by its
    authors, instead of looking on the device whether all tables have ended."""
    from transformers import SLANetConfig, SLANetForTableRecognition, SLANetSLAHead
    from transformers.modeling_outputs import BaseModelOutput

    pixels, signs, kinds = scaled(size, 224, 288, 352), scaled(size, 40, 60, 80), 50
    sight = {"model_type": "pp_lcnet", "scale": scaled(size, 0.75, 1, 1.25), "out_features": ["stage2", "stage3", "stage4", "stage5"], "divisor": 16}
    config: Any = SLANetConfig(backbone_config=sight, out_channels=kinds, max_text_length=signs - 1)

    class ToldHead(SLANetSLAHead):
        def forward(self, seen: Tensor, targets: Tensor, **_: Any) -> BaseModelOutput:
            state, likely = torch.zeros((len(seen), self.config.hidden_size), dtype=torch.float32, device=seen.device), []
            for before in F.pad(targets, (1, 0)).unbind(1)[: self.config.max_text_length + 1]:
                state, _ = self.structure_attention_cell(state, seen.float(), F.one_hot(before, self.config.out_channels).float())
                likely.append(self.structure_generator(state))
            return BaseModelOutput(last_hidden_state=torch.stack(likely, dim=1))

    model = SLANetForTableRecognition(config)
    model.head = ToldHead(config)

    def written(model: nn.Module, given: Tensor, wanted: Tensor) -> Tensor:
        return F.cross_entropy(model(pixel_values=given, targets=wanted).last_hidden_state.flatten(0, 1), wanted.flatten())

    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(kinds, (count, signs))), written)


def owlv2(size: str) -> Subject:
    """Finds what words name: a ViT whose patches each say what is there, where, and whether it is anything, and a CLIP's words, a few names for each image, of which some are empty; which patch is to find which thing is decided
    on the host. What compares whole images with names is not used, and not trained."""
    from transformers import Owlv2Config, Owlv2ForObjectDetection
    from transformers.image_transforms import center_to_corners_format
    from transformers.loss.loss_for_object_detection import generalized_box_iou, sigmoid_focal_loss
    from transformers.loss.loss_rt_detr import RTDetrHungarianMatcher

    pixels, wide, names, things = scaled(size, 240, 320, 352), scaled(size, 256, 320, 384), scaled(size, 6, 8, 8), 4
    layers = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": scaled(size, 4, 4, 6), "num_attention_heads": 4}
    text = {**layers, "vocab_size": VOCABULARY, "max_position_embeddings": 32, "bos_token_id": 998, "eos_token_id": 999}
    config: Any = Owlv2Config(text_config=text, vision_config={**layers, "image_size": pixels}, projection_dim=wide)
    model = Owlv2ForObjectDetection(config)
    model.owlv2.visual_projection.requires_grad_(False)
    model.owlv2.logit_scale.requires_grad_(False)
    costs: Any = {"matcher_class_cost": 2.0, "matcher_bbox_cost": 5.0, "matcher_giou_cost": 2.0, "matcher_alpha": 0.25, "matcher_gamma": 2.0, "use_focal_loss": True}
    matcher = RTDetrHungarianMatcher(SimpleNamespace(**costs))

    def found(model: nn.Module, ids: Tensor, mask: Tensor, given: Tensor, kinds: Tensor, boxes: Tensor) -> Tensor:
        seen = model(input_ids=ids.flatten(0, 1), attention_mask=mask.flatten(0, 1), pixel_values=given)
        told = [{"class_labels": kind, "boxes": box} for kind, box in zip(kinds, boxes.float())]  # distances are not computed in 16 bits
        matched = matcher({"logits": seen.logits.float(), "pred_boxes": seen.pred_boxes.float()}, told)
        patches, which = (torch.stack(half).to(given.device) for half in zip(*matched))
        place = torch.arange(len(given), device=given.device)[:, None]
        wanted = torch.zeros_like(seen.logits).index_put((place, patches, kinds[place, which]), seen.logits.new_ones(()))
        there = torch.zeros_like(seen.objectness_logits).index_put((place, patches), seen.objectness_logits.new_ones(()))
        near, real = seen.pred_boxes[place, patches].flatten(0, 1), boxes[place, which].flatten(0, 1)
        apart = 5 * F.l1_loss(near, real) + 2 * (1 - torch.diag(generalized_box_iou(center_to_corners_format(near), center_to_corners_format(real)))).mean()
        return sigmoid_focal_loss(seen.logits, wanted, things * len(given)) + apart + F.binary_cross_entropy_with_logits(seen.objectness_logits, there)

    def sample(samples: int) -> Batch:
        words = int(16 * LENGTH.factor)
        ends = torch.randint(3, words, (samples, names, 1))
        ends[1::2, -2:] = 1  # of names that are empty
        ids, column = torch.randint(3, 998, (samples, names, words)), torch.arange(words)
        ids = ids.masked_fill(column == 0, 998).masked_fill(column == ends, 999).masked_fill(column > ends, 0)
        return ids, (column <= ends).long(), torch.randn(samples, 3, pixels, pixels), torch.randint(names - 2, (samples, things)), torch.rand(samples, things, 4) / 2 + 0.25

    return Subject(model, sample, found)


def edgetam(size: str) -> Subject:
    """Marks what points and a box point at, as SAM 2: timm's RepViT in four sizes of the image, three of which words for masks get to see; of three masks, the nearest is told what it should have been, and all how good they
    are. What takes a mask is not used, and not trained."""
    from transformers import EdgeTamConfig, EdgeTamModel

    pixels, wide, first, asked = scaled(size, 192, 224, 256), scaled(size, 64, 128, 128), scaled(size, 32, 40, 48), 2
    sizes, coarse = [part * first for part in (1, 2, 4, 8)], pixels // 16
    made = {"in_chans": 3, "features_only": True, "out_indices": [0, 1, 2, 3], "embed_dim": sizes, "depth": [2, 2, scaled(size, 4, 6, 8), 2]}
    sight = {"backbone_config": {"model_type": "timm_wrapper", "architecture": "repvit_m1", "num_classes": 1000, "model_args": made}, "backbone_channel_list": sizes[::-1], "fpn_hidden_size": wide,
             "backbone_feature_sizes": [[part * coarse] * 2 for part in (4, 2, 1)]}
    config: Any = EdgeTamConfig(vision_config=sight, prompt_encoder_config={"hidden_size": wide, "image_size": pixels}, mask_decoder_config={"hidden_size": wide, "mlp_dim": 8 * wide, "iou_head_hidden_dim": wide})
    model = EdgeTamModel(config)
    model.prompt_encoder.mask_embed.requires_grad_(False)

    def marked(model: nn.Module, given: Tensor, points: Tensor, kinds: Tensor, boxes: Tensor, wanted: Tensor, there: Tensor) -> Tensor:
        seen = model(pixel_values=given, input_points=points, input_labels=kinds, input_boxes=boxes)
        drawn, true = seen.pred_masks.flatten(3), wanted.flatten(2)[:, :, None].expand(-1, -1, 3, -1)
        share, common = drawn.sigmoid(), F.binary_cross_entropy_with_logits(drawn, true, reduction="none")
        focal = ((0.25 * true + 0.75 * (1 - true)) * (share * (1 - true) + (1 - share) * true) ** 2 * common).mean(3)
        overlap = 1 - (2 * (share * true).sum(3) + 1) / (share.sum(3) + true.sum(3) + 1)
        nearest = (20 * focal + overlap).argmin(2, keepdim=True)
        with torch.no_grad():
            inside, real = drawn > 0, true > 0.5
            good = (inside & real).sum(3) / (inside | real).sum(3).clamp(min=1)
        apart = (20 * focal + overlap).gather(2, nearest).mean() + F.l1_loss(seen.iou_scores, good.to(seen.iou_scores.dtype))
        return apart + F.binary_cross_entropy_with_logits(seen.object_score_logits, there)

    def sample(samples: int) -> Batch:
        corners = torch.rand(samples, asked, 2, 2).sort(2).values * pixels
        points, kinds = torch.rand(samples, asked, 2, 2) * pixels, torch.randint(2, (samples, asked, 2))
        return torch.randn(samples, 3, pixels, pixels), points, kinds, corners.flatten(2), torch.rand(samples, asked, pixels // 4, pixels // 4).round(), torch.ones(samples, asked, 1)

    return Subject(model, sample, marked)


def timm_dpn(size: str) -> Subject:
    """Convolutions in two paths that are one tensor: some channels are added to, and behind them those of all blocks before grow in number. As timm's dpn48b, narrower."""
    from timm.models.dpn import DPN

    model = DPN(small=True, num_init_features=10, k_r=scaled(size, 64, 96, 128), groups=32, b=True, k_sec=(3, 4, 6, 3), inc_sec=(16, 32, 32, 64), act_layer="silu", num_classes=100)
    return labelled(model, scaled(size, 144, 176, 224))
