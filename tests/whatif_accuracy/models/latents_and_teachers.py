# SPDX-License-Identifier: Apache-2.0
"""Models that draw what comes next in a film, and what an image is in few numbers, read an image seen twice before words, and learn from what a teacher has seen, from the packages diffusers and transformers."""

from typing import Any, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .sizes import SPECIAL, VOCABULARY
from .subject import LENGTH, Batch, Subject, scaled


def diffusers_transformer_helios(size: str) -> Subject:
    """Draws the next pictures of a film after words, and after what was there before: the pictures just before and the first one in patches, two before these in larger ones, sixteen before these in still larger
    ones. All attend to one another, only those that are drawn to words; norms and what is added are scaled by times of each patch, which are 0 for what was before."""
    side, frames, heads, words, states = scaled(size, 16, 20, 20), 3, scaled(size, 4, 5, 6), scaled(size, 64, 96, 128), 512
    before = (16, 2, 1)
    model = of_diffusers("HeliosTransformer3DModel")(num_attention_heads=heads, attention_head_dim=64, text_dim=states, ffn_dim=3 * 64 * heads, num_layers=scaled(size, 3, 3, 4), rope_dim=(24, 20, 20))

    def sample(samples: int) -> Batch:
        film = (samples, 16, frames, side, side)
        return (torch.randn(film), torch.randn(film), torch.rand(samples), torch.randn(samples, words, states), *(torch.randn(samples, 16, count, side, side) for count in (*before[:2], before[2] + 1)))

    def drawn(module: nn.Module, film: Tensor, noise: Tensor, parts: Tensor, read: Tensor, long: Tensor, mid: Tensor, short: Tensor) -> Tensor:
        part, first, places = parts.view(-1, 1, 1, 1, 1), torch.zeros(1, 1, dtype=torch.int64), torch.arange(1, 1 + sum(before) + frames)[None].split([*before, frames], dim=1)
        made = module((1 - part) * film + part * noise, 1000 * parts, read, indices_hidden_states=places[3], indices_latents_history_short=torch.cat([first, places[2]], 1), indices_latents_history_mid=places[1],
                      indices_latents_history_long=places[0], latents_history_short=short, latents_history_mid=mid, latents_history_long=long).sample
        return F.mse_loss(made.float(), (noise - film).float())

    return Subject(model, sample, drawn)


def deepseek_vl_hybrid(size: str) -> Subject:
    """A Llama that reads an image before words, which is seen twice: small by a SigLIP, and large by a SAM with attention within windows, of which an early layer is read too; both are put beside each other in each of
    the image's words. The program joins words and images, since the model counts on the device where they are to go."""
    from transformers import DeepseekVLHybridConfig, DeepseekVLHybridForConditionalGeneration

    pixels, large, wide, words = scaled(size, 128, 160, 192), scaled(size, 256, 320, 384), scaled(size, 320, 384, 448), scaled(size, 64, 96, 128)
    text = {"model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": wide, "intermediate_size": 11 * wide // 4, "num_hidden_layers": 4, "num_attention_heads": wide // 64,
            "max_position_embeddings": 1024, **SPECIAL}
    seeing = 3 * wide // 5 // 64
    sight = {"model_type": "siglip_vision_model", "hidden_size": 64 * seeing, "intermediate_size": 256 * seeing, "num_hidden_layers": 3, "num_attention_heads": seeing,
             "image_size": pixels, "patch_size": 16, "vision_use_head": False}
    sharp = {"model_type": "sam_vision_model", "hidden_size": scaled(size, 128, 192, 256), "output_channels": scaled(size, 64, 64, 96), "num_hidden_layers": 4, "num_attention_heads": scaled(size, 2, 3, 4),
             "image_size": large, "patch_size": 16, "window_size": 7, "global_attn_indexes": [1, 3]}
    config: Any = DeepseekVLHybridConfig(text_config=text, vision_config=sight, high_res_vision_config=sharp, image_token_id=VOCABULARY - 1)

    class JoinedForConditionalGeneration(DeepseekVLHybridForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, sharper: Tensor) -> Any:
            images = self.model.get_image_features(given, sharper, return_dict=True).pooler_output
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, VOCABULARY - 1, (samples, int(words * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels), torch.randn(samples, 3, large, large)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given, sharper: model(ids, given, sharper).loss)


