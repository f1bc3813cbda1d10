# SPDX-License-Identifier: Apache-2.0
"""Models that hear, make sound again, and read pages and images before words, from the package transformers."""

from typing import Any, Dict, List
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .before_words import end_slices_on_host, words_and_slices
from .sizes import SPECIAL, length, stack
from .subject import LENGTH, Batch, Subject, scaled


def _with_empty_places() -> Any:
    """Masks are kept where one is given, since it has empty places: the library looks on the device for them."""
    return mock.patch("transformers.masking_utils._ignore_bidirectional_mask_sdpa", lambda given, *_: given is None)


def qwen2_audio(size: str) -> Subject:
    """A Qwen2 that hears before words: a Whisper's encoder listens to spectra that are filled up to what it is made for, with a mask, and the mean of every two of its places is a word. All sounds are equally long, so that words
    need no mask. The program says which places there are, since the model looks on the device for them."""
    from transformers import Qwen2AudioConfig, Qwen2AudioForConditionalGeneration
    from transformers.masking_utils import create_bidirectional_mask

    places, wide = scaled(size, 80, 160, 320), scaled(size, 128, 192, 256)
    frames = 2 * places - places // 2
    hearing = {"model_type": "qwen2_audio_encoder", "d_model": wide, "encoder_ffn_dim": 4 * wide, "encoder_layers": 4, "encoder_attention_heads": 4, "max_source_positions": places}
    text = {"model_type": "qwen2", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = Qwen2AudioConfig(audio_config=hearing, text_config=text, audio_token_index=997)
    count = ((frames - 1) // 2 + 1 - 2) // 2 + 1

    class JoinedForConditionalGeneration(Qwen2AudioForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, there: Tensor, labels: Tensor) -> Any:
            tower, words = self.model.audio_tower, self.get_input_embeddings()(ids)
            heard, _ = tower._get_feat_extract_output_lengths(there.sum(-1))
            known = (torch.arange(places, device=ids.device).expand(len(ids), places) < heard[:, None]).long()
            with _with_empty_places():
                mask = create_bidirectional_mask(config=tower.config, inputs_embeds=words.new_zeros(len(ids), places, 1), attention_mask=known)
            features = self.model.multi_modal_projector(tower(given, attention_mask=mask).last_hidden_state)
            rows, columns = (part.to(ids.device) for part in torch.ones(len(ids), count).nonzero(as_tuple=True))
            joined = words.masked_scatter((ids == 997).unsqueeze(-1), features[rows, columns].to(words.dtype))
            return super().forward(inputs_embeds=joined, labels=labels)

    def sample(samples: int) -> Batch:
        words = torch.randint(3, 990, (samples, int(length(size) * LENGTH.factor)))
        ids = torch.cat((torch.tensor([998, *[997] * count, 999]).expand(samples, -1), words), 1)
        labels = torch.cat((torch.full((samples, count + 2), -100), words), 1)
        return ids, torch.randn(samples, 128, 2 * places), (torch.arange(2 * places) < frames).long().repeat(samples, 1), labels

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def _spectra(sound: Tensor) -> List[Tensor]:
    """In three resolutions, how loud each tone is."""
    return [torch.stft(sound.flatten(0, 1).float(), window, window // 4, window=torch.hann_window(window, device=sound.device), return_complex=True).abs().clamp(min=1e-5).log() for window in (256, 512, 1024)]


def neucodec(size: str) -> Subject:
    """Makes sound again of what is left of it, rounded, with gradients as if it were not, with more samples than it was given: convolutions between which sound is made finer and coarser again; a transformer whose words are
    spectra, joined by a Fourier transform. What hears its meaning is not trained. Half of the sounds are shorter."""
    from transformers import NeuCodecConfig, NeuCodecModel, Wav2Vec2BertConfig

    frames, wide, hop = scaled(size, 6, 12, 24), scaled(size, 128, 192, 256), 320
    meaning = Wav2Vec2BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, feature_projection_input_dim=160, apply_spec_augment=False, mask_time_prob=0.0, layerdrop=0.0)
    config: Any = NeuCodecConfig(hidden_size=wide, intermediate_size=4 * wide, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=4, head_dim=wide // 4, max_position_embeddings=512, encoder_hidden_size=8,
                                 semantic_model_config=meaning, quantization_dim=wide + 128, quantization_levels=[4] * 6)
    model = NeuCodecModel(config)
    model.semantic_encoder.requires_grad_(False)

    def again(model: nn.Module, sound: Tensor, seen: Tensor, there: Tensor, known: Tensor, wanted: Tensor) -> Tensor:
        with _with_empty_places():
            made = model(sound, input_features=seen, padding_mask=there, input_features_mask=known).audio_values
        return F.l1_loss(made, wanted) + sum(F.l1_loss(one, other) for one, other in zip(_spectra(made), _spectra(wanted)))

    def sample(samples: int) -> Batch:
        ends = torch.tensor([frames - (1 - place % 2) * (frames // 3) for place in range(samples)])[:, None]
        there, known = (torch.arange(hop * frames) < hop * ends).long(), (torch.arange(frames) < ends).long()
        finer = (torch.arange(hop * frames * 3 // 2) < hop * ends * 3 // 2).unsqueeze(1)
        return torch.randn(samples, 1, hop * frames) * there.unsqueeze(1), torch.randn(samples, frames, 160) * known.unsqueeze(2), there, known, torch.randn(samples, 1, finer.shape[2]) * finer

    return Subject(model, sample, again)


def pp_doclayout_v2(size: str) -> Subject:
    """What is on a page, and in what order it is read: a hybrid encoder of convolutions and attention, then queries, the most likely places, mend boxes in each layer; beside them as many that are told things with noise, and are
    to find them. What boxes say to each other, with a bias for how they lie, is which of two is read first. Both networks are trained in one step, each by its own loss, the second on true boxes among empty ones. Which query is
    to find which thing is decided on the host; how many of those told are right it is told, instead of looking on the device."""
    from transformers import HGNetV2Config, PPDocLayoutV2Config, PPDocLayoutV2ForObjectDetection
    from transformers.loss.loss_rt_detr import RTDetrForObjectDetectionLoss

    pixels, things, wide, queries = scaled(size, 96, 128, 192), 10, scaled(size, 64, 96, 128), scaled(size, 50, 80, 100)
    sight: Any = HGNetV2Config(stem_channels=[3, 16, 32], stage_in_channels=[32, 64, 128, 256], stage_mid_channels=[16, 32, 64, 64], stage_out_channels=[64, 128, 256, 256], hidden_sizes=[64, 128, 256, 256],
                               stage_num_blocks=[1, 1, 1, 1], stage_numb_of_layers=[3, 3, 3, 3], out_features=["stage2", "stage3", "stage4"])
    reading = {"hidden_size": 2 * wide, "num_attention_heads": 4, "intermediate_size": 8 * wide, "num_hidden_layers": 3, "coordinate_size": 43, "shape_size": 42}
    config: Any = PPDocLayoutV2Config(backbone_config=sight, encoder_hidden_dim=wide, encoder_in_channels=[128, 256, 256], decoder_in_channels=[wide] * 3, encoder_ffn_dim=512, encoder_attention_heads=4, d_model=wide,
                                      decoder_ffn_dim=512, decoder_layers=3, decoder_attention_heads=4, num_queries=queries, num_labels=25, class_order=[min(kind, 19) for kind in range(25)], class_thresholds=[0.5] * 25,
                                      reading_order_config=reading)
    for name, value in {"matcher_class_cost": 2.0, "matcher_bbox_cost": 5.0, "matcher_giou_cost": 2.0, "matcher_alpha": 0.25, "matcher_gamma": 2.0, "use_focal_loss": True, "weight_loss_vfl": 1.0, "weight_loss_bbox": 5.0,
                        "weight_loss_giou": 2.0, "eos_coefficient": 1e-4, "focal_loss_alpha": 0.75, "focal_loss_gamma": 2.0, "auxiliary_loss": True}.items():  # as RT-DETR has them
        setattr(config, name, value)

    class TrainableForObjectDetection(PPDocLayoutV2ForObjectDetection):
        def forward(self, given: Tensor, kinds: Tensor, boxes: Tensor, ranks: Tensor, right: Tensor) -> Tensor:
            wanted: List[Dict[str, Tensor]] = [{"class_labels": kind, "boxes": box} for kind, box in zip(kinds, boxes)]
            with mock.patch("torch.nonzero", lambda _: right):
                told = self.model(given, labels=wanted)
            named, placed = told.intermediate_logits, told.intermediate_reference_points
            loss = RTDetrForObjectDetectionLoss(named[:, -1], wanted, given.device, placed[:, -1], config, named, placed, told.enc_topk_logits, told.enc_topk_bboxes, told.denoising_meta_values)[0]
            centers, sides = boxes.split(2, dim=-1)
            corners = (torch.cat((centers - 0.5 * sides, centers + 0.5 * sides), -1) * 1000).clamp(0, 1000)
            order = torch.tensor(config.class_order, dtype=torch.int32, device=given.device)
            there = (torch.arange(queries, device=given.device) < things).expand(len(given), -1)
            empty = queries - things
            with _with_empty_places():
                logits = self.reading_order(boxes=F.pad(corners, (0, 0, 0, empty)), labels=order[F.pad(kinds, (0, empty))], mask=there)
            one, other = torch.triu_indices(things, things, 1, device=given.device)
            return loss + F.binary_cross_entropy_with_logits(logits[:, one, other], (ranks[:, one] < ranks[:, other]).to(logits.dtype))

    def sample(samples: int) -> Batch:
        ranks = torch.stack([torch.randperm(things) for _ in range(samples)])
        right = (torch.arange(2 * config.num_denoising) // things % 2 == 0).expand(samples, -1).nonzero()  # half of what is told is told wrong
        return torch.randn(samples, 3, pixels, pixels), torch.randint(25, (samples, things)), torch.rand(samples, things, 4) / 2 + 0.25, ranks, right

    return Subject(TrainableForObjectDetection(config), sample, lambda model, *given: model(*given))


def minicpmv4_6(size: str) -> Subject:
    """A Qwen3.5 that reads an image before words: it is seen whole, and in four slices, each for itself, in one sequence; after two layers four patches that lie together attend to each other alone and become one, and so once more
    at the end. The program joins words and images and says on the host where each ends, since the model looks on the device for it."""
    from transformers import MiniCPMV4_6Config, MiniCPMV4_6ForConditionalGeneration
    from transformers.models.minicpmv4_6.modeling_minicpmv4_6 import MiniCPMV4_6VisionAttention

    side, wide = 14, scaled(size, 128, 192, 256)
    grids = torch.tensor([scaled(size, [4, 4], [8, 4], [8, 8]), *[scaled(size, [4, 8], [8, 8], [12, 8])] * 4])
    counts = grids.prod(1).tolist()
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": 16 * side, "patch_size": side}
    text = {"model_type": "qwen3_5_text", **stack(size), "num_key_value_heads": 2, "head_dim": 64, "linear_key_head_dim": 32, "linear_value_head_dim": 32, "linear_num_key_heads": 4, "linear_num_value_heads": 8,
            "max_position_embeddings": 1024, **SPECIAL}
    config: Any = MiniCPMV4_6Config(vision_config=sight, text_config=text, insert_layer_id=1, image_token_id=990, video_token_id=991)
    whole, part = counts[0] // 16, counts[1] // 16
    slices = [994, *[990] * part, 995]
    frame = torch.tensor([997, 10, 998, 992, *[990] * whole, 993, *slices, *slices, 996, *slices, *slices])  # behind the image's number; slices lie in two rows
    there = frame == 990

    class JoinedForConditionalGeneration(MiniCPMV4_6ForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            seen = torch.cat(self.model.get_image_features(given, grids.repeat(len(ids), 1)).pooler_output)
            words = self.get_input_embeddings()(torch.cat((frame.to(ids.device).expand(len(ids), -1), ids), 1))
            shown = F.pad(there.to(ids.device), (0, ids.shape[1])).expand(len(ids), -1)
            labels = torch.cat((ids.new_full((len(ids), len(frame)), -100), ids), 1)
            return super().forward(inputs_embeds=words.masked_scatter(shown.unsqueeze(-1).expand_as(words), seen.to(words.dtype)), labels=labels)

    model = JoinedForConditionalGeneration(config)
    end_slices_on_host(model, MiniCPMV4_6VisionAttention, counts)
    return Subject(model, words_and_slices(size, side, counts), lambda model, ids, given: model(ids, given).loss)
