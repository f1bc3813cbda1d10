# SPDX-License-Identifier: Apache-2.0
"""Models of images, films, speech and tables before or between words, from the package transformers."""

from typing import Any, List, Tuple

import torch
from torch import Tensor, nn

from .sizes import SPECIAL, VOCABULARY, length, stack, width
from .subject import LENGTH, Batch, Subject, scaled


def lfm2_vl(size: str) -> Subject:
    """An LFM2, of short convolutions and attention, that reads an image before words: images lie across or upright, in one batch of patches with some behind them that are none; four patches are a word, which each image is
    given for itself. The program joins words and images, since the model looks on the device for how many patches there are, and where they are to go."""
    from transformers import Lfm2VlConfig, Lfm2VlForConditionalGeneration

    side, wide = scaled(size, 6, 8, 12), scaled(size, 128, 192, 256)
    sight = {"model_type": "siglip2_vision_model", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "num_patches": 64, "vision_use_head": False}
    text = {"model_type": "lfm2", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 512, "layer_types": ["conv", "full_attention"] * 2, "block_multiple_of": 64, **SPECIAL}
    config: Any = Lfm2VlConfig(vision_config=sight, text_config=text, image_token_id=999, projector_hidden_size=2 * width(size))

    class JoinedForConditionalGeneration(Lfm2VlForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, mask: Tensor) -> Any:
            shapes: List[Tuple[int, int]] = [(side - 2, side), (side, side - 2)]
            shown = [shapes[place % 2] for place in range(len(ids))]
            seen = self.model.vision_tower(pixel_values=given, spatial_shapes=torch.tensor(shown), pixel_attention_mask=mask).last_hidden_state
            words = [self.model.multi_modal_projector(one[: rows * columns].reshape(1, rows, columns, -1)) for one, (rows, columns) in zip(seen, shown)]
            images = torch.stack([each.reshape(-1, each.size(-1)) for each in words])
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        mask = (torch.arange(side * side) < side * (side - 2)).long().expand(samples, -1).contiguous()
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, side * side, 3 * 16 * 16), mask

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def video_llama_3(size: str) -> Subject:
    """A Qwen2 that reads a film before words: its pictures are one sequence of patches, in which each attends to those of its picture; four of them are made one by interpolation, and of these those are left that differ from
    the picture before. The program joins words and films, since the model looks on the device for where they are to go, and which are left; places are counted on the host."""
    from transformers import VideoLlama3Config, VideoLlama3ForConditionalGeneration
    from transformers.vision_utils import get_vision_position_ids

    side, pictures, rows, columns, wide = 14, scaled(size, 4, 4, 6), scaled(size, 4, 6, 8), scaled(size, 6, 8, 12), scaled(size, 128, 192, 256)
    each = rows * columns // 4
    left = each + (pictures - 1) * (each // 2)
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "patch_size": side}
    text = {"model_type": "qwen2", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = VideoLlama3Config(vision_config=sight, text_config=text, image_token_id=998, video_token_id=999)

    class JoinedForConditionalGeneration(VideoLlama3ForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, kept: Tensor) -> Any:
            grid, merged = torch.tensor([[pictures, rows, columns]] * len(ids)), torch.tensor([2] * len(ids))
            places = get_vision_position_ids(grid, merged).to(given.device)
            seen = self.model.get_video_features(given, grid, merged, position_ids=places, return_dict=True).pooler_output
            films = torch.cat(seen)[kept].view(len(ids), left, -1)
            labels = torch.cat((ids.new_full(films.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((films, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        changed = torch.rand(samples, pictures, each).argsort(-1) < each // 2
        changed[:, 0] = True
        patches = torch.randn(samples * pictures * rows * columns, 3 * side * side)
        return torch.randint(3, 998, (samples, int(length(size) * LENGTH.factor))), patches, changed.flatten().nonzero().flatten()

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def fun_asr_nano(size: str) -> Subject:
    """A Qwen3 that writes down the speech before its words: seven frames are one, attention stands beside a convolution over time of its values, and two more layers hear in the words' width; half of the samples are shorter.
    The program joins words and sound, since the model looks on the device for where they are to go."""
    from transformers import FunAsrNanoConfig, FunAsrNanoForConditionalGeneration

    frames, wide = scaled(size, 24, 48, 96), scaled(size, 128, 192, 256)
    hearing = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 6, "num_timestamp_prediction_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 257}
    adaptor = {"hidden_size": width(size), "intermediate_size": width(size) // 4, "num_attention_heads": 4, "projector_hidden_size": 2 * width(size)}
    text = {"model_type": "qwen3", **stack(size), "num_key_value_heads": 2, "head_dim": 64, "max_position_embeddings": 1024, **SPECIAL, "tie_word_embeddings": True}
    config: Any = FunAsrNanoConfig(audio_config=hearing, adaptor_config=adaptor, text_config=text, audio_token_id=999)

    class JoinedForConditionalGeneration(FunAsrNanoForConditionalGeneration):
        def forward(self, ids: Tensor, sound: Tensor, mask: Tensor) -> Any:
            heard = self.model.multi_modal_projector(self.model.audio_tower(sound, mask).last_hidden_state, mask)
            labels = torch.cat((torch.full_like(mask, -100), ids), 1)
            embeddings = torch.cat((heard, self.get_input_embeddings()(ids)), 1)
            return super().forward(inputs_embeds=embeddings, attention_mask=torch.cat((mask, torch.ones_like(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        ends = torch.tensor([frames - place % 2 * frames // 4 for place in range(samples)])
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, frames, 560), (torch.arange(frames) < ends[:, None]).long()

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def tapas(size: str) -> Subject:
    """Answers what is asked of a table: a BERT in which words count from the start of their cell, with seven more embeddings, of rows, columns, and ranks in them. It is told the answer alone, and finds the cells that this
    is made of, and whether it is their sum, mean or number, as with its authors on WikiTableQuestions."""
    from transformers import TapasConfig, TapasForQuestionAnswering

    columns = scaled(size, 3, 4, 6)
    config: Any = TapasConfig(**stack(size), num_aggregation_labels=4, use_answer_as_supervision=True, answer_loss_cutoff=0.664694, cell_selection_preference=0.207951, huber_loss_delta=0.121194,
                              init_cell_selection_weights_to_zero=True, temperature=0.0352513, max_position_embeddings=512)

    def answered(model: nn.Module, ids: Tensor, kinds: Tensor, labels: Tensor, answers: Tensor, values: Tensor, scales: Tensor) -> Tensor:
        return model(input_ids=ids, attention_mask=torch.ones_like(ids), token_type_ids=kinds, labels=labels, float_answer=answers, numeric_values=values, numeric_values_scale=scales).loss

    def sample(samples: int) -> Batch:
        count = int(length(size) * LENGTH.factor)
        asked = count // 4
        cells = torch.arange(count - asked) // 2  # of two words each; the first row has the names of columns
        column, row = torch.zeros(2, count, dtype=torch.int64)
        column[asked:], row[asked:] = cells % columns + 1, cells // columns
        ranks = torch.where(row > 0, torch.randint(1, 9, (count,)), 0)
        kinds = torch.stack([(column > 0).long(), column, row, torch.zeros_like(row), ranks, torch.where(row > 0, 9 - ranks, 0), torch.zeros_like(row)], 1)
        labels = ((row == row.max()) & (column == 1)).long().expand(samples, -1).contiguous()
        numbers = torch.where((row > 0) & (column % 2 == 0), torch.rand(samples, count), float("nan"))
        answers = torch.where(torch.arange(samples) % 2 == 0, torch.rand(samples), float("nan"))
        return torch.randint(3, VOCABULARY, (samples, count)), kinds.expand(samples, -1, -1).contiguous(), labels, answers, numbers, torch.ones(samples, count)

    return Subject(TapasForQuestionAnswering(config), sample, answered)
