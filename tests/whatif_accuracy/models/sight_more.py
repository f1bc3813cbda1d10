# SPDX-License-Identifier: Apache-2.0
"""More models of images, and of clips, from the package transformers."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import width
from .subject import Subject, classified, images, labelled, scaled


def videomae(size: str) -> Subject:
    """A transformer of the patches of eight pictures of a clip."""
    from transformers import VideoMAEConfig, VideoMAEForVideoClassification

    pixels = scaled(size, 32, 48, 64)
    config = VideoMAEConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, num_frames=8, num_labels=100)
    return Subject(VideoMAEForVideoClassification(config), lambda count: (torch.randn(count, 8, 3, pixels, pixels), torch.randint(100, (count,))), classified)


def mobilenet_v1(size: str) -> Subject:
    """Convolutions of each channel alone, and of each point, in turns; pictures are widened by hand before them."""
    from transformers import MobileNetV1Config, MobileNetV1ForImageClassification

    return Subject(MobileNetV1ForImageClassification(MobileNetV1Config(num_labels=100)), images(scaled(size, 64, 96, 128), 100), classified)


def poolformer(size: str) -> Subject:
    """Means of neighbours stand where others have attention."""
    from transformers import PoolFormerConfig, PoolFormerForImageClassification

    width = scaled(size, 32, 48, 64)
    config = PoolFormerConfig(hidden_sizes=[width, 2 * width, 4 * width, 8 * width], depths=[1, 1, 2, 1], num_labels=100)
    return Subject(PoolFormerForImageClassification(config), images(scaled(size, 64, 96, 128), 100), classified)


def timesformer(size: str) -> Subject:
    """Attention over time, then over each picture of a clip."""
    from transformers import TimesformerConfig, TimesformerForVideoClassification

    pixels = scaled(size, 32, 48, 64)
    config = TimesformerConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=3, num_attention_heads=4, intermediate_size=768, image_size=pixels, num_frames=4, num_labels=100)
    return Subject(TimesformerForVideoClassification(config), lambda count: (torch.randn(count, 4, 3, pixels, pixels), torch.randint(100, (count,))), classified)


def hgnet_v2(size: str) -> Subject:
    """Each stage's convolutions are handed on to its end, side by side."""
    from transformers import HGNetV2Config, HGNetV2ForImageClassification

    width = scaled(size, 64, 96, 128)
    config = HGNetV2Config(stem_channels=[3, 32, width], stage_in_channels=[width, 2 * width, 4 * width, 8 * width], stage_mid_channels=[32, 64, 96, 128],
                           stage_out_channels=[2 * width, 4 * width, 8 * width, 8 * width], hidden_sizes=[2 * width, 4 * width, 8 * width, 8 * width], stage_num_blocks=[1, 1, 2, 1],
                           stage_numb_of_layers=[3, 3, 3, 3], num_labels=100)
    return Subject(HGNetV2ForImageClassification(config), images(scaled(size, 64, 96, 128), 100), classified)


def vit_mae(size: str) -> Subject:
    """Three quarters of the patches are left out, and drawn anew by a second, narrower transformer."""
    from transformers import ViTMAEConfig, ViTMAEForPreTraining

    pixels = scaled(size, 64, 96, 128)
    config = ViTMAEConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, decoder_hidden_size=128,
                          decoder_num_hidden_layers=2, decoder_num_attention_heads=4, decoder_intermediate_size=512)
    return Subject(ViTMAEForPreTraining(config), lambda count: (torch.randn(count, 3, pixels, pixels),), lambda model, given: model(pixel_values=given).loss)


def r2plus1d_18(size: str) -> Subject:
    """Convolutions of each picture of a clip, and over time, in turns."""
    from torchvision.models.video import r2plus1d_18 as make

    pixels = scaled(size, 32, 48, 64)
    return Subject(make(num_classes=100), lambda count: (torch.randn(count, 3, 8, pixels, pixels), torch.randint(100, (count,))),
                   lambda model, given, labels: F.cross_entropy(model(given), labels))


def lraspp(size: str) -> Subject:
    """Says of each point what it is: a small network of bottlenecks, whose last stage scales an earlier one."""
    from torchvision.models.segmentation import lraspp_mobilenet_v3_large as make

    pixels = scaled(size, 64, 96, 128)
    return Subject(make(weights=None, weights_backbone=None, num_classes=19), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, pixels, pixels))),
                   lambda model, given, labels: F.cross_entropy(model(given)["out"], labels))


