# SPDX-License-Identifier: Apache-2.0
"""More models of text that fill in words, or make one text of another, from the package transformers."""

import torch
from torch import Tensor, nn

from .sizes import SPECIAL, VOCABULARY, length, stack, width
from .subject import LENGTH, Batch, Subject, causal, scaled, tokens


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


def roc_bert(size: str) -> Subject:
    """Each word also has a shape and a sound; what is known of it is joined and mapped."""
    from transformers import RoCBertConfig, RoCBertForMaskedLM

    def words(count: int) -> tuple[Tensor, ...]:
        shape = (count, int(length(size) * LENGTH.factor))
        return torch.randint(VOCABULARY, shape), torch.randint(500, shape), torch.randint(200, shape)

    def masked(model: nn.Module, ids: Tensor, shapes: Tensor, sounds: Tensor) -> Tensor:
        return model(input_ids=ids, input_shape_ids=shapes, input_pronunciation_ids=sounds, labels=ids).loss

    config = RoCBertConfig(**stack(size), shape_vocab_size=500, shape_embed_dim=128, pronunciation_vocab_size=200, pronunciation_embed_dim=192, pad_token_id=0)
    return Subject(RoCBertForMaskedLM(config), words, masked)


def flaubert(size: str) -> Subject:
    """Attention and MLPs are in lists of their own; what is no word is multiplied away behind each."""
    from transformers import FlaubertConfig, FlaubertWithLMHeadModel

    config = FlaubertConfig(vocab_size=VOCABULARY, emb_dim=width(size), n_layers=4, n_heads=4, pad_index=0, bos_index=1, eos_index=2, **SPECIAL)
    return Subject(FlaubertWithLMHeadModel(config), tokens(VOCABULARY, length(size)), causal)


