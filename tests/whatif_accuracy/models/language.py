# SPDX-License-Identifier: Apache-2.0
"""Models of text and of sound, from the package transformers."""

from typing import Any

import torch
from torch import Tensor, nn

from .subject import Subject, causal, scaled, tokens

VOCABULARY = 1000
SPECIAL = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
TWO_SIDED: Any = {"vocab_size": VOCABULARY, "max_position_embeddings": 512, **{f"{side}_{part}": size for side in ("encoder", "decoder")
                  for part, size in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 1024))}, **SPECIAL}


def _length(size: str) -> int:
    return scaled(size, 32, 96, 256)


def _width(size: str) -> int:
    return scaled(size, 256, 320, 384)


def gpt2(size: str) -> Subject:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=VOCABULARY, n_positions=256, n_embd=_width(size), n_layer=4, n_head=4)
    return Subject(GPT2LMHeadModel(config), tokens(VOCABULARY, _length(size)), causal)


def llama(size: str) -> Subject:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2)
    return Subject(LlamaForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def bert(size: str) -> Subject:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(vocab_size=VOCABULARY, hidden_size=_width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, attn_implementation="eager")
    return Subject(BertForMaskedLM(config), tokens(VOCABULARY, _length(size)), causal)


def t5(size: str) -> Subject:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(vocab_size=VOCABULARY, d_model=_width(size), d_kv=64, d_ff=1024, num_layers=3, num_heads=4, decoder_start_token_id=0)
    return Subject(T5ForConditionalGeneration(config), tokens(VOCABULARY, scaled(size, 32, 64, 128)), causal)


def moe(size: str) -> Subject:
    """Tokens go to two of four experts, whose weights are gathered for each token: so no shape depends on values, which the device has not."""
    from transformers import MixtralConfig, MixtralForCausalLM

    config = MixtralConfig(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=512, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
                           num_local_experts=4, num_experts_per_tok=2, experts_implementation="batched_mm", **SPECIAL)
    return Subject(MixtralForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def gpt_neox(size: str) -> Subject:
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    config = GPTNeoXConfig(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, **SPECIAL)
    return Subject(GPTNeoXForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def opt(size: str) -> Subject:
    from transformers import OPTConfig, OPTForCausalLM

    config = OPTConfig(vocab_size=VOCABULARY, hidden_size=_width(size), ffn_dim=1024, num_hidden_layers=4, num_attention_heads=4, max_position_embeddings=256,
                       word_embed_proj_dim=_width(size), **SPECIAL)
    return Subject(OPTForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def albert(size: str) -> Subject:
    """Its layers are one, called again and again."""
    from transformers import AlbertConfig, AlbertForMaskedLM

    config = AlbertConfig(vocab_size=VOCABULARY, embedding_size=128, hidden_size=_width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, **SPECIAL)
    return Subject(AlbertForMaskedLM(config), tokens(VOCABULARY, _length(size)), causal)


def bart(size: str) -> Subject:
    from transformers import BartConfig, BartForConditionalGeneration

    config = BartConfig(d_model=_width(size), decoder_start_token_id=1, **TWO_SIDED)
    return Subject(BartForConditionalGeneration(config), tokens(VOCABULARY, _length(size)), causal)


def gemma(size: str) -> Subject:
    from transformers import GemmaConfig, GemmaForCausalLM

    config = GemmaConfig(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=1, head_dim=64, **SPECIAL)
    return Subject(GemmaForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def qwen2(size: str) -> Subject:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, **SPECIAL)
    return Subject(Qwen2ForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def bloom(size: str) -> Subject:
    from transformers import BloomConfig, BloomForCausalLM

    config = BloomConfig(vocab_size=VOCABULARY, hidden_size=_width(size), n_layer=4, n_head=4, **SPECIAL)
    return Subject(BloomForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def distilbert(size: str) -> Subject:
    from transformers import DistilBertConfig, DistilBertForMaskedLM

    config = DistilBertConfig(vocab_size=VOCABULARY, dim=_width(size), hidden_dim=1024, n_layers=4, n_heads=4, pad_token_id=0)
    return Subject(DistilBertForMaskedLM(config), tokens(VOCABULARY, _length(size)), causal)


def phi3(size: str) -> Subject:
    """Queries, keys and values are one product, and so are the two halves of its MLP."""
    from transformers import Phi3Config, Phi3ForCausalLM

    config = Phi3Config(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, **SPECIAL)
    return Subject(Phi3ForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def falcon(size: str) -> Subject:
    """All heads share one of keys and values; attention and MLP work side by side."""
    from transformers import FalconConfig, FalconForCausalLM

    config = FalconConfig(vocab_size=VOCABULARY, hidden_size=_width(size), num_hidden_layers=4, num_attention_heads=4, **SPECIAL)
    return Subject(FalconForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def xglm(size: str) -> Subject:
    from transformers import XGLMConfig, XGLMForCausalLM

    config = XGLMConfig(vocab_size=VOCABULARY, d_model=_width(size), ffn_dim=1024, num_layers=4, attention_heads=4, max_position_embeddings=512, **SPECIAL)
    return Subject(XGLMForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def electra(size: str) -> Subject:
    from transformers import ElectraConfig, ElectraForMaskedLM

    config = ElectraConfig(vocab_size=VOCABULARY, embedding_size=128, hidden_size=_width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, pad_token_id=0)
    return Subject(ElectraForMaskedLM(config), tokens(VOCABULARY, _length(size)), causal)


def roberta(size: str) -> Subject:
    from transformers import RobertaConfig, RobertaForMaskedLM

    config = RobertaConfig(vocab_size=VOCABULARY, hidden_size=_width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, max_position_embeddings=514, **SPECIAL)
    return Subject(RobertaForMaskedLM(config), tokens(VOCABULARY, _length(size)), causal)


def mpnet(size: str) -> Subject:
    """One table of relative positions for all layers."""
    from transformers import MPNetConfig, MPNetForMaskedLM

    config = MPNetConfig(vocab_size=VOCABULARY, hidden_size=_width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, max_position_embeddings=514, **SPECIAL)
    return Subject(MPNetForMaskedLM(config), tokens(VOCABULARY, _length(size)), causal)


def deberta(size: str) -> Subject:
    """Attention to contents and to positions apart, as in its third version."""
    from transformers import DebertaV2Config, DebertaV2ForMaskedLM

    config = DebertaV2Config(vocab_size=VOCABULARY, hidden_size=_width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, relative_attention=True,
                             pos_att_type=["p2c", "c2p"], position_buckets=32, norm_rel_ebd="layer_norm", share_att_key=True, position_biased_input=False, pad_token_id=0)
    return Subject(DebertaV2ForMaskedLM(config), tokens(VOCABULARY, _length(size)), causal)


def mistral(size: str) -> Subject:
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
                           sliding_window=64, **SPECIAL)
    return Subject(MistralForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def qwen3(size: str) -> Subject:
    """Queries and keys are normed."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=64, **SPECIAL)
    return Subject(Qwen3ForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def esm(size: str) -> Subject:
    """Of proteins: positions are turned into queries and keys, and what is masked scales its embeddings."""
    from transformers import EsmConfig, EsmForMaskedLM

    config = EsmConfig(vocab_size=VOCABULARY, hidden_size=_width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, max_position_embeddings=514,
                       position_embedding_type="rotary", token_dropout=True, mask_token_id=3, pad_token_id=0)
    return Subject(EsmForMaskedLM(config), tokens(VOCABULARY, _length(size)), causal)


def marian(size: str) -> Subject:
    """Translates: encoder, decoder and head share a table."""
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(d_model=_width(size), decoder_start_token_id=0, scale_embedding=True, **TWO_SIDED)
    return Subject(MarianMTModel(config), tokens(VOCABULARY, _length(size)), causal)


def gemma2(size: str) -> Subject:
    """Scores and logits are capped with a tangent; every other layer looks at a window."""
    from transformers import Gemma2Config, Gemma2ForCausalLM

    config = Gemma2Config(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=64,
                          sliding_window=64, **SPECIAL)
    return Subject(Gemma2ForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def olmo2(size: str) -> Subject:
    """Norms stand behind attention and MLP."""
    from transformers import Olmo2Config, Olmo2ForCausalLM

    config = Olmo2Config(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, **SPECIAL)
    return Subject(Olmo2ForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def phi(size: str) -> Subject:
    """Attention and MLP work side by side; positions turn a part of each head."""
    from transformers import PhiConfig, PhiForCausalLM

    config = PhiConfig(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, **SPECIAL)
    return Subject(PhiForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def starcoder2(size: str) -> Subject:
    """All layers have biases and dropout."""
    from transformers import Starcoder2Config, Starcoder2ForCausalLM

    config = Starcoder2Config(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
                              residual_dropout=0.1, embedding_dropout=0.1, attention_dropout=0.1, **SPECIAL)
    return Subject(Starcoder2ForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def granite(size: str) -> Subject:
    """What goes into each layer, and comes out of it, is scaled."""
    from transformers import GraniteConfig, GraniteForCausalLM

    config = GraniteConfig(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
                           embedding_multiplier=12.0, residual_multiplier=0.22, logits_scaling=8.0, **SPECIAL)
    return Subject(GraniteForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def m2m_100(size: str) -> Subject:
    """Translates, without the layers that it leaves out at random."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    config = M2M100Config(d_model=_width(size), encoder_layerdrop=0.0, decoder_layerdrop=0.0, decoder_start_token_id=2, **TWO_SIDED)
    return Subject(M2M100ForConditionalGeneration(config), tokens(VOCABULARY, _length(size)), causal)


def gptj(size: str) -> Subject:
    """Attention is written out, with masks and types of its own."""
    from transformers import GPTJConfig, GPTJForCausalLM

    config = GPTJConfig(vocab_size=VOCABULARY, n_positions=256, n_embd=_width(size), n_layer=4, n_head=4, rotary_dim=32, **{**SPECIAL, "bos_token_id": 1})
    return Subject(GPTJForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def stablelm(size: str) -> Subject:
    """Positions turn a quarter of each head; norms have means."""
    from transformers import StableLmConfig, StableLmForCausalLM

    config = StableLmConfig(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, **SPECIAL)
    return Subject(StableLmForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def smollm3(size: str) -> Subject:
    """Every fourth layer knows no positions."""
    from transformers import SmolLM3Config, SmolLM3ForCausalLM

    config = SmolLM3Config(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, **SPECIAL)
    return Subject(SmolLM3ForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def gemma3(size: str) -> Subject:
    """Layers with a window have positions of their own; queries and keys are normed."""
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    config = Gemma3TextConfig(vocab_size=VOCABULARY, hidden_size=_width(size), intermediate_size=1024, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=64,
                              sliding_window=64, sliding_window_pattern=2, **SPECIAL)
    return Subject(Gemma3ForCausalLM(config), tokens(VOCABULARY, _length(size)), causal)


def pegasus(size: str) -> Subject:
    """Sums up: norms stand before attention and MLP, and positions are sines."""
    from transformers import PegasusConfig, PegasusForConditionalGeneration

    config = PegasusConfig(d_model=_width(size), decoder_start_token_id=0, scale_embedding=True, **TWO_SIDED)
    return Subject(PegasusForConditionalGeneration(config), tokens(VOCABULARY, _length(size)), causal)


def mobilebert(size: str) -> Subject:
    """Narrow within each layer, with four MLPs in a row and norms that divide by nothing."""
    from transformers import MobileBertConfig, MobileBertForMaskedLM

    config = MobileBertConfig(vocab_size=VOCABULARY, hidden_size=_width(size), num_hidden_layers=4, intermediate_size=512, pad_token_id=0)
    return Subject(MobileBertForMaskedLM(config), tokens(VOCABULARY, _length(size)), causal)


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
