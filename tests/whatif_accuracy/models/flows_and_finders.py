# SPDX-License-Identifier: Apache-2.0
"""Models that draw films in as many steps as one likes, find things by where queries stand, foresee words with a few of many experts, and name images, from the packages diffusers, transformers and vit_pytorch."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .sizes import SPECIAL, VOCABULARY
from .subject import Batch, Subject, labelled, scaled, tokens


def diffusers_transformer_anyflow(size: str) -> Subject:
    """Draws films after 512 places of words, as Wan does, but is told two times and goes from one to the other in one step: so its mean way between them is learnt, half of the samples for two times that are one. As
    its authors do first, its change by time is taken from its own answers a little before and after, without gradients. As AnyFlow's, narrower."""
    side, frames, heads = scaled(size, 16, 20, 20), 3, scaled(size, 4, 5, 6)
    wide, short = 64 * heads, 0.005
    model = of_diffusers("AnyFlowTransformer3DModel")(num_attention_heads=heads, attention_head_dim=64, text_dim=512, ffn_dim=4 * wide, num_layers=scaled(size, 4, 4, 5))

    def sample(samples: int) -> Batch:
        film = (samples, frames, 16, side, side)
        until, start = torch.rand(2, samples).sort(0).values
        until[::2] = start[::2]
        return torch.randn(film), torch.randn(film), start, until, torch.randn(samples, 512, 512)

    def drawn(module: nn.Module, film: Tensor, noise: Tensor, start: Tensor, until: Tensor, states: Tensor) -> Tensor:
        part, apart = start.view(-1, 1, 1, 1, 1), (start - until).view(-1, 1, 1, 1, 1)
        noisy, way = (1 - part) * film + part * noise, noise - film

        def ways(given: Tensor, times: Tensor) -> Tensor:
            return module(given, *(1000 * each[:, None].expand(-1, frames) for each in (times, until)), states).sample

        with torch.no_grad():
            change = (ways(noisy + short * way, start + short) - ways(noisy - short * way, start - short)) / (2 * short)
            target = way - apart * change
        return F.mse_loss(ways(noisy, start).float(), target.float())

    return Subject(model, sample, drawn)


def conditional_detr(size: str) -> Subject:
    """Finds things: queries of a transformer stand at places of their own, which are turned into what is likened to where the parts of an image are, beside what these say. A ResNet sees, whose norms and first
    layers are not trained; which query is to find which thing is decided on the host, and all layers are told, as its authors do."""
    from transformers import ConditionalDetrConfig, ConditionalDetrForObjectDetection

    pixels, things, wide = scaled(size, 224, 256, 288), 6, 256
    sight = {"model_type": "timm_backbone", "backbone": scaled(size, "resnet10t", "resnet18", "resnet34"), "num_channels": 3, "features_only": True, "use_pretrained_backbone": False, "out_indices": [1, 2, 3, 4]}
    layers = {f"{side}_{part}": count for side in ("encoder", "decoder") for part, count in (("layers", scaled(size, 2, 3, 3)), ("ffn_dim", 4 * wide), ("attention_heads", 8))}
    config: Any = ConditionalDetrConfig(backbone_config=sight, d_model=wide, num_queries=100, num_labels=91, auxiliary_loss=True, **layers)

    def found(model: nn.Module, given: Tensor, kinds: Tensor, boxes: Tensor) -> Tensor:
        return model(pixel_values=given, labels=[{"class_labels": kind, "boxes": box} for kind, box in zip(kinds, boxes)]).loss

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3, pixels, pixels), torch.randint(91, (samples, things)), torch.rand(samples, things, 4) / 2 + 0.25

    return Subject(ConditionalDetrForObjectDetection(config), sample, found)


def laguna(size: str) -> Subject:
    """Foresees the next word: behind a layer with one MLP for all words, each word goes to two of eight experts, and all to one more; what a head has attended to is scaled by what the word itself says. The first
    layer attends to all words before, with fewer heads, the others to the nearest alone."""
    from transformers import LagunaConfig, LagunaForCausalLM

    wide, deep = scaled(size, 256, 320, 384), 4
    config: Any = LagunaConfig(vocab_size=VOCABULARY, hidden_size=wide, intermediate_size=4 * wide, num_hidden_layers=deep, num_attention_heads=6, num_key_value_heads=2, head_dim=64, sliding_window=16,
                               layer_types=["full_attention", *["sliding_attention"] * (deep - 1)], num_attention_heads_per_layer=[6, *[8] * (deep - 1)], moe_intermediate_size=64, shared_expert_intermediate_size=64,
                               num_experts=8, num_experts_per_tok=2, moe_routed_scaling_factor=2.5, experts_implementation="batched_mm", **SPECIAL)
    return Subject(LagunaForCausalLM(config), tokens(VOCABULARY, scaled(size, 32, 48, 64)), lambda model, ids: model(input_ids=ids, labels=ids).loss)


def vit_pytorch_pit(size: str) -> Subject:
    """A ViT of overlapping patches in three stages, between which convolutions make fewer, wider places of an image's, and a layer widens the word that stands for it; attention is written out."""
    from vit_pytorch.pit import PiT

    pixels, wide = scaled(size, 128, 144, 160), scaled(size, 144, 192, 256)
    model = PiT(image_size=pixels, patch_size=16, num_classes=100, dim=wide, depth=(2, 3, 2), heads=(2, 4, 8), mlp_dim=8 * wide, dropout=0.1, emb_dropout=0.1)
    return labelled(model, pixels)