def textnet(size: str) -> Subject:
    """Convolutions that are taller than wide, or wider than tall, beside square ones."""
    from transformers import TextNetConfig, TextNetForImageClassification

    width = scaled(size, 32, 48, 64)
    kernels = [[[3, 3], [1, 3]], [[3, 3], [3, 1]], [[3, 3], [1, 3]], [[3, 1], [3, 3]]]
    config = TextNetConfig(hidden_sizes=[width, width, 2 * width, 4 * width, 8 * width], stem_out_channels=width, conv_layer_kernel_sizes=kernels, conv_layer_strides=[[1, 2]] * 4, num_labels=100)
    return Subject(TextNetForImageClassification(config), images(scaled(size, 64, 96, 128), 100), classified)


def vivit(size: str) -> Subject:
    """A transformer of the tubes of a clip, of two pictures each."""
    from transformers import VivitConfig, VivitForVideoClassification

    pixels = scaled(size, 32, 48, 64)
    config = VivitConfig(image_size=pixels, num_frames=8, hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, num_labels=100)
    return Subject(VivitForVideoClassification(config), lambda count: (torch.randn(count, 8, 3, pixels, pixels), torch.randint(100, (count,))), classified)


def patchtst(size: str) -> Subject:
    """Of several series over time, each is cut into pieces, and seen alone."""
    from transformers import PatchTSTConfig, PatchTSTForClassification

    steps = scaled(size, 256, 512, 1024)
    config = PatchTSTConfig(num_input_channels=7, context_length=steps, patch_length=16, patch_stride=8, d_model=scaled(size, 128, 192, 256), num_attention_heads=4, ffn_dim=512,
                            num_targets=10, use_cls_token=True, dropout=0.1)
    return Subject(PatchTSTForClassification(config), lambda count: (torch.randn(count, steps, 7), torch.randint(10, (count,))),
                   lambda model, given, labels: model(past_values=given, target_values=labels).loss)


def patchtsmixer(size: str) -> Subject:
    """Pieces of several series over time, mixed by MLPs over time and over features in turns."""
    from transformers import PatchTSMixerConfig, PatchTSMixerForTimeSeriesClassification

    steps = scaled(size, 256, 512, 1024)
    config = PatchTSMixerConfig(context_length=steps, patch_length=16, patch_stride=16, num_input_channels=7, d_model=scaled(size, 64, 96, 128), num_layers=4, num_targets=10)
    return Subject(PatchTSMixerForTimeSeriesClassification(config), lambda count: (torch.randn(count, steps, 7), torch.randint(10, (count,))),
                   lambda model, given, labels: model(past_values=given, target_values=labels).loss)


def pp_lcnet(size: str) -> Subject:
    """Convolutions of each channel alone, and of each point; some stages weigh their channels."""
    from transformers import PPLCNetConfig, PPLCNetForImageClassification

    return Subject(PPLCNetForImageClassification(PPLCNetConfig(num_labels=100)), images(scaled(size, 64, 96, 128), 100),
                   lambda model, given, labels: F.cross_entropy(model(pixel_values=given).last_hidden_state, labels))


def glpn(size: str) -> Subject:
    """Says of each point how far it is: a pyramid of attention, whose stages are joined from the smallest up."""
    from transformers import GLPNConfig, GLPNForDepthEstimation

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 32, 48, 64)
    config = GLPNConfig(depths=[1, 1, 2, 1], hidden_sizes=[width, 2 * width, 4 * width, 8 * width], num_attention_heads=[1, 2, 4, 8])
    return Subject(GLPNForDepthEstimation(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.rand(count, pixels, pixels) + 0.1),
                   lambda model, given, labels: model(pixel_values=given, labels=labels).loss)


def maxvit(size: str) -> Subject:
    """Convolutions, attention within windows, and between points that are as far apart as windows, in turns."""
    from torchvision.models.maxvit import MaxVit

    width, pixels = scaled(size, 32, 48, 64), scaled(size, 64, 96, 128)
    model = MaxVit(input_size=(pixels, pixels), stem_channels=width, partition_size=pixels // 32, block_channels=[width, 2 * width, 4 * width], block_layers=[1, 1, 2], head_dim=16,
                   stochastic_depth_prob=0.0, num_classes=100)
    return labelled(model, pixels)


