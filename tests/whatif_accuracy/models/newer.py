# SPDX-License-Identifier: Apache-2.0
"""Models of text, and of text with sound, from the package transformers: what decoders_more.py and encoders_more.py have no room for."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import SPECIAL, VOCABULARY, length, stack, width
from .subject import LENGTH, Batch, Subject, causal, scaled, tokens


def qwen3_5(size: str) -> Subject:
    """Three of four layers keep a matrix that each word corrects, computed in chunks of 64 words by solving triangular systems, in float32; the fourth has attention behind a gate."""
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    config = Qwen3_5TextConfig(**stack(size), num_key_value_heads=2, head_dim=64, linear_key_head_dim=32, linear_value_head_dim=32, linear_num_key_heads=4, linear_num_value_heads=8, max_position_embeddings=512, **SPECIAL)
    return Subject(Qwen3_5ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def phi4_multimodal(size: str) -> Subject:
    """Phi-3 before whose words stands what a conformer has heard, in steps of eight frames. The program joins them, since the model looks on the device for where they are to go. What sees images is there, and is not used."""
    from transformers import Phi4MultimodalConfig, Phi4MultimodalForCausalLM

    frames = scaled(size, 64, 128, 256)
    sight = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 32, "patch_size": 8, "crop_size": 32}
    sound = {"hidden_size": scaled(size, 128, 192, 256), "intermediate_size": 512, "num_blocks": 3, "num_attention_heads": 4, "ext_pw_out_channel": scaled(size, 128, 192, 256),
             "depthwise_separable_out_channel": scaled(size, 128, 192, 256), "nemo_conv_channels": 64, "bias_max_distance": 64, "feature_layer": -1}
    config = Phi4MultimodalConfig(**stack(size), num_key_value_heads=2, max_position_embeddings=512, original_max_position_embeddings=512, vision_config=sight, audio_config=sound, **SPECIAL)

    class Joined(Phi4MultimodalForCausalLM):
        def forward(self, ids: Tensor, sound: Tensor) -> Any:
            hearing = self.model.embed_tokens_extend.audio_embed
            heard = hearing.down_proj_for_speech(F.gelu(hearing.up_proj_for_speech(hearing.encoder(sound, None))))
            labels = torch.cat((ids.new_full(heard.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((heard, self.model.embed_tokens(ids)), 1), labels=labels)

    model = Joined(config)
    extended = model.model.embed_tokens_extend
    for unused in (extended.image_embed, extended.audio_embed.up_proj_for_vision_speech, extended.audio_embed.down_proj_for_vision_speech):
        unused.requires_grad_(False)

    def sample(samples: int) -> Batch:
        return torch.randint(3, VOCABULARY, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, frames, 80)

    return Subject(model, sample, lambda model, ids, sound: model(ids, sound).loss)


def embedding_gemma2(size: str) -> Subject:
    """Sums up texts so that two that belong together are alike: each layer adds a narrow vector that is computed of the words, and three of four layers see 32 words to both sides."""
    from transformers import EmbeddingGemma2TextConfig
    from transformers.models.embedding_gemma2.modeling_embedding_gemma2 import EmbeddingGemma2TextModel

    config = EmbeddingGemma2TextConfig(**stack(size), num_key_value_heads=2, head_dim=64, global_head_dim=128, num_global_key_value_heads=1, sliding_window=32, sliding_window_pattern=4,
                                       hidden_size_per_layer_input=32, embedding_dim=128, max_position_embeddings=512, **SPECIAL)

    def alike(model: nn.Module, asked: Tensor, answers: Tensor) -> Tensor:
        first, second = F.normalize(model(input_ids=torch.cat((asked, answers))).last_hidden_state.mean(1), dim=-1).chunk(2)
        return F.cross_entropy(first @ second.t() / 0.05, torch.arange(len(first), device=first.device))

    def sample(samples: int) -> Batch:
        count = int(length(size) * LENGTH.factor)
        return torch.randint(3, VOCABULARY, (samples, count)), torch.randint(3, VOCABULARY, (samples, count))

    return Subject(EmbeddingGemma2TextModel(config), sample, alike)
