# SPDX-License-Identifier: Apache-2.0
"""Models that see with few convolutions, listen before words, and read pictures and films before words, from the packages transformers and timm."""

from typing import Any, List

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .before_words import heard_before_words, heard_parts
from .sizes import SPECIAL, length, stack
from .subject import LENGTH, Batch, Subject, images, labelled, scaled


def pp_lcnet_v4(size: str) -> Subject:
    """Convolutions of each channel for itself, then of all in one place, in some of which means of channels weigh them; the first of all look at images twice, once through what is largest nearby. Behind it, what names an image,
    as with its family: one more convolution of the mean of all places."""
    from transformers import PPLCNetV4Backbone, PPLCNetV4Config

    wide, deep = scaled(size, 64, 80, 96), scaled(size, 4, 6, 6)
    coarse = [3, 4 * wide, 4 * wide, 1]
    stages = [[[3, wide, wide, 1, True]], [[3, wide, wide, 1, False]] * 2, [[3, wide, 2 * wide, 2, False], *([3, 2 * wide, 2 * wide, 1, place % 2 == 0] for place in range(deep))],
              [[3, 2 * wide, 4 * wide, 2, False], [*coarse, True], [*coarse, False]]]
    config: Any = PPLCNetV4Config(stem_channels=[3, wide // 2, wide], block_configs=stages)

    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.backbone = PPLCNetV4Backbone(config)
            self.pool = nn.AdaptiveAvgPool2d(1)
            self.last_convolution = nn.Conv2d(4 * wide, 1280, 1, bias=False)
            self.activation = nn.Hardswish()
            self.dropout = nn.Dropout(0.2)
            self.head = nn.Linear(1280, 100)

        def forward(self, given: Tensor) -> Tensor:
            seen = self.pool(self.backbone(pixel_values=given).feature_maps[-1])
            named: Tensor = self.head(self.dropout(self.activation(self.last_convolution(seen))).flatten(1))
            return named

    return Subject(Named(), images(scaled(size, 96, 128, 160), 100), lambda model, given, labels: F.cross_entropy(model(given), labels))


def audioflamingo3(size: str) -> Subject:
    """A Qwen2 that listens before words: a Whisper's encoder hears spectra, whose places are fixed numbers, and the mean of each two of its frames is one word; half of the samples are shorter, which a mask says. The program puts
    sound in its places, since the model looks on the device for where it is to go, and which frames there are."""
    from transformers import AudioFlamingo3Config, AudioFlamingo3ForConditionalGeneration

    heard, wide = scaled(size, 24, 48, 96), scaled(size, 128, 192, 256)
    hearing = {"model_type": "audioflamingo3_encoder", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "max_source_positions": 2 * heard}
    text = {"model_type": "qwen2", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = AudioFlamingo3Config(audio_config=hearing, text_config=text, audio_token_id=999)

    class JoinedForConditionalGeneration(AudioFlamingo3ForConditionalGeneration):
        def forward(self, ids: Tensor, mask: Tensor, labels: Tensor, sound: Tensor, known: Tensor, frames: Tensor, places: Tensor) -> Any:
            features = self.model.multi_modal_projector(self.model.audio_tower(sound, input_features_mask=known).last_hidden_state)
            words = self.get_input_embeddings()(ids)
            there = features.flatten(0, 1).index_select(0, frames)
            joined = words.flatten(0, 1).index_copy(0, places, there.to(words.dtype)).view_as(words)
            return super().forward(inputs_embeds=joined, attention_mask=mask, labels=labels)

    def sample(samples: int) -> Batch:
        ids, mask, labels = heard_before_words(samples, heard, int(length(size) * LENGTH.factor))
        ends = torch.tensor([heard_parts(heard, place) for place in range(samples)])[:, None]
        known, frames = (torch.arange(4 * heard) < 4 * ends).long(), (torch.arange(heard) < ends).flatten().nonzero().flatten()
        return ids, mask, labels, torch.randn(samples, 128, 4 * heard), known, frames, (ids == 999).flatten().nonzero().flatten()

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def kimi_k25(size: str) -> Subject:
    """A DeepSeek V3 that reads a picture, then a film, before words: its queries, keys and values come of narrow vectors, and behind the first layer words go to two of eight experts, whose weights are gathered for each, and all to
    one more. Patches of all frames of a film attend to each other, and then the mean of frames is taken, and four that lie together become one word. The program joins words and sight, since the model looks on the device for
    where they are to go, and counts places on the host."""
    from transformers import Kimi_K25Config, Kimi_K25ForConditionalGeneration
    from transformers.models.kimi_k25.modeling_kimi_k25 import get_vision_frame_index, get_vision_temporal_merge_index
    from transformers.vision_utils import get_vision_interpolation_indices_and_weights, get_vision_position_ids

    side, wide, hidden, heads = 14, scaled(size, 128, 192, 256), scaled(size, 128, 192, 256), 4
    picture, film = torch.tensor([scaled(size, [1, 6, 8], [1, 8, 10], [1, 10, 12])]), torch.tensor([scaled(size, [2, 4, 6], [4, 6, 6], [4, 6, 8])])
    part = scaled(size, 16, 24, 32)
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": heads, "patch_size": side}
    text = {"model_type": "deepseek_v3", "vocab_size": 1000, "hidden_size": hidden, "intermediate_size": 3 * hidden, "moe_intermediate_size": hidden // 4, "num_hidden_layers": 3, "num_attention_heads": heads,
            "num_key_value_heads": heads, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 1, "routed_scaling_factor": 2.827, "q_lora_rank": hidden // 2,
            "kv_lora_rank": 64, "qk_rope_head_dim": part, "qk_nope_head_dim": 2 * part, "v_head_dim": 2 * part, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = Kimi_K25Config(vision_config=sight, text_config=text, projection_hidden_size=wide, experts_implementation="batched_mm",
                                 image_token_id=990, video_token_id=991, vision_start_token_id=992, vision_end_token_id=993)
    seen = int(picture.prod()) // 4, int(film[0, 1:].prod()) // 4  # words of each
    frame = torch.tensor([992, *[990] * seen[0], 993, 992, *[991] * seen[1], 993])

    class JoinedForConditionalGeneration(Kimi_K25ForConditionalGeneration):
        def looked_at(self, patches: Tensor, grid: Tensor) -> Tensor:
            tables = get_vision_interpolation_indices_and_weights(grid, 64, mode="bicubic")
            places = (*tables, get_vision_frame_index(grid), get_vision_position_ids(grid, 1), get_vision_temporal_merge_index(grid, 2, 2))
            names = "interp_indices", "interp_weights", "frame_index", "position_ids", "temporal_merge_index"
            made = self.model.vision_tower(patches, grid_thw=grid, **{name: place.to(patches.device) for name, place in zip(names, places)})
            return self.model.mm_projector(made.pooler_output).squeeze(1)

        def forward(self, ids: Tensor, pictures: Tensor, films: Tensor, in_pictures: Tensor, in_films: Tensor) -> Any:
            words = self.get_input_embeddings()(ids.masked_fill((ids == 990) | (ids == 991), 0))
            joined = words.flatten(0, 1)
            for patches, grid, places in ((pictures, picture, in_pictures), (films, film, in_films)):
                joined = joined.index_copy(0, places, self.looked_at(patches, grid.repeat(len(ids), 1)).to(joined.dtype))
            labels = torch.cat((ids.new_full((len(ids), len(frame)), -100), ids[:, len(frame) :]), 1)
            return super().forward(inputs_embeds=joined.view_as(words), labels=labels)

    def sample(samples: int) -> Batch:
        ids = torch.cat((frame.expand(samples, -1), torch.randint(3, 990, (samples, int(scaled(size, 32, 64, 96) * LENGTH.factor)))), 1)
        patches: List[Tensor] = [torch.randn(samples * int(grid.prod()), 3, side, side) for grid in (picture, film)]
        return (ids, *patches, *((ids == kind).flatten().nonzero().flatten() for kind in (990, 991)))

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def timm_cpubone(size: str) -> Subject:
    """Convolutions in groups whose expansions are one with them, and in two of four stages attention, in the first of which places are fewer on the way; kernels there are two wide. As timm's cpubone_b2_bfrobust, smaller."""
    from timm.models.cpubone import CPUBone

    wide, deep = scaled(size, 12, 16, 20), scaled(size, 1, 3, 4)
    heads = scaled(size, 1536, 2304, 2304), scaled(size, 1600, 2560, 2560)
    model = CPUBone(width_list=[wide, 2 * wide, 4 * wide, 8 * wide, 16 * wide], depth_list=[0, 1, 1, deep, deep + 1], num_classes=100, head_widths=heads, fused_conv=True, fused_downsample=True, attn_mlp_ratio=4,
                    downsample_expand_ratios=(6, 6, 6, 6), expand_groups=2, small_kernels=True, attn_upsample="nearest", drop_path_rate=0.1, local_mbconv_norm="all")
    return labelled(model, scaled(size, 96, 128, 192))
