# SPDX-License-Identifier: Apache-2.0
"""Models of text that fill in words, or make one text of another, from the package transformers."""

from .sizes import SPECIAL, TWO_SIDED, VOCABULARY, length, stack, width
from .subject import Subject, causal, scaled, tokens


def bert(size: str) -> Subject:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(**stack(size), attn_implementation="eager")
    return Subject(BertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def albert(size: str) -> Subject:
    """Its layers are one, called again and again."""
    from transformers import AlbertConfig, AlbertForMaskedLM

    config = AlbertConfig(vocab_size=VOCABULARY, embedding_size=128, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, **SPECIAL)
    return Subject(AlbertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def distilbert(size: str) -> Subject:
    from transformers import DistilBertConfig, DistilBertForMaskedLM

    config = DistilBertConfig(vocab_size=VOCABULARY, dim=width(size), hidden_dim=1024, n_layers=4, n_heads=4, pad_token_id=0)
    return Subject(DistilBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def electra(size: str) -> Subject:
    from transformers import ElectraConfig, ElectraForMaskedLM

    config = ElectraConfig(vocab_size=VOCABULARY, embedding_size=128, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, pad_token_id=0)
    return Subject(ElectraForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def roberta(size: str) -> Subject:
    from transformers import RobertaConfig, RobertaForMaskedLM

    config = RobertaConfig(**stack(size), max_position_embeddings=514, **SPECIAL)
    return Subject(RobertaForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def mpnet(size: str) -> Subject:
    """One table of relative positions for all layers."""
    from transformers import MPNetConfig, MPNetForMaskedLM

    config = MPNetConfig(**stack(size), max_position_embeddings=514, **SPECIAL)
    return Subject(MPNetForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def deberta(size: str) -> Subject:
    """Attention to contents and to positions apart, as in its third version."""
    from transformers import DebertaV2Config, DebertaV2ForMaskedLM

    config = DebertaV2Config(**stack(size), relative_attention=True,
                             pos_att_type=["p2c", "c2p"], position_buckets=32, norm_rel_ebd="layer_norm", share_att_key=True, position_biased_input=False, pad_token_id=0)
    return Subject(DebertaV2ForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def esm(size: str) -> Subject:
    """Of proteins: positions are turned into queries and keys, and what is masked scales its embeddings."""
    from transformers import EsmConfig, EsmForMaskedLM

    config = EsmConfig(**stack(size), max_position_embeddings=514,
                       position_embedding_type="rotary", token_dropout=True, mask_token_id=3, pad_token_id=0)
    return Subject(EsmForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def mobilebert(size: str) -> Subject:
    """Narrow within each layer, with four MLPs in a row and norms that divide by nothing."""
    from transformers import MobileBertConfig, MobileBertForMaskedLM

    config = MobileBertConfig(vocab_size=VOCABULARY, hidden_size=width(size), num_hidden_layers=4, intermediate_size=512, pad_token_id=0)
    return Subject(MobileBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def megatron_bert(size: str) -> Subject:
    """Norms stand before attention and MLP."""
    from transformers import MegatronBertConfig, MegatronBertForMaskedLM

    config = MegatronBertConfig(**stack(size), pad_token_id=0)
    return Subject(MegatronBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def modernbert(size: str) -> Subject:
    """Two of three layers look at a window; the MLP has a gate."""
    from transformers import ModernBertConfig, ModernBertForMaskedLM

    config = ModernBertConfig(vocab_size=VOCABULARY, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=512, max_position_embeddings=512, local_attention=64,
                              cls_token_id=1, sep_token_id=2, **SPECIAL)
    return Subject(ModernBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def roformer(size: str) -> Subject:
    """Positions are sines that turn queries and keys."""
    from transformers import RoFormerConfig, RoFormerForMaskedLM

    config = RoFormerConfig(vocab_size=VOCABULARY, embedding_size=128, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, max_position_embeddings=512,
                            pad_token_id=0)
    return Subject(RoFormerForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def t5(size: str) -> Subject:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(vocab_size=VOCABULARY, d_model=width(size), d_kv=64, d_ff=1024, num_layers=3, num_heads=4, decoder_start_token_id=0)
    return Subject(T5ForConditionalGeneration(config), tokens(VOCABULARY, scaled(size, 32, 64, 128)), causal)


def bart(size: str) -> Subject:
    from transformers import BartConfig, BartForConditionalGeneration

    config = BartConfig(d_model=width(size), decoder_start_token_id=1, **TWO_SIDED)
    return Subject(BartForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def marian(size: str) -> Subject:
    """Translates: encoder, decoder and head share a table."""
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(d_model=width(size), decoder_start_token_id=0, scale_embedding=True, **TWO_SIDED)
    return Subject(MarianMTModel(config), tokens(VOCABULARY, length(size)), causal)


def m2m_100(size: str) -> Subject:
    """Translates, without the layers that it leaves out at random."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    config = M2M100Config(d_model=width(size), encoder_layerdrop=0.0, decoder_layerdrop=0.0, decoder_start_token_id=2, **TWO_SIDED)
    return Subject(M2M100ForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def pegasus(size: str) -> Subject:
    """Sums up: norms stand before attention and MLP, and positions are sines."""
    from transformers import PegasusConfig, PegasusForConditionalGeneration

    config = PegasusConfig(d_model=width(size), decoder_start_token_id=0, scale_embedding=True, **TWO_SIDED)
    return Subject(PegasusForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def blenderbot(size: str) -> Subject:
    """Talks: norms stand before attention and MLP."""
    from transformers import BlenderbotConfig, BlenderbotForConditionalGeneration

    config = BlenderbotConfig(d_model=width(size), encoder_layerdrop=0.0, decoder_layerdrop=0.0, decoder_start_token_id=1, **TWO_SIDED)
    return Subject(BlenderbotForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def mbart(size: str) -> Subject:
    """Translates: norms stand before attention and MLP, and behind all of them."""
    from transformers import MBartConfig, MBartForConditionalGeneration

    config = MBartConfig(d_model=width(size), encoder_layerdrop=0.0, decoder_layerdrop=0.0, **TWO_SIDED)
    return Subject(MBartForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def xlm_roberta_xl(size: str) -> Subject:
    """Norms stand before attention and MLP, and behind all layers."""
    from transformers import XLMRobertaXLConfig, XLMRobertaXLForMaskedLM

    config = XLMRobertaXLConfig(**stack(size), max_position_embeddings=514, **SPECIAL)
    return Subject(XLMRobertaXLForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def convbert(size: str) -> Subject:
    """Half of the heads are convolutions whose weights come of the tokens."""
    from transformers import ConvBertConfig, ConvBertForMaskedLM

    config = ConvBertConfig(vocab_size=VOCABULARY, embedding_size=128, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, **SPECIAL)
    return Subject(ConvBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def plbart(size: str) -> Subject:
    """Of programs, with norms behind attention and MLP."""
    from transformers import PLBartConfig, PLBartForConditionalGeneration

    config = PLBartConfig(d_model=width(size), **TWO_SIDED)
    return Subject(PLBartForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def ernie(size: str) -> Subject:
    """With a table of tasks beside those of places and of sides."""
    from transformers import ErnieConfig, ErnieForMaskedLM

    config = ErnieConfig(**stack(size), use_task_id=True, pad_token_id=0)
    return Subject(ErnieForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def nystromformer(size: str) -> Subject:
    """Attention goes by landmarks, whose products are turned around by iteration."""
    from transformers import NystromformerConfig, NystromformerForMaskedLM

    config = NystromformerConfig(**stack(size), num_landmarks=16, segment_means_seq_len=length(size), **SPECIAL)
    return Subject(NystromformerForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def rembert(size: str) -> Subject:
    """Narrow embeddings where words go in, and a table of its own, of another width, where they come out."""
    from transformers import RemBertConfig, RemBertForMaskedLM

    config = RemBertConfig(**stack(size), input_embedding_size=128, output_embedding_size=512, **SPECIAL)
    return Subject(RemBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def blenderbot_small(size: str) -> Subject:
    """Talks: norms stand behind attention and MLP, and behind the embeddings."""
    from transformers import BlenderbotSmallConfig, BlenderbotSmallForConditionalGeneration

    config = BlenderbotSmallConfig(d_model=width(size), encoder_layerdrop=0.0, decoder_layerdrop=0.0, decoder_start_token_id=1, **TWO_SIDED)
    return Subject(BlenderbotSmallForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def eurobert(size: str) -> Subject:
    """Built like a decoder, with attention to both sides."""
    from transformers import EuroBertConfig, EuroBertForMaskedLM

    config = EuroBertConfig(**stack(size), num_key_value_heads=2, mask_token_id=3, **SPECIAL)
    return Subject(EuroBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def umt5(size: str) -> Subject:
    """Each layer has a table of relative positions of its own; the MLP has a gate."""
    from transformers import UMT5Config, UMT5ForConditionalGeneration

    config = UMT5Config(vocab_size=VOCABULARY, d_model=width(size), d_kv=64, d_ff=1024, num_layers=3, num_heads=4, decoder_start_token_id=0)
    return Subject(UMT5ForConditionalGeneration(config), tokens(VOCABULARY, scaled(size, 32, 64, 128)), causal)


def roberta_prelayernorm(size: str) -> Subject:
    """Built like RoBERTa, but norms stand before attention and MLP, and behind all layers."""
    from transformers import RobertaPreLayerNormConfig, RobertaPreLayerNormForMaskedLM

    config = RobertaPreLayerNormConfig(**stack(size), max_position_embeddings=514, **SPECIAL)
    return Subject(RobertaPreLayerNormForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def mvp(size: str) -> Subject:
    """Attention is written out; norms stand behind attention and MLP."""
    from transformers import MvpConfig, MvpForConditionalGeneration

    config = MvpConfig(d_model=width(size), encoder_layerdrop=0.0, decoder_layerdrop=0.0, decoder_start_token_id=2, **TWO_SIDED)
    return Subject(MvpForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def camembert(size: str) -> Subject:
    """RoBERTa by another name."""
    from transformers import CamembertConfig, CamembertForMaskedLM

    config = CamembertConfig(**stack(size), max_position_embeddings=514, **SPECIAL)
    return Subject(CamembertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def mt5(size: str) -> Subject:
    """T5 whose MLP has a gate."""
    from transformers import MT5Config, MT5ForConditionalGeneration

    config = MT5Config(vocab_size=VOCABULARY, d_model=width(size), d_kv=64, d_ff=1024, num_layers=3, num_heads=4, decoder_start_token_id=0)
    return Subject(MT5ForConditionalGeneration(config), tokens(VOCABULARY, scaled(size, 32, 64, 128)), causal)
