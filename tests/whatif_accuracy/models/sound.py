# SPDX-License-Identifier: Apache-2.0
"""Models of sound, from the package transformers."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import SPECIAL, VOCABULARY, width
from .subject import Batch, Subject, scaled


def _heard(model: nn.Module, sound: Tensor, labels: Tensor) -> Tensor:
    return model(sound, labels=labels).loss


def whisper(size: str) -> Subject:
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    frames, width = scaled(size, 64, 128, 256), scaled(size, 128, 192, 256)
    config: Any = WhisperConfig(vocab_size=VOCABULARY, num_mel_bins=80, d_model=width, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                                encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, max_source_positions=frames, max_target_positions=64, decoder_start_token_id=1,
                                suppress_tokens=None, begin_suppress_tokens=None, **SPECIAL)
    return Subject(WhisperForConditionalGeneration(config), lambda count: (torch.randn(count, 80, 2 * frames), torch.randint(VOCABULARY, (count, 24))), _heard)


def wav2vec2(size: str) -> Subject:
    """Without the masks that it draws on the host."""
    from transformers import Wav2Vec2Config, Wav2Vec2ForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = Wav2Vec2Config(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7,
                                 num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, num_labels=10, apply_spec_augment=False, layerdrop=0.0)
    return Subject(Wav2Vec2ForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def hubert(size: str) -> Subject:
    """Its first stages have norms of layers. Without the masks that it draws on the host."""
    from transformers import HubertConfig, HubertForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = HubertConfig(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7, feat_extract_norm="layer",
                               num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, num_labels=10, apply_spec_augment=False, layerdrop=0.0)
    return Subject(HubertForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def data2vec_audio(size: str) -> Subject:
    """Positions come of several convolutions. Without the masks that it draws on the host."""
    from transformers import Data2VecAudioConfig, Data2VecAudioForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = Data2VecAudioConfig(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7,
                                      num_conv_pos_embedding_groups=4, num_labels=10, mask_time_prob=0.0, layerdrop=0.0)
    return Subject(Data2VecAudioForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def wavlm(size: str) -> Subject:
    """Gates scale a table of relative positions. Without the masks that it draws on the host."""
    from transformers import WavLMConfig, WavLMForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = WavLMConfig(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7,
                              num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, num_labels=10, apply_spec_augment=False, layerdrop=0.0)
    return Subject(WavLMForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def speech_to_text(size: str) -> Subject:
    """Convolutions halve the frames before the encoder."""
    from transformers import Speech2TextConfig, Speech2TextForConditionalGeneration

    frames, width = scaled(size, 128, 256, 512), scaled(size, 128, 192, 256)
    config: Any = Speech2TextConfig(vocab_size=VOCABULARY, d_model=width, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=4 * width,
                                    decoder_ffn_dim=4 * width, conv_channels=128, decoder_start_token_id=1, **SPECIAL)
    return Subject(Speech2TextForConditionalGeneration(config), lambda count: (torch.randn(count, frames, 80), torch.randint(VOCABULARY, (count, 24))), _heard)


def sew(size: str) -> Subject:
    """Half of the frames go through its layers. Without the masks that it draws on the host."""
    from transformers import SEWConfig, SEWForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = SEWConfig(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7, conv_stride=(5, 2, 2, 2, 2, 2, 2),
                            conv_kernel=(10, 3, 3, 3, 3, 2, 2), num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, num_labels=10, apply_spec_augment=False, layerdrop=0.0)
    return Subject(SEWForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def unispeech(size: str) -> Subject:
    """Without the masks that it draws on the host, and without what stands for them."""
    from transformers import UniSpeechConfig, UniSpeechForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = UniSpeechConfig(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7,
                                  num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, num_labels=10, apply_spec_augment=False, mask_time_prob=0.0, layerdrop=0.0)
    return Subject(UniSpeechForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def wav2vec2_conformer(size: str) -> Subject:
    """A convolution between attention and the second of two MLPs in each layer; scores have relative positions. Without the masks that it draws on the host."""
    from transformers import Wav2Vec2ConformerConfig, Wav2Vec2ConformerForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = Wav2Vec2ConformerConfig(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7,
                                          num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, num_labels=10, max_source_positions=256, apply_spec_augment=False,
                                          mask_time_prob=0.0, layerdrop=0.0)
    return Subject(Wav2Vec2ConformerForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def unispeech_sat(size: str) -> Subject:
    """What stands for masks is there, and never used. Without the masks that it draws on the host."""
    from transformers import UniSpeechSatConfig, UniSpeechSatForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = UniSpeechSatConfig(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7,
                                     num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, num_labels=10, apply_spec_augment=False, mask_time_prob=0.0, layerdrop=0.0)
    return Subject(UniSpeechSatForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def moonshine(size: str) -> Subject:
    """Three convolutions of the waves themselves, and positions that turn a part of each head, in encoder and decoder."""
    from transformers import MoonshineConfig, MoonshineForConditionalGeneration

    samples, width = scaled(size, 16000, 32000, 64000), scaled(size, 128, 192, 256)
    config: Any = MoonshineConfig(vocab_size=VOCABULARY, hidden_size=width, intermediate_size=4 * width, encoder_num_hidden_layers=2, decoder_num_hidden_layers=2,
                                  encoder_num_attention_heads=4, decoder_num_attention_heads=4, decoder_start_token_id=1, **SPECIAL)
    return Subject(MoonshineForConditionalGeneration(config), lambda count: (torch.randn(count, samples), torch.randint(VOCABULARY, (count, 24))), _heard)


def wav2vec2_bert(size: str) -> Subject:
    """A conformer over spectra, with keys of relative positions. Without the masks that it draws on the host."""
    from transformers import Wav2Vec2BertConfig, Wav2Vec2BertForSequenceClassification

    frames, width = scaled(size, 50, 100, 200), scaled(size, 128, 192, 256)
    config: Any = Wav2Vec2BertConfig(hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, feature_projection_input_dim=80, apply_spec_augment=False,
                                     mask_time_prob=0.0, layerdrop=0.0, num_labels=10)
    return Subject(Wav2Vec2BertForSequenceClassification(config), lambda count: (torch.randn(count, frames, 80), torch.randint(10, (count,))), _heard)


def sew_d(size: str) -> Subject:
    """SEW whose attention is DeBERTa's. Without the masks that it draws on the host."""
    from transformers import SEWDConfig, SEWDForSequenceClassification

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = SEWDConfig(vocab_size=32, hidden_size=width, num_hidden_layers=3, num_attention_heads=4, intermediate_size=4 * width, conv_dim=(64,) * 7, conv_stride=(5, 2, 2, 2, 2, 2, 2),
                             conv_kernel=(10, 3, 3, 3, 3, 2, 2), num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, squeeze_factor=2, num_labels=10, apply_spec_augment=False,
                             mask_time_prob=0.0, layerdrop=0.0)
    return Subject(SEWDForSequenceClassification(config), lambda count: (torch.randn(count, samples), torch.randint(10, (count,))), _heard)