def dpt(size: str) -> Subject:
    """Says of each point what it is: what four blocks know is made pictures of four sizes, and joined from the smallest up."""
    from transformers import DPTConfig, DPTForSemanticSegmentation

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    config = DPTConfig(hidden_size=width, num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, backbone_out_indices=[0, 1, 2, 3],
                       neck_hidden_sizes=[48, 96, 192, 192], fusion_hidden_size=64, num_labels=19)
    return Subject(DPTForSemanticSegmentation(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, pixels, pixels))),
                   lambda model, given, labels: model(pixel_values=given, labels=labels).loss)


def yolos(size: str) -> Subject:
    """Finds things: words that stand for them are added to the patches. Each is told which it is to find, and where."""
    from transformers import YolosConfig, YolosForObjectDetection

    pixels, things = scaled(size, 64, 96, 128), 20
    config = YolosConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=[pixels, pixels], num_detection_tokens=things, num_labels=19)

    def found(model: nn.Module, given: Tensor, kinds: Tensor, boxes: Tensor) -> Tensor:
        seen = model(pixel_values=given)
        return F.cross_entropy(seen.logits.flatten(0, 1), kinds.flatten()) + F.l1_loss(seen.pred_boxes, boxes)

    return Subject(YolosForObjectDetection(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, things)), torch.rand(count, things, 4)), found)


def mc3_18(size: str) -> Subject:
    """Convolutions over time in the first stages, and of each picture of a clip in the others."""
    from torchvision.models.video import mc3_18 as make

    pixels = scaled(size, 32, 48, 64)
    return Subject(make(num_classes=100), lambda count: (torch.randn(count, 3, 8, pixels, pixels), torch.randint(100, (count,))),
                   lambda model, given, labels: F.cross_entropy(model(given), labels))


def mvit_v2(size: str) -> Subject:
    """A transformer of a clip, in which queries, keys and values are thinned out by convolutions."""
    from torchvision.models.video.mvit import MSBlockConfig, MViT

    pixels, width = scaled(size, 32, 48, 64), scaled(size, 48, 64, 96)
    shapes = ((1, width, width, 1, 4), (2, width, 2 * width, 2, 2), (2, 2 * width, 2 * width, 1, 2), (4, 2 * width, 4 * width, 2, 1))
    blocks = [MSBlockConfig(num_heads=heads, input_channels=before, output_channels=after, kernel_q=[3, 3, 3], kernel_kv=[3, 3, 3], stride_q=[1, step, step], stride_kv=[1, apart, apart])
              for heads, before, after, step, apart in shapes]
    model = MViT(spatial_size=(pixels, pixels), temporal_size=8, block_setting=blocks, residual_pool=True, residual_with_cls_embed=False, rel_pos_embed=True, proj_after_attn=True, num_classes=100)
    return Subject(model, lambda count: (torch.randn(count, 3, 8, pixels, pixels), torch.randint(100, (count,))), lambda model, given, labels: F.cross_entropy(model(given), labels))


def swin3d(size: str) -> Subject:
    """Attention within windows of a clip, every other layer's shifted."""
    from torchvision.models.video.swin_transformer import PatchEmbed3d, SwinTransformer3d

    pixels, width = scaled(size, 32, 48, 64), scaled(size, 48, 72, 96)
    model = SwinTransformer3d(patch_size=[2, 4, 4], embed_dim=width, depths=[2, 2], num_heads=[3, 6], window_size=[2, 4, 4], stochastic_depth_prob=0.0, num_classes=100, patch_embed=PatchEmbed3d)
    return Subject(model, lambda count: (torch.randn(count, 3, 8, pixels, pixels), torch.randint(100, (count,))), lambda model, given, labels: F.cross_entropy(model(given), labels))


def swin2sr(size: str) -> Subject:
    """Makes pictures twice as large: attention within shifted windows, and a convolution behind each stage."""
    from transformers import Swin2SRConfig, Swin2SRForImageSuperResolution

    pixels = scaled(size, 16, 24, 32)
    config = Swin2SRConfig(image_size=pixels, embed_dim=scaled(size, 60, 84, 96), depths=[2, 2], num_heads=[6, 6], window_size=8, drop_path_rate=0.0)
    return Subject(Swin2SRForImageSuperResolution(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randn(count, 3, 2 * pixels, 2 * pixels)),
                   lambda model, given, wanted: F.l1_loss(model(pixel_values=given).reconstruction, wanted))


