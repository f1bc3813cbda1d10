# SPDX-License-Identifier: Apache-2.0
"""Models that make music and sound, and find text in pictures, from the package transformers, and one that draws, from diffusers."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .sizes import VOCABULARY, width
from .subject import LENGTH, Batch, Subject, scaled
from .vision_and_text import finds_text


def pop2piano(size: str) -> Subject:
    """Writes down how a piano would play a song: a T5 that reads spectra, which are as many numbers each as it is wide, behind one embedding that says in whose manner; of the shorter ones a mask says where they end."""
    from transformers import Pop2PianoConfig, Pop2PianoForConditionalGeneration

    wide, heard, played = width(size), scaled(size, 48, 128, 256), scaled(size, 32, 96, 192)
    config: Any = Pop2PianoConfig(vocab_size=2400, d_model=wide, d_kv=64, d_ff=768, num_layers=3, num_heads=4, decoder_start_token_id=0)

    class ConditionedForConditionalGeneration(Pop2PianoForConditionalGeneration):
        def forward(self, spectra: Tensor, mask: Tensor, composers: Tensor, labels: Tensor) -> Any:
            given = self.mel_conditioner(feature=spectra, index_value=composers, embedding_offset=VOCABULARY)
            return super().forward(inputs_embeds=given, attention_mask=torch.cat((mask[:, :1], mask), 1), labels=labels)

    def sample(samples: int) -> Batch:
        known = torch.arange(heard) < heard - torch.arange(samples)[:, None] % (heard // 2)
        return torch.randn(samples, heard, wide), known.long(), torch.randint(VOCABULARY, VOCABULARY + 21, (samples,)), torch.randint(2, 2400, (samples, int(played * LENGTH.factor)))

    def told(model: nn.Module, spectra: Tensor, mask: Tensor, composers: Tensor, labels: Tensor) -> Tensor:
        return model(spectra, mask, composers, labels).loss

    return Subject(ConditionedForConditionalGeneration(config), sample, told)


def pp_ocrv5_server_det(size: str) -> Subject:
    """Where text is: an HGNetV2 sees, whose layers are handed on side by side, then convolutions of up to nine by nine places put four sizes of the picture together, from the smallest to the largest and back, and long and
    flat ones look along lines; what is found is looked at once more beside the picture."""
    from transformers import HGNetV2Config, PPOCRV5ServerDetConfig, PPOCRV5ServerDetForObjectDetection

    pixels, wide = scaled(size, 96, 128, 192), scaled(size, 16, 32, 48)
    sight: Any = HGNetV2Config(stem_channels=[3, 32, wide], stage_in_channels=[wide, 64, 4 * wide, 8 * wide], stage_mid_channels=[wide, 2 * wide, 4 * wide, 6 * wide], stage_out_channels=[64, 4 * wide, 8 * wide, 16 * wide],
                               out_features=["stage1", "stage2", "stage3", "stage4"])
    ratios = {"long": 7, "mid": 5, "short": 3}
    lines: Any = {"reduce_channel": [1, 1, 0], "return_channel": [1, 1, 0]}
    for name, long in ratios.items():
        lines[f"vertical_long_to_small_conv_{name}ratio"] = [[long, 1], [1, 1], [long // 2, 0]]
        lines[f"horizontal_small_to_long_conv_{name}ratio"] = [[1, long], [1, 1], [0, long // 2]]
        lines[f"symmetric_conv_long_{name}ratio"] = [[long, long], [1, 1], [long // 2, long // 2]]
    config: Any = PPOCRV5ServerDetConfig(backbone_config=sight, neck_out_channels=scaled(size, 64, 128, 192), intraclass_block_config=lines, scale_factor_list=[1, 2, 4, 8], kernel_list=[3, 2, 2])

    return finds_text(PPOCRV5ServerDetForObjectDetection(config), pixels)


def mimi(size: str) -> Subject:
    """Makes sound again of the codes that it gave each of its parts, the first for what is said and the others for how: convolutions that look back alone, and a transformer that sees a window of what was, before the codes
    and behind them. Its choice of codes lets no gradients through: what is before it is not trained. It is to sound alike, and to look alike in spectra of two windows."""
    from transformers import MimiConfig, MimiModel

    samples, wide = scaled(size, 19200, 38400, 57600), scaled(size, 128, 192, 256)
    config: Any = MimiConfig(hidden_size=wide, num_filters=scaled(size, 8, 12, 16), codebook_size=512, codebook_dim=wide // 2, vector_quantization_hidden_dimension=wide // 2, num_quantizers=8, upsample_groups=wide,
                             num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=4, intermediate_size=4 * wide, sliding_window=16)
    model = MimiModel(config)
    for unused in (model.encoder, model.quantizer.semantic_residual_vector_quantizer.input_proj, model.quantizer.acoustic_residual_vector_quantizer.input_proj):
        unused.requires_grad_(False)

    def spectrum(sound: Tensor, window: int) -> Tensor:
        return torch.stft(sound, window, window // 4, window=torch.hann_window(window, device=sound.device), return_complex=True).abs()

    def alike(model: nn.Module, sound: Tensor) -> Tensor:
        made, wanted = model(sound).audio_values.squeeze(1).float(), sound.squeeze(1).float()
        apart = F.l1_loss(made, wanted)
        for window in (1024, 256):
            first, second = spectrum(made, window), spectrum(wanted, window)
            apart = apart + F.l1_loss(first, second) + F.l1_loss(first.clamp(min=1e-5).log(), second.clamp(min=1e-5).log())
        return apart

    return Subject(model, lambda count: (torch.randn(count, 1, samples),), alike)


def diffusers_transformer_qwenimage21(size: str) -> Subject:
    """Draws an image after another one and words: of all of them there is one line, in which words see what is before them, and an image itself too, each in an attention of its own; what modulates blocks is computed once,
    for words and the image that is given as if there were no noise. Places are turns of complex numbers, and a mask says which words there are.

    The program lays the line out on the host, since the model looks on the device for where images are, and is written as the model's own forward otherwise.
    """
    given, drawn, heads, words, slots = scaled(size, 6, 8, 12), scaled(size, 8, 12, 16), scaled(size, 32, 64, 96), 24, 4
    known = given * given // slots  # slots of the image that is given, in the midst of words
    held = torch.cat((torch.zeros(4, dtype=torch.bool), torch.ones(known, dtype=torch.bool), torch.zeros(words - 4, dtype=torch.bool), torch.ones(drawn * drawn // slots, dtype=torch.bool)))
    shapes = [(1, given, given), (1, drawn, drawn)]
    made: Any = of_diffusers("QwenImage21Transformer2DModel")
    from diffusers.models.transformers import transformer_qwenimage21

    class LaidOutTransformer2DModel(made):
        def forward(self, hidden_states: Tensor, encoder_hidden_states: Tensor, timestep: Tensor, mask: Tensor) -> Tensor:
            samples, device = len(hidden_states), hidden_states.device
            hidden_states, encoder_hidden_states = self.img_in(hidden_states), self.txt_in(encoder_hidden_states)
            repeats = torch.where(held, slots, 1)
            pads = torch.repeat_interleave(held, repeats)
            joint = torch.cat([encoder_hidden_states, encoder_hidden_states.new_zeros(samples, drawn * drawn // slots, encoder_hidden_states.shape[2])], 1)
            joint = joint.index_select(1, torch.arange(len(held)).repeat_interleave(repeats).to(device))
            joint[:, pads.nonzero()[:, 0].to(device)] = hidden_states
            turns = self.pos_embed(shapes, pads, device=device)
            ids, targets = self.build_token_metadata(pads, shapes)
            timestep = timestep.to(hidden_states.dtype)
            temb = self.time_text_embed(torch.cat([timestep, timestep.new_zeros(1)]), hidden_states)
            modulation = self.modulation(temb)
            valid = torch.ones(samples, len(pads), dtype=torch.bool, device=device)
            valid[:, (~pads).nonzero()[:, 0].to(device)] = mask.bool()[:, (~held[: mask.shape[1]]).nonzero()[:, 0].to(device)]
            segments = transformer_qwenimage21._qwenimage21_prefix_segments(ids, int((~targets).sum()))
            targets = targets.to(device)
            for block in self.transformer_blocks:
                if torch.is_grad_enabled() and self.gradient_checkpointing:
                    joint = self._gradient_checkpointing_func(block, joint, modulation, turns, None, targets, None, None, None, segments, valid)
                else:
                    joint = block(joint, modulation=modulation, rotary_emb=turns, target_token_mask=targets, segments=segments, key_valid=valid)
            return self.proj_out(self.norm_out(joint, temb, targets))

    model = LaidOutTransformer2DModel(num_layers=4, attention_head_dim=heads, num_attention_heads=4, context_in_dim=256, axes_dims_rope=(heads // 8, 7 * heads // 16, 7 * heads // 16))

    def sample(samples: int) -> Batch:
        image = samples, drawn * drawn, 64
        told = torch.arange(known + words) < known + words - torch.arange(samples)[:, None] % (words // 2)
        return torch.randn(samples, given * given, 64), torch.randn(image), torch.randn(image), torch.rand(samples), torch.randn(samples, known + words, 256), told.long()

    def mended(module: nn.Module, first: Tensor, latents: Tensor, noise: Tensor, parts: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        part = parts.view(-1, 1, 1)
        noisy = (1.0 - part) * latents + part * noise
        velocity = module(torch.cat((first, noisy), 1), states, parts, mask)[:, -noisy.shape[1] :]
        return ((velocity.float() - (noise - latents).float()) ** 2).reshape(len(latents), -1).mean(1).mean()

    return Subject(model, sample, mended)
