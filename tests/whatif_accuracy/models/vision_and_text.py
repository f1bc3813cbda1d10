# SPDX-License-Identifier: Apache-2.0
"""Models of words, and of images before words, from the package transformers: what pictures_and_words.py has no room for."""

from typing import Any, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .before_words import end_slices_on_host, words_and_slices
from .sizes import SPECIAL, VOCABULARY, length, stack, width
from .subject import LENGTH, Batch, Subject, causal, scaled, tokens


def idefics3(size: str) -> Subject:
    """A Llama that reads an image before words: a SigLIP sees it whole, and in four tiles, each for itself; places are counted in parts of the image, and four patches, one beside the other, are a word. The program joins
    words and images, since the model looks on the device for where they are to go, and for images that are but padding."""
    from transformers import Idefics3Config, Idefics3ForConditionalGeneration

    patch, tile, wide, tiles = 14, scaled(size, 56, 84, 112), scaled(size, 128, 192, 256), 5
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": tile, "patch_size": patch}
    text = {"model_type": "llama", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = Idefics3Config(vision_config=sight, text_config=text, image_token_id=999)

    class JoinedForConditionalGeneration(Idefics3ForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            pixels = given.view(-1, *given.shape[2:])
            pixels = pixels[torch.arange(len(pixels), device=pixels.device)].contiguous()  # none is but padding
            whole = torch.ones(len(pixels), tile, tile, dtype=torch.bool, device=pixels.device)
            there = whole.unfold(1, patch, patch).unfold(2, patch, patch).sum(dim=(-1, -2)) > 0
            seen = self.model.vision_model(pixel_values=pixels, patch_attention_mask=there).last_hidden_state
            images = self.model.connector(seen).view(len(ids), -1, width(size))
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, tiles, 3, tile, tile)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given: model(ids, given).loss)


