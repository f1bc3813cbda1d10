# SPDX-License-Identifier: Apache-2.0
"""Models that read pages and hear, from the package transformers, and one that draws, from diffusers."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .before_words import end_on_host, words_and_slices
from .other_libraries import of_diffusers
from .sizes import SPECIAL, length, stack
from .subject import LENGTH, Batch, Subject, scaled


def qianfan_ocr(size: str) -> Subject:
    """A Qwen3 that reads a page before words: four of its patches that lie together become one word. What each layer that sees adds is scaled by learned numbers, and left out for some pages by chance. The program
    joins words and images, since the model looks on the device for where they are to go."""
    from transformers import QianfanOCRConfig, QianfanOCRForConditionalGeneration

    patch, side, wide = 14, scaled(size, 8, 12, 16), scaled(size, 128, 192, 256)
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": [side * patch, side * patch], "patch_size": [patch, patch]}
    text = {"model_type": "qwen3", **stack(size), "num_key_value_heads": 2, "head_dim": 64, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = QianfanOCRConfig(vision_config=sight, text_config=text, image_token_id=990, image_seq_length=side * side // 4)

    class JoinedForConditionalGeneration(QianfanOCRForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            images, words = self.model.get_image_features(pixel_values=given, return_dict=True).pooler_output, self.get_input_embeddings()(ids)
            labels = torch.cat((ids[:, :1], ids.new_full(images.shape[:2], -100), ids[:, 1:]), 1)
            return super().forward(inputs_embeds=torch.cat((words[:, :1], images, words[:, 1:]), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 990, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 3, side * patch, side * patch)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given: model(ids, given).loss)


def diffusers_transformer_flux3(size: str) -> Subject:
    """Draws an image after another one and words: each of the three goes through blocks of its own, then all through the same, as one line. Blocks of a kind share what scales them, which is computed for each
    place: of the image for its time, of all else as if there were no noise. Attention and MLP are beside each other. Places have four numbers, of which each turns a part of a head."""
    side, known, part, words, states = scaled(size, 12, 14, 16), scaled(size, 8, 10, 12), scaled(size, 8, 12, 16), scaled(size, 32, 40, 48), 384
    model = of_diffusers("Flux3Transformer2DModel")(num_layers=2, num_single_layers=scaled(size, 3, 4, 5), attention_head_dim=4 * part, num_attention_heads=4, joint_attention_dim=states,
                                                    axes_dims_rope=(part,) * 4)

    def sample(samples: int) -> Batch:
        latents = (samples, side * side, 128)
        return torch.randn(latents), torch.randn(latents), torch.rand(samples), torch.randn(samples, known * known, 128), torch.randn(samples, words, states)

    def drawn(module: nn.Module, latents: Tensor, noise: Tensor, parts: Tensor, first: Tensor, said: Tensor) -> Tensor:
        share, once = parts.view(-1, 1, 1), torch.arange(1)
        image_places = torch.cartesian_prod(once, torch.arange(side), torch.arange(side), once).to(latents.device)
        first_places = torch.cartesian_prod(once + 10, torch.arange(known), torch.arange(known), once).to(latents.device)
        word_places = torch.cartesian_prod(once, once, once, torch.arange(words)).to(latents.device)
        noisy = (1 - share) * latents + share * noise
        made = module(noisy, said, parts, image_places, word_places, image_cond_hidden_states=first, image_cond_ids=first_places).sample
        return (made.float() - (noise - latents).float()).square().flatten(1).mean(1).mean()

    return Subject(model, sample, drawn)


def minicpm_ocr(size: str) -> Subject:
    """A Qwen3.5 that reads a page before words: it is seen whole, and in two slices, each for itself, in one sequence; of each, four patches that lie together become one word. That patches become fewer on the way
    there already is for what has less to read: what would do it is there, and is not used. The program joins words and images, since the model looks on the device for where they are to go, and says on the host
    where each ends."""
    from transformers import MiniCPMOcrConfig, MiniCPMOcrForConditionalGeneration
    from transformers.models.minicpm_ocr.modeling_minicpm_ocr import MiniCPMOcrVisionAttention

    side, wide = 14, scaled(size, 128, 192, 256)
    grids = torch.tensor([scaled(size, [6, 4], [6, 6], [8, 6]), *[scaled(size, [4, 6], [6, 10], [8, 12])] * 2])
    counts = grids.prod(1).tolist()
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": 16 * side, "patch_size": side}
    text = {"model_type": "qwen3_5_text", **stack(size), "num_key_value_heads": 2, "head_dim": 64, "linear_key_head_dim": 32, "linear_value_head_dim": 32, "linear_num_key_heads": 4, "linear_num_value_heads": 8,
            "max_position_embeddings": 1024, **SPECIAL}
    config: Any = MiniCPMOcrConfig(vision_config=sight, text_config=text, image_token_id=990, video_token_id=991)
    whole, part = counts[0] // 4, counts[1] // 4
    slices = [994, *[990] * part, 995]
    frame = torch.tensor([997, 10, 998, 992, *[990] * whole, 993, *slices, 996, *slices])  # behind the page's number; slices lie one below the other
    parts = (4, whole), (whole + 6, part), (whole + part + 9, part)  # where the words of each are, and how many

    class JoinedForConditionalGeneration(MiniCPMOcrForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            seen = iter(self.model.get_image_features(given, grids.repeat(len(ids), 1)).pooler_output)
            images = torch.stack([torch.cat([next(seen) for _ in grids]) for _ in ids])
            words = self.get_input_embeddings()(torch.cat((frame.to(ids.device).expand(len(ids), -1), ids), 1))
            embeddings, place, used = [], 0, 0
            for begin, count in parts:
                embeddings += [words[:, place:begin], images[:, used : used + count]]
                place, used = begin + count, used + count
            labels = torch.cat((ids.new_full((len(ids), len(frame)), -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((*embeddings, words[:, place:]), 1), labels=labels)

    model = JoinedForConditionalGeneration(config)
    end_on_host(model, MiniCPMOcrVisionAttention, lambda _: counts)
    return Subject(model, words_and_slices(size, side, counts), lambda model, ids, given: model(ids, given).loss)


def _transduced(logits: Tensor, labels: Tensor, heard: Tensor, said: Tensor, blank: int) -> Tensor:
    """Of all ways through frames and words: a blank goes on to the next frame, a label to the next word. Row by row, since a row's labels can be summed up at once."""
    chances = logits.float().log_softmax(-1)
    further = chances[..., blank]
    labelled = chances[:, :, :-1].gather(-1, labels[:, None, :, None].expand(-1, chances.shape[1], -1, 1)).squeeze(-1)
    along = F.pad(labelled.cumsum(2), (1, 0))
    rows = [along[:, 0]]
    for frame in range(1, logits.shape[1]):
        rows.append(along[:, frame] + (rows[-1] + further[:, frame - 1] - along[:, frame]).logcumsumexp(1))
    samples, last = torch.arange(len(logits), device=logits.device), heard - 1
    ways = torch.stack(rows, 1)[samples, last, said] + further[samples, last, said]
    return -ways.sum() / said.float().sum()