def parakeet(size: str) -> Subject:
    """A conformer over spectra that three convolutions thin out; its loss weighs all ways to write a text."""
    from transformers import ParakeetCTCConfig, ParakeetForCTC

    frames, width = scaled(size, 128, 256, 512), scaled(size, 128, 192, 256)
    encoder: Any = {"hidden_size": width, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 4 * width, "subsampling_conv_channels": 64, "layerdrop": 0.0}
    config: Any = ParakeetCTCConfig(vocab_size=129, pad_token_id=128, encoder_config=encoder)

    def written(model: nn.Module, sound: Tensor, mask: Tensor, labels: Tensor) -> Tensor:
        return model(sound, attention_mask=mask, labels=labels).loss

    return Subject(ParakeetForCTC(config), lambda count: (torch.randn(count, frames, 80), torch.ones(count, frames, dtype=torch.int64), torch.randint(128, (count, 6))), written)


def speecht5(size: str) -> Subject:
    """Writes down what is said: positions that are looked up by their distance, and convolutions before them. Without the masks that it draws on the host."""
    from transformers import SpeechT5Config, SpeechT5ForSpeechToText

    samples, width = scaled(size, 4000, 8000, 16000), scaled(size, 128, 192, 256)
    config: Any = SpeechT5Config(vocab_size=VOCABULARY, hidden_size=width, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=4 * width,
                                 decoder_ffn_dim=4 * width, encoder_layerdrop=0.0, decoder_layerdrop=0.0, conv_dim=(64,) * 7, num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4,
                                 apply_spec_augment=False, mask_time_prob=0.0, decoder_start_token_id=1, **SPECIAL)
    return Subject(SpeechT5ForSpeechToText(config), lambda count: (torch.randn(count, samples), torch.randint(VOCABULARY, (count, 24))), _heard)