def minicpmv4_7(size: str) -> Subject:
    """A Qwen3.5 that reads an image before words: it is seen whole, and in two slices, each for itself, in one sequence; after two layers four patches that lie together attend to each other alone and become one, and so once
    more at the end. Places in rows and columns turn a part of each head, and are those on one canvas. The program joins words and images and counts places on the host, since the model looks on the device for them."""
    from transformers import MiniCPMV4_7Config, MiniCPMV4_7ForConditionalGeneration
    from transformers.models.minicpmv4_7.modeling_minicpmv4_7 import MiniCPMV4_7VisionAttention

    side, wide = 14, scaled(size, 128, 192, 256)
    grids = torch.tensor([[4, 8], *[scaled(size, [4, 4], [8, 8], [12, 12])] * 2])
    counts = grids.prod(1).tolist()
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": 16 * side, "patch_size": side}
    text = {"model_type": "qwen3_5_text", **stack(size), "num_key_value_heads": 2, "head_dim": 64, "linear_key_head_dim": 32, "linear_value_head_dim": 32, "linear_num_key_heads": 4, "linear_num_value_heads": 8,
            "max_position_embeddings": 1024, "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25, "mrope_section": [3, 3, 2], "mrope_interleaved": True}, **SPECIAL}
    config: Any = MiniCPMV4_7Config(vision_config=sight, text_config=text, insert_layer_id=1, image_token_id=990, video_token_id=991, image_start_id=992, image_end_id=993,
                                    slice_start_id=994, slice_end_id=995, newline_id=996)
    whole, part = counts[0] // 16, counts[1] // 16
    frame = torch.tensor([992, *[990] * whole, 993, *[994, *[990] * part, 995] * 2, 996])
    parts = (1, whole), (whole + 3, part), (whole + part + 5, part)  # where the words of each are, and how many

    class JoinedForConditionalGeneration(MiniCPMV4_7ForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            joined = torch.cat((frame.to(ids.device).expand(len(ids), -1), ids), 1)
            seen = iter(self.model.get_image_features(given, grids.repeat(len(ids), 1)).pooler_output)
            images = torch.stack([torch.cat([next(seen) for _ in grids]) for _ in ids])
            words = self.get_input_embeddings()(joined)
            embeddings, place, used = [], 0, 0
            for begin, count in parts:
                embeddings += [words[:, place:begin], images[:, used : used + count]]
                place, used = begin + count, used + count
            kinds = torch.cat(((frame == 990).long(), torch.zeros(ids.shape[1], dtype=torch.int64)))[None]
            places, _ = self.model.get_rope_index(torch.cat((frame, torch.zeros(ids.shape[1], dtype=torch.int64)))[None], kinds, grids)
            labels = torch.cat((ids.new_full((len(ids), len(frame)), -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((*embeddings, words[:, place:]), 1), position_ids=places.expand(-1, len(ids), -1).to(ids.device), labels=labels)

    model = JoinedForConditionalGeneration(config)
    end_slices_on_host(model, MiniCPMV4_7VisionAttention, counts)
    return Subject(model, words_and_slices(size, side, counts), lambda model, ids, given: model(ids, given).loss)


def mamba(size: str) -> Subject:
    """A state of each channel goes from word to word, in a loop over time, moved by what each word says; what lies between layers has 32 bits in any case, and the table is the head. No attention."""
    from transformers import MambaConfig, MambaForCausalLM

    config = MambaConfig(vocab_size=VOCABULARY, hidden_size=width(size), state_size=16, num_hidden_layers=3, **SPECIAL)
    return Subject(MambaForCausalLM(config), tokens(VOCABULARY, length(size) // 2), causal)


def lfm3_vl(size: str) -> Subject:
    """An LFM3 that reads an image before words: of each, most layers are short convolutions behind gates, over rows and columns of patches and over words; images lie across or upright, in one batch, four patches are a word,
    and each image attends to itself alone. Words have attention in two layers, one of which sees 64 of them, and the table is the head. The program joins words and images, since the model looks on the device for where they
    are to go, and counts places on the host."""
    from transformers import Lfm3VlConfig, Lfm3VlForConditionalGeneration
    from transformers.vision_utils import get_vision_cu_seqlens, get_vision_position_ids

    side, rows, columns, wide = 16, scaled(size, 4, 6, 8), scaled(size, 6, 10, 14), scaled(size, 128, 192, 256)
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 5, "num_attention_heads": 4, "num_key_value_heads": 2, "patch_size": side}
    text = {"model_type": "lfm3", **stack(size), "num_hidden_layers": 5, "num_key_value_heads": 2, "head_dim": 64, "sliding_window": 64, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = Lfm3VlConfig(vision_config=sight, text_config=text, image_token_id=998, video_token_id=999, vision_start_token_id=996, vision_end_token_id=997, projector_hidden_size=1024)

    class JoinedForConditionalGeneration(Lfm3VlForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            grid = torch.tensor([[1, columns, rows] if place % 2 else [1, rows, columns] for place in range(len(ids))])
            places = get_vision_position_ids(grid, 2).to(ids.device)
            seen = self.model.get_image_features(given, grid, image_position_ids=places, image_cu_seqlens=get_vision_cu_seqlens(grid))
            images = torch.stack(seen.pooler_output)
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 996, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples * rows * columns, 3 * 2 * side * side)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given: model(ids, given).loss)


def sam_hq(size: str) -> Subject:
    """Marks what a box points at, as SAM, and more finely: one more word for masks looks at a picture that is made of what the first layer saw that has attention everywhere, too. What reads boxes is not trained, as is
    usual; the loss is of overlap and of points."""
    from transformers import SamHQConfig, SamHQModel

    pixels, wide, asked = scaled(size, 128, 192, 256), scaled(size, 192, 256, 320), 2
    sight = {"hidden_size": wide, "output_channels": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": pixels, "window_size": 5, "global_attn_indexes": [1, 3], "num_pos_feats": 32}
    config: Any = SamHQConfig(vision_config=sight, prompt_encoder_config={"hidden_size": 64, "image_size": pixels},
                              mask_decoder_config={"hidden_size": 64, "mlp_dim": 512, "num_attention_heads": 4, "iou_head_hidden_dim": 64, "vit_dim": wide})
    model = SamHQModel(config)
    model.prompt_encoder.requires_grad_(False)
    model.shared_image_embedding.requires_grad_(True)  # which is in it, too

    def marked(model: nn.Module, given: Tensor, boxes: Tensor, wanted: Tensor) -> Tensor:
        seen = model(pixel_values=given, input_boxes=boxes, multimask_output=False).pred_masks.flatten(0, 1)
        share, places = seen.sigmoid(), (2, 3)
        overlap = (2 * (share * wanted).sum(places) + 1e-5) / ((share ** 2).sum(places) + (wanted ** 2).sum(places) + 1e-5)
        return (1 - overlap).mean() + F.binary_cross_entropy_with_logits(seen, wanted)

    def sample(samples: int) -> Batch:
        corners = torch.rand(samples, asked, 2, 2).sort(2).values * pixels
        return torch.randn(samples, 3, pixels, pixels), corners.flatten(2), torch.rand(samples * asked, 1, pixels // 4, pixels // 4).round()

    return Subject(model, sample, marked)


def dpr(size: str) -> Subject:
    """Finds what answers a question: a BERT reads questions, another reads passages, and the first word of each must be nearest to that of its own, among those of all questions and one for each that only looks alike."""
    from transformers import DPRConfig, DPRContextEncoder, DPRQuestionEncoder
    from transformers.models.dpr.modeling_dpr import DPRPreTrainedModel

    asked = scaled(size, 16, 32, 64)
    config: Any = DPRConfig(**stack(size), max_position_embeddings=512, pad_token_id=0)

    class Finder(DPRPreTrainedModel):
        supports_gradient_checkpointing = True  # as its BERTs do

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.question_model, self.ctx_model = DPRQuestionEncoder(config), DPRContextEncoder(config)

        def forward(self, questions: Tensor, passages: Tensor, kinds: Tensor) -> Tuple[Tensor, Tensor]:
            return self.question_model(input_ids=questions).pooler_output, self.ctx_model(input_ids=passages, token_type_ids=kinds).pooler_output

    def found(model: nn.Module, questions: Tensor, passages: Tensor, kinds: Tensor) -> Tensor:
        first, second = model(questions, passages, kinds)
        own = 2 * torch.arange(len(questions), device=questions.device)
        return F.nll_loss(F.log_softmax(first @ second.t(), 1), own)

    def sample(samples: int) -> Batch:
        read = int(length(size) * LENGTH.factor)
        kinds = (torch.arange(read) >= read // 8).long().expand(2 * samples, -1).contiguous()  # behind a title
        return torch.randint(3, VOCABULARY, (samples, int(asked * LENGTH.factor))), torch.randint(3, VOCABULARY, (2 * samples, read)), kinds

    return Subject(Finder(config), sample, found)


def finds_text(model: nn.Module, pixels: int) -> Subject:
    """One that marks where text is: of what is none the worst places count, three for each that is. How many there are it is told, instead of counting on the device."""
    rate = 3

    def marked(model: nn.Module, given: Tensor, wanted: Tensor, mask: Tensor) -> Tensor:
        seen = model(pixel_values=given).last_hidden_state[:, 0]
        apart = 1 - 2 * (seen * wanted * mask).sum() / ((seen * mask).sum() + (wanted * mask).sum() + 1e-6)
        text, other = wanted * mask, (1 - wanted) * mask
        count = wanted.numel() // 8
        worst = (other * apart).flatten().sort(descending=True).values[: rate * count]
        return 5 * ((text * apart).sum() + worst.sum()) / (count + rate * count + 1e-6)

    def sample(samples: int) -> Batch:
        wanted = torch.zeros(samples, pixels, pixels)
        for each in wanted:
            top, left = torch.randint(pixels // 2, (2,)).tolist()
            each[top : top + pixels // 4, left : left + pixels // 2] = 1
        return torch.randn(samples, 3, pixels, pixels), wanted, torch.ones_like(wanted)

    return Subject(model, sample, marked)


def pp_ocrv5_mobile_det(size: str) -> Subject:
    """Where text is: convolutions of one channel each, and of one place, six beside each other, that are one when they are not trained; four sizes of the picture are put together, and made as large as it is."""
    from transformers import PPLCNetV3Config, PPOCRV5MobileDetConfig, PPOCRV5MobileDetForObjectDetection

    pixels = scaled(size, 96, 160, 224)
    sight: Any = PPLCNetV3Config(scale=scaled(size, 0.5, 0.75, 1.0), out_features=["stage2", "stage3", "stage4", "stage5"], divisor=16)
    config: Any = PPOCRV5MobileDetConfig(backbone_config=sight)

    class TrainableForObjectDetection(PPOCRV5MobileDetForObjectDetection):
        supports_gradient_checkpointing = True  # as its backbone does

    return finds_text(TrainableForObjectDetection(config), pixels)


def deformable_detr(size: str) -> Subject:
    """Finds things: queries look for each other, and at four points around places of four sizes of the image, which have looked at such points themselves. A ResNet sees, whose norms and first layers are not trained; which
    query is to find which thing is decided on the host."""
    from transformers import DeformableDetrConfig, DeformableDetrForObjectDetection

    pixels, things = scaled(size, 96, 128, 160), 6
    sight = {"model_type": "timm_backbone", "backbone": scaled(size, "resnet10t", "resnet18", "resnet50"), "num_channels": 3, "features_only": True, "use_pretrained_backbone": False, "out_indices": [2, 3, 4]}
    config: Any = DeformableDetrConfig(backbone_config=sight, d_model=scaled(size, 64, 128, 128), encoder_layers=3, encoder_ffn_dim=512, encoder_attention_heads=4, decoder_layers=3, decoder_ffn_dim=512,
                                       decoder_attention_heads=4, num_queries=100, num_labels=19)

    def found(model: nn.Module, given: Tensor, kinds: Tensor, boxes: Tensor) -> Tensor:
        return model(pixel_values=given, labels=[{"class_labels": kind, "boxes": box} for kind, box in zip(kinds, boxes)]).loss

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3, pixels, pixels), torch.randint(19, (samples, things)), torch.rand(samples, things, 4) / 2 + 0.25

    return Subject(DeformableDetrForObjectDetection(config), sample, found)
