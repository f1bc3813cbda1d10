# SPDX-License-Identifier: Apache-2.0
"""More models of text that foresee the next word, from the package transformers."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import SPECIAL, VOCABULARY, length, stack, width
from .subject import LENGTH, Batch, Subject, causal, scaled, tokens


def glm(size: str) -> Subject:
    """Positions turn every other half of a head, and the two halves of its MLP are one product."""
    from transformers import GlmConfig, GlmForCausalLM

    config = GlmConfig(**stack(size), num_key_value_heads=2, head_dim=64, **SPECIAL)
    return Subject(GlmForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gpt_neox_japanese(size: str) -> Subject:
    """Attention is written out, and biases are added beside dropout."""
    from transformers import GPTNeoXJapaneseConfig, GPTNeoXJapaneseForCausalLM

    config = GPTNeoXJapaneseConfig(vocab_size=VOCABULARY, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_multiple_size=3, max_position_embeddings=512, **SPECIAL)
    return Subject(GPTNeoXJapaneseForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def jais2(size: str) -> Subject:
    """Norms of layers, and an MLP that squares what is above zero."""
    from transformers import Jais2Config, Jais2ForCausalLM

    config = Jais2Config(**stack(size), num_key_value_heads=2, **SPECIAL)
    return Subject(Jais2ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def vaultgemma(size: str) -> Subject:
    """Gemma2 with one norm before attention and MLP each; scores and logits are capped with a tangent."""
    from transformers import VaultGemmaConfig, VaultGemmaForCausalLM

    config = VaultGemmaConfig(**stack(size), num_key_value_heads=2, head_dim=64, sliding_window=64, **SPECIAL)
    return Subject(VaultGemmaForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def youtu(size: str) -> Subject:
    """Keys and values are kept in one narrow vector, from which those of all heads are computed."""
    from transformers import YoutuConfig, YoutuForCausalLM

    config = YoutuConfig(**stack(size), num_key_value_heads=4, q_lora_rank=128, kv_lora_rank=64, qk_rope_head_dim=32, qk_nope_head_dim=32, v_head_dim=64, max_position_embeddings=512, **SPECIAL)
    return Subject(YoutuForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def modernbert_decoder(size: str) -> Subject:
    """ModernBERT that foresees the next word; two of three layers look back 32 tokens."""
    from transformers import ModernBertDecoderConfig, ModernBertDecoderForCausalLM

    config = ModernBertDecoderConfig(**stack(size), max_position_embeddings=512, local_attention=64, cls_token_id=1, sep_token_id=2, **SPECIAL)
    return Subject(ModernBertDecoderForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def lfm2(size: str) -> Subject:
    """Short convolutions over time, with gates, in two of four layers; attention in the others."""
    from transformers import Lfm2Config, Lfm2ForCausalLM

    config = Lfm2Config(**stack(size), num_key_value_heads=2, max_position_embeddings=512, layer_types=["conv", "full_attention", "conv", "full_attention"], block_multiple_of=64, **SPECIAL)
    return Subject(Lfm2ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def bert_generation(size: str) -> Subject:
    """BERT that foresees the next word."""
    from transformers import BertGenerationConfig, BertGenerationDecoder

    config = BertGenerationConfig(**stack(size), is_decoder=True, **SPECIAL)
    return Subject(BertGenerationDecoder(config), tokens(VOCABULARY, length(size)), causal)


def flex_olmo(size: str) -> Subject:
    """Tokens go to two of four experts, as in our mixture; norms stand behind attention and experts."""
    from transformers import FlexOlmoConfig, FlexOlmoForCausalLM

    config = FlexOlmoConfig(**{**stack(size), "intermediate_size": 512, "num_hidden_layers": 3}, num_key_value_heads=2, num_experts=4, num_experts_per_tok=2, experts_implementation="batched_mm", **SPECIAL)
    return Subject(FlexOlmoForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def imagegpt(size: str) -> Subject:
    """Foresees the next point of a picture; attention is written out."""
    from transformers import ImageGPTConfig, ImageGPTForCausalImageModeling

    config = ImageGPTConfig(vocab_size=513, n_positions=512, n_embd=width(size), n_layer=4, n_head=4)
    return Subject(ImageGPTForCausalImageModeling(config), tokens(512, length(size)), causal)


def xlm(size: str) -> Subject:
    """Attention and MLPs are in lists of their own; what is no word is multiplied away behind each."""
    from transformers import XLMConfig, XLMWithLMHeadModel

    config = XLMConfig(vocab_size=VOCABULARY, emb_dim=width(size), n_layers=4, n_heads=4, causal=True, **SPECIAL)
    return Subject(XLMWithLMHeadModel(config), tokens(VOCABULARY, length(size)), causal)


def cwm(size: str) -> Subject:
    """Three of four layers look back 64 tokens alone."""
    from transformers import CwmConfig, CwmForCausalLM

    config = CwmConfig(**stack(size), num_key_value_heads=2, head_dim=64, sliding_window=64, **SPECIAL)
    return Subject(CwmForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def bitnet(size: str) -> Subject:
    """Norms within attention and MLP, before their last layers; the MLP squares what is above zero."""
    from transformers import BitNetConfig, BitNetForCausalLM

    config = BitNetConfig(**stack(size), num_key_value_heads=2, max_position_embeddings=512, **SPECIAL)
    return Subject(BitNetForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def mellum(size: str) -> Subject:
    """Tokens go to two of four experts, as in our mixture; some layers look back 64 tokens alone."""
    from transformers import MellumConfig, MellumForCausalLM

    config = MellumConfig(**{**stack(size), "num_hidden_layers": 3}, num_key_value_heads=2, head_dim=64, sliding_window=64, moe_intermediate_size=512, num_experts=4, num_experts_per_tok=2,
                          experts_implementation="batched_mm", max_position_embeddings=512, **SPECIAL)
    return Subject(MellumForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def xlnet(size: str) -> Subject:
    """Distances between words are matched with a table of twice as many rows; attention is written with einsum."""
    from transformers import XLNetConfig, XLNetLMHeadModel

    config = XLNetConfig(vocab_size=VOCABULARY, d_model=width(size), n_layer=4, n_head=4, d_inner=1024, mem_len=None, **SPECIAL)
    return Subject(XLNetLMHeadModel(config), tokens(VOCABULARY, length(size)), causal)


def hyperclovax(size: str) -> Subject:
    """Norms before and behind attention and MLP; what they add is scaled, and the logits too."""
    from transformers import HyperCLOVAXConfig, HyperCLOVAXForCausalLM

    config = HyperCLOVAXConfig(**stack(size), num_key_value_heads=2, embedding_multiplier=2.0, residual_multiplier=0.5, max_position_embeddings=512, **SPECIAL)
    return Subject(HyperCLOVAXForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def granite_swa(size: str) -> Subject:
    """Granite of which some layers look back 64 tokens alone."""
    from transformers import GraniteSWAConfig, GraniteSWAForCausalLM

    config = GraniteSWAConfig(**stack(size), num_key_value_heads=2, sliding_window=64, max_position_embeddings=512, **SPECIAL)
    return Subject(GraniteSWAForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gemma4(size: str) -> Subject:
    """Each layer adds a narrow vector of its own for each token, norms in float32 around all of them, and five of six layers look back 64 tokens."""
    from transformers import Gemma4ForCausalLM, Gemma4TextConfig

    config = Gemma4TextConfig(**stack(size), num_key_value_heads=2, head_dim=64, hidden_size_per_layer_input=32, vocab_size_per_layer_input=VOCABULARY, sliding_window=64, **SPECIAL)
    return Subject(Gemma4ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def ministral3(size: str) -> Subject:
    """Queries are scaled by their place in the sequence."""
    from transformers import Ministral3Config, Ministral3ForCausalLM

    config = Ministral3Config(**stack(size), num_key_value_heads=2, head_dim=64, max_position_embeddings=512, **SPECIAL)
    return Subject(Ministral3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def hrm_text(size: str) -> Subject:
    """Two stacks of layers that are run several times over, most of them without gradients."""
    from transformers import HrmTextConfig, HrmTextForCausalLM

    config = HrmTextConfig(**stack(size), head_dim=64, max_position_embeddings=512, **SPECIAL)
    return Subject(HrmTextForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def cpmant(size: str) -> Subject:
    """Buckets of distances are looked up for each pair of words, and 32 words that are learned stand before them."""
    from transformers import CpmAntConfig, CpmAntForCausalLM

    config = CpmAntConfig(vocab_size=VOCABULARY, hidden_size=width(size), num_attention_heads=4, dim_head=64, dim_ff=1024, num_hidden_layers=4, position_bias_num_buckets=32, position_bias_max_distance=128, prompt_length=8)
    return Subject(CpmAntForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def recurrent_gemma(size: str) -> Subject:
    """Two of three layers are gated recurrences, written as a loop over time, behind a short convolution."""
    from transformers import RecurrentGemmaConfig, RecurrentGemmaForCausalLM

    config = RecurrentGemmaConfig(vocab_size=VOCABULARY, hidden_size=width(size), intermediate_size=1024, num_hidden_layers=3, num_attention_heads=4, lru_width=width(size), attention_window_size=512, **SPECIAL)
    return Subject(RecurrentGemmaForCausalLM(config), tokens(VOCABULARY, length(size) // 2), causal)


def lfm3(size: str) -> Subject:
    """Short convolutions in most layers and attention with a gate in the others, norms on both sides of each."""
    from transformers import Lfm3Config, Lfm3ForCausalLM

    config = Lfm3Config(**stack(size), num_key_value_heads=2, head_dim=64, max_position_embeddings=512, **SPECIAL)
    return Subject(Lfm3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def doge(size: str) -> Subject:
    """Each word looks at the eight that it finds most worth it: a mask is computed of the values, with gradients."""
    from transformers import DogeConfig, DogeForCausalLM

    config = DogeConfig(**stack(size), num_key_value_heads=2, keep_window_size=8, max_position_embeddings=512, **SPECIAL)
    return Subject(DogeForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gemma3n(size: str) -> Subject:
    """Four versions of each word, of which one goes through a layer and corrects the others; the last layers take keys and values of earlier ones, and the first keep what stands out in their MLPs."""
    from transformers import Gemma3nForCausalLM, Gemma3nTextConfig

    config = Gemma3nTextConfig(**stack(size), num_key_value_heads=2, head_dim=64, hidden_size_per_layer_input=32, vocab_size_per_layer_input=VOCABULARY, laurel_rank=16, sliding_window=64,
                               layer_types=["sliding_attention", "full_attention"] * 2, num_kv_shared_layers=2, activation_sparsity_pattern=[0.95, 0.95, 0.0, 0.0], **SPECIAL)
    return Subject(Gemma3nForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def trocr(size: str) -> Subject:
    """Writes down what another model has seen of a line; attention to both is written out."""
    from transformers import TrOCRConfig, TrOCRForCausalLM

    wide, parts = width(size), 24
    config = TrOCRConfig(vocab_size=VOCABULARY, d_model=wide, decoder_layers=4, decoder_attention_heads=4, decoder_ffn_dim=1024, cross_attention_hidden_size=192,
                         max_position_embeddings=512, **SPECIAL)

    def read(model: nn.Module, ids: Tensor, seen: Tensor) -> Tensor:
        return model(input_ids=ids, encoder_hidden_states=seen, labels=ids).loss

    return Subject(TrOCRForCausalLM(config), lambda samples: (torch.randint(3, VOCABULARY, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, parts, 192)), read)


def cohere_compass(size: str) -> Subject:
    """Attention and MLP stand beside each other behind one norm, and positions, which have three axes, turn words in layers that look back 64 tokens alone."""
    from transformers import CohereCompassForCausalLM, CohereCompassTextConfig

    config = CohereCompassTextConfig(**stack(size), num_key_value_heads=2, layer_types=["sliding_attention"] * 3 + ["full_attention"], sliding_window=64, max_position_embeddings=512,
                                     rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [16, 8, 8]}, "full_attention": None}, **SPECIAL)
    return Subject(CohereCompassForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def emu3(size: str) -> Subject:
    """Llama, with dropout in attention, behind it and behind the MLP."""
    from transformers import Emu3ForCausalLM, Emu3TextConfig

    config = Emu3TextConfig(**stack(size), num_key_value_heads=2, max_position_embeddings=512, **SPECIAL)
    return Subject(Emu3ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def gemma4_unified(size: str) -> Subject:
    """Gemma4 without vectors of layers for each token: its last layer, which looks back at all, has wider heads, and values that are its keys."""
    from transformers import Gemma4UnifiedForCausalLM, Gemma4UnifiedTextConfig

    config = Gemma4UnifiedTextConfig(**stack(size), num_key_value_heads=2, head_dim=64, global_head_dim=128, num_global_key_value_heads=1, attention_k_eq_v=True, sliding_window=64,
                                     layer_types=["sliding_attention"] * 3 + ["full_attention"], **SPECIAL)
    return Subject(Gemma4UnifiedForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def falcon_mamba(size: str) -> Subject:
    """A state of each channel goes from word to word, in a loop over time; what moves it is a norm of what each word says. No attention."""
    from transformers import FalconMambaConfig, FalconMambaForCausalLM

    config = FalconMambaConfig(vocab_size=VOCABULARY, hidden_size=width(size), state_size=16, num_hidden_layers=3, **SPECIAL)
    return Subject(FalconMambaForCausalLM(config), tokens(VOCABULARY, length(size) // 2), causal)


def idefics(size: str) -> Subject:
    """Before every other layer words look at the patches of an image, behind gates that are learned."""
    from transformers import IdeficsConfig, IdeficsForVisionText2Text

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 320)
    sight = {"embed_dim": wide, "image_size": pixels, "patch_size": 16, "intermediate_size": 768, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = IdeficsConfig(**stack(size), cross_layer_interval=2, freeze_text_layers=False, freeze_vision_layers=False, vision_config=sight, max_position_embeddings=512, **SPECIAL)
    model = IdeficsForVisionText2Text(config)
    model.model.vision_model.post_layernorm.requires_grad_(False)  # of what sums the image up, which is not used

    def told(model: nn.Module, ids: Tensor, seen: Tensor) -> Tensor:
        return model(input_ids=ids, pixel_values=seen, image_attention_mask=ids.new_ones(*ids.shape, 1), labels=ids).loss

    return Subject(model, lambda samples: (torch.randint(3, VOCABULARY, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 1, 3, pixels, pixels)), told)


def falcon_h1(size: str) -> Subject:
    """Attention and a state space beside each other in each layer; the states are computed in chunks of 32 words."""
    from transformers import FalconH1Config, FalconH1ForCausalLM

    config = FalconH1Config(**stack(size), num_key_value_heads=2, mamba_d_ssm=width(size), mamba_n_heads=4, mamba_d_state=32, mamba_chunk_size=32, max_position_embeddings=512, **SPECIAL)
    return Subject(FalconH1ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def kosmos2_5(size: str) -> Subject:
    """What writes of a page what is seen: norms within attention and MLP, before their last layers, and places that are counted from the words."""
    from transformers.models.kosmos2_5.configuration_kosmos2_5 import Kosmos2_5TextConfig
    from transformers.models.kosmos2_5.modeling_kosmos2_5 import Kosmos2_5TextForCausalLM

    config = Kosmos2_5TextConfig(vocab_size=VOCABULARY, embed_dim=width(size), layers=4, ffn_dim=1024, attention_heads=4, max_position_embeddings=512, **SPECIAL)
    return Subject(Kosmos2_5TextForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def bark(size: str) -> Subject:
    """The first of three parts that speak a text, which foresees what is meant; it has no loss of its own."""
    from transformers.models.bark.configuration_bark import BarkSemanticConfig
    from transformers.models.bark.modeling_bark import BarkSemanticModel

    config = BarkSemanticConfig(block_size=512, input_vocab_size=VOCABULARY, output_vocab_size=VOCABULARY, num_layers=4, num_heads=4, hidden_size=width(size))

    def foreseen(model: nn.Module, ids: Tensor) -> Tensor:
        return F.cross_entropy(model(ids).logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    return Subject(BarkSemanticModel(config), tokens(VOCABULARY, length(size)), foreseen)


def moshi(size: str) -> Subject:
    """The part of a model that speaks which foresees its words; the two halves of its MLP are one product."""
    from transformers import MoshiConfig, MoshiForCausalLM

    config = MoshiConfig(vocab_size=VOCABULARY, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, ffn_dim=2048, max_position_embeddings=512, **SPECIAL)
    return Subject(MoshiForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def kyutai_speech_to_text(size: str) -> Subject:
    """Writes down what is said while it is heard: the embeddings of a word and of four codes of sound are added up in each step. What makes codes of sound is there, and is not used."""
    from transformers import KyutaiSpeechToTextConfig, KyutaiSpeechToTextForConditionalGeneration

    codec = {"model_type": "mimi", "hidden_size": 64, "num_filters": 8, "codebook_size": 256, "codebook_dim": 32, "vector_quantization_hidden_dimension": 32, "num_quantizers": 4, "upsample_groups": 64,
             "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 128}
    config = KyutaiSpeechToTextConfig(codebook_vocab_size=257, vocab_size=VOCABULARY, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, max_position_embeddings=512, sliding_window=64, ffn_dim=2048,
                                      num_codebooks=4, audio_bos_token_id=256, audio_pad_token_id=VOCABULARY + 4 * 257, codec_config=codec, **SPECIAL)
    model = KyutaiSpeechToTextForConditionalGeneration(config)
    model.codec_model.requires_grad_(False)

    def written(model: nn.Module, words: Tensor, codes: Tensor) -> Tensor:
        return model(input_ids=torch.cat((words[..., None], codes), -1), labels=words).loss

    def sample(samples: int) -> Batch:
        count = int(length(size) * LENGTH.factor)
        return torch.randint(3, VOCABULARY, (samples, count)), torch.randint(256, (samples, count, 4))

    return Subject(model, sample, written)


def git(size: str) -> Subject:
    """Says what an image shows: its patches stand before the words, and see each other, while words see what is before them; attention to all is written out."""
    from transformers import GitConfig, GitForCausalLM

    pixels = scaled(size, 64, 96, 128)
    sight = {"hidden_size": scaled(size, 192, 256, 320), "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": pixels}
    config = GitConfig(**stack(size), vision_config=sight, max_position_embeddings=512, **SPECIAL)

    def told(model: nn.Module, ids: Tensor, seen: Tensor) -> Tensor:
        return model(input_ids=ids, pixel_values=seen, labels=ids).loss

    return Subject(GitForCausalLM(config), lambda samples: (torch.randint(3, VOCABULARY, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels)), told)


def mamba2(size: str) -> Subject:
    """A state of each head goes from word to word, computed in chunks of 32 words; what it says is normed in groups, behind a gate. No attention."""
    from transformers import Mamba2Config, Mamba2ForCausalLM

    config = Mamba2Config(vocab_size=VOCABULARY, hidden_size=width(size), num_heads=width(size) // 16, head_dim=32, state_size=32, n_groups=2, chunk_size=32, num_hidden_layers=4, **SPECIAL)
    return Subject(Mamba2ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def xlstm(size: str) -> Subject:
    """A matrix of each head goes from word to word, computed in chunks of 16 words, forwards and backwards in code of its own. No attention."""
    from transformers import xLSTMConfig, xLSTMForCausalLM

    config = xLSTMConfig(vocab_size=VOCABULARY, hidden_size=width(size), num_hidden_layers=4, num_heads=4, chunk_size=16, mode="train", **SPECIAL)
    return Subject(xLSTMForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def olmo_hybrid(size: str) -> Subject:
    """Three of four layers keep a matrix that each word corrects, with norms before what they do; the fourth has attention without positions, with norms behind it."""
    from transformers import OlmoHybridConfig, OlmoHybridForCausalLM

    config = OlmoHybridConfig(**stack(size), num_key_value_heads=2, max_position_embeddings=512, **SPECIAL)
    return Subject(OlmoHybridForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def reformer(size: str) -> Subject:
    """Layers that can be undone, so that nothing of them is kept: what went into each is computed again from what came out, within an operator of its own. Attention is in turns within chunks, and within buckets of words that
    look alike, which a random turn sorts, twice. Places are rows and columns, whose lengths say how many words there must be."""
    from transformers import ReformerConfig, ReformerModelWithLMHead

    wide, count, chunk = width(size), 2 * length(size), scaled(size, 16, 32, 64)
    config: Any = ReformerConfig(vocab_size=VOCABULARY, hidden_size=wide, feed_forward_size=1024, num_attention_heads=4, attention_head_size=64, attn_layers=["local", "lsh", "local", "lsh"], num_hashes=2,
                                 local_attn_chunk_length=chunk, lsh_attn_chunk_length=chunk, max_position_embeddings=512, axial_pos_shape=[8, count // 8], axial_pos_embds_dim=[wide // 4, wide - wide // 4],
                                 is_decoder=True, **SPECIAL)
    model = ReformerModelWithLMHead(config)
    model.lm_head.bias.requires_grad_(False)  # which is not used
    return Subject(model, lambda samples: (torch.randint(1, VOCABULARY, (samples, count)),), causal)
