# SPDX-License-Identifier: Apache-2.0
"""More models of images before words, and of images and texts, from the package transformers."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import SPECIAL, VOCABULARY, length, stack, width
from .subject import LENGTH, Batch, Subject, scaled


def llava_next(size: str) -> Subject:
    """A Mistral that reads an image before words: a CLIP sees it whole, and in four tiles, whose patches are laid out as the image, without what pads it, and with a trained word at the end of each row. Of the CLIP
    the layer before the last is read. The program joins words and images, since the model looks on the device for where they are to go."""
    from transformers import LlavaNextConfig, LlavaNextForConditionalGeneration

    patch, tile, wide = 14, scaled(size, 28, 56, 84), scaled(size, 128, 192, 256)
    sight = {"model_type": "clip_vision_model", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": tile, "patch_size": patch}
    text = {"model_type": "mistral", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, "sliding_window": None, **SPECIAL}
    tiles = [[tile, 2 * tile], [2 * tile, tile], [2 * tile, 2 * tile], [3 * tile, tile], [tile, 3 * tile]]
    config: Any = LlavaNextConfig(vision_config=sight, text_config=text, image_token_index=999, image_grid_pinpoints=tiles, image_seq_length=(tile // patch) ** 2)

    class JoinedForConditionalGeneration(LlavaNextForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            shown = torch.tensor([[3 * tile // 2, 2 * tile]] * len(ids))
            images = torch.stack(self.get_image_features(given, shown, return_dict=True).pooler_output)
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 5, 3, tile, tile)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given: model(ids, given).loss)


def vipllava(size: str) -> Subject:
    """A Llama that reads an image before words, in which something is drawn that the words are of: five layers of a CLIP, which is not trained, are read beside each other, and normed. The program joins words and images,
    since the model looks on the device for where they are to go."""
    from transformers import VipLlavaConfig, VipLlavaForConditionalGeneration

    patch, pixels, wide = 14, scaled(size, 56, 112, 168), scaled(size, 128, 192, 256)
    sight = {"model_type": "clip_vision_model", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 12, "num_attention_heads": 4, "image_size": pixels, "patch_size": patch}
    text = {"model_type": "llama", **stack(size), "max_position_embeddings": 1024, **SPECIAL}
    config: Any = VipLlavaConfig(vision_config=sight, text_config=text, image_token_index=999, image_seq_length=(pixels // patch) ** 2)

    class JoinedForConditionalGeneration(VipLlavaForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            images = self.get_image_features(given).pooler_output
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    model = JoinedForConditionalGeneration(config)
    model.model.vision_tower.requires_grad_(False)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels)

    return Subject(model, sample, lambda model, ids, given: model(ids, given).loss)


def instructblip(size: str) -> Subject:
    """Answers what is asked of an image: 32 vectors, and what is asked, in one BERT, in which the vectors alone look at the patches, in every other layer, and have an MLP of their own; a T5 reads them before the words. It
    and what sees are not trained. The program joins vectors and words, since the model looks on the device for where they are to go."""
    from transformers import InstructBlipConfig, InstructBlipForConditionalGeneration

    pixels, wide, count = scaled(size, 56, 112, 168), scaled(size, 128, 192, 256), scaled(size, 16, 32, 64)
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": pixels, "patch_size": 14}
    asking = {"vocab_size": VOCABULARY, "hidden_size": width(size), "intermediate_size": 4 * width(size), "num_hidden_layers": 4, "num_attention_heads": 4}
    text = {"model_type": "t5", "vocab_size": VOCABULARY, "d_model": width(size), "d_kv": 64, "d_ff": 1024, "num_layers": 3, "num_heads": 4, "feed_forward_proj": "gated-gelu", "decoder_start_token_id": 0,
            "tie_word_embeddings": False}
    config: Any = InstructBlipConfig(vision_config=sight, qformer_config=asking, text_config=text, image_token_index=999)

    class JoinedForConditionalGeneration(InstructBlipForConditionalGeneration):
        def forward(self, given: Tensor, asked: Tensor, ids: Tensor, answers: Tensor) -> Any:
            seen = self.get_image_features(given, qformer_input_ids=asked, return_dict=True).pooler_output
            embeddings = torch.cat((seen, self.get_input_embeddings()(ids)), 1)
            mask = torch.ones(embeddings.shape[:2], dtype=torch.int64, device=ids.device)
            return self.language_model(inputs_embeds=embeddings, attention_mask=mask, labels=answers)

    model = JoinedForConditionalGeneration(config)
    for untrained in (model.vision_model, model.language_model):
        untrained.requires_grad_(False)

    def sample(samples: int) -> Batch:
        shape = samples, int(count * LENGTH.factor)
        return torch.randn(samples, 3, pixels, pixels), torch.randint(3, VOCABULARY, shape), torch.randint(3, 999, shape), torch.randint(3, 999, shape)

    return Subject(model, sample, lambda model, *given: model(*given).loss)


def flava(size: str) -> Subject:
    """Images and texts: each is read as it is, which are to point the same way, and once more with patches and words left out, which a third transformer finds from both: as codes that convolutions say of the image, and
    as words. And it says which belong together: of the others no more is asked. The program says itself what was left out, since the model looks on the device for it."""
    from transformers import FlavaConfig, FlavaForPreTraining

    pixels, side, count, codes = scaled(size, 64, 96, 128), 16, scaled(size, 16, 32, 64), 1024
    common = {"hidden_size": width(size), "intermediate_size": 1024, "num_attention_heads": 4}
    config: Any = FlavaConfig(image_config={**common, "num_hidden_layers": 3, "image_size": pixels, "patch_size": side, "vocab_size": codes},
                              text_config={**common, "num_hidden_layers": 3, "vocab_size": VOCABULARY}, multimodal_config={**common, "num_hidden_layers": 2},
                              image_codebook_config={"hidden_size": scaled(size, 32, 48, 64), "vocab_size": codes}, hidden_size=width(size), projection_dim=width(size))

    class GatheredForPreTraining(FlavaForPreTraining):
        def forward(self, ids: Tensor, masked: Tensor, mask: Tensor, given: Tensor, drawn: Tensor, hidden: Tensor, patches: Tensor, words: Tensor, matching: Tensor, pairs: Tensor) -> Tensor:
            plain = self.flava(input_ids=ids, pixel_values=given, attention_mask=mask, skip_multimodal_encoder=True, return_dict=True)
            seen = self.flava(input_ids=masked, pixel_values=given, attention_mask=mask, bool_masked_pos=hidden, return_dict=True)
            wanted = self.image_codebook.get_codebook_indices(drawn).flatten(1)
            belonging = F.cross_entropy(self.itm_head(seen.multimodal_embeddings), matching)
            joined, rows = seen.multimodal_embeddings[pairs], torch.arange(len(pairs), device=pairs.device)[:, None]
            logits = self.mmm_image_head(joined[:, 2 : 1 + seen.image_embeddings.size(1)][rows, patches[pairs]])
            shown = F.cross_entropy(logits.flatten(0, 1), wanted[pairs][rows, patches[pairs]].flatten())
            logits = self.mmm_text_head(joined[:, -ids.size(1) :][rows, words[pairs]])
            said = F.cross_entropy(logits.flatten(0, 1), ids[pairs][rows, words[pairs]].flatten())
            text = F.normalize(self.flava.text_projection(plain.text_embeddings[:, 0]), dim=-1)
            image = F.normalize(self.flava.image_projection(plain.image_embeddings[:, 0]), dim=-1)
            self.flava.logit_scale.data.clamp_(0, 4.6052)
            of_images, of_texts, own = self.global_contrastive_head(image, text, self.flava.logit_scale)
            near = (F.cross_entropy(of_images[pairs], own[pairs]) + F.cross_entropy(of_texts[pairs], own[pairs])) / 2
            return shown + said + belonging + near

    def chosen(samples: int, of: int, part: float) -> Tensor:
        return torch.rand(samples, of).topk(max(1, int(of * part)), 1).indices

    def sample(samples: int) -> Batch:
        places, asked = (pixels // side) ** 2, int(count * LENGTH.factor)
        ids, patches, words = torch.randint(3, VOCABULARY, (samples, asked)), chosen(samples, places, 0.4), chosen(samples, asked, 0.15)
        belong = torch.arange((samples + 1) // 2)
        hidden = torch.zeros(samples, places, dtype=torch.bool).scatter_(1, patches, True)
        matching = torch.zeros(samples, dtype=torch.int64).index_fill_(0, belong, 1)
        drawn = torch.rand(samples, 3, pixels // 2, pixels // 2)
        return ids, ids.scatter(1, words, 2), torch.ones_like(ids), torch.randn(samples, 3, pixels, pixels), drawn, hidden, patches, words, matching, belong

    return Subject(GatheredForPreTraining(config), sample, lambda model, *given: model(*given))


def pixtral(size: str) -> Subject:
    """A Mistral that reads an image before words, as Mistral's Pixtral does: images lie across or upright, in one batch, and their patches are one sequence, in which each attends to those of its image; rows and columns
    turn the heads. The program joins words and images, since the model looks on the device for how many patches there are, and where they are to go."""
    from transformers import LlavaConfig, LlavaForConditionalGeneration

    side, rows, columns, wide = 16, scaled(size, 4, 6, 8), scaled(size, 6, 10, 14), scaled(size, 128, 192, 256)
    sight = {"model_type": "pixtral", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": 1024, "patch_size": side,
             "rope_parameters": {"rope_type": "axial", "rope_theta": 10000.0}}
    text = {"model_type": "mistral", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, "sliding_window": None, **SPECIAL}
    config: Any = LlavaConfig(vision_config=sight, text_config=text, image_token_index=999, vision_feature_layer=-1, vision_feature_select_strategy="full", image_seq_length=1)

    class JoinedForConditionalGeneration(LlavaForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            lying, upright = (side * rows, side * columns), (side * columns, side * rows)
            seen = self.model.vision_tower(given, image_sizes=[upright if place % 2 else lying for place in range(len(ids))], output_hidden_states=-1).hidden_states[-1]
            images = self.model.multi_modal_projector(seen).view(len(ids), rows * columns, -1)
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 3, side * columns, side * columns)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given: model(ids, given).loss)


def dac(size: str) -> Subject:
    """Makes sound again of the nine codes that it gave each of its parts, of which for half of the samples not all are used: convolutions, whose weights are directions and lengths, and waves between them that are trained.
    It is to sound alike, and to look alike in spectra of two windows, as with its authors; without what tells real sound from made one."""
    from transformers import DacConfig, DacModel

    samples, wide = scaled(size, 2048, 3072, 4096), scaled(size, 16, 24, 32)
    config: Any = DacConfig(encoder_hidden_size=wide, decoder_hidden_size=16 * wide, quantizer_dropout=0.5)
    model = DacModel(config)
    model.apply_weight_norm()

    def spectrum(sound: Tensor, window: int) -> Tensor:
        return torch.stft(sound, window, window // 4, window=torch.hann_window(window, device=sound.device), return_complex=True).abs()

    def alike(model: nn.Module, sound: Tensor) -> Tensor:
        told = model(sound)
        made, wanted = told.audio_values.float(), sound.squeeze(1).float()
        apart = F.l1_loss(made, wanted)
        for window in (2048, 512):
            first, second = spectrum(made, window), spectrum(wanted, window)
            apart = apart + F.l1_loss(first, second) + F.l1_loss(first.clamp(min=1e-5).log10(), second.clamp(min=1e-5).log10())
        return apart + told.loss.mean()

    return Subject(model, lambda count: (torch.randn(count, 1, samples),), alike)


def chmv2(size: str) -> Subject:
    """How high trees are: what four layers of a DINOv3, which is not trained, say of patches, beside what sums the image up, is made pictures of four sizes, put together from coarse to fine; a height is a mean of bins."""
    from transformers import CHMv2Config, CHMv2ForDepthEstimation

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    sight = {"model_type": "dinov3_vit", "image_size": pixels, "hidden_size": wide, "intermediate_size": 4 * wide, "num_attention_heads": 4, "num_hidden_layers": 4, "num_register_tokens": 4, "key_bias": True,
             "out_indices": [1, 2, 3, 4], "reshape_hidden_states": True, "apply_layernorm": True, "layer_norm_eps": 1e-6, "return_class_token": True}
    config: Any = CHMv2Config(backbone_config=sight, post_process_channels=[32, 64, 128, 256], fusion_hidden_size=64, head_hidden_size=32, number_output_channels=64)
    model = CHMv2ForDepthEstimation(config)
    model.backbone.requires_grad_(False)

    def apart(model: nn.Module, given: Tensor, wanted: Tensor) -> Tensor:
        heights = model(pixel_values=given).predicted_depth
        heights = F.interpolate(heights[:, None], size=wanted.shape[1:], mode="bilinear", align_corners=False)[:, 0]
        off = heights.clamp(min=1e-3).log() - wanted.log()
        return (off.square().mean() - 0.85 * off.mean().square()).sqrt()

    return Subject(model, lambda samples: (torch.randn(samples, 3, pixels, pixels), 1 + 30 * torch.rand(samples, pixels, pixels)), apart)


def molmo2(size: str) -> Subject:
    """Reads an image before words: it is seen whole, and in overlapping parts, of which two layers are read; four patches are a word, by an attention that their mean asks for, and are added to that word's embedding. Words
    of images attend to each other both ways. The program joins words and images, since the model looks on the device for where they are to go, and which have patches."""
    from transformers import Molmo2Config, Molmo2ForConditionalGeneration, Molmo2ImageProcessor
    from transformers.masking_utils import create_bidirectional_mask
    from transformers.modeling_outputs import BaseModelOutput
    from transformers.models.molmo2.modeling_molmo2 import Molmo2Adapter

    side, crop, wide = 14, scaled(size, 56, 84, 112), scaled(size, 128, 192, 256)
    cutting = Molmo2ImageProcessor(size={"height": crop, "width": crop}, max_crops=4, overlap_margins=[1, 1], patch_size=side, pooling_size=[2, 2])
    cut = cutting(images=torch.zeros(3, crop * 3 // 2, crop * 2, dtype=torch.uint8), return_tensors="pt")
    shape, pooled, grid = cut["pixel_values"].shape, cut["image_token_pooling"], cut["image_grids"]
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": wide // 4, "image_size": [crop, crop], "patch_size": side}
    adapter = {"vision_feature_layer": [3, 1], "hidden_size": wide, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": wide // 4, "intermediate_size": 1024, "text_hidden_size": width(size)}
    text = {**stack(size), "num_key_value_heads": 2, "head_dim": 64, "additional_vocab_size": 16, "max_position_embeddings": 1024, "pad_token_id": 0}
    config: Any = Molmo2Config(vision_config=sight, adapter_config=adapter, text_config=text, image_start_token_id=1000, image_end_token_id=1001, image_patch_id=1002, low_res_image_start_token_id=1004,
                               frame_start_token_id=1007, frame_end_token_id=1008)

    class JoinedForConditionalGeneration(Molmo2ForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, pooling: Tensor) -> Any:
            images = torch.stack(self.get_image_features(given, pooling, grid.expand(len(ids), -1)).pooler_output)
            kinds = torch.cat((ids.new_ones(images.shape[:2]), torch.zeros_like(ids)), 1)
            words = self.get_input_embeddings()(torch.cat((ids.new_full(images.shape[:2], 1002), ids), 1))
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            embeddings = torch.cat((words[:, : len(pooled)] + images, words[:, len(pooled) :]), 1)
            return super().forward(inputs_embeds=embeddings, mm_token_type_ids=kinds, labels=labels)

    class WholeAdapter(Molmo2Adapter):
        def forward(self, image_features: Tensor, pooled_patches_idx: Tensor, **_: Any) -> Any:
            there = pooled_patches_idx >= 0
            patches = image_features.reshape(-1, image_features.shape[-1])[pooled_patches_idx.clip(0)]
            patches = patches * there.to(patches.dtype)[..., None]
            counts = there.float().sum(-1)
            counts = torch.where(counts == 0, 1, counts)
            asking = patches.sum(-2, keepdim=True) / counts[:, None, None].to(patches.dtype)
            mask = create_bidirectional_mask(config=self.config, inputs_embeds=asking, attention_mask=there, encoder_hidden_states=patches)
            words = self.image_projector(self.image_pooling_2d(asking, patches, attention_mask=mask)[0].squeeze(1))
            return BaseModelOutput(last_hidden_state=words[torch.arange(len(words), device=words.device)])  # all of them have patches

    model = JoinedForConditionalGeneration(config)
    model.model.multi_modal_projector = WholeAdapter(config.adapter_config)

    def sample(samples: int) -> Batch:
        pooling = torch.cat([torch.where(pooled >= 0, pooled + place * shape[0] * shape[1], pooled) for place in range(samples)])
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples * shape[0], *shape[1:]), pooling

    return Subject(model, sample, lambda model, *given: model(*given).loss)