def nemotron_asr_streaming(size: str) -> Subject:
    """A conformer that looks back alone, and ahead no farther than its chunk, over spectra that three convolutions thin out, an LSTM over the words so far, and of both, for each frame and word, what comes next; a
    mask says how long each sound is. Its loss is written in torch, since the kernel that others have for it comes with another package. No layer is left out by chance."""
    from transformers import NemotronAsrStreamingConfig, NemotronAsrStreamingForRNNT

    frames, told, wide, blank = scaled(size, 128, 320, 448), scaled(size, 12, 20, 28), scaled(size, 128, 192, 256), 1024
    encoder: Any = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "subsampling_conv_channels": scaled(size, 64, 96, 128), "layerdrop": 0.0,
                    "sliding_window": scaled(size, 9, 17, 29), "default_num_lookahead_tokens": scaled(size, 3, 7, 13)}
    config: Any = NemotronAsrStreamingConfig(decoder_hidden_size=scaled(size, 160, 240, 320), encoder_config=encoder)

    class TransducedForRNNT(NemotronAsrStreamingForRNNT):
        def forward(self, sound: Tensor, mask: Tensor, labels: Tensor, said: Tensor) -> Tensor:
            heard = self.get_audio_features(sound, attention_mask=mask)
            made = super().forward(decoder_input_ids=F.pad(labels, (1, 0), value=blank), encoder_outputs=heard)
            return _transduced(made.logits, labels, heard.attention_mask.sum(1), said, blank)

    def sample(samples: int) -> Batch:
        longest, words = int(frames * LENGTH.factor), int(told * LENGTH.factor)
        known = torch.arange(longest) < longest - 8 * (torch.arange(samples)[:, None] % (longest // 16))
        said = words - torch.arange(samples) % (words // 2)
        return torch.randn(samples, longest, 80), known.long(), torch.randint(1, blank, (samples, words)), said

    return Subject(TransducedForRNNT(config), sample, lambda model, *given: model(*given))
