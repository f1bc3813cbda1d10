# SPDX-License-Identifier: Apache-2.0
"""Models that match films with words, read images before words, look into patches, and draw what words say, from the packages transformers, timm and diffusers."""

from typing import Any, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .sizes import length, stack, width
from .subject import LENGTH, Batch, Subject, labelled, scaled


def x_clip(size: str) -> Subject:
    """Two towers, of films and of their texts: in each layer the pictures of a film tell each other one word, a layer reads what sums up each, and texts look at the film's patches before they are compared with it."""
    from transformers import XCLIPConfig, XCLIPModel

    pixels, wide, shared, words, frames = scaled(size, 64, 96, 112), scaled(size, 128, 256, 384), scaled(size, 64, 128, 256), scaled(size, 16, 24, 32), 8
    tower = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 3, "num_attention_heads": 4}
    text = {**tower, "vocab_size": 1000, "max_position_embeddings": words, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    sight = {**tower, "image_size": pixels, "patch_size": 16, "num_frames": frames, "mit_hidden_size": shared, "mit_intermediate_size": 4 * shared, "mit_num_attention_heads": 4}
    config: Any = XCLIPConfig(text_config=text, vision_config=sight, projection_dim=shared, prompt_num_attention_heads=4)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 1000, (samples, words)), torch.randn(samples, frames, 3, pixels, pixels)

    return Subject(XCLIPModel(config), sample, lambda model, ids, films: model(input_ids=ids, pixel_values=films, return_loss=True).loss)


def qwen3_vl(size: str) -> Subject:
    """A Qwen3 that reads an image before words: images lie across or upright, each attends to itself alone, and places are looked up in a picture of them; what three of the four layers that see make of four patches is added to
    the words that these are behind the first three layers. Places in time, rows and columns turn heads in turns. The program joins words and images, and says where they are, since the model looks on the device for it."""
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration
    from transformers.vision_utils import get_vision_cu_seqlens, get_vision_interpolation_indices_and_weights, get_vision_position_ids

    side, rows, columns, wide, merged = 16, scaled(size, 4, 8, 12), scaled(size, 8, 12, 16), scaled(size, 128, 192, 256), 2
    heads = width(size) // 4
    places = heads // 2 * 5 // 16
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "depth": 4, "num_heads": 4, "patch_size": side, "spatial_merge_size": merged, "out_hidden_size": width(size), "deepstack_visual_indexes": [0, 1, 2]}
    text = {**stack(size), "num_key_value_heads": 2, "head_dim": heads, "max_position_embeddings": 1024, "use_cache": False, "pad_token_id": 0,
            "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0, "mrope_interleaved": True, "mrope_section": [heads // 2 - 2 * places, places, places]}}
    config: Any = Qwen3VLConfig(vision_config=sight, text_config=text, image_token_id=998, video_token_id=999, vision_start_token_id=996, vision_end_token_id=997)

    class JoinedForConditionalGeneration(Qwen3VLForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            grid, visual, device = torch.tensor([[1, columns, rows] if place % 2 else [1, rows, columns] for place in range(len(ids))]), self.model.visual, ids.device
            near, weights = get_vision_interpolation_indices_and_weights(grid, visual.num_grid_per_side, align_corners=visual.interpolation_align_corners, spatial_merge_size=merged)
            where = get_vision_position_ids(grid, merged)
            seen = visual(given, grid, position_ids=where.to(device), cu_seqlens=get_vision_cu_seqlens(grid), interp_indices=near.to(device), interp_weights=weights.to(device))
            images = seen.pooler_output.view(len(ids), -1, width(size))
            kinds = torch.cat((torch.ones(images.shape[:2], dtype=torch.int64), torch.zeros(ids.shape, dtype=torch.int64)), 1)
            turns, _ = self.model.get_rope_index(kinds, kinds, grid)
            joined = torch.cat((images, self.get_input_embeddings()(ids)), 1)
            states = self.model.language_model(inputs_embeds=joined, position_ids=turns.to(device), visual_pos_masks=kinds.nonzero().to(device), deepstack_visual_embeds=seen.deepstack_features).last_hidden_state
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return self.loss_function(logits=self.lm_head(states), labels=labels, vocab_size=config.text_config.vocab_size)

    def added(states: Tensor, where: Tensor, seen: Tensor) -> Tensor:
        found: Tuple[Tensor, ...] = where.unbind(1)
        states = states.clone()
        states[found] = states[found] + seen.to(states.dtype)
        return states

    model: Any = JoinedForConditionalGeneration(config)
    model.model.language_model._deepstack_process = added

    def sample(samples: int) -> Batch:
        return torch.randint(3, 996, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples * rows * columns, 3 * 2 * side * side)

    return Subject(model, sample, lambda model, ids, given: model(ids, given))


def timm_tnt(size: str) -> Subject:
    """Attention among the places within each patch, of few channels, and what it makes of them added to the patches, which attend to each other."""
    from timm.models.tnt import TNT

    pixels, heads = scaled(size, 96, 128, 192), scaled(size, 2, 4, 6)
    model = TNT(img_size=pixels, num_classes=100, embed_dim=64 * heads, inner_dim=scaled(size, 16, 24, 24), depth=scaled(size, 4, 6, 8), num_heads_outer=heads)
    return labelled(model, pixels)


def diffusers_unet_kandinsky3(size: str) -> Subject:
    """Draws what words say, of which a mask tells how many there are: convolutions in four sizes, whose norms are scaled by times and words, and in three of them attention among places, and to words after each first of two
    groups of convolutions."""
    pixels, wide, words, said = scaled(size, 16, 24, 32), scaled(size, 24, 32, 48), 32, 256
    model = of_diffusers("Kandinsky3UNet")(time_embedding_dim=4 * wide, groups=wide // 2, attention_head_dim=wide, layers_per_block=2, block_out_channels=(wide, 2 * wide, 4 * wide, scaled(size, 4, 6, 8) * wide), cross_attention_dim=4 * wide,
                                           encoder_hid_dim=said)

    def sample(samples: int) -> Batch:
        known = torch.arange(words) < words - torch.arange(samples)[:, None] % (words // 2)
        return torch.randn(samples, 4, pixels, pixels), torch.randn(samples, 4, pixels, pixels), torch.randint(1000, (samples,)), torch.randn(samples, words, said), known

    def mended(module: nn.Module, latents: Tensor, noise: Tensor, times: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        return F.mse_loss(module(latents, times, states, mask).sample, noise)

    return Subject(model, sample, mended)
