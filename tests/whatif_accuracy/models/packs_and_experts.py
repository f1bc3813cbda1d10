# SPDX-License-Identifier: Apache-2.0
"""Models that say where patches lie, read clips packed one behind another, read an image before words, and send words to experts, from the packages vit_pytorch and transformers."""

from typing import Any

import torch
from torch import Tensor
from torch.nested import nested_tensor
from torch.nn import functional as F

from .sizes import SPECIAL, VOCABULARY
from .subject import LENGTH, Batch, Subject, causal, scaled, tokens


def vit_pytorch_mp3(size: str) -> Subject:
    """A ViT without places learns to say where each patch lies: all patches ask those that are not hidden, which chance decides, and each then names one of all places. The ViT's own head is not used."""
    from vit_pytorch.mp3 import MP3, ViT

    pixels, wide = scaled(size, 176, 192, 216), scaled(size, 192, 256, 320)
    model = MP3(ViT(image_size=pixels, patch_size=8, num_classes=1000, dim=wide, depth=3, heads=scaled(size, 3, 4, 5), mlp_dim=4 * wide), masking_ratio=0.75)
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels),), lambda module, given: module(given))


def vit_pytorch_na_vit_nested_tensor_3d(size: str) -> Subject:
    """Names clips that are not all as long and as large: their patches, of which chance leaves a tenth out, are one nested tensor without padding, and one query for each clip reads them at the end. It takes but
    the values of patches and of the query, so that what made them is not trained. How many patches each clip has and keeps the program counts on the host, since the model looks on the device for it."""
    from vit_pytorch.na_vit_nested_tensor_3d import NaViT

    pixels, frames, wide, side = scaled(size, 128, 160, 176), 8, scaled(size, 256, 320, 384), 16

    class Counted(NaViT):
        def forward(self, *volumes: Tensor) -> Tensor:
            kept, places, counts = [], [], []
            for volume in volumes:
                patches = self.to_patches(volume)
                ranges = [torch.arange(count, device=volume.device) for count in patches.shape[:3]]
                place = torch.stack(torch.meshgrid(ranges, indexing="ij"), dim=-1).flatten(0, 2)
                counts.append(max(int((1 - self.token_dropout_prob) * len(place)), 1))
                keep = torch.randn((len(place),), device=volume.device).topk(counts[-1], dim=-1).indices
                kept.append(patches.flatten(0, 2)[keep])
                places.append(place[keep])
            frame, row, column = torch.cat(places).unbind(dim=-1)
            embedded = self.to_patch_embedding(torch.cat(kept)) + (self.pos_embed_frame[frame] + self.pos_embed_height[row] + self.pos_embed_width[column])
            packed = nested_tensor([torch.cat((self.register_tokens, part)) for part in embedded.split(counts)], layout=torch.jagged, device=embedded.device)
            seen = self.transformer(self.dropout(packed))
            queries = nested_tensor([self.attn_pool_queries[None]] * len(volumes), layout=torch.jagged)
            return self.mlp_head(self.to_latent(self.attn_pool(queries, seen).values()))

    def sample(samples: int) -> Batch:
        clips = [torch.randn(3, *((frames, pixels - 2 * side, pixels) if place % 2 == 0 else (frames // 2, pixels, pixels))) for place in range(samples)]
        return (*clips, torch.randint(100, (samples,)))

    model = Counted(image_size=pixels, max_frames=frames, patch_size=side, frame_patch_size=2, num_classes=100, dim=wide, depth=5, heads=scaled(size, 4, 5, 6), mlp_dim=4 * wide, token_dropout_prob=0.1)
    return Subject(model, sample, lambda module, *given: F.cross_entropy(module(*given[:-1]), given[-1]))


def aria(size: str) -> Subject:
    """Reads an image before words: learned queries ask what a SigLIP sees, and what they find stands among the words, each of which goes to two of eight experts, and to those that all words share. The norm
    behind what sees is not read, and not trained. The program joins words and images, since the model looks on the device for where they are to go."""
    from transformers import AriaConfig, AriaForConditionalGeneration

    patch, wide, hidden, words = 14, scaled(size, 128, 192, 256), scaled(size, 128, 160, 192), scaled(size, 24, 28, 32)
    pixels, asked = patch * scaled(size, 12, 14, 16), scaled(size, 16, 20, 24)
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": pixels, "patch_size": patch}
    text = {"vocab_size": VOCABULARY, "hidden_size": hidden, "intermediate_size": scaled(size, 96, 112, 128), "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 4, "max_position_embeddings": 512,
            **SPECIAL}
    config: Any = AriaConfig(vision_config=sight, text_config=text, projector_patch_to_query_dict={(pixels // patch) ** 2: asked}, experts_implementation="batched_mm")
    frame = torch.tensor([992, *[config.image_token_index] * asked, 993])

    class JoinedForConditionalGeneration(AriaForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, whole: Tensor, places: Tensor) -> Any:
            seen = self.get_image_features(given, whole).pooler_output.flatten(0, 1)
            embedded = self.get_input_embeddings()(ids)
            joined = embedded.flatten(0, 1).index_copy(0, places, seen.to(embedded.dtype)).view_as(embedded)
            return super().forward(inputs_embeds=joined, labels=torch.cat((ids.new_full((len(ids), len(frame)), -100), ids[:, len(frame) :]), 1))

    def sample(samples: int) -> Batch:
        ids = torch.cat((frame.expand(samples, -1), torch.randint(10, 990, (samples, int(words * LENGTH.factor)))), 1)
        whole = torch.ones(samples, pixels, pixels, dtype=torch.long)
        return ids, torch.randn(samples, 3, pixels, pixels), whole, (ids == config.image_token_index).flatten().nonzero().flatten()

    model = JoinedForConditionalGeneration(config)
    model.model.vision_tower.post_layernorm.requires_grad_(False)
    return Subject(model, sample, lambda module, *given: module(*given).loss)


def olmoe(size: str) -> Subject:
    """Words go to two of eight small experts, and what says to which is told as well to use all alike; queries and keys have a norm over all heads, and norms stand before attention and experts."""
    from transformers import OlmoeConfig, OlmoeForCausalLM

    wide, words = scaled(size, 192, 224, 256), scaled(size, 32, 40, 48)
    config: Any = OlmoeConfig(vocab_size=VOCABULARY, hidden_size=wide, intermediate_size=wide // 2, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=512,
                              num_experts=8, num_experts_per_tok=2, output_router_logits=True, experts_implementation="batched_mm", **SPECIAL)
    return Subject(OlmoeForCausalLM(config), tokens(VOCABULARY, words), causal)