def aimv2(size: str) -> Subject:
    """Patches, with a norm before attention and MLP each, and a query that is trained to sum them up."""
    from transformers import Aimv2VisionConfig, Aimv2VisionModel

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    config = Aimv2VisionConfig(hidden_size=width, intermediate_size=768, num_hidden_layers=4, num_attention_heads=4, image_size=pixels, patch_size=16)
    return Subject(Aimv2VisionModel(config), images(pixels, 100), lambda model, given, labels: F.cross_entropy(model(pixel_values=given).pooler_output, labels))


def vitdet(size: str) -> Subject:
    """A transformer of patches that stay a picture: attention within windows in two of four blocks, with distances along both sides."""
    from transformers import VitDetConfig, VitDetModel

    pixels = scaled(size, 64, 96, 128)
    config = VitDetConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, image_size=pixels, pretrain_image_size=pixels, window_size=2, window_block_indices=[0, 2],
                          residual_block_indices=[3], use_relative_position_embeddings=True)
    return Subject(VitDetModel(config), images(pixels, 100), lambda model, given, labels: F.cross_entropy(model(pixel_values=given).last_hidden_state.mean((2, 3)), labels))


def pixio(size: str) -> Subject:
    """A transformer of patches, with eight words that stand for the picture."""
    from transformers import PixioConfig, PixioModel

    pixels = scaled(size, 64, 96, 128)
    config = PixioConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, image_size=pixels)
    return Subject(PixioModel(config), images(pixels, 100), lambda model, given, labels: F.cross_entropy(model(pixel_values=given).last_hidden_state[:, 0], labels))


def _finder(size: str, config_class: Any, model_class: Any) -> Subject:
    """Queries look for things in what a ResNet has seen. Each is told which it is to find, and where."""
    from transformers import ResNetConfig

    pixels, things, wide = scaled(size, 96, 128, 160), 20, scaled(size, 128, 192, 256)
    sight = ResNetConfig(embedding_size=32, hidden_sizes=[64, 128, 192, 256], depths=[1, 1, 2, 1], layer_type="basic", out_features=["stage4"])
    layers = {f"{side}_{part}": count for side in ("encoder", "decoder") for part, count in (("layers", 2), ("ffn_dim", 512), ("attention_heads", 4))}
    config = config_class(use_timm_backbone=False, backbone_config=sight, num_queries=things, d_model=wide, num_labels=19, **layers)

    def found(model: nn.Module, given: Tensor, kinds: Tensor, boxes: Tensor) -> Tensor:
        seen = model(pixel_values=given)
        return F.cross_entropy(seen.logits.flatten(0, 1), kinds.flatten()) + F.l1_loss(seen.pred_boxes, boxes)

    return Subject(model_class(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, things)), torch.rand(count, things, 4)), found)


def detr(size: str) -> Subject:
    from transformers import DetrConfig, DetrForObjectDetection

    return _finder(size, DetrConfig, DetrForObjectDetection)


def table_transformer(size: str) -> Subject:
    """DETR with its norms in front."""
    from transformers import TableTransformerConfig, TableTransformerForObjectDetection

    return _finder(size, TableTransformerConfig, TableTransformerForObjectDetection)


def chinese_clip(size: str) -> Subject:
    """CLIP whose text side is a BERT."""
    from transformers import ChineseCLIPConfig, ChineseCLIPModel

    wide, pixels, count = width(size), scaled(size, 64, 96, 128), scaled(size, 16, 24, 32)
    common = {"hidden_size": wide, "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 4}
    config = ChineseCLIPConfig(text_config={**common, "vocab_size": 1000}, vision_config={**common, "image_size": pixels, "patch_size": 16}, projection_dim=128)

    def apart(model: nn.Module, ids: Tensor, seen: Tensor) -> Tensor:
        return model(input_ids=ids, pixel_values=seen, return_loss=True).loss

    return Subject(ChineseCLIPModel(config), lambda samples: (torch.randint(1, 1000, (samples, count)), torch.randn(samples, 3, pixels, pixels)), apart)


def zoedepth(size: str) -> Subject:
    """How far away each point is: a BEiT, whose layers are put together from coarse to fine, and bins of distances that attractors move."""
    from transformers import BeitConfig, ZoeDepthConfig, ZoeDepthForDepthEstimation

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 128, 192, 256)
    sight = BeitConfig(hidden_size=wide, num_hidden_layers=4, num_attention_heads=4, intermediate_size=512, image_size=pixels, patch_size=16, out_features=["stage1", "stage2", "stage3", "stage4"], reshape_hidden_states=False, use_relative_position_bias=True)
    config = ZoeDepthConfig(backbone_config=sight, neck_hidden_sizes=[32, 64, 128, 128], fusion_hidden_size=64, bottleneck_features=64, num_relative_features=32, bin_embedding_dim=64, bin_configurations=[{"n_bins": 32, "min_depth": 0.001, "max_depth": 10.0}])

    def apart(model: nn.Module, given: Tensor) -> Tensor:
        return model(pixel_values=given).predicted_depth.mean()

    return Subject(ZoeDepthForDepthEstimation(config), lambda samples: (torch.randn(samples, 3, pixels, pixels),), apart)