def diffusers_unet_stable_cascade(size: str) -> Subject:
    """Draws the few numbers that another network makes an image of, after words and an image: in two levels that are no smaller, down and up again, each block is convolutions of places and an MLP with a norm over all
    places, what times scale, and attention to places and to what is asked for. As the first of Stable Cascade's networks, narrower and with fewer blocks."""
    side, wide, asked = scaled(size, 12, 14, 16), scaled(size, 256, 320, 384), scaled(size, 256, 320, 384)
    words, states, seen = 77, 1280, 768
    model = of_diffusers("StableCascadeUNet")(conditioning_dim=asked, block_out_channels=(wide, wide), num_attention_heads=(wide // 64, wide // 64), down_num_layers_per_block=(2, 2), up_num_layers_per_block=(2, 2),
                                              clip_text_in_channels=states, clip_text_pooled_in_channels=states, clip_image_in_channels=seen, switch_level=(False,))

    def sample(samples: int) -> Batch:
        latents = (samples, 16, side, side)
        return torch.randn(latents), torch.randn(latents), torch.rand(samples), torch.randn(samples, 1, states), torch.randn(samples, words, states), torch.randn(samples, 1, seen)

    def drawn(module: nn.Module, latents: Tensor, noise: Tensor, times: Tensor, whole: Tensor, read: Tensor, shown: Tensor) -> Tensor:
        clear = torch.cos(times.view(-1, 1, 1, 1) * torch.pi / 2)
        made = module(clear * latents + (1 - clear.square()).sqrt() * noise, times, whole, read, shown).sample
        return F.mse_loss(made.float(), noise.float())

    return Subject(model, sample, drawn)


def dinov3_convnext(size: str) -> Subject:
    """Convolutions of four stages that learn from a larger network what an image shows: for the image as a whole and for each of its places, they are to choose among prototypes as the teacher did, whose choices come
    with the images."""
    from transformers import DINOv3ConvNextConfig, DINOv3ConvNextModel

    wide, pixels, prototypes, inner = scaled(size, 64, 72, 96), scaled(size, 128, 160, 160), scaled(size, 2048, 3072, 4096), scaled(size, 512, 768, 1024)
    config: Any = DINOv3ConvNextConfig(hidden_sizes=[wide, 2 * wide, 4 * wide, 8 * wide], depths=[2, 2, scaled(size, 3, 4, 5), 2], image_size=pixels)

    class Head(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mlp = nn.Sequential(nn.Linear(8 * wide, inner), nn.GELU(), nn.Linear(inner, inner), nn.GELU(), nn.Linear(inner, 256))
            self.prototypes = nn.Linear(256, prototypes, bias=False)

        def forward(self, features: Tensor) -> Tensor:
            return self.prototypes(F.normalize(self.mlp(features), dim=-1))

    class Student(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.backbone = DINOv3ConvNextModel(config)
            self.image_head, self.place_head = Head(), Head()

        def forward(self, pixels: Tensor) -> Tuple[Tensor, Tensor]:
            features = self.backbone(pixel_values=pixels).last_hidden_state
            return self.image_head(features[:, 0]), self.place_head(features[:, 1:])

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3, pixels, pixels), torch.randn(samples, prototypes), torch.randn(samples, (pixels // 32) ** 2, prototypes)

    def learned(module: nn.Module, given: Tensor, whole: Tensor, places: Tensor) -> Tensor:
        losses = [-(F.softmax(told / 0.07, dim=-1) * F.log_softmax(made / 0.1, dim=-1)).sum(dim=-1).mean() for told, made in zip((whole, places), module(given))]
        return losses[0] + losses[1]

    return Subject(Student(), sample, learned)
