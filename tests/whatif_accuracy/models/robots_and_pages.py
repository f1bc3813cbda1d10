# SPDX-License-Identifier: Apache-2.0
"""Models of robots, films, pages and speech from the package transformers."""

from types import SimpleNamespace
from typing import Any, Dict, List
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .before_words import heard_before_words, heard_parts
from .sizes import SPECIAL, VOCABULARY, length, stack, width
from .subject import LENGTH, Batch, Subject, scaled


def pi0(size: str) -> Subject:
    """What a robot is to do next: a PaliGemma reads what two cameras see, and words behind it; a narrower Gemma, which takes from each of its layers the keys and values, reads the robot's state and fifty actions with noise,
    and says how to come from noise to actions. Time and noise it draws itself; half of the samples have one camera, and fewer words."""
    from transformers import PI0Config, PI0ForConditionalGeneration

    side, pixels, wide, cameras = 14, scaled(size, 56, 84, 112), scaled(size, 128, 192, 256), 2
    each, asked = (pixels // side) ** 2, scaled(size, 16, 32, 48)
    common = {"model_type": "gemma", "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 64}
    text = {**common, "hidden_size": width(size), "intermediate_size": 4 * width(size), "vocab_size": VOCABULARY, **SPECIAL}
    sight = {"model_type": "siglip_vision_model", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": pixels, "patch_size": side, "vision_use_head": False}
    reading = {"model_type": "paligemma", "text_config": text, "vision_config": sight, "projection_dim": width(size), "image_token_id": VOCABULARY}
    config: Any = PI0Config(vlm_config=reading, dit_config={**common, "hidden_size": width(size) // 2, "intermediate_size": 2 * width(size)})

    def flowing(model: nn.Module, ids: Tensor, there: Tensor, given: Tensor, shown: Tensor, state: Tensor, actions: Tensor) -> Tensor:
        return model(state=state, input_ids=ids, attention_mask=there, pixel_values=given, pixel_attention_mask=shown, actions=actions).loss

    def sample(samples: int) -> Batch:
        words = int(asked * LENGTH.factor)
        ids, there = torch.zeros(samples, cameras * each + words, dtype=torch.int64), torch.zeros(samples, cameras * each + words, dtype=torch.int64)
        shown = torch.ones(samples, cameras, dtype=torch.bool)
        for place in range(samples):
            seen, said = each * (cameras - place % 2), words - place % 2 * words // 4
            ids[place, :seen], ids[place, seen : seen + said] = VOCABULARY, torch.randint(3, VOCABULARY, (said,))
            there[place, : seen + said] = 1
            shown[place, 1] = place % 2 == 0
        return ids, there, torch.randn(samples, cameras, 3, pixels, pixels), shown, torch.randn(samples, 32), torch.randn(samples, 50, 32)

    return Subject(PI0ForConditionalGeneration(config), sample, flowing)


def videoprism(size: str) -> Subject:
    """Films and texts that belong together are to be alike: patches attend within their picture, then within their place over time, then all to each other, and one query that is trained sums them up; all attention is
    written out, with its logits kept below a bound."""
    from transformers import VideoPrismClipModel, VideoPrismConfig

    side, pixels, pictures, count = 18, scaled(size, 54, 72, 90), scaled(size, 4, 8, 8), scaled(size, 16, 24, 32)
    common = {"hidden_size": width(size), "intermediate_size": 1024, "num_attention_heads": 4}
    sight = {**common, "image_size": pixels, "num_frames": pictures, "tubelet_size": [1, side, side], "num_spatial_layers": 3, "num_temporal_layers": 2, "num_auxiliary_layers": 2}
    config: Any = VideoPrismConfig(vision_config=sight, text_config={**common, "vocab_size": VOCABULARY, "num_hidden_layers": 3})

    def belonging(model: nn.Module, ids: Tensor, there: Tensor, given: Tensor) -> Tensor:
        return model(pixel_values_videos=given, input_ids=ids, attention_mask=there, return_loss=True).loss

    def sample(samples: int) -> Batch:
        words = int(count * LENGTH.factor)
        ends = torch.tensor([words - place % 4 * words // 8 for place in range(samples)])
        there = (torch.arange(words) < ends[:, None]).long()
        return torch.randint(3, VOCABULARY, (samples, words)) * there, there, torch.randn(samples, pictures, 3, pixels, pixels)

    return Subject(VideoPrismClipModel(config), sample, belonging)


def pp_doclayout_v3(size: str) -> Subject:
    """What is on a page, where, and in what order it is read: a hybrid encoder of convolutions and attention, then queries, the most likely places, begin from the masks they make, and mend boxes, masks and the order of all
    pairs in each layer; beside them as many that are told things with noise, and are to find them. Which query is to find which thing is decided on the host; how many of those told are right it is told, instead of
    looking on the device."""
    from transformers import HGNetV2Config, PPDocLayoutV3Config, PPDocLayoutV3ForObjectDetection
    from transformers.loss.loss_rt_detr import RTDetrForObjectDetectionLoss, RTDetrHungarianMatcher

    pixels, things, wide = scaled(size, 96, 128, 160), 10, scaled(size, 64, 96, 128)
    sight: Any = HGNetV2Config(stem_channels=[3, 16, 32], stage_in_channels=[32, 64, 128, 256], stage_mid_channels=[16, 32, 64, 64], stage_out_channels=[64, 128, 256, 256], hidden_sizes=[64, 128, 256, 256],
                               stage_num_blocks=[1, 1, 1, 1], stage_numb_of_layers=[3, 3, 3, 3], out_features=["stage1", "stage2", "stage3", "stage4"])
    config: Any = PPDocLayoutV3Config(backbone_config=sight, encoder_hidden_dim=wide, encoder_in_channels=[128, 256, 256], decoder_in_channels=[wide] * 3, encoder_ffn_dim=512, encoder_attention_heads=4,
                                      d_model=wide, decoder_ffn_dim=512, decoder_layers=3, decoder_attention_heads=4, num_queries=100, x4_feat_dim=64, num_labels=25)
    for name, value in {"matcher_class_cost": 2.0, "matcher_bbox_cost": 5.0, "matcher_giou_cost": 2.0, "matcher_alpha": 0.25, "matcher_gamma": 2.0, "use_focal_loss": True, "weight_loss_vfl": 1.0, "weight_loss_bbox": 5.0,
                        "weight_loss_giou": 2.0, "eos_coefficient": 1e-4, "focal_loss_alpha": 0.75, "focal_loss_gamma": 2.0, "auxiliary_loss": True}.items():  # as RT-DETR has them
        setattr(config, name, value)

    class TrainableForObjectDetection(PPDocLayoutV3ForObjectDetection):
        def forward(self, given: Tensor, kinds: Tensor, boxes: Tensor, masks: Tensor, ranks: Tensor, right: Tensor) -> Tensor:
            wanted: List[Dict[str, Tensor]] = [{"class_labels": kind, "boxes": box} for kind, box in zip(kinds, boxes)]
            with mock.patch("torch.nonzero", lambda _: right):
                told = self.model(given, labels=wanted)
            own = told.denoising_meta_values["dn_num_split"][0]
            named, placed = told.intermediate_logits, told.intermediate_reference_points
            loss = RTDetrForObjectDetectionLoss(named[:, -1], wanted, given.device, placed[:, -1], config, named, placed, told.enc_topk_logits, told.enc_topk_bboxes, told.denoising_meta_values)[0]
            matched = RTDetrHungarianMatcher(config)({"logits": named[:, -1, own:], "pred_boxes": placed[:, -1, own:]}, wanted)
            queries, found = (torch.stack(part).to(given.device) for part in zip(*matched))
            rows = torch.arange(len(given), device=given.device)[:, None]
            drawn = told.out_masks[:, -1, own:][rows, queries]
            share, masks = drawn.sigmoid(), masks[rows, found]
            overlap = (2 * (share * masks).sum((2, 3)) + 1) / (share.sum((2, 3)) + masks.sum((2, 3)) + 1)
            loss = loss + 5 * F.binary_cross_entropy_with_logits(drawn, masks) + 5 * (1 - overlap).mean()
            pairs = told.out_order_logits[:, -1][rows[..., None], queries[..., None], queries[:, None]]
            ranks = ranks[rows, found]
            earlier = (ranks[..., None] < ranks[:, None]).to(pairs.dtype)
            return loss + F.binary_cross_entropy_with_logits(pairs.triu(1), earlier.triu(1))

    def sample(samples: int) -> Batch:
        ranks = torch.stack([torch.randperm(things) for _ in range(samples)])
        masks = torch.rand(samples, things, pixels // 4, pixels // 4).round()
        right = (torch.arange(2 * config.num_denoising) // things % 2 == 0).expand(samples, -1).nonzero()  # half of what is told is told wrong
        return torch.randn(samples, 3, pixels, pixels), torch.randint(25, (samples, things)), torch.rand(samples, things, 4) / 2 + 0.25, masks, ranks, right

    return Subject(TrainableForObjectDetection(config), sample, lambda model, *given: model(*given))


def video_llava(size: str) -> Subject:
    """A Llama that reads an image and a film before words: two CLIPs see, one each, of which the layer before the last is read, of the film's pictures with the word that sums them up; one projection is for both. The program
    joins words, images and films, since the model looks on the device for where they are to go."""
    from transformers import VideoLlavaConfig, VideoLlavaForConditionalGeneration

    patch, pixels, pictures, wide = 14, scaled(size, 56, 84, 98), 4, scaled(size, 128, 192, 256)
    sight = {"model_type": "clip_vision_model", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": pixels, "patch_size": patch}
    text = {"model_type": "llama", **stack(size), "max_position_embeddings": 1024, **SPECIAL}
    config: Any = VideoLlavaConfig(vision_config=sight, text_config=text, image_token_index=998, video_token_index=999)

    class JoinedForConditionalGeneration(VideoLlavaForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, film: Tensor) -> Any:
            image = self.get_image_features(given).pooler_output
            shown = self.model.get_video_features(film).pooler_output.view(len(ids), -1, width(size))
            seen = torch.cat((image, shown), 1)
            labels = torch.cat((ids.new_full(seen.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((seen, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 998, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels), torch.randn(samples, pictures, 3, pixels, pixels)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def llava_onevision(size: str) -> Subject:
    """A Qwen2 that reads an image before words: a SigLIP sees it whole, and in sixteen tiles, whose patches are laid out as the image, without what pads it, made fewer by interpolation, and with a trained word at the end of
    each row. The program joins words and images, since the model looks on the device for where they are to go."""
    from transformers import LlavaOnevisionConfig, LlavaOnevisionForConditionalGeneration

    patch, tile, wide = 14, scaled(size, 28, 42, 56), scaled(size, 128, 192, 256)
    sight = {"model_type": "siglip_vision_model", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": tile, "patch_size": patch, "vision_use_head": False}
    text = {"model_type": "qwen2", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    tiles = [[rows * tile, columns * tile] for rows in range(1, 7) for columns in range(1, 7)]
    config: Any = LlavaOnevisionConfig(vision_config=sight, text_config=text, image_token_index=998, video_token_index=999, image_grid_pinpoints=tiles)

    class JoinedForConditionalGeneration(LlavaOnevisionForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            shown = torch.tensor([[7 * tile // 2, 4 * tile]] * len(ids))
            images = torch.stack(self.get_image_features(given, shown, return_dict=True).pooler_output)
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 998, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 17, 3, tile, tile)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given: model(ids, given).loss)


def vibevoice_asr(size: str) -> Subject:
    """A Qwen2 that writes down the speech before its words: two encoders of convolutions, which are not trained, listen to it part by part, and keep the end of each for the next; noise is added to what the first says. Half of
    the samples are shorter. The program puts speech in its places, since the model looks on the device for where it is to go."""
    from transformers import VibeVoiceAsrConfig, VibeVoiceAsrForConditionalGeneration

    heard, hop = scaled(size, 24, 48, 96), 400
    hearing = {"model_type": "vibevoice_acoustic_tokenizer_encoder", "num_filters": scaled(size, 4, 6, 8), "downsampling_ratios": [2, 2, 4, 5, 5], "depths": [1, 1, 1, 1, 1, 2]}
    text = {"model_type": "qwen2", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, "use_cache": False, **SPECIAL}
    config: Any = VibeVoiceAsrConfig(acoustic_tokenizer_encoder_config={**hearing, "hidden_size": 64}, semantic_tokenizer_encoder_config={**hearing, "hidden_size": 128}, text_config=text, audio_token_id=999,
                                     audio_bos_token_id=997, audio_eos_token_id=998, acoustic_tokenizer_chunk_size=32 * hop)

    class JoinedForConditionalGeneration(VibeVoiceAsrForConditionalGeneration):
        def forward(self, ids: Tensor, mask: Tensor, labels: Tensor, sound: Tensor, places: Tensor) -> Any:
            ends = torch.tensor([heard_parts(heard, place) * hop for place in range(len(ids))])
            features = self.get_audio_features(sound, torch.arange(sound.shape[-1]) < ends[:, None]).pooler_output
            words = self.get_input_embeddings()(ids)
            joined = words.flatten(0, 1).index_copy(0, places, features.to(words.dtype)).view_as(words)
            return super().forward(inputs_embeds=joined, attention_mask=mask, labels=labels)

    def sample(samples: int) -> Batch:
        ids, mask, labels = heard_before_words(samples, heard, int(length(size) * LENGTH.factor))
        return ids, mask, labels, torch.randn(samples, 1, heard * hop), (ids == 999).flatten().nonzero().flatten()

    model = JoinedForConditionalGeneration(config)
    for untrained in (model.model.acoustic_tokenizer_encoder, model.model.semantic_tokenizer_encoder):
        untrained.requires_grad_(False)
    return Subject(model, sample, lambda model, *given: model(*given).loss)


def mistral3(size: str) -> Subject:
    """A Mistral that reads an image before words: images lie across or upright, in one batch, and their patches are one sequence, in which each attends to those of its image; four patches that lie together become one. Words
    are what the head knows them by. The program joins words and images, since the model looks on the device for how many patches there are, and where they are to go."""
    from transformers import Mistral3Config, Mistral3ForConditionalGeneration

    side, rows, columns, wide = 14, scaled(size, 4, 8, 12), scaled(size, 8, 12, 16), scaled(size, 128, 192, 256)
    sight = {"model_type": "pixtral", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "head_dim": wide // 4, "image_size": 1540, "patch_size": side,
             "rope_parameters": {"rope_type": "axial", "rope_theta": 10000.0}}
    text = {"model_type": "mistral", **stack(size), "num_key_value_heads": 2, "head_dim": 64, "max_position_embeddings": 1024, "sliding_window": None, **SPECIAL}
    config: Any = Mistral3Config(vision_config=sight, text_config=text, image_token_index=999)

    class JoinedForConditionalGeneration(Mistral3ForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            lying, upright = (side * rows, side * columns), (side * columns, side * rows)
            shown = [upright if place % 2 else lying for place in range(len(ids))]
            seen = self.model.vision_tower(given, image_sizes=shown, output_hidden_states=-1).hidden_states[-1]
            images = self.model.multi_modal_projector(seen.squeeze(0), shown).view(len(ids), rows * columns // 4, -1)
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 3, side * columns, side * columns)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given: model(ids, given).loss)


def sam3_lite_text(size: str) -> Subject:
    """All things in an image that a few words name, and boxes show, or show not: a ViT, whose attention is within windows in two of its four layers; words are read by convolutions in the first and last layer; patches look at
    words and boxes, then queries at both, with what boxes they have so far. Which query is to find which thing is decided on the host; how many rows there are the program says itself, instead of looking on the device."""
    from transformers import Sam3LiteTextConfig, Sam3LiteTextModel
    from transformers.image_transforms import center_to_corners_format, corners_to_center_format
    from transformers.loss.loss_for_object_detection import generalized_box_iou
    from transformers.loss.loss_rt_detr import RTDetrHungarianMatcher
    from transformers.models.sam3_lite_text.modeling_sam3_lite_text import Sam3LiteTextDetrDecoder
    from transformers.pytorch_utils import compile_compatible_method_lru_cache

    side, rows, wide, part, count, things, shown = 14, scaled(size, 8, 12, 16), scaled(size, 128, 192, 256), scaled(size, 64, 96, 128), scaled(size, 8, 16, 32), 4, 2
    sight = {"backbone_config": {"model_type": "sam3_vit_model", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": rows * side, "patch_size": side, "window_size": rows // 2,
                                 "global_attn_indexes": [1, 3], "pretrain_image_size": rows // 2 * side},
             "fpn_hidden_size": part, "backbone_feature_sizes": [[4 * rows, 4 * rows], [2 * rows, 2 * rows], [rows, rows]]}
    layers = {"hidden_size": part, "num_attention_heads": 4, "intermediate_size": 512}
    config: Any = Sam3LiteTextConfig(vision_config=sight, text_config={"vocab_size": VOCABULARY, "hidden_size": wide, "intermediate_size": 4 * wide, "projection_dim": wide, "num_hidden_layers": 4, "num_attention_heads": 4},
                                     geometry_encoder_config={**layers, "num_layers": 2}, detr_encoder_config={**layers, "num_layers": 3}, detr_decoder_config={**layers, "num_layers": 3, "num_queries": 50},
                                     mask_decoder_config={"hidden_size": part, "num_attention_heads": 4})

    class ToldDecoder(Sam3LiteTextDetrDecoder):
        @compile_compatible_method_lru_cache(maxsize=1)
        def _get_coords(self, height: Tensor, width: Tensor, dtype: torch.dtype, device: torch.device) -> Any:
            return torch.arange(0, rows, device=device, dtype=dtype) / height, torch.arange(0, rows, device=device, dtype=dtype) / width

    model = Sam3LiteTextModel(config)
    model.detr_decoder = ToldDecoder(config.detr_decoder_config)
    matcher = RTDetrHungarianMatcher(SimpleNamespace(matcher_class_cost=2.0, matcher_bbox_cost=5.0, matcher_giou_cost=2.0, matcher_alpha=0.25, matcher_gamma=2.0, use_focal_loss=True))

    def found(model: nn.Module, given: Tensor, ids: Tensor, mask: Tensor, asked: Tensor, kinds: Tensor, boxes: Tensor, masks: Tensor) -> Tensor:
        seen = model(pixel_values=given, input_ids=ids, attention_mask=mask, input_boxes=asked, input_boxes_labels=kinds)
        named = [{"class_labels": kinds.new_zeros(things), "boxes": box} for box in boxes.float()]  # distances are not computed in 16 bits
        matched = matcher({"logits": seen.pred_logits[..., None].float(), "pred_boxes": corners_to_center_format(seen.pred_boxes).float()}, named)
        queries, which = (torch.stack(half).to(given.device) for half in zip(*matched))
        place = torch.arange(len(given), device=given.device)[:, None]
        wanted = torch.zeros_like(seen.pred_logits).index_put((place, queries), seen.pred_logits.new_ones(()))
        near, real = seen.pred_boxes[place, queries].flatten(0, 1), center_to_corners_format(boxes)[place, which].flatten(0, 1)
        drawn, true = seen.pred_masks[place, queries], masks[place, which]
        share = drawn.sigmoid()
        overlap = (2 * (share * true).sum((2, 3)) + 1) / (share.sum((2, 3)) + true.sum((2, 3)) + 1)
        whole = F.binary_cross_entropy_with_logits(seen.semantic_seg[:, 0], masks.amax(1)) + F.binary_cross_entropy_with_logits(seen.presence_logits, torch.ones_like(seen.presence_logits))
        apart = 5 * F.l1_loss(near, real) + 2 * (1 - torch.diag(generalized_box_iou(near, real))).mean()
        return 20 * F.binary_cross_entropy_with_logits(seen.pred_logits, wanted) + apart + 20 * F.binary_cross_entropy_with_logits(drawn, true) + (1 - overlap).mean() + whole

    def sample(samples: int) -> Batch:
        words, pixels = int(count * LENGTH.factor), rows * side
        ends = torch.tensor([words - place % 2 * words // 4 for place in range(samples)])
        mask = (torch.arange(words) < ends[:, None]).long()
        boxes = torch.rand(samples, things, 4) / 2 + 0.25
        kinds = (torch.arange(shown) % 2 == 0).long().expand(samples, -1).contiguous()
        return (torch.randn(samples, 3, pixels, pixels), torch.randint(3, VOCABULARY, (samples, words)) * mask, mask, torch.rand(samples, shown, 4) / 2 + 0.25, kinds, boxes,
                torch.rand(samples, things, 4 * rows, 4 * rows).round())

    return Subject(model, sample, found)
