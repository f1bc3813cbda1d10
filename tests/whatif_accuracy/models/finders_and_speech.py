# SPDX-License-Identifier: Apache-2.0
"""Models that find things, read images and speech before words, look at two scales, and keep or draw films, from the packages transformers, timm and diffusers."""

import sys
from functools import partial
from typing import Any, Dict, List
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import Reconstruction, of_diffusers
from .sizes import SPECIAL, length, stack, width
from .subject import LENGTH, Batch, Subject, labelled, scaled


def rt_detr_v2(size: str) -> Subject:
    """Finds things: a ResNet whose norms stay as they are, a hybrid encoder of attention among the coarsest places and convolutions, then queries, the most likely places, which look at points around them in three sizes of
    the image, and mend their boxes in each layer; beside them as many that are told things with noise, and are to find them. Images have different numbers of things; which query is to find which is decided on the host,
    and how many of those told are right it is told, instead of looking on the device."""
    from transformers import RTDetrResNetConfig, RTDetrV2Config, RTDetrV2ForObjectDetection

    pixels, things, wide, first = scaled(size, 128, 160, 192), 10, scaled(size, 64, 128, 256), scaled(size, 32, 32, 48)
    deep, kind = scaled(size, 1, 2, 2), "basic" if size == "small" else "bottleneck"
    sizes = [part * first * (1 if size == "small" else 4) for part in (1, 2, 4, 8)]
    sight: Any = RTDetrResNetConfig(embedding_size=first, hidden_sizes=sizes, depths=[deep, deep, scaled(size, 1, 2, 3), deep], layer_type=kind, out_indices=[2, 3, 4])
    config: Any = RTDetrV2Config(backbone_config=sight, encoder_hidden_dim=wide, encoder_in_channels=sizes[1:], encoder_ffn_dim=4 * wide, d_model=wide, decoder_in_channels=[wide] * 3, decoder_ffn_dim=4 * wide,
                                 decoder_layers=scaled(size, 3, 3, 6), num_labels=80)

    def there(place: int) -> int:
        return things - place % 4 * 2

    def sample(samples: int) -> Batch:
        told = torch.arange(2 * config.num_denoising)  # in turns all things told right, and all told wrong
        right = torch.stack([(told // things % 2 == 0) & (told % things < there(place)) for place in range(samples)]).nonzero()
        return torch.randn(samples, 3, pixels, pixels), torch.randint(80, (samples, things)), torch.rand(samples, things, 4) / 2 + 0.25, right

    def found(model: nn.Module, given: Tensor, kinds: Tensor, boxes: Tensor, right: Tensor) -> Tensor:
        wanted: List[Dict[str, Tensor]] = [{"class_labels": kinds[place, : there(place)], "boxes": boxes[place, : there(place)]} for place in range(len(given))]
        with mock.patch("torch.nonzero", lambda _: right):
            return model(pixel_values=given, labels=wanted).loss

    return Subject(RTDetrV2ForObjectDetection(config), sample, found)


def perception_lm(size: str) -> Subject:
    """A Llama that reads an image before words: timm's Perception Encoder, whose heads know places as angles, sees it as a whole and in four tiles, of whose patches means of four are read. The program joins words and images,
    since the model looks on the device for where they are to go."""
    from transformers import PerceptionLMConfig, PerceptionLMForConditionalGeneration

    tile, wide, tiles = scaled(size, 56, 84, 112), scaled(size, 128, 192, 256), 5
    sight = {"model_type": "timm_wrapper", "architecture": "vit_pe_lang_large_patch14_448",
             "model_args": {"embed_dim": wide, "depth": 4, "num_heads": 4, "img_size": [tile, tile], "ref_feat_shape": [tile // 14, tile // 14], "global_pool": "", "use_post_transformer_norm": False, "init_values": 0.1}}
    text = {"model_type": "llama", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = PerceptionLMConfig(vision_config=sight, text_config=text, projector_pooling_ratio=2, image_token_id=998, video_token_id=999)

    class JoinedForConditionalGeneration(PerceptionLMForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            seen = self.model.get_image_features(given).pooler_output.reshape(len(ids), -1, width(size))
            labels = torch.cat((ids.new_full(seen.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((seen, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 998, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, tiles, 3, tile, tile)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def timm_crossvit(size: str) -> Subject:
    """An image in small patches, and a smaller one of it in larger patches: two networks, of which the word that sums up each attends to the other's patches after some blocks; the large one is CrossViT-S, and of the
    medium one, as of CrossViT-9 dagger, three convolutions make the patches."""
    from timm.models.crossvit import CrossVit

    pixels, heads = scaled(size, 120, 240, 240), scaled(size, 2, 3, 6)
    model = CrossVit(img_size=pixels, img_scale=(1.0, 224 / 240), patch_size=(12, 16), num_classes=100, embed_dim=(32 * heads, 64 * heads), depth=((1, scaled(size, 4, 3, 4), 0),) * 3, num_heads=(heads, heads),
                     mlp_ratio=(scaled(size, 4, 3, 4), scaled(size, 4, 3, 4), 1), multi_conv=size == "medium")
    return labelled(model, pixels)


def diffusers_autoencoder_kl_hunyuan_video(size: str) -> Subject:
    """Films as few numbers, and back, by convolutions that look back in time, past edges at the edge itself, and in the middle attention of each frame to those before; the large one's films go through in
    two parts, whose edges are blended."""
    wide, frames = scaled(size, 16, 24, 32), scaled(size, 5, 9, 17)
    model = of_diffusers("AutoencoderKLHunyuanVideo")(block_out_channels=(wide, 2 * wide, 4 * wide, 4 * wide), norm_num_groups=scaled(size, 16, 8, 16), layers_per_block=scaled(size, 1, 2, 1))

    def restored(module: nn.Module, given: Tensor) -> Tensor:
        made, divergence = module(given)
        return F.mse_loss(made, given) + 1e-6 * divergence.mean()

    return Subject(Reconstruction(model), lambda samples: (torch.randn(samples, 3, frames, 32, 32),), restored)


def granite_speech(size: str) -> Subject:
    """A Granite that writes down the speech before its words: a conformer, whose attention within parts of it is of one kernel and adds what it has learned for distances, and which reads in its middle what it would write;
    then queries, three for fifteen steps. The program joins words and speech, since the model looks on the device for where it is to go."""
    from transformers import GraniteSpeechConfig, GraniteSpeechForConditionalGeneration

    steps, wide = scaled(size, 60, 150, 250), scaled(size, 128, 192, 256)
    hearing = {"hidden_dim": wide, "num_layers": 4, "num_heads": 4, "context_size": scaled(size, 40, 100, 200)}
    asking = {"model_type": "blip_2_qformer", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 2, "num_attention_heads": 4, "encoder_hidden_size": wide, "cross_attention_frequency": 1}
    text = {"model_type": "granite", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = GraniteSpeechConfig(text_config=text, encoder_config=hearing, projector_config=asking, audio_token_index=999, has_lora_adapter=False)

    class JoinedForConditionalGeneration(GraniteSpeechForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            heard = self.get_audio_features(given).pooler_output
            labels = torch.cat((ids.new_full(heard.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((heard, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, steps, 160)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def idefics2(size: str) -> Subject:
    """A Mistral that reads an image before words: a SigLIP sees it whole, and in four tiles, each for itself, with places counted in parts of the image; latents that are trained ask what is in each. The program joins words and
    images, since the model looks on the device for where they are to go, and for images that are but padding."""
    from transformers import Idefics2Config, Idefics2ForConditionalGeneration

    patch, tile, wide, tiles = 14, scaled(size, 42, 56, 84), scaled(size, 128, 192, 256), 5
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": tile, "patch_size": patch}
    asking = {"hidden_size": width(size), "resampler_n_latents": scaled(size, 8, 16, 32), "resampler_n_heads": 4, "resampler_head_dim": 96, "num_key_value_heads": 2}
    text = {"model_type": "mistral", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = Idefics2Config(vision_config=sight, perceiver_config=asking, text_config=text, image_token_id=999)

    class JoinedForConditionalGeneration(Idefics2ForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, shown: Tensor) -> Any:
            pixels, shown = given.view(-1, *given.shape[2:]), shown.view(-1, *shown.shape[2:])
            every = torch.arange(len(pixels), device=pixels.device)  # none is but padding
            pixels, shown = pixels[every].contiguous(), shown[every].contiguous()
            there = (shown.unfold(1, patch, patch).unfold(2, patch, patch).sum(dim=(-1, -2)) == patch * patch).bool()
            seen = self.model.vision_model(pixel_values=pixels, patch_attention_mask=there).last_hidden_state
            images = self.model.connector(seen, attention_mask=there.view(len(pixels), -1)).view(len(ids), -1, width(size))
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, tiles, 3, tile, tile), torch.ones(samples, tiles, tile, tile, dtype=torch.bool)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def timm_fastvit(size: str) -> Subject:
    """Convolutions in branches that are added up, so that one could stand for them later, and in the last of four stages attention; the large one is FastViT-SA12."""
    from timm.models.fastvit import FastVit, RepConditionalPosEnc

    wide, deep = scaled(size, 32, 48, 64), scaled(size, 1, 2, 2)
    model = FastVit(num_classes=100, layers=(deep, deep, scaled(size, 2, 4, 6), deep), embed_dims=(wide, 2 * wide, 4 * wide, 8 * wide), pos_embs=(None, None, None, partial(RepConditionalPosEnc, spatial_shape=(7, 7))),
                    token_mixers=("repmixer", "repmixer", "repmixer", "attention"))
    pixels = scaled(size, 96, 128, 192)
    return labelled(model, pixels)


def diffusers_transformer_sana_wm_refiner(size: str) -> Subject:
    """Draws the next frames of a film more clearly: in each block they attend to the first frame, to those before and to themselves, then to words, of which a mask says how many there are. What the first one and those before
    have for attention they are asked before, without gradients. It has layers for sound, as the weights that it begins from, which nothing goes through; with the turns that these have."""
    side, heads, layers, words = scaled(size, 8, 10, 12), scaled(size, 32, 48, 64), 4, 32
    past, frames, places = scaled(size, 1, 2, 2), scaled(size, 2, 2, 3), side * side
    wide = 4 * heads
    model: Any = of_diffusers("SanaWMLTX2RefinerTransformer3DModel")(
        num_attention_heads=4, attention_head_dim=heads, cross_attention_dim=wide, audio_num_attention_heads=4, audio_attention_head_dim=heads // 2, audio_cross_attention_dim=wide // 2, num_layers=layers,
        caption_channels=256, rope_type="split")
    cache = sys.modules[type(model).__module__].SanaWMRefinerKVCache

    def sample(samples: int) -> Batch:
        film = (samples, frames * places, 128)
        known = torch.arange(words) < words - torch.arange(samples)[:, None] % (words // 2)
        return torch.randn(samples, places, 128), torch.randn(samples, past * places, 128), torch.randn(film), torch.randn(film), torch.rand(samples), torch.randn(samples, words, 256), known

    def drawn(module: nn.Module, first: Tensor, before: Tensor, film: Tensor, noise: Tensor, parts: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        known = cache(layers)

        def turned(begin: int, end: int) -> Any:
            return model.build_rotary_emb_for_absolute_positions(len(film), list(range(begin, end)), side, side, film.device, 24.0)

        with torch.no_grad():
            module(first, states, torch.zeros(first.shape[:2], device=film.device), turned(0, 1), mask.long(), known, "capture_pre_rope")
            for layer in known.layer_caches:
                layer.store_sink(*layer.get_captured_pre_rope())
            known.sink_pe = turned(0, 1)
            module(before, states, torch.zeros(before.shape[:2], device=film.device), turned(1, 1 + past), mask.long(), known, "inject_and_capture_post_rope")
            for layer in known.layer_caches:
                layer.store_history(*layer.get_captured_post_rope())
        torch.clear_autocast_cache()  # of casts that know of no gradients
        part = parts.view(-1, 1, 1)
        times = 1000 * parts.view(-1, 1).expand(-1, frames * places)
        made = module((1 - part) * film + part * noise, states, times, turned(1 + past, 1 + past + frames), mask.long(), known, "inject").sample
        return F.mse_loss(made, noise - film)

    return Subject(model, sample, drawn)
