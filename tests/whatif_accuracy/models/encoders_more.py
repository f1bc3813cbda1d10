# SPDX-License-Identifier: Apache-2.0
"""More models of text that fill in words, or make one text of another, from the package transformers."""

from .sizes import SPECIAL, VOCABULARY, length, stack, width
from .subject import Subject, causal, tokens


def layoutlm(size: str) -> Subject:
    """Each word also has its place on a page."""
    from transformers import LayoutLMConfig, LayoutLMForMaskedLM

    config = LayoutLMConfig(**stack(size), max_2d_position_embeddings=64, pad_token_id=0)
    return Subject(LayoutLMForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def squeezebert(size: str) -> Subject:
    """Convolutions of groups of channels stand where others have linear layers."""
    from transformers import SqueezeBertConfig, SqueezeBertForMaskedLM

    config = SqueezeBertConfig(**stack(size), embedding_size=width(size), pad_token_id=0)
    return Subject(SqueezeBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def prophetnet(size: str) -> Subject:
    """Foresees two words at a time: attention to the words and to those foreseen, written out."""
    from transformers import ProphetNetConfig, ProphetNetForConditionalGeneration

    config = ProphetNetConfig(vocab_size=VOCABULARY, hidden_size=width(size), encoder_ffn_dim=1024, decoder_ffn_dim=1024, num_encoder_layers=2, num_decoder_layers=2,
                              num_encoder_attention_heads=4, num_decoder_attention_heads=4, decoder_start_token_id=0, **SPECIAL)
    return Subject(ProphetNetForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def xmod(size: str) -> Subject:
    """Each layer has an adapter for each language, of which one is used."""
    from transformers import XmodConfig, XmodForMaskedLM

    config = XmodConfig(**stack(size), max_position_embeddings=514, default_language="en_XX", **SPECIAL)
    return Subject(XmodForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def nomic_bert(size: str) -> Subject:
    """BERT whose positions turn queries and keys, with a gate in its MLP."""
    from transformers import NomicBertConfig, NomicBertForMaskedLM

    config = NomicBertConfig(**stack(size), **SPECIAL)
    return Subject(NomicBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)
