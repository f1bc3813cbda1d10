# SPDX-License-Identifier: Apache-2.0
"""Models that find things in images, or match images with words, from the package transformers."""

from typing import Any, Dict, List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import width
from .subject import LENGTH, Batch, Subject, scaled


def _joined(kind: Any) -> Any:
    """Of such a model, one that is given images and words, and puts patches before words."""

    class Joined(kind):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            seen = self.model.connector(self.model.vision_model(given).last_hidden_state)
            labels = torch.cat((ids.new_full(seen.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((seen, self.get_input_embeddings()(ids)), 1), labels=labels)

    return Joined


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


def lxmert(size: str) -> Subject:
    """Words, and things that were seen and where, each in layers of their own, then looking at each other; five losses of what was hidden, what fits and what is asked."""
    from transformers import LxmertConfig, LxmertForPreTraining

    wide, count, things = width(size), scaled(size, 32, 64, 128), 20
    config = LxmertConfig(vocab_size=1000, hidden_size=wide, num_attention_heads=4, intermediate_size=1024, num_qa_labels=50, num_object_labels=40, num_attr_labels=30, l_layers=2, x_layers=2, r_layers=2, visual_feat_dim=256)

    def sample(samples: int) -> Batch:
        words, kinds = torch.randint(1, 1000, (samples, int(count * LENGTH.factor))), torch.randint(30, (samples, things))
        return words, torch.randn(samples, things, 256), torch.rand(samples, things, 4), kinds, torch.rand(samples, things), torch.randint(2, (samples,)), torch.randint(50, (samples,))

    def known(model: nn.Module, ids: Tensor, seen: Tensor, places: Tensor, kinds: Tensor, sure: Tensor, fits: Tensor, answers: Tensor) -> Tensor:
        named = {"obj": (kinds, sure), "attr": (kinds, sure), "feat": (seen, sure)}
        return model(input_ids=ids, visual_feats=seen, visual_pos=places, labels=ids, obj_labels=named, matched_label=fits, ans=answers).loss

    return Subject(LxmertForPreTraining(config), sample, known)


def pp_formulanet(size: str) -> Subject:
    """Writes down a formula: patches that stay a picture, with attention within windows in three of four blocks, thinned out by convolutions, and a decoder that looks at them."""
    from transformers import PPFormulaNetConfig, PPFormulaNetForConditionalGeneration

    wide, pixels, count = width(size), scaled(size, 128, 192, 256), scaled(size, 16, 48, 96)
    sight = {"hidden_size": scaled(size, 192, 256, 320), "output_channels": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": pixels, "window_size": 4, "global_attn_indexes": [3], "mlp_dim": 768,
             "post_conv_in_channels": 64, "post_conv_mid_channels": 128, "post_conv_out_channels": 256, "decoder_hidden_size": wide}
    text = {"vocab_size": 1000, "max_position_embeddings": 512, "d_model": wide, "decoder_layers": 3, "decoder_ffn_dim": 1024, "decoder_attention_heads": 4, "encoder_attention_heads": 4}
    config = PPFormulaNetConfig(text_config=text, vision_config=sight)

    def written(model: nn.Module, seen: Tensor, ids: Tensor) -> Tensor:
        return model(pixel_values=seen, input_ids=ids, labels=ids).loss

    return Subject(PPFormulaNetForConditionalGeneration(config), lambda samples: (torch.randn(samples, 3, pixels, pixels), torch.randint(3, 1000, (samples, int(count * LENGTH.factor)))), written)


def vitpose(size: str) -> Subject:
    """Where joints are: a transformer of patches, whose picture two transposed convolutions make four times as large, with a map for each joint."""
    from transformers import VitPoseBackboneConfig, VitPoseConfig, VitPoseForPoseEstimation

    pixels = scaled(size, 64, 96, 128)
    sight = VitPoseBackboneConfig(image_size=[pixels, pixels], hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, mlp_ratio=3, out_indices=[4])
    config = VitPoseConfig(backbone_config=sight, use_simple_decoder=False, num_labels=17)

    def pointed(model: nn.Module, given: Tensor, wanted: Tensor) -> Tensor:
        return F.mse_loss(model(pixel_values=given).heatmaps, wanted)

    return Subject(VitPoseForPoseEstimation(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.rand(count, 17, pixels // 4, pixels // 4)), pointed)


def sam(size: str) -> Subject:
    """Marks what two points and a box point at: patches that stay a picture, most with attention within windows, and words for masks that look at the picture while it looks at them. What takes a mask is not used."""
    from transformers import SamConfig, SamModel

    pixels, asked = scaled(size, 128, 192, 256), 2
    sight = {"hidden_size": scaled(size, 192, 256, 320), "output_channels": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": pixels, "window_size": 4, "global_attn_indexes": [3], "num_pos_feats": 32}
    config = SamConfig(vision_config=sight, prompt_encoder_config={"hidden_size": 64, "image_size": pixels},
                       mask_decoder_config={"hidden_size": 64, "mlp_dim": 256, "num_attention_heads": 4, "iou_head_hidden_dim": 64})
    model = SamModel(config)
    model.prompt_encoder.mask_embed.requires_grad_(False)

    def marked(model: nn.Module, given: Tensor, points: Tensor, boxes: Tensor, wanted: Tensor, overlap: Tensor) -> Tensor:
        seen = model(pixel_values=given, input_points=points, input_boxes=boxes)
        return F.binary_cross_entropy_with_logits(seen.pred_masks, wanted) + F.mse_loss(seen.iou_scores, overlap)

    def sample(count: int) -> Batch:
        wanted, side = torch.rand(count, asked, 3, pixels // 4, pixels // 4), float(pixels)
        return torch.randn(count, 3, pixels, pixels), torch.rand(count, asked, 2, 2) * side, torch.rand(count, asked, 4) * side, wanted, torch.rand(count, asked, 3)

    return Subject(model, sample, marked)


def _read(model_class: Any, config_class: Any, text: Dict[str, Any], size: str) -> Subject:
    """Words to be guessed behind patches of an image that a SigLIP has seen."""
    pixels, count = scaled(size, 64, 96, 128), scaled(size, 32, 96, 192)
    sight = {"model_type": "siglip_vision_model", "hidden_size": scaled(size, 192, 256, 320), "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": pixels, "patch_size": 8, "vision_use_head": False}
    config = config_class(text_config=text, vision_config=sight, image_token_id=999)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(count * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels)

    return Subject(_joined(model_class)(config), sample, lambda model, ids, given: model(ids, given).loss)


def modernvbert(size: str) -> Subject:
    """A ModernBERT before whose words stand patches of an image, which a SigLIP has seen and of which sixteen are one word. The program joins them, since the model counts on the device which images are empty."""
    from transformers import ModernVBertConfig, ModernVBertForMaskedLM

    wide = width(size)
    text = {"model_type": "modernbert", "vocab_size": 1000, "hidden_size": wide, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 4, "max_position_embeddings": 512, "local_attention": 32,
            "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    return _read(ModernVBertForMaskedLM, ModernVBertConfig, text, size)


def _with_depths(kind: Any, config: Any, size: str) -> Tuple[nn.Module, int]:
    """A Depth Anything, and how many pixels its pictures are wide: four layers of a DINOv2, each brought to a size of its own, and put together from coarse to fine."""
    from transformers import Dinov2Config

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    sight = Dinov2Config(hidden_size=wide, num_hidden_layers=4, num_attention_heads=4, mlp_ratio=3, image_size=pixels, patch_size=16, out_indices=[1, 2, 3, 4], reshape_hidden_states=False)
    model = kind(config(backbone_config=sight, patch_size=16, reassemble_hidden_size=wide, neck_hidden_sizes=[32, 64, 128, 256], fusion_hidden_size=64, head_hidden_size=32))
    model.backbone.embeddings.mask_token.requires_grad_(False)  # which is not used, as what would join a coarser layer to the first
    model.neck.fusion_stage.layers[0].residual_layer1.requires_grad_(False)
    return model, pixels


def depth_anything(size: str) -> Subject:
    """How far away each point is."""
    from transformers import DepthAnythingConfig, DepthAnythingForDepthEstimation

    model, pixels = _with_depths(DepthAnythingForDepthEstimation, DepthAnythingConfig, size)

    def apart(model: nn.Module, given: Tensor, wanted: Tensor) -> Tensor:
        return F.l1_loss(model(pixel_values=given).predicted_depth, wanted)

    return Subject(model, lambda samples: (torch.randn(samples, 3, pixels, pixels), torch.rand(samples, pixels, pixels)), apart)


def align(size: str) -> Subject:
    """A BERT and an EfficientNet that are to point the same way."""
    from transformers import AlignConfig, AlignModel

    pixels, count, part = scaled(size, 64, 96, 128), scaled(size, 16, 24, 32), scaled(size, 4, 6, 8)
    text = {"vocab_size": 1000, "hidden_size": width(size), "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 4}
    sight = {"image_size": pixels, "width_coefficient": part / 8, "depth_coefficient": 1.0, "hidden_dim": 160 * part}
    config = AlignConfig(text_config=text, vision_config=sight, projection_dim=40 * part)
    model = AlignModel(config)
    model.text_model.pooler.requires_grad_(False)  # which is not used

    def apart(model: nn.Module, ids: Tensor, seen: Tensor) -> Tensor:
        return model(input_ids=ids, pixel_values=seen, return_loss=True).loss

    return Subject(model, lambda samples: (torch.randint(3, 1000, (samples, count)), torch.randn(samples, 3, pixels, pixels)), apart)


def ultravbert(size: str) -> Subject:
    """An UltraBERT before whose words stand patches of an image, as ModernVBERT has it, and a norm behind them. The program joins them, since the model counts on the device which images are empty."""
    from transformers import UltraVBertConfig, UltraVBertForMaskedLM

    wide = width(size)
    text = {"model_type": "ultrabert", "vocab_size": 1000, "hidden_size": wide, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 4, "max_position_embeddings": 512, "sliding_window": 32,
            "prediction_head_size": wide, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    return _read(UltraVBertForMaskedLM, UltraVBertConfig, text, size)


def siglip2(size: str) -> Subject:
    """Images of any shape, as patches in a row with some behind them that are none: places are drawn anew for the shape of each. A text is to point the same way; a query that is trained sums patches up."""
    from transformers import Siglip2Config, Siglip2Model

    wide, side, count = width(size), scaled(size, 6, 8, 12), scaled(size, 16, 24, 32)
    common = {"hidden_size": wide, "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 4}
    config = Siglip2Config(text_config={**common, "vocab_size": 1000, "max_position_embeddings": 64, "projection_size": wide}, vision_config={**common, "num_patches": 64, "patch_size": 16})

    def apart(model: nn.Module, ids: Tensor, seen: Tensor, mask: Tensor) -> Tensor:
        shapes = torch.tensor([[side - 1, side]] * len(seen))  # on the host, where they are read
        return model(input_ids=ids, pixel_values=seen, pixel_attention_mask=mask, spatial_shapes=shapes, return_loss=True).loss

    def sample(samples: int) -> Batch:
        mask = (torch.arange(side * side) < side * (side - 1)).long().expand(samples, -1).contiguous()
        return torch.randint(3, 1000, (samples, count)), torch.randn(samples, side * side, 768), mask

    return Subject(Siglip2Model(config), sample, apart)


def rf_detr(size: str) -> Subject:
    """Finds things: a DINOv2 whose attention is within windows in three of four layers, and thirteen groups of queries, each of which picks the patches that it starts from."""
    from transformers import RfDetrConfig, RfDetrForObjectDetection
    from transformers.models.rf_detr.configuration_rf_detr import RfDetrDinov2Config

    pixels, things, wide = scaled(size, 128, 192, 256), 20, scaled(size, 64, 96, 128)
    sight = RfDetrDinov2Config(hidden_size=scaled(size, 192, 256, 320), num_hidden_layers=4, num_attention_heads=4, mlp_ratio=3, image_size=pixels, patch_size=16, num_windows=4, use_mask_token=False,
                               out_features=["stage2", "stage4"])
    config: Any = RfDetrConfig(backbone_config=sight, d_model=wide, decoder_ffn_dim=256, decoder_layers=3, decoder_self_attention_heads=4, decoder_cross_attention_heads=4, num_queries=things, num_labels=19)

    def found(model: nn.Module, given: Tensor, kinds: Tensor, boxes: Tensor) -> Tensor:
        seen = model(pixel_values=given)
        named = sum(F.cross_entropy(logits.flatten(0, 1), kinds.flatten()) for logits in (seen.logits, seen.enc_outputs_class))
        return named + F.l1_loss(seen.pred_boxes, boxes) + F.l1_loss(seen.enc_outputs_coord_logits, boxes)

    def sample(count: int) -> Batch:
        return torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, 13 * things)), torch.rand(count, 13 * things, 4)

    return Subject(RfDetrForObjectDetection(config), sample, found)


def pp_ocrv5_server_rec(size: str) -> Subject:
    """Reads a line of text: convolutions that make it one row of places, two layers with attention between convolutions beside them, and what is likely in each place; its loss weighs all ways to write a text."""
    from transformers import HGNetV2Config, PPOCRV5ServerRecConfig, PPOCRV5ServerRecForTextRecognition

    wide, pixels = scaled(size, 32, 48, 64), scaled(size, 128, 192, 256)
    widths = [2 * wide, 4 * wide, 8 * wide, 8 * wide]
    sight: Any = HGNetV2Config(stem_channels=[3, 16, wide], stem_strides=[2, 1, 1, 1, 1], stage_in_channels=[wide, *widths[:3]], stage_mid_channels=[32, 48, 64, 96], stage_out_channels=widths, hidden_sizes=widths,
                               stage_num_blocks=[1, 1, 2, 1], stage_numb_of_layers=[3, 3, 3, 3], stage_downsample=[True] * 4, stage_downsample_strides=[[2, 1], [1, 2], [2, 1], [2, 1]],
                               out_features=["stage1", "stage2", "stage3", "stage4"])
    config: Any = PPOCRV5ServerRecConfig(backbone_config=sight, hidden_size=scaled(size, 96, 128, 160), num_attention_heads=4, head_out_channels=1000)

    def written(model: nn.Module, seen: Tensor, letters: Tensor) -> Tensor:
        likely = model(pixel_values=seen).last_hidden_state.float().clamp(min=1e-6).log().transpose(0, 1)
        return F.ctc_loss(likely, letters, (likely.shape[0],) * len(letters), (letters.shape[1],) * len(letters))

    return Subject(PPOCRV5ServerRecForTextRecognition(config), lambda count: (torch.randn(count, 3, 48, pixels), torch.randint(1, 1000, (count, 6))), written)


def prompt_depth_anything(size: str) -> Subject:
    """Depth Anything that is told some distances, which are scaled to lie between nought and one, and added wherever pictures are put together."""
    from transformers import PromptDepthAnythingConfig, PromptDepthAnythingForDepthEstimation

    model, pixels = _with_depths(PromptDepthAnythingForDepthEstimation, PromptDepthAnythingConfig, size)

    def apart(model: nn.Module, given: Tensor, told: Tensor, wanted: Tensor) -> Tensor:
        return F.l1_loss(model(pixel_values=given, prompt_depth=told).predicted_depth, wanted)

    return Subject(model, lambda samples: (torch.randn(samples, 3, pixels, pixels), torch.rand(samples, 1, pixels // 4, pixels // 4), torch.rand(samples, pixels, pixels)), apart)


class _Told(nn.Module):
    """The loss of an EoMT that is told what each query is to find, instead of looking for it on the host with SciPy; of all points of its masks."""

    def __init__(self, config: Any, weight_dict: Dict[str, float]) -> None:
        super().__init__()
        self.num_labels, self.eos_coef = config.num_labels, config.no_object_weight
        self.empty_weight = nn.Buffer(torch.ones(config.num_labels + 1))

    def forward(self, masks_queries_logits: Tensor, class_queries_logits: Tensor, mask_labels: Tensor, class_labels: Tensor, auxiliary_predictions: Any) -> Dict[str, Tensor]:
        seen, wanted = masks_queries_logits.flatten(0, 1).flatten(1), mask_labels.flatten(0, 1).flatten(1)
        share = seen.sigmoid()
        overlap = 1 - (2 * (share * wanted).sum(-1) + 1) / (share.sum(-1) + wanted.sum(-1) + 1)
        return {"loss_cross_entropy": F.cross_entropy(class_queries_logits.transpose(1, 2), class_labels, self.empty_weight),
                "loss_mask": F.binary_cross_entropy_with_logits(seen, wanted), "loss_dice": overlap.mean()}


def eomt_dinov3(size: str) -> Subject:
    """Finds things and where they are: a DINOv3, in whose last two layers queries join the patches, and see those alone that are theirs so far; what it finds is judged before each of them, too."""
    from transformers import EomtDinov3Config
    from transformers.models.eomt_dinov3 import modeling_eomt_dinov3 as modeling

    pixels, things = scaled(size, 64, 96, 128), 20
    config: Any = EomtDinov3Config(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, patch_size=16, num_blocks=2, num_queries=things,
                                   num_labels=19)
    modeling.EomtDinov3Loss = _Told
    model = modeling.EomtDinov3ForUniversalSegmentation(config)
    del model.attn_mask_probs
    model.attn_mask_probs = (1.0, 1.0)  # on the host, where they are read

    def found(model: nn.Module, given: Tensor, masks: Tensor, kinds: Tensor) -> Tensor:
        return model(pixel_values=given, mask_labels=masks, class_labels=kinds).loss

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3, pixels, pixels), torch.rand(samples, things, pixels // 4, pixels // 4).round(), torch.randint(20, (samples, things))

    return Subject(model, sample, found)


def mask2former(size: str) -> Subject:
    """Finds things and where they are: a Swin, whose stages are joined by attention to points around each place, and queries that see those places alone that are theirs so far. What it finds is judged in points that are drawn
    where it is least sure, of each layer. Which query is to find which thing it is told, instead of looking for it on the host with SciPy."""
    from transformers import Mask2FormerConfig, SwinConfig
    from transformers.models.mask2former import modeling_mask2former as modeling

    # What this function has put there for another size is derived from it too.
    theirs: Any = next(kind for kind in modeling.Mask2FormerLoss.__mro__ if kind.__module__ == modeling.__name__)

    class Told(theirs):
        """In 32 bits, as are the points."""

        def __init__(self, config: Any, weight_dict: Dict[str, float]) -> None:
            nn.Module.__init__(self)
            self.num_labels, self.weight_dict, self.eos_coef, self.num_points = config.num_labels, weight_dict, config.no_object_weight, config.train_num_points
            self.oversample_ratio, self.importance_sample_ratio = config.oversample_ratio, config.importance_sample_ratio
            self.empty_weight = nn.Buffer(torch.ones(config.num_labels + 1))

        def matcher(self, _masks: Tensor, _classes: Tensor, _wanted: Tensor, kinds: Tensor) -> List[Tuple[Tensor, Tensor]]:
            return [(torch.arange(len(each)), torch.arange(len(each))) for each in kinds]

        def loss_masks(self, masks_queries_logits: Tensor, mask_labels: Tensor, indices: Any, num_masks: Any) -> Any:
            return super().loss_masks(masks_queries_logits.float(), mask_labels.float(), indices, num_masks)

    pixels, wide, things = scaled(size, 64, 96, 128), scaled(size, 64, 96, 128), 8
    sight = SwinConfig(image_size=pixels, embed_dim=scaled(size, 32, 48, 64), depths=[2, 2, 2, 2], num_heads=[2, 4, 8, 8], window_size=4, out_features=["stage1", "stage2", "stage3", "stage4"])
    config: Any = Mask2FormerConfig(backbone_config=sight, feature_size=wide, mask_feature_size=wide, hidden_dim=wide, encoder_feedforward_dim=256, encoder_layers=3, decoder_layers=4, num_attention_heads=4,
                                    dim_feedforward=512, num_queries=20, train_num_points=scaled(size, 256, 512, 1024), num_labels=19)
    modeling.Mask2FormerLoss = Told

    def found(model: nn.Module, given: Tensor, masks: Tensor, kinds: Tensor) -> Tensor:
        return model(pixel_values=given, mask_labels=masks, class_labels=kinds).loss

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3, pixels, pixels), torch.rand(samples, things, pixels, pixels).round(), torch.randint(19, (samples, things))

    model = modeling.Mask2FormerForUniversalSegmentation(config)
    model.model.pixel_level_module.encoder.swin.layernorm.requires_grad_(False)  # which is not used
    return Subject(model, sample, found)


def mm_grounding_dino(size: str) -> Subject:
    """Finds what a text names: a Swin and a BERT, whose phrases do not see each other, look at each other in each block before points around each place are asked. The places that fit a word best are where queries begin.
    Each query is told what and where, as are these places."""
    from transformers import BertConfig, MMGroundingDinoConfig, MMGroundingDinoForObjectDetection, SwinConfig
    from transformers.loss.loss_grounding_dino import sigmoid_focal_loss

    pixels, wide, things, count = scaled(size, 96, 128, 160), scaled(size, 64, 96, 128), 20, scaled(size, 16, 32, 64)
    sight = SwinConfig(image_size=pixels, embed_dim=scaled(size, 32, 48, 64), depths=[2, 2, 2, 2], num_heads=[2, 4, 8, 8], window_size=4, out_indices=[2, 3, 4])
    text = BertConfig(vocab_size=1100, hidden_size=scaled(size, 128, 192, 256), intermediate_size=512, num_hidden_layers=3, num_attention_heads=4)
    config: Any = MMGroundingDinoConfig(backbone_config=sight, text_config=text, d_model=wide, encoder_layers=3, encoder_ffn_dim=512, encoder_attention_heads=4, decoder_layers=3, decoder_ffn_dim=512,
                                        decoder_attention_heads=4, num_queries=things)

    def found(model: nn.Module, given: Tensor, ids: Tensor, named: Tensor, boxes: Tensor) -> Tensor:
        seen = model(pixel_values=given, input_ids=ids)
        best = seen.enc_outputs_class.max(-1).values.topk(things, 1).indices[..., None]
        likely = seen.enc_outputs_class.gather(1, best.expand(-1, -1, seen.enc_outputs_class.shape[-1]))
        begun = seen.enc_outputs_coord_logits.gather(1, best.expand(-1, -1, 4)).sigmoid()
        told = sum(sigmoid_focal_loss(logits[..., : ids.shape[1]], named, things * len(ids)) for logits in (seen.logits, likely))
        return told + F.l1_loss(seen.pred_boxes, boxes) + F.l1_loss(begun, boxes)

    def sample(samples: int) -> Batch:
        words = int(count * LENGTH.factor)
        ids = torch.randint(200, 1000, (samples, words))
        ids[:, 3::4] = 1012  # where a phrase ends
        return torch.randn(samples, 3, pixels, pixels), ids, torch.rand(samples, things, words).round(), torch.rand(samples, things, 4)

    model = MMGroundingDinoForObjectDetection(config)
    model.model.backbone.conv_encoder.model.swin.layernorm.requires_grad_(False)  # which is not used
    return Subject(model, sample, found)
