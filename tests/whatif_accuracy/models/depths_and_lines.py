# SPDX-License-Identifier: Apache-2.0
"""Models that see how far things are, read lines of text and images before words, and draw films more clearly, from the packages transformers and diffusers."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .sizes import SPECIAL, length, stack
from .subject import LENGTH, Batch, Subject, scaled


def depth_pro(size: str) -> Subject:
    """How far things are: a DINOv2 sees 35 patches of each image, which overlap, in three sizes of it, another one the image as a whole; what the first makes of patches, in its middle too, is put together to five pictures in
    different sizes, which are added up from the coarsest to the finest."""
    from transformers import DepthProConfig, DepthProForDepthEstimation

    patch, wide, fused = scaled(size, 48, 64, 80), scaled(size, 128, 160, 224), scaled(size, 16, 32, 48)
    sight = {"model_type": "dinov2", "hidden_size": wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": patch, "patch_size": 16}
    config: Any = DepthProConfig(fusion_hidden_size=fused, patch_size=patch, intermediate_hook_ids=[1, 0], intermediate_feature_dims=[fused, fused], scaled_images_feature_dims=[4 * fused, 4 * fused, 2 * fused],
                                 image_model_config={**sight}, patch_model_config={**sight}, fov_model_config={**sight})

    def apart(model: nn.Module, given: Tensor, wanted: Tensor) -> Tensor:
        return F.l1_loss(model(pixel_values=given).predicted_depth, wanted)

    return Subject(DepthProForDepthEstimation(config), lambda samples: (torch.randn(samples, 3, 4 * patch, 4 * patch), torch.rand(samples, 4 * patch, 4 * patch)), apart)


def pp_ocrv6_small_rec(size: str) -> Subject:
    """Reads a line of text: convolutions of each channel for itself and of all in one place, in some of which means of channels weigh them; what they make is one row of places, then two layers with attention, with what they were
    given added in the end, and what is likely in each place; its loss weighs all ways to write a text."""
    from transformers import PPLCNetV4Config, PPOCRV6SmallRecConfig, PPOCRV6SmallRecForTextRecognition

    wide, pixels = scaled(size, 48, 72, 96), scaled(size, 160, 240, 320)
    fine, coarse = [3, 2 * wide, 2 * wide, 1], [3, 4 * wide, 4 * wide, 1]
    stages = [[[3, wide, wide, 1, True]], [[3, wide, wide, 1, False]] * 2, [[3, wide, 2 * wide, [2, 1], False], *([*fine, place % 2 == 0] for place in range(scaled(size, 4, 6, 6)))],
              [[3, 2 * wide, 4 * wide, [2, 1], False], [*coarse, True], [*coarse, False]]]
    sight: Any = PPLCNetV4Config(stem_channels=[3, wide // 2, wide], block_configs=stages, out_features=["stage1", "stage2", "stage3", "stage4"])
    config: Any = PPOCRV6SmallRecConfig(backbone_config=sight, hidden_size=scaled(size, 120, 160, 240), head_out_channels=1000)

    def written(model: nn.Module, seen: Tensor, letters: Tensor) -> Tensor:
        likely = model(pixel_values=seen).last_hidden_state.float().clamp(min=1e-6).log().transpose(0, 1)
        return F.ctc_loss(likely, letters, (likely.shape[0],) * len(letters), (letters.shape[1],) * len(letters))

    return Subject(PPOCRV6SmallRecForTextRecognition(config), lambda count: (torch.randn(count, 3, 48, pixels), torch.randint(1, 1000, (count, 6))), written)


def fast_vlm(size: str) -> Subject:
    """A Qwen2 that reads an image before words: timm's FastViT sees it, with convolutions whose branches are one already, and attention in the last two of five stages. The program joins words and images, since the model looks on
    the device for where they are to go."""
    from transformers import FastVlmConfig, FastVlmForConditionalGeneration

    pixels, wide = scaled(size, 128, 256, 320), scaled(size, 16, 24, 32)
    layers, widths = [1, scaled(size, 1, 2, 2), scaled(size, 2, 3, 4), 2, 1], [part * wide for part in (1, 2, 4, 8, 16)]
    sight = {"model_type": "timm_wrapper", "architecture": "fastvit_mci3", "do_pooling": True, "global_pool": "avg", "hidden_size": 32 * wide, "initializer_range": 0.02,
             "model_args": {"inference_mode": True, "layers": layers, "embed_dims": widths}}
    text = {"model_type": "qwen2", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = FastVlmConfig(vision_config=sight, text_config=text, image_token_index=999)

    class JoinedForConditionalGeneration(FastVlmForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            seen = self.model.get_image_features(given).pooler_output
            labels = torch.cat((ids.new_full(seen.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((seen, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def diffusers_transformer_kandinsky6_sr(size: str) -> Subject:
    """Draws films more clearly, beside what is known of them and where: blocks of 64 places attend to those near them and to those that are most like them, by a kernel that is written for masks of blocks, and whose library
    writes the attention out where it is not compiled."""
    heads, frames, side, channels = scaled(size, 2, 3, 4), scaled(size, 1, 1, 2), scaled(size, 16, 24, 16), 16
    model = of_diffusers("Kandinsky6SRTransformer3DModel")(in_visual_dim=channels, out_visual_dim=channels, time_dim=scaled(size, 128, 192, 256), model_dim=64 * heads, ff_dim=256 * heads, num_visual_blocks=4)

    def sample(samples: int) -> Batch:
        film = (samples, frames, side, side, channels)
        return torch.randn(film), torch.randn(film), torch.randn(film), torch.randint(2, (*film[:-1], 1)).float(), torch.rand(samples)

    def drawn(module: nn.Module, film: Tensor, noise: Tensor, known: Tensor, where: Tensor, parts: Tensor) -> Tensor:
        part = parts.view(-1, 1, 1, 1, 1)
        given = torch.cat(((1 - part) * film + part * noise, known, where), -1)
        return F.mse_loss(module(given, 1000 * parts).sample, noise - film)

    return Subject(model, sample, drawn)
