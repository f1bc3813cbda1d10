# SPDX-License-Identifier: Apache-2.0
"""Models of images, sound and several kinds of inputs from the package transformers."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import SPECIAL, VOCABULARY, length, stack
from .subject import Batch, LENGTH, Subject, classified, images, scaled
from .transformers_vision import heard_before_words, heard_parts


def levit(size: str) -> Subject:
    """Attention with batch norms and biases for positions, on feature maps that shrink from stage to stage."""
    from transformers import LevitConfig, LevitForImageClassification

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 64, 96, 128)
    config = LevitConfig(image_size=pixels, hidden_sizes=[width, width + 32, width + 64], num_attention_heads=[2, 3, 4], depths=[2, 2, 2], num_labels=100)
    return Subject(LevitForImageClassification(config), images(pixels, 100), classified)


def dinov2_with_registers(size: str) -> Subject:
    """Four register tokens in addition to the patches."""
    from transformers import Dinov2WithRegistersConfig, Dinov2WithRegistersForImageClassification

    pixels = scaled(size, 56, 84, 112)
    config = Dinov2WithRegistersConfig(hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4, image_size=pixels, patch_size=14, num_register_tokens=4,
                                       num_labels=100)
    return Subject(Dinov2WithRegistersForImageClassification(config), images(pixels, 100), classified)


def mobilenet_v1(size: str) -> Subject:
    """Depthwise and pointwise convolutions in turns; inputs are padded explicitly before them."""
    from transformers import MobileNetV1Config, MobileNetV1ForImageClassification

    return Subject(MobileNetV1ForImageClassification(MobileNetV1Config(num_labels=100)), images(scaled(size, 64, 96, 128), 100), classified)


def textnet(size: str) -> Subject:
    """Tall and wide convolutions in addition to square ones."""
    from transformers import TextNetConfig, TextNetForImageClassification

    width = scaled(size, 32, 48, 64)
    kernels = [[[3, 3], [1, 3]], [[3, 3], [3, 1]], [[3, 3], [1, 3]], [[3, 1], [3, 3]]]
    config = TextNetConfig(hidden_sizes=[width, width, 2 * width, 4 * width, 8 * width], stem_out_channels=width, conv_layer_kernel_sizes=kernels, conv_layer_strides=[[1, 2]] * 4, num_labels=100)
    return Subject(TextNetForImageClassification(config), images(scaled(size, 64, 96, 128), 100), classified)


def dpt(size: str) -> Subject:
    """Semantic segmentation: the outputs of four blocks become feature maps of four sizes, which are merged from the smallest up."""
    from transformers import DPTConfig, DPTForSemanticSegmentation

    pixels, width = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    config = DPTConfig(hidden_size=width, num_hidden_layers=4, num_attention_heads=4, intermediate_size=768, image_size=pixels, backbone_out_indices=[0, 1, 2, 3],
                       neck_hidden_sizes=[48, 96, 192, 192], fusion_hidden_size=64, num_labels=19)
    return Subject(DPTForSemanticSegmentation(config), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, pixels, pixels))),
                   lambda model, given, labels: model(pixel_values=given, labels=labels).loss)


def vjepa2(size: str) -> Subject:
    """Video classification: patches with rotary positions for time, row and column; a learned query pools them. The predictor of hidden patches is not
    used."""
    from transformers import VJEPA2Config, VJEPA2ForVideoClassification

    pixels = scaled(size, 32, 48, 64)
    config = VJEPA2Config(patch_size=16, crop_size=pixels, frames_per_clip=8, hidden_size=scaled(size, 192, 256, 384), num_attention_heads=4, num_hidden_layers=4, num_pooler_layers=1,
                          pred_hidden_size=96, pred_num_attention_heads=4, pred_num_hidden_layers=1, num_labels=100)
    model = VJEPA2ForVideoClassification(config)
    model.vjepa2.predictor.requires_grad_(False)

    def named(model: nn.Module, given: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(model(pixel_values_videos=given).logits, labels)

    return Subject(model, lambda count: (torch.randn(count, 8, 3, pixels, pixels), torch.randint(100, (count,))), named)


def pp_ocrv5_server_det(size: str) -> Subject:
    """Text detection. The backbone is an HGNetV2, whose layer outputs are concatenated. Convolutions of up to nine by nine merge feature maps of four
    sizes, from the smallest to the largest and back, and long, flat ones follow lines. The result is refined once more, together with the feature map."""
    from transformers import HGNetV2Config, PPOCRV5ServerDetConfig, PPOCRV5ServerDetForObjectDetection

    pixels, wide = scaled(size, 96, 128, 192), scaled(size, 16, 32, 48)
    vision_libraries: Any = HGNetV2Config(stem_channels=[3, 32, wide], stage_in_channels=[wide, 64, 4 * wide, 8 * wide], stage_mid_channels=[wide, 2 * wide, 4 * wide, 6 * wide], stage_out_channels=[64, 4 * wide, 8 * wide, 16 * wide],
                               out_features=["stage1", "stage2", "stage3", "stage4"])
    ratios = {"long": 7, "mid": 5, "short": 3}
    lines: Any = {"reduce_channel": [1, 1, 0], "return_channel": [1, 1, 0]}
    for name, long in ratios.items():
        lines[f"vertical_long_to_small_conv_{name}ratio"] = [[long, 1], [1, 1], [long // 2, 0]]
        lines[f"horizontal_small_to_long_conv_{name}ratio"] = [[1, long], [1, 1], [0, long // 2]]
        lines[f"symmetric_conv_long_{name}ratio"] = [[long, long], [1, 1], [long // 2, long // 2]]
    config: Any = PPOCRV5ServerDetConfig(backbone_config=vision_libraries, neck_out_channels=scaled(size, 64, 128, 192), intraclass_block_config=lines, scale_factor_list=[1, 2, 4, 8], kernel_list=[3, 2, 2])

    return finds_text(PPOCRV5ServerDetForObjectDetection(config), pixels)


def _heard(model: nn.Module, sound: Tensor, labels: Tensor) -> Tensor:
    return model(sound, labels=labels).loss


def whisper(size: str) -> Subject:
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    frames, width = scaled(size, 64, 128, 256), scaled(size, 128, 192, 256)
    config: Any = WhisperConfig(vocab_size=VOCABULARY, num_mel_bins=80, d_model=width, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                                encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, max_source_positions=frames, max_target_positions=64, decoder_start_token_id=1,
                                suppress_tokens=None, begin_suppress_tokens=None, **SPECIAL)
    return Subject(WhisperForConditionalGeneration(config), lambda count: (torch.randn(count, 80, 2 * frames), torch.randint(VOCABULARY, (count, 24))), _heard)


def wav2vec2_conformer(size: str) -> Subject:
    """Each layer has a convolution between attention and the second of two MLPs; attention scores have relative positions. Without the masks that the model
    draws on the host."""
    from transformers import Wav2Vec2ConformerConfig, Wav2Vec2ConformerForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = Wav2Vec2ConformerConfig(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7,
                                          num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, num_labels=10, max_source_positions=256, apply_spec_augment=False,
                                          mask_time_prob=0.0, layerdrop=0.0)
    return Subject(Wav2Vec2ConformerForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def audioflamingo3(size: str) -> Subject:
    """A Qwen2 that gets sound before text. A Whisper encoder with fixed positions reads spectrograms, and the mean of each two frames is one token. Half of
    the samples are shorter, and have a mask. The program selects the frames and places the sound itself, because the model would look up both on the
    device."""
    from transformers import AudioFlamingo3Config, AudioFlamingo3ForConditionalGeneration

    heard, wide = scaled(size, 24, 48, 96), scaled(size, 128, 192, 256)
    hearing = {"model_type": "audioflamingo3_encoder", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "max_source_positions": 2 * heard}
    text = {"model_type": "qwen2", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = AudioFlamingo3Config(audio_config=hearing, text_config=text, audio_token_id=999)

    class JoinedForConditionalGeneration(AudioFlamingo3ForConditionalGeneration):
        def forward(self, ids: Tensor, mask: Tensor, labels: Tensor, sound: Tensor, known: Tensor, frames: Tensor, places: Tensor) -> Any:
            features = self.model.multi_modal_projector(self.model.audio_tower(sound, input_features_mask=known).last_hidden_state)
            words = self.get_input_embeddings()(ids)
            there = features.flatten(0, 1).index_select(0, frames)
            joined = words.flatten(0, 1).index_copy(0, places, there.to(words.dtype)).view_as(words)
            return super().forward(inputs_embeds=joined, attention_mask=mask, labels=labels)

    def sample(samples: int) -> Batch:
        tokens = int((heard + length(size)) * LENGTH.factor)  # of sound and text, as in a change of the sequence
        ids, mask, labels = heard_before_words(samples, heard, tokens - heard)
        ends = torch.tensor([heard_parts(heard, place) for place in range(samples)])[:, None]
        known, frames = (torch.arange(4 * heard) < 4 * ends).long(), (torch.arange(heard) < ends).flatten().nonzero().flatten()
        return ids, mask, labels, torch.randn(samples, 128, 4 * heard), known, frames, (ids == 999).flatten().nonzero().flatten()

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def finds_text(model: nn.Module, pixels: int) -> Subject:
    """A text detector. The loss counts pixels of text, and the worst of the other pixels, three for each pixel of text. The number of text pixels is given,
    so that it need not be counted on the device."""
    rate = 3

    def marked(model: nn.Module, given: Tensor, wanted: Tensor, mask: Tensor) -> Tensor:
        seen = model(pixel_values=given).last_hidden_state[:, 0]
        apart = 1 - 2 * (seen * wanted * mask).sum() / ((seen * mask).sum() + (wanted * mask).sum() + 1e-6)
        text, other = wanted * mask, (1 - wanted) * mask
        count = wanted.numel() // 8
        worst = (other * apart).flatten().sort(descending=True).values[: rate * count]
        return 5 * ((text * apart).sum() + worst.sum()) / (count + rate * count + 1e-6)

    def sample(samples: int) -> Batch:
        wanted = torch.zeros(samples, pixels, pixels)
        for each in wanted:
            top, left = torch.randint(pixels // 2, (2,)).tolist()
            each[top : top + pixels // 4, left : left + pixels // 2] = 1
        return torch.randn(samples, 3, pixels, pixels), wanted, torch.ones_like(wanted)

    return Subject(model, sample, marked)
