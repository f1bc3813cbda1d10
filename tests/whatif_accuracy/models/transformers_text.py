# SPDX-License-Identifier: Apache-2.0
"""Models of text from the package transformers."""

from .sizes import SPECIAL, TWO_SIDED, VOCABULARY, length, stack, width
from .subject import Subject, causal, scaled, tokens


def gemma(size: str) -> Subject:
    from transformers import GemmaConfig, GemmaForCausalLM

    config = GemmaConfig(vocab_size=VOCABULARY, hidden_size=width(size), intermediate_size=1024, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=1, head_dim=64, **SPECIAL)
    return Subject(GemmaForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gemma3(size: str) -> Subject:
    """Layers with a sliding window have rotary positions of their own; queries and keys are normalized."""
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    config = Gemma3TextConfig(**stack(size), num_key_value_heads=2, head_dim=64,
                              sliding_window=64, sliding_window_pattern=2, **SPECIAL)
    return Subject(Gemma3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def cohere(size: str) -> Subject:
    """Attention and MLP run in parallel after one norm; logits are scaled."""
    from transformers import CohereConfig, CohereForCausalLM

    config = CohereConfig(**stack(size), num_key_value_heads=2, use_qk_norm=True, **SPECIAL)
    return Subject(CohereForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def helium(size: str) -> Subject:
    """Rotary positions act on pairs of neighboring channels, as on complex numbers."""
    from transformers import HeliumConfig, HeliumForCausalLM

    config = HeliumConfig(**stack(size), num_key_value_heads=2, head_dim=width(size) // 4,
                          **SPECIAL)
    return Subject(HeliumForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def mpt(size: str) -> Subject:
    """Positions are slopes that are added to attention scores (ALiBi)."""
    from transformers import MptConfig, MptForCausalLM

    config = MptConfig(vocab_size=VOCABULARY, d_model=width(size), n_heads=4, n_layers=4, expansion_ratio=4, max_seq_len=512, **SPECIAL)
    return Subject(MptForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def olmo(size: str) -> Subject:
    """Norms have no weights; queries, keys and values are clamped."""
    from transformers import OlmoConfig, OlmoForCausalLM

    config = OlmoConfig(**stack(size), clip_qkv=8.0, **SPECIAL)
    return Subject(OlmoForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def openai(size: str) -> Subject:
    """The first GPT: norms come after attention and MLP, and attention consists of separate operators."""
    from transformers import OpenAIGPTConfig, OpenAIGPTLMHeadModel

    config = OpenAIGPTConfig(vocab_size=VOCABULARY, n_positions=512, n_embd=width(size), n_layer=4, n_head=4, **SPECIAL)
    return Subject(OpenAIGPTLMHeadModel(config), tokens(VOCABULARY, length(size)), causal)


def gpt_neox_japanese(size: str) -> Subject:
    """Attention consists of separate operators, and biases are added together with dropout."""
    from transformers import GPTNeoXJapaneseConfig, GPTNeoXJapaneseForCausalLM

    config = GPTNeoXJapaneseConfig(vocab_size=VOCABULARY, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_multiple_size=3, max_position_embeddings=512, **SPECIAL)
    return Subject(GPTNeoXJapaneseForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def xlm(size: str) -> Subject:
    """Attention and MLPs are in separate lists; after each of them, padding is multiplied by zero."""
    from transformers import XLMConfig, XLMWithLMHeadModel

    config = XLMConfig(vocab_size=VOCABULARY, emb_dim=width(size), n_layers=4, n_heads=4, causal=True, **SPECIAL)
    return Subject(XLMWithLMHeadModel(config), tokens(VOCABULARY, length(size)), causal)


def mellum(size: str) -> Subject:
    """Mixture of experts: each token goes to two of four experts. Some layers have a sliding window of 64 tokens."""
    from transformers import MellumConfig, MellumForCausalLM

    config = MellumConfig(**{**stack(size), "num_hidden_layers": 3}, num_key_value_heads=2, head_dim=64, sliding_window=64, moe_intermediate_size=512, num_experts=4, num_experts_per_tok=2,
                          experts_implementation="batched_mm", max_position_embeddings=512, **SPECIAL)
    return Subject(MellumForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def hyperclovax(size: str) -> Subject:
    """Norms before and after attention and MLP; residual branches are scaled, and logits too."""
    from transformers import HyperCLOVAXConfig, HyperCLOVAXForCausalLM

    config = HyperCLOVAXConfig(**stack(size), num_key_value_heads=2, embedding_multiplier=2.0, residual_multiplier=0.5, max_position_embeddings=512, **SPECIAL)
    return Subject(HyperCLOVAXForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gemma4(size: str) -> Subject:
    """Each layer adds a narrow embedding of its own for each token. Norms run in float32, and five of six layers have a sliding window of 64 tokens."""
    from transformers import Gemma4ForCausalLM, Gemma4TextConfig

    config = Gemma4TextConfig(**stack(size), num_key_value_heads=2, head_dim=64, hidden_size_per_layer_input=32, vocab_size_per_layer_input=VOCABULARY, sliding_window=64, **SPECIAL)
    return Subject(Gemma4ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def cohere_compass(size: str) -> Subject:
    """Attention and MLP run in parallel after one norm. Only layers with a sliding window of 64 tokens have rotary positions, with three axes."""
    from transformers import CohereCompassForCausalLM, CohereCompassTextConfig

    config = CohereCompassTextConfig(**stack(size), num_key_value_heads=2, layer_types=["sliding_attention"] * 3 + ["full_attention"], sliding_window=64, max_position_embeddings=512,
                                     rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [16, 8, 8]}, "full_attention": None}, **SPECIAL)
    return Subject(CohereCompassForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def roberta(size: str) -> Subject:
    from transformers import RobertaConfig, RobertaForMaskedLM

    config = RobertaConfig(**stack(size), max_position_embeddings=514, **SPECIAL)
    return Subject(RobertaForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def megatron_bert(size: str) -> Subject:
    """Norms come before attention and MLP."""
    from transformers import MegatronBertConfig, MegatronBertForMaskedLM

    config = MegatronBertConfig(**stack(size), pad_token_id=0)
    return Subject(MegatronBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def marian(size: str) -> Subject:
    """Translation: encoder, decoder and head share one embedding table."""
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(d_model=width(size), decoder_start_token_id=0, scale_embedding=True, **TWO_SIDED)
    return Subject(MarianMTModel(config), tokens(VOCABULARY, length(size)), causal)


def convbert(size: str) -> Subject:
    """Half of the heads are convolutions whose weights are computed from the tokens."""
    from transformers import ConvBertConfig, ConvBertForMaskedLM

    config = ConvBertConfig(vocab_size=VOCABULARY, embedding_size=128, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, **SPECIAL)
    return Subject(ConvBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def canine(size: str) -> Subject:
    """Reads characters: a convolution turns four into one, and after the blocks they are expanded again."""
    from transformers import CanineConfig, CanineForTokenClassification

    shape = {name: value for name, value in stack(size).items() if name != "vocab_size"}
    config = CanineConfig(**shape, max_position_embeddings=1024, num_hash_buckets=1024, num_labels=100, pad_token_id=0)
    return Subject(CanineForTokenClassification(config), tokens(100, 4 * length(size)), causal)


def gte(size: str) -> Subject:
    """BERT with rotary positions and a gate in its MLP."""
    from transformers import GteConfig, GteForMaskedLM

    config = GteConfig(**stack(size), max_position_embeddings=512, **SPECIAL)
    return Subject(GteForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def funnel(size: str) -> Subject:
    """After the first two layers there are half as many tokens; at the end there are as many as before."""
    from transformers import FunnelConfig, FunnelForMaskedLM

    config = FunnelConfig(vocab_size=VOCABULARY, block_sizes=[2, 2], num_decoder_layers=1, d_model=width(size), n_head=4, d_head=64, d_inner=1024, pad_token_id=0)
    return Subject(FunnelForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def layoutlmv3(size: str) -> Subject:
    """Each token also has a position on the page; distances in the text and on the page are added to attention scores."""
    from transformers import LayoutLMv3Config, LayoutLMv3ForTokenClassification

    config = LayoutLMv3Config(**stack(size), max_position_embeddings=514, max_2d_position_embeddings=64, coordinate_size=scaled(size, 44, 56, 64), shape_size=scaled(size, 40, 48, 64), visual_embed=False,
                              num_labels=100, **SPECIAL)
    return Subject(LayoutLMv3ForTokenClassification(config), tokens(100, length(size)), causal)