def clap(size: str) -> Subject:
    """A text and a sound, whose spectrum is seen as an image by a Swin, are to point the same way."""
    from transformers import ClapConfig, ClapModel

    wide, count, spectrum = scaled(size, 64, 96, 128), scaled(size, 16, 32, 64), scaled(size, 64, 128, 128)
    text = {"vocab_size": 1000, "hidden_size": 4 * wide, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 1024, "max_position_embeddings": 514}
    sound = {"spec_size": spectrum, "num_mel_bins": 64, "patch_embeds_hidden_size": wide, "hidden_size": 4 * wide, "depths": [2, 2, 2], "num_attention_heads": [2, 4, 8], "window_size": 4, "num_hidden_layers": 3}
    config = ClapConfig(text_config=text, audio_config=sound, projection_dim=128)

    def apart(model: nn.Module, ids: Tensor, heard: Tensor) -> Tensor:
        return model(input_ids=ids, input_features=heard, return_loss=True).loss

    frames = spectrum * spectrum // 64
    return Subject(ClapModel(config), lambda samples: (torch.randint(2, 1000, (samples, count)), torch.randn(samples, 1, frames, 64)), apart)


def musicgen(size: str) -> Subject:
    """Four streams of codes at once, whose embeddings are added up, with a head for each."""
    from transformers import MusicgenDecoderConfig, MusicgenForCausalLM

    wide, count = scaled(size, 256, 320, 384), scaled(size, 32, 96, 192)
    config = MusicgenDecoderConfig(vocab_size=512, hidden_size=wide, ffn_dim=1024, num_hidden_layers=4, num_attention_heads=4, max_position_embeddings=512, num_codebooks=4, pad_token_id=512, bos_token_id=512)

    def foreseen(model: nn.Module, codes: Tensor) -> Tensor:
        seen = model(input_ids=codes.reshape(-1, codes.shape[-1])).logits
        return F.cross_entropy(seen[:, :-1].flatten(0, 1), codes.reshape(-1, codes.shape[-1])[:, 1:].flatten())

    return Subject(MusicgenForCausalLM(config), lambda samples: (torch.randint(512, (samples, 4, count)),), foreseen)


def xcodec(size: str) -> Subject:
    """Makes sound again of the codes that it gave it. Its choice of codes lets no gradients through: what is before it, a HuBERT among others, is not trained."""
    from transformers import DacConfig, HubertConfig, XcodecConfig, XcodecModel

    samples, wide = scaled(size, 3200, 4800, 6400), scaled(size, 128, 192, 256)
    meaning = HubertConfig(hidden_size=wide, num_hidden_layers=2, num_attention_heads=4, intermediate_size=2 * wide, conv_dim=(64,) * 7, num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4,
                           apply_spec_augment=False, mask_time_prob=0.0, layerdrop=0.0)
    waves = DacConfig(encoder_hidden_size=16, downsampling_ratios=[8, 5, 4, 2], decoder_hidden_size=2 * wide)
    model = XcodecModel(XcodecConfig(codebook_size=256, acoustic_model_config=waves, semantic_model_config=meaning, target_bandwidths=[0.4, 1.6]))
    model.requires_grad_(False)
    model.fc2.requires_grad_(True)
    model.acoustic_decoder.requires_grad_(True)

    def again(model: nn.Module, sound: Tensor) -> Tensor:
        return F.l1_loss(model(sound).audio_values, sound)

    return Subject(model, lambda count: (torch.randn(count, 1, samples),), again)