def clipseg(size: str) -> Subject:
    """CLIP, which is not trained, and a narrow decoder of three of its layers that marks what a text names in an image, scaled and shifted by the text."""
    from transformers import CLIPSegConfig, CLIPSegForImageSegmentation

    wide, pixels, count = width(size), scaled(size, 64, 96, 128), scaled(size, 16, 24, 32)
    common = {"hidden_size": wide, "intermediate_size": 768, "num_hidden_layers": 4, "num_attention_heads": 4}
    config = CLIPSegConfig(text_config={**common, "vocab_size": 1000, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}, vision_config={**common, "image_size": pixels, "patch_size": 16},
                           projection_dim=128, extract_layers=[0, 1, 3], reduce_dim=64, decoder_num_attention_heads=4, decoder_intermediate_size=256, conditional_layer=0)
    model = CLIPSegForImageSegmentation(config)
    model.clip.requires_grad_(False)

    def marked(model: nn.Module, ids: Tensor, seen: Tensor, wanted: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(model(input_ids=ids, pixel_values=seen).logits, wanted)

    return Subject(model, lambda samples: (torch.randint(3, 1000, (samples, count)), torch.randn(samples, 3, pixels, pixels), torch.rand(samples, pixels, pixels)), marked)


def vjepa2(size: str) -> Subject:
    """Patches of a clip, turned by their time, row and column; a query that is trained sums them up. What foresees hidden patches is not used."""
    from transformers import VJEPA2Config, VJEPA2ForVideoClassification

    pixels = scaled(size, 32, 48, 64)
    config = VJEPA2Config(patch_size=16, crop_size=pixels, frames_per_clip=8, hidden_size=scaled(size, 192, 256, 384), num_attention_heads=4, num_hidden_layers=4, num_pooler_layers=1,
                          pred_hidden_size=96, pred_num_attention_heads=4, pred_num_hidden_layers=1, num_labels=100)
    model = VJEPA2ForVideoClassification(config)
    model.vjepa2.predictor.requires_grad_(False)

    def named(model: nn.Module, given: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(model(pixel_values_videos=given).logits, labels)

    return Subject(model, lambda count: (torch.randn(count, 8, 3, pixels, pixels), torch.randint(100, (count,))), named)


def raft_small(size: str) -> Subject:
    """Where each point has gone in a second image: all points are held against all, and a recurrence mends its guess four times."""
    from torchvision.models.optical_flow import raft_small as make

    pixels = scaled(size, 128, 160, 192)

    def moved(model: nn.Module, first: Tensor, second: Tensor, wanted: Tensor) -> Tensor:
        guesses = model(first, second, num_flow_updates=4)
        return sum(0.8 ** (len(guesses) - 1 - place) * F.l1_loss(guess, wanted) for place, guess in enumerate(guesses))

    return Subject(make(weights=None), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randn(count, 3, pixels, pixels), torch.randn(count, 2, pixels, pixels)), moved)


def blip(size: str) -> Subject:
    """Says what an image shows: a BERT that looks at its patches; attention is written out."""
    from transformers import BlipConfig, BlipForConditionalGeneration

    wide, pixels, count = width(size), scaled(size, 64, 96, 128), scaled(size, 16, 24, 32)
    common = {"hidden_size": wide, "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 4}
    config = BlipConfig(text_config={**common, "vocab_size": 1000, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "sep_token_id": 2},
                        vision_config={**common, "image_size": pixels, "patch_size": 16})

    def told(model: nn.Module, seen: Tensor, ids: Tensor) -> Tensor:
        return model(pixel_values=seen, input_ids=ids, labels=ids).loss

    return Subject(BlipForConditionalGeneration(config), lambda samples: (torch.randn(samples, 3, pixels, pixels), torch.randint(3, 1000, (samples, count))), told)