def fsmt(size: str) -> Subject:
    """Time comes first and the batch behind it; source and target have vocabularies of their own."""
    from transformers import FSMTConfig, FSMTForConditionalGeneration

    config = FSMTConfig(langs=["en", "de"], src_vocab_size=VOCABULARY, tgt_vocab_size=VOCABULARY, d_model=width(size), encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                        decoder_attention_heads=4, encoder_ffn_dim=1024, decoder_ffn_dim=1024, max_position_embeddings=512, decoder_start_token_id=2, forced_eos_token_id=None, **SPECIAL)
    return Subject(FSMTForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def luke(size: str) -> Subject:
    """Words alone, of a model that knows of entities: queries are computed twice where there are both."""
    from transformers import LukeConfig, LukeForMaskedLM

    config = LukeConfig(**stack(size), entity_vocab_size=100, entity_emb_size=64, max_position_embeddings=514, **SPECIAL)
    return Subject(LukeForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def lilt(size: str) -> Subject:
    """Words, and their places in a narrower model beside it; each looks at the other's scores."""
    from transformers import LiltConfig, LiltForTokenClassification

    config = LiltConfig(**{**stack(size), "hidden_size": scaled(size, 192, 288, 384)}, max_position_embeddings=514, max_2d_position_embeddings=64, num_labels=100, pad_token_id=0)
    return Subject(LiltForTokenClassification(config), tokens(100, length(size)), causal)


def pegasus_x(size: str) -> Subject:
    """Attention within blocks of words, every other layer's shifted by half a block, and to words that stand for all."""
    from transformers import PegasusXConfig, PegasusXForConditionalGeneration

    config = PegasusXConfig(vocab_size=VOCABULARY, d_model=width(size), encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=1024,
                            decoder_ffn_dim=1024, max_position_embeddings=512, num_global_tokens=8, block_size=32, decoder_start_token_id=0, **SPECIAL)
    return Subject(PegasusXForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def big_bird(size: str) -> Subject:
    """Attention to parts of a long text, which is too short here: it looks at all words, written out."""
    from transformers import BigBirdConfig, BigBirdForMaskedLM

    config = BigBirdConfig(**stack(size), max_position_embeddings=512, sep_token_id=3, **SPECIAL)
    return Subject(BigBirdForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def fnet(size: str) -> Subject:
    """Words are mixed by a Fourier transform."""
    from transformers import FNetConfig, FNetForMaskedLM

    config = FNetConfig(**{name: value for name, value in stack(size).items() if name != "num_attention_heads"}, max_position_embeddings=512, **SPECIAL)
    return Subject(FNetForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def canine(size: str) -> Subject:
    """Reads letters; four become one by a convolution, and are widened again behind the blocks."""
    from transformers import CanineConfig, CanineForTokenClassification

    shape = {name: value for name, value in stack(size).items() if name != "vocab_size"}
    config = CanineConfig(**shape, max_position_embeddings=1024, num_hash_buckets=1024, num_labels=100, pad_token_id=0)
    return Subject(CanineForTokenClassification(config), tokens(100, 4 * length(size)), causal)


def t5gemma(size: str) -> Subject:
    """Gemma2 that makes one text of another."""
    from transformers import T5GemmaConfig, T5GemmaForConditionalGeneration

    side = {**stack(size), "num_hidden_layers": 2, "num_key_value_heads": 2, "head_dim": 64, "sliding_window": 64, "max_position_embeddings": 512, **SPECIAL}
    config = T5GemmaConfig(encoder=side, decoder=side, vocab_size=VOCABULARY, **SPECIAL)
    return Subject(T5GemmaForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def markuplm(size: str) -> Subject:
    """Each word also has its path in a page's tree."""
    from transformers import MarkupLMConfig, MarkupLMForTokenClassification

    config = MarkupLMConfig(**stack(size), max_position_embeddings=514, num_labels=100, **SPECIAL)
    return Subject(MarkupLMForTokenClassification(config), tokens(100, length(size)), causal)


def gte(size: str) -> Subject:
    """BERT whose positions turn queries and keys, with a gate in its MLP."""
    from transformers import GteConfig, GteForMaskedLM

    config = GteConfig(**stack(size), max_position_embeddings=512, **SPECIAL)
    return Subject(GteForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def led(size: str) -> Subject:
    """Each word looks at those within a window, in overlapping pieces of the text, which is filled up to whole windows."""
    from transformers import LEDConfig, LEDForConditionalGeneration

    config = LEDConfig(vocab_size=VOCABULARY, d_model=width(size), encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=1024,
                       decoder_ffn_dim=1024, max_encoder_position_embeddings=512, max_decoder_position_embeddings=512, attention_window=32, decoder_start_token_id=2, **SPECIAL)
    return Subject(LEDForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def splinter(size: str) -> Subject:
    """Finds the words that answer a question, at a token that stands for the question."""
    from transformers import SplinterConfig, SplinterForQuestionAnswering

    config = SplinterConfig(**stack(size), pad_token_id=0)

    def words(count: int) -> tuple[Tensor, ...]:
        shape = (count, int(length(size) * LENGTH.factor))
        return torch.randint(VOCABULARY, shape), torch.randint(shape[1], (count,)), torch.randint(shape[1], (count,))

    return Subject(SplinterForQuestionAnswering(config), words, lambda model, ids, first, last: model(input_ids=ids, start_positions=first, end_positions=last).loss)


def funnel(size: str) -> Subject:
    """Half as many words behind the first two layers; at the end they are as many again."""
    from transformers import FunnelConfig, FunnelForMaskedLM

    config = FunnelConfig(vocab_size=VOCABULARY, block_sizes=[2, 2], num_decoder_layers=1, d_model=width(size), n_head=4, d_head=64, d_inner=1024, pad_token_id=0)
    return Subject(FunnelForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def bigbird_pegasus(size: str) -> Subject:
    """Attention to parts of a long text, which is too short here: it looks at all words, written out."""
    from transformers import BigBirdPegasusConfig, BigBirdPegasusForConditionalGeneration

    config = BigBirdPegasusConfig(vocab_size=VOCABULARY, d_model=width(size), encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=1024,
                                  decoder_ffn_dim=1024, max_position_embeddings=512, attention_type="original_full", **SPECIAL)
    return Subject(BigBirdPegasusForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def jina_embeddings_v3(size: str) -> Subject:
    """BERT whose positions turn queries and keys."""
    from transformers import JinaEmbeddingsV3Config, JinaEmbeddingsV3ForMaskedLM

    config = JinaEmbeddingsV3Config(**stack(size), max_position_embeddings=512, **SPECIAL)
    return Subject(JinaEmbeddingsV3ForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def layoutlmv3(size: str) -> Subject:
    """Each word also has its place on a page; distances of words and of places are added to the scores."""
    from transformers import LayoutLMv3Config, LayoutLMv3ForTokenClassification

    config = LayoutLMv3Config(**stack(size), max_position_embeddings=514, max_2d_position_embeddings=64, coordinate_size=scaled(size, 44, 56, 64), shape_size=scaled(size, 40, 48, 64), visual_embed=False,
                              num_labels=100, **SPECIAL)
    return Subject(LayoutLMv3ForTokenClassification(config), tokens(100, length(size)), causal)


def esmc(size: str) -> Subject:
    """Proteins: queries and keys have norms, and positions turn them."""
    from transformers import EsmcConfig, EsmcForMaskedLM

    config = EsmcConfig(**{**stack(size), "vocab_size": 64}, **SPECIAL)
    return Subject(EsmcForMaskedLM(config), tokens(64, length(size)), causal)


def longt5(size: str) -> Subject:
    """T5 whose encoder looks at blocks of 16 words and those beside them."""
    from transformers import LongT5Config, LongT5ForConditionalGeneration

    config = LongT5Config(vocab_size=VOCABULARY, d_model=width(size), d_kv=64, d_ff=1024, num_layers=2, num_decoder_layers=2, num_heads=4, local_radius=15, decoder_start_token_id=0, **SPECIAL)
    return Subject(LongT5ForConditionalGeneration(config), tokens(VOCABULARY, length(size)), causal)


def visual_bert(size: str) -> Subject:
    """Words, and eight parts of a picture behind them."""
    from transformers import VisualBertConfig, VisualBertForPreTraining

    parts = 8

    def seen(count: int) -> tuple[Tensor, ...]:
        return torch.randint(VOCABULARY, (count, int(length(size) * LENGTH.factor))), torch.randn(count, parts, 128)

    def masked(model: nn.Module, ids: Tensor, picture: Tensor) -> Tensor:
        labels = torch.cat([ids, ids.new_full((len(ids), parts), -100)], dim=1)
        return model(input_ids=ids, attention_mask=torch.ones_like(ids), visual_embeds=picture, visual_attention_mask=ids.new_ones(len(ids), parts), labels=labels).loss

    config = VisualBertConfig(**stack(size), visual_embedding_dim=128, max_position_embeddings=512, **SPECIAL)
    return Subject(VisualBertForPreTraining(config), seen, masked)


def ibert(size: str) -> Subject:
    """RoBERTa made of layers that can count in integers, and do not here."""
    from transformers import IBertConfig, IBertForMaskedLM

    config = IBertConfig(**stack(size), max_position_embeddings=514, **SPECIAL)
    return Subject(IBertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def perceiver(size: str) -> Subject:
    """Letters are read once into latents that are fewer, which see each other; queries by place ask these for words."""
    from transformers import PerceiverConfig, PerceiverForMaskedLM

    count, wide = 2 * length(size), width(size)
    config = PerceiverConfig(vocab_size=262, d_model=wide, num_latents=scaled(size, 32, 64, 128), d_latents=wide + 64, num_blocks=1, num_self_attends_per_block=4, num_self_attention_heads=4,
                             num_cross_attention_heads=4, qk_channels=wide, v_channels=wide + 64, max_position_embeddings=count)

    def guessed(model: nn.Module, ids: Tensor, labels: Tensor) -> Tensor:
        return model(inputs=ids, attention_mask=torch.ones_like(ids), labels=labels).loss

    return Subject(PerceiverForMaskedLM(config), lambda samples: (torch.randint(262, (samples, count)), torch.randint(262, (samples, count))), guessed)


def bridgetower(size: str) -> Subject:
    """A text and an image, each with a tower of its own, which layers join whose inputs are sums over links."""
    from transformers import BridgeTowerConfig, BridgeTowerForMaskedLM

    count, wide, pixels = length(size) // 2, width(size), scaled(size, 64, 96, 128)
    text = {"vocab_size": VOCABULARY, "hidden_size": wide, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024, "max_position_embeddings": 514}
    sight = {"hidden_size": wide, "num_hidden_layers": 4, "patch_size": 16, "image_size": pixels}
    config = BridgeTowerConfig(hidden_size=wide, num_attention_heads=4, num_hidden_layers=2, text_config=text, vision_config=sight)

    def guessed(model: nn.Module, ids: Tensor, seen: Tensor) -> Tensor:
        return model(input_ids=ids, pixel_values=seen, labels=ids).loss

    return Subject(BridgeTowerForMaskedLM(config), lambda samples: (torch.randint(2, VOCABULARY, (samples, count)), torch.randn(samples, 3, pixels, pixels)), guessed)


def deberta_v2(size: str) -> Subject:
    """DeBERTa with buckets of distances, one table for keys and queries, and a convolution beside the first layer."""
    from transformers import DebertaV2Config, DebertaV2ForMaskedLM

    config = DebertaV2Config(**stack(size), max_position_embeddings=512, relative_attention=True, position_buckets=32, pos_att_type=["c2p", "p2c"], share_att_key=True, norm_rel_ebd="layer_norm", position_biased_input=False, conv_kernel_size=3, conv_act="gelu", pad_token_id=0)
    return Subject(DebertaV2ForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def t5gemma2(size: str) -> Subject:
    """T5Gemma whose decoder looks at itself and at the encoder in one attention; the encoder's eyes are not used."""
    from transformers import T5Gemma2Config, T5Gemma2ForConditionalGeneration

    text = {**stack(size), "num_key_value_heads": 2, "head_dim": 64, "sliding_window": 512, "query_pre_attn_scalar": 64, **SPECIAL}
    sight = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 32, "patch_size": 16}
    config = T5Gemma2Config(encoder={"text_config": {**text, "num_hidden_layers": 2}, "vision_config": sight}, decoder={**text, "num_hidden_layers": 2}, vocab_size=VOCABULARY, eoi_token_index=3, image_token_index=4)

    def answered(model: nn.Module, ids: Tensor) -> Tensor:
        return model(input_ids=ids, labels=ids).loss

    return Subject(T5Gemma2ForConditionalGeneration(config), lambda samples: (torch.randint(5, VOCABULARY, (samples, int(length(size) * LENGTH.factor))),), answered)


def longformer(size: str) -> Subject:
    """Each word looks at its neighbours in windows of 32, which overlap."""
    from transformers import LongformerConfig, LongformerForMaskedLM

    config = LongformerConfig(**stack(size), attention_window=32, max_position_embeddings=514, **SPECIAL)
    return Subject(LongformerForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def xlm_roberta(size: str) -> Subject:
    """RoBERTa, under another name."""
    from transformers import XLMRobertaConfig, XLMRobertaForMaskedLM

    config = XLMRobertaConfig(**stack(size), max_position_embeddings=514, **SPECIAL)
    return Subject(XLMRobertaForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def ultrabert(size: str) -> Subject:
    """Two of three layers see 32 words to both sides; the head is an MLP."""
    from transformers import UltrabertConfig, UltrabertForMaskedLM

    config = UltrabertConfig(**stack(size), sliding_window=32, prediction_head_size=width(size), max_position_embeddings=512, **SPECIAL)
    return Subject(UltrabertForMaskedLM(config), tokens(VOCABULARY, length(size)), causal)


def bros(size: str) -> Subject:
    """Each word also has its place on a page, and scores are added for how far and where each lies from each."""
    from transformers import BrosConfig, BrosForTokenClassification

    config = BrosConfig(**stack(size), max_position_embeddings=512, num_labels=100, pad_token_id=0)

    def words(count: int) -> tuple[Tensor, ...]:
        shape = (count, int(length(size) * LENGTH.factor))
        return torch.randint(VOCABULARY, shape), torch.rand(*shape, 4), torch.randint(100, shape)

    def named(model: nn.Module, ids: Tensor, boxes: Tensor, labels: Tensor) -> Tensor:
        return model(input_ids=ids, bbox=boxes, labels=labels).loss

    return Subject(BrosForTokenClassification(config), words, named)


def pix2struct(size: str) -> Subject:
    """Reads a page: patches that bring their row and column with them, and a T5 that writes what is on it."""
    from transformers import Pix2StructConfig, Pix2StructForConditionalGeneration

    wide, patches = scaled(size, 192, 256, 320), scaled(size, 32, 64, 128)
    text = {"vocab_size": VOCABULARY, "hidden_size": wide, "d_kv": wide // 4, "d_ff": 768, "num_layers": 3, "num_heads": 4, "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
    sight = {"hidden_size": wide, "patch_embed_hidden_size": 192, "d_ff": 768, "d_kv": wide // 4, "num_hidden_layers": 3, "num_attention_heads": 4, "seq_len": 64}
    config = Pix2StructConfig(text_config=text, vision_config=sight, pad_token_id=0, decoder_start_token_id=0)

    def page(samples: int) -> Batch:
        places = torch.stack([torch.arange(patches) // 16, torch.arange(patches) % 16], -1).float().expand(samples, -1, -1)
        return torch.cat([places, torch.randn(samples, patches, 192)], -1), torch.randint(3, VOCABULARY, (samples, int(length(size) * LENGTH.factor)))

    return Subject(Pix2StructForConditionalGeneration(config), page, lambda model, seen, ids: model(flattened_patches=seen, labels=ids).loss)


def udop(size: str) -> Subject:
    """T5 that reads a page: distances within the text, across the page and down it are looked up, added up, and added to attention. Without the page's image."""
    from transformers import UdopConfig, UdopForConditionalGeneration

    count = scaled(size, 32, 96, 192)
    config = UdopConfig(vocab_size=VOCABULARY, d_model=width(size), d_kv=64, d_ff=1024, num_layers=3, num_heads=4, image_size=64, decoder_start_token_id=0)
    model = UdopForConditionalGeneration(config)
    for module in (model.patch_embed, model.decoder.embed_patches, model.decoder.relative_bias.biases[1:]):
        module.requires_grad_(False)

    def written(model: nn.Module, ids: Tensor, boxes: Tensor, labels: Tensor) -> Tensor:
        return model(input_ids=ids, bbox=boxes, labels=labels).loss

    return Subject(model, lambda samples: (torch.randint(3, VOCABULARY, (samples, int(count * LENGTH.factor))), torch.rand(samples, int(count * LENGTH.factor), 4),
                                           torch.randint(3, VOCABULARY, (samples, int(count // 2 * LENGTH.factor)))), written)