def dia(size: str) -> Subject:
    """Speaks what is written: a text is read, and five streams of codes are foreseen at once, whose embeddings are one table."""
    from transformers import DiaConfig, DiaForConditionalGeneration

    wide, count, read = scaled(size, 192, 256, 320), scaled(size, 48, 96, 192), scaled(size, 16, 32, 64)
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64}
    text = {"hidden_size": wide, "intermediate_size": 768, "num_hidden_layers": 2, "max_position_embeddings": 512, **heads, "num_key_value_heads": 4}
    config: Any = DiaConfig(encoder_config=text, decoder_config={"hidden_size": wide, "intermediate_size": 768, "num_hidden_layers": 3, **heads, "cross_num_attention_heads": 4, "cross_head_dim": 64,
                                                                 "cross_num_key_value_heads": 4, "cross_hidden_size": wide, "vocab_size": 515, "num_channels": 5, "pad_token_id": 513, "eos_token_id": 512,
                                                                 "bos_token_id": 514, "max_position_embeddings": 512}, delay_pattern=[0, 1, 2, 3, 4])

    def spoken(model: nn.Module, ids: Tensor, codes: Tensor) -> Tensor:
        return model(input_ids=ids, decoder_input_ids=codes, labels=codes.transpose(1, 2).contiguous().flatten(0, 1)).loss

    return Subject(DiaForConditionalGeneration(config), lambda samples: (torch.randint(1, 256, (samples, read)), torch.randint(512, (samples, count, 5))), spoken)


def vibevoice_tokenizer(size: str) -> Subject:
    """Makes sound again of a narrow vector in 40 samples, with noise on it: convolutions that look back alone, and ConvNeXt's blocks in one dimension."""
    from transformers import VibeVoiceAcousticTokenizerConfig, VibeVoiceAcousticTokenizerModel

    samples = scaled(size, 4000, 8000, 16000)
    config: Any = VibeVoiceAcousticTokenizerConfig(hidden_size=32, num_filters=scaled(size, 16, 24, 32), downsampling_ratios=[2, 4, 5], depths=[1, 1, 2, 2])
    return Subject(VibeVoiceAcousticTokenizerModel(config), lambda count: (torch.randn(count, 1, samples),), lambda model, sound: F.l1_loss(model(sound).audio, sound))


def univnet(size: str) -> Subject:
    """Makes sound of a spectrum and of noise: convolutions whose weights, others for each frame, are computed of the spectrum."""
    from transformers import UnivNetConfig, UnivNetModel

    frames = scaled(size, 8, 16, 32)
    config: Any = UnivNetConfig(model_hidden_channels=scaled(size, 16, 24, 32), num_mel_bins=80)

    def spoken(model: nn.Module, seen: Tensor, noise: Tensor, wanted: Tensor) -> Tensor:
        return F.l1_loss(model(seen, noise_sequence=noise).waveforms, wanted)

    return Subject(UnivNetModel(config), lambda count: (torch.randn(count, frames, 80), torch.randn(count, frames, 64), torch.randn(count, 256 * frames)), spoken)


