# SPDX-License-Identifier: Apache-2.0
"""Models of text that foresee the next word, from the package transformers."""

from .sizes import SPECIAL, VOCABULARY, length, stack, width
from .subject import Subject, causal, tokens


def gpt2(size: str) -> Subject:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=VOCABULARY, n_positions=256, n_embd=width(size), n_layer=4, n_head=4)
    return Subject(GPT2LMHeadModel(config), tokens(VOCABULARY, length(size)), causal)


def llama(size: str) -> Subject:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(**stack(size), num_key_value_heads=2)
    return Subject(LlamaForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def moe(size: str) -> Subject:
    """Tokens go to two of four experts, whose weights are gathered for each token: so no shape depends on values, which the device has not."""
    from transformers import MixtralConfig, MixtralForCausalLM

    config = MixtralConfig(vocab_size=VOCABULARY, hidden_size=width(size), intermediate_size=512, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
                           num_local_experts=4, num_experts_per_tok=2, experts_implementation="batched_mm", **SPECIAL)
    return Subject(MixtralForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gpt_neox(size: str) -> Subject:
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    config = GPTNeoXConfig(**stack(size), **SPECIAL)
    return Subject(GPTNeoXForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def opt(size: str) -> Subject:
    from transformers import OPTConfig, OPTForCausalLM

    config = OPTConfig(vocab_size=VOCABULARY, hidden_size=width(size), ffn_dim=1024, num_hidden_layers=4, num_attention_heads=4, max_position_embeddings=256,
                       word_embed_proj_dim=width(size), **SPECIAL)
    return Subject(OPTForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gemma(size: str) -> Subject:
    from transformers import GemmaConfig, GemmaForCausalLM

    config = GemmaConfig(vocab_size=VOCABULARY, hidden_size=width(size), intermediate_size=1024, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=1, head_dim=64, **SPECIAL)
    return Subject(GemmaForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def qwen2(size: str) -> Subject:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(Qwen2ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def bloom(size: str) -> Subject:
    from transformers import BloomConfig, BloomForCausalLM

    config = BloomConfig(vocab_size=VOCABULARY, hidden_size=width(size), n_layer=4, n_head=4, **SPECIAL)
    return Subject(BloomForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def phi3(size: str) -> Subject:
    """Queries, keys and values are one product, and so are the two halves of its MLP."""
    from transformers import Phi3Config, Phi3ForCausalLM

    config = Phi3Config(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(Phi3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def falcon(size: str) -> Subject:
    """All heads share one of keys and values; attention and MLP work side by side."""
    from transformers import FalconConfig, FalconForCausalLM

    config = FalconConfig(vocab_size=VOCABULARY, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, **SPECIAL)
    return Subject(FalconForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def xglm(size: str) -> Subject:
    from transformers import XGLMConfig, XGLMForCausalLM

    config = XGLMConfig(vocab_size=VOCABULARY, d_model=width(size), ffn_dim=1024, num_layers=4, attention_heads=4, max_position_embeddings=512, **SPECIAL)
    return Subject(XGLMForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def mistral(size: str) -> Subject:
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(**stack(size), num_key_value_heads=2,
                           sliding_window=64, **SPECIAL)
    return Subject(MistralForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def qwen3(size: str) -> Subject:
    """Queries and keys are normed."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(**stack(size), num_key_value_heads=2, head_dim=64, **SPECIAL)
    return Subject(Qwen3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gemma2(size: str) -> Subject:
    """Scores and logits are capped with a tangent; every other layer looks at a window."""
    from transformers import Gemma2Config, Gemma2ForCausalLM

    config = Gemma2Config(**stack(size), num_key_value_heads=2, head_dim=64,
                          sliding_window=64, **SPECIAL)
    return Subject(Gemma2ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def olmo2(size: str) -> Subject:
    """Norms stand behind attention and MLP."""
    from transformers import Olmo2Config, Olmo2ForCausalLM

    config = Olmo2Config(**stack(size), **SPECIAL)
    return Subject(Olmo2ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def phi(size: str) -> Subject:
    """Attention and MLP work side by side; positions turn a part of each head."""
    from transformers import PhiConfig, PhiForCausalLM

    config = PhiConfig(**stack(size), **SPECIAL)
    return Subject(PhiForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def starcoder2(size: str) -> Subject:
    """All layers have biases and dropout."""
    from transformers import Starcoder2Config, Starcoder2ForCausalLM

    config = Starcoder2Config(**stack(size), num_key_value_heads=2,
                              residual_dropout=0.1, embedding_dropout=0.1, attention_dropout=0.1, **SPECIAL)
    return Subject(Starcoder2ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def granite(size: str) -> Subject:
    """What goes into each layer, and comes out of it, is scaled."""
    from transformers import GraniteConfig, GraniteForCausalLM

    config = GraniteConfig(**stack(size), num_key_value_heads=2,
                           embedding_multiplier=12.0, residual_multiplier=0.22, logits_scaling=8.0, **SPECIAL)
    return Subject(GraniteForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gptj(size: str) -> Subject:
    """Attention is written out, with masks and types of its own."""
    from transformers import GPTJConfig, GPTJForCausalLM

    config = GPTJConfig(vocab_size=VOCABULARY, n_positions=256, n_embd=width(size), n_layer=4, n_head=4, rotary_dim=32, **{**SPECIAL, "bos_token_id": 1})
    return Subject(GPTJForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def stablelm(size: str) -> Subject:
    """Positions turn a quarter of each head; norms have means."""
    from transformers import StableLmConfig, StableLmForCausalLM

    config = StableLmConfig(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(StableLmForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def smollm3(size: str) -> Subject:
    """Every fourth layer knows no positions."""
    from transformers import SmolLM3Config, SmolLM3ForCausalLM

    config = SmolLM3Config(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(SmolLM3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gemma3(size: str) -> Subject:
    """Layers with a window have positions of their own; queries and keys are normed."""
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    config = Gemma3TextConfig(**stack(size), num_key_value_heads=2, head_dim=64,
                              sliding_window=64, sliding_window_pattern=2, **SPECIAL)
    return Subject(Gemma3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gpt_neo(size: str) -> Subject:
    """Every other layer looks at a window; scores are not scaled."""
    from transformers import GPTNeoConfig, GPTNeoForCausalLM

    config = GPTNeoConfig(vocab_size=VOCABULARY, max_position_embeddings=512, hidden_size=width(size), num_layers=4, num_heads=4, attention_types=[[["global", "local"], 2]], window_size=64,
                          **SPECIAL)
    return Subject(GPTNeoForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def cohere(size: str) -> Subject:
    """Attention and MLP work side by side behind one norm; logits are scaled."""
    from transformers import CohereConfig, CohereForCausalLM

    config = CohereConfig(**stack(size), num_key_value_heads=2, use_qk_norm=True, **SPECIAL)
    return Subject(CohereForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def codegen(size: str) -> Subject:
    """Attention is written out; queries, keys and values are one product, sorted for four cores."""
    from transformers import CodeGenConfig, CodeGenForCausalLM

    config = CodeGenConfig(vocab_size=VOCABULARY, n_positions=512, n_ctx=512, n_embd=width(size), n_layer=4, n_head=4, rotary_dim=32, **SPECIAL)
    return Subject(CodeGenForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def exaone4(size: str) -> Subject:
    """Norms stand behind attention and MLP; layers that see everything know no positions."""
    from transformers import Exaone4Config, Exaone4ForCausalLM

    config = Exaone4Config(**stack(size), num_key_value_heads=2, sliding_window=64,
                           sliding_window_pattern=4, **SPECIAL)
    return Subject(Exaone4ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def helium(size: str) -> Subject:
    """Positions turn neighbours, as complex numbers."""
    from transformers import HeliumConfig, HeliumForCausalLM

    config = HeliumConfig(**stack(size), num_key_value_heads=2, head_dim=width(size) // 4,
                          **SPECIAL)
    return Subject(HeliumForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def glm4(size: str) -> Subject:
    """Norms stand on both sides of attention and MLP; positions turn a half of each head."""
    from transformers import Glm4Config, Glm4ForCausalLM

    config = Glm4Config(**stack(size), num_key_value_heads=2, head_dim=64, **SPECIAL)
    return Subject(Glm4ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def nemotron(size: str) -> Subject:
    """Norms add one to their weights; the MLP has a squared ReLU and no gate."""
    from transformers import NemotronConfig, NemotronForCausalLM

    config = NemotronConfig(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(NemotronForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def mpt(size: str) -> Subject:
    """Positions are slopes that are added to scores."""
    from transformers import MptConfig, MptForCausalLM

    config = MptConfig(vocab_size=VOCABULARY, d_model=width(size), n_heads=4, n_layers=4, expansion_ratio=4, max_seq_len=512, **SPECIAL)
    return Subject(MptForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def diffllama(size: str) -> Subject:
    """Two maps of attention, of which one is taken from the other."""
    from transformers import DiffLlamaConfig, DiffLlamaForCausalLM

    config = DiffLlamaConfig(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(DiffLlamaForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def apertus(size: str) -> Subject:
    """The activation of its MLP has parameters; queries and keys are normed."""
    from transformers import ApertusConfig, ApertusForCausalLM

    config = ApertusConfig(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(ApertusForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def biogpt(size: str) -> Subject:
    """Norms stand before attention and MLP, embeddings are scaled."""
    from transformers import BioGptConfig, BioGptForCausalLM

    config = BioGptConfig(**stack(size), max_position_embeddings=512, **SPECIAL)
    return Subject(BioGptForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gpt_bigcode(size: str) -> Subject:
    """All heads share one of keys and values, in one product with the queries."""
    from transformers import GPTBigCodeConfig, GPTBigCodeForCausalLM

    config = GPTBigCodeConfig(vocab_size=VOCABULARY, n_positions=512, n_embd=width(size), n_layer=4, n_head=4, **SPECIAL)
    return Subject(GPTBigCodeForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def persimmon(size: str) -> Subject:
    """Norms of queries and keys have means; positions turn a half of each head; the MLP squares."""
    from transformers import PersimmonConfig, PersimmonForCausalLM

    config = PersimmonConfig(**stack(size), **SPECIAL)
    return Subject(PersimmonForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def olmo(size: str) -> Subject:
    """Norms have no weights; queries, keys and values are clamped."""
    from transformers import OlmoConfig, OlmoForCausalLM

    config = OlmoConfig(**stack(size), clip_qkv=8.0, **SPECIAL)
    return Subject(OlmoForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def seed_oss(size: str) -> Subject:
    """Heads that are wider than their share of the layer, with biases, and dropout behind attention and MLP."""
    from transformers import SeedOssConfig, SeedOssForCausalLM

    config = SeedOssConfig(**stack(size), num_key_value_heads=2, head_dim=128, **SPECIAL)
    return Subject(SeedOssForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def cohere2(size: str) -> Subject:
    """Three layers look back a short way, the fourth, without positions, all the way; attention and MLP work side by side."""
    from transformers import Cohere2Config, Cohere2ForCausalLM

    config = Cohere2Config(**stack(size), num_key_value_heads=2, sliding_window=64, **SPECIAL)
    return Subject(Cohere2ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def minicpm3(size: str) -> Subject:
    """Queries, keys and values come of narrow summaries of each token; what each layer adds is scaled."""
    from transformers import MiniCPM3Config, MiniCPM3ForCausalLM

    config = MiniCPM3Config(**stack(size), num_key_value_heads=4, q_lora_rank=96, kv_lora_rank=64, qk_nope_head_dim=32, qk_rope_head_dim=32, v_head_dim=64, dim_model_base=128, **SPECIAL)
    return Subject(MiniCPM3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def olmo3(size: str) -> Subject:
    """Three layers look back a short way, the fourth all the way; norms stand behind attention and MLP."""
    from transformers import Olmo3Config, Olmo3ForCausalLM

    config = Olmo3Config(**stack(size), sliding_window=64, **SPECIAL)
    return Subject(Olmo3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def ctrl(size: str) -> Subject:
    """Positions are sines that are added once; each MLP is a list of three layers."""
    from transformers import CTRLConfig, CTRLLMHeadModel

    config = CTRLConfig(vocab_size=VOCABULARY, n_positions=512, n_embd=width(size), dff=1024, n_layer=4, n_head=4, **SPECIAL)
    return Subject(CTRLLMHeadModel(config), tokens(VOCABULARY, length(size)), causal)


def arcee(size: str) -> Subject:
    """The MLP squares what its ReLU lets through, without a gate."""
    from transformers import ArceeConfig, ArceeForCausalLM

    config = ArceeConfig(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(ArceeForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def hunyuan_v1_dense(size: str) -> Subject:
    """Queries and keys are normed after positions have turned them."""
    from transformers import HunYuanDenseV1Config, HunYuanDenseV1ForCausalLM

    config = HunYuanDenseV1Config(**stack(size), num_key_value_heads=2, head_dim=64, **SPECIAL)
    return Subject(HunYuanDenseV1ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def ernie4_5(size: str) -> Subject:
    """Positions turn neighbours, in 32 bits."""
    from transformers import Ernie4_5Config, Ernie4_5ForCausalLM

    config = Ernie4_5Config(**stack(size), num_key_value_heads=2, head_dim=64, **SPECIAL)
    return Subject(Ernie4_5ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def nanochat(size: str) -> Subject:
    """Norms have no weights, and one stands before all layers; logits are capped with a tangent."""
    from transformers import NanoChatConfig, NanoChatForCausalLM

    config = NanoChatConfig(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(NanoChatForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def ministral(size: str) -> Subject:
    """Every other layer looks at a window."""
    from transformers import MinistralConfig, MinistralForCausalLM

    config = MinistralConfig(**stack(size), num_key_value_heads=2, head_dim=64, sliding_window=64, layer_types=["sliding_attention", "full_attention"] * 2, **SPECIAL)
    return Subject(MinistralForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def openai(size: str) -> Subject:
    """The first GPT: norms stand behind attention and MLP, and attention is written out."""
    from transformers import OpenAIGPTConfig, OpenAIGPTLMHeadModel

    config = OpenAIGPTConfig(vocab_size=VOCABULARY, n_positions=512, n_embd=width(size), n_layer=4, n_head=4, **SPECIAL)
    return Subject(OpenAIGPTLMHeadModel(config), tokens(VOCABULARY, length(size)), causal)