def xcodec2(size: str) -> Subject:
    """Makes sound again of what is left of it, rounded, with gradients as if it were not: a transformer whose words are spectra, joined by a Fourier transform. What hears its meaning is not trained."""
    from transformers import Wav2Vec2BertConfig, Xcodec2Config, Xcodec2Model

    frames, wide = scaled(size, 10, 20, 40), scaled(size, 128, 192, 256)
    meaning = Wav2Vec2BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, feature_projection_input_dim=160, apply_spec_augment=False, mask_time_prob=0.0, layerdrop=0.0)
    config: Any = Xcodec2Config(hidden_size=wide, intermediate_size=4 * wide, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4, head_dim=wide // 4, max_position_embeddings=512, encoder_hidden_size=8,
                                semantic_model_config=meaning, quantization_dim=wide + 128, quantization_levels=[4] * 6)
    model = Xcodec2Model(config)
    model.semantic_encoder.requires_grad_(False)

    def again(model: nn.Module, sound: Tensor, seen: Tensor) -> Tensor:
        return F.l1_loss(model(sound, input_features=seen).audio_values, sound)

    return Subject(model, lambda count: (torch.randn(count, 1, 320 * frames), torch.randn(count, frames, 160)), again)


def encodec(size: str) -> Subject:
    """Makes sound again of the codes that it gave it, with an LSTM between convolutions whose weights are directions and lengths. Its choice of codes lets no gradients through: what is before it is not trained."""
    from transformers import EncodecConfig, EncodecModel

    samples = scaled(size, 3200, 6400, 9600)
    config: Any = EncodecConfig(hidden_size=scaled(size, 64, 96, 128), num_filters=scaled(size, 8, 12, 16), codebook_size=256)
    model = EncodecModel(config)
    model.encoder.requires_grad_(False)
    return Subject(model, lambda count: (torch.randn(count, 1, samples),), lambda model, sound: F.l1_loss(model(sound).audio_values, sound))


def pe_audio(size: str) -> Subject:
    """A sound and a text, which a ModernBERT reads, are to point the same way. What makes narrow vectors of sound, by convolutions, lets no gradients through."""
    from transformers import PeAudioConfig, PeAudioModel

    wide, samples, count = scaled(size, 128, 192, 256), scaled(size, 3200, 6400, 12800), scaled(size, 16, 32, 64)
    waves = {"model_type": "dac", "encoder_hidden_size": 8, "downsampling_ratios": [2, 4, 4, 5], "codebook_dim": 32}
    sound = {"dac_config": waves, "hidden_size": wide, "intermediate_size": 3 * wide, "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": wide // 4, "max_position_embeddings": 512}
    text = {"model_type": "modernbert", "vocab_size": VOCABULARY, "hidden_size": wide, "intermediate_size": 2 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "max_position_embeddings": 512,
            "local_attention": 32, "cls_token_id": 1, "sep_token_id": 2, **SPECIAL}
    model = PeAudioModel(PeAudioConfig(text_config=text, audio_config=sound))
    for unused in (model.audio_encoder.embedder.dac_encoder, model.audio_encoder.embedder.bottleneck):
        unused.requires_grad_(False)

    def apart(model: nn.Module, ids: Tensor, heard: Tensor) -> Tensor:
        return model(input_ids=ids, input_values=heard, return_loss=True).loss

    return Subject(model, lambda number: (torch.randint(3, VOCABULARY, (number, count)), torch.randn(number, 1, samples)), apart)


def nemotron3_diarization(size: str) -> Subject:
    """Who speaks when, in three parts of a recording, one after the other: each is seen with what comes a little later, and with the frames before it that said most of each speaker."""
    from transformers import Nemotron3DiarizationConfig, Nemotron3DiarizationForAudioFrameClassification

    wide, part, speakers = width(size), scaled(size, 16, 32, 64), 4
    sound = {"hidden_size": wide, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 4, "num_mel_bins": 80, "max_position_embeddings": 512}
    config = Nemotron3DiarizationConfig(audio_config=sound, head_config={"hidden_size": 96, "num_speakers": speakers, "audio_hidden_size": wide},
                                        streaming_config={"num_speakers": speakers, "speaker_cache_length": part}, chunk_length=part, chunk_right_context=part // 4, fifo_length=part // 2,
                                        speaker_cache_update_period=part)

    def heard(model: nn.Module, frames: Tensor, spoken: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(model(input_features=frames).logits, spoken)

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3 * 8 * part, 80), torch.rand(samples, 3 * 8 * part, speakers).round()

    return Subject(Nemotron3DiarizationForAudioFrameClassification(config), sample, heard)
