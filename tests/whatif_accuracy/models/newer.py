# SPDX-License-Identifier: Apache-2.0
"""Models of text, sound and images from the package transformers: what the files named after these have no room for."""

from typing import Any, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import SPECIAL, TWO_SIDED, VOCABULARY, length, stack, width
from .subject import LENGTH, Batch, Subject, causal, scaled, tokens


def qwen3_5(size: str) -> Subject:
    """Three of four layers keep a matrix that each word corrects, computed in chunks of 64 words by solving triangular systems, in float32; the fourth has attention behind a gate."""
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    config = Qwen3_5TextConfig(**stack(size), num_key_value_heads=2, head_dim=64, linear_key_head_dim=32, linear_value_head_dim=32, linear_num_key_heads=4, linear_num_value_heads=8, max_position_embeddings=512, **SPECIAL)
    return Subject(Qwen3_5ForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def phi4_multimodal(size: str) -> Subject:
    """Phi-3 before whose words stands what a conformer has heard, in steps of eight frames. The program joins them, since the model looks on the device for where they are to go. What sees images is there, and is not used."""
    from transformers import Phi4MultimodalConfig, Phi4MultimodalForCausalLM

    frames = scaled(size, 64, 128, 256)
    sight = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 32, "patch_size": 8, "crop_size": 32}
    sound = {"hidden_size": scaled(size, 128, 192, 256), "intermediate_size": 512, "num_blocks": 3, "num_attention_heads": 4, "ext_pw_out_channel": scaled(size, 128, 192, 256),
             "depthwise_separable_out_channel": scaled(size, 128, 192, 256), "nemo_conv_channels": 64, "bias_max_distance": 64, "feature_layer": -1}
    config = Phi4MultimodalConfig(**stack(size), num_key_value_heads=2, max_position_embeddings=512, original_max_position_embeddings=512, vision_config=sight, audio_config=sound, **SPECIAL)

    class Joined(Phi4MultimodalForCausalLM):
        def forward(self, ids: Tensor, sound: Tensor) -> Any:
            hearing = self.model.embed_tokens_extend.audio_embed
            heard = hearing.down_proj_for_speech(F.gelu(hearing.up_proj_for_speech(hearing.encoder(sound, None))))
            labels = torch.cat((ids.new_full(heard.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((heard, self.model.embed_tokens(ids)), 1), labels=labels)

    model = Joined(config)
    extended = model.model.embed_tokens_extend
    for unused in (extended.image_embed, extended.audio_embed.up_proj_for_vision_speech, extended.audio_embed.down_proj_for_vision_speech):
        unused.requires_grad_(False)

    def sample(samples: int) -> Batch:
        return torch.randint(3, VOCABULARY, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, frames, 80)

    return Subject(model, sample, lambda model, ids, sound: model(ids, sound).loss)


def embedding_gemma2(size: str) -> Subject:
    """Sums up texts so that two that belong together are alike: each layer adds a narrow vector that is computed of the words, and three of four layers see 32 words to both sides."""
    from transformers import EmbeddingGemma2TextConfig
    from transformers.models.embedding_gemma2.modeling_embedding_gemma2 import EmbeddingGemma2TextModel

    config = EmbeddingGemma2TextConfig(**stack(size), num_key_value_heads=2, head_dim=64, global_head_dim=128, num_global_key_value_heads=1, sliding_window=32, sliding_window_pattern=4,
                                       hidden_size_per_layer_input=32, embedding_dim=128, max_position_embeddings=512, **SPECIAL)

    def alike(model: nn.Module, asked: Tensor, answers: Tensor) -> Tensor:
        first, second = F.normalize(model(input_ids=torch.cat((asked, answers))).last_hidden_state.mean(1), dim=-1).chunk(2)
        return F.cross_entropy(first @ second.t() / 0.05, torch.arange(len(first), device=first.device))

    def sample(samples: int) -> Batch:
        count = int(length(size) * LENGTH.factor)
        return torch.randint(3, VOCABULARY, (samples, count)), torch.randint(3, VOCABULARY, (samples, count))

    return Subject(EmbeddingGemma2TextModel(config), sample, alike)


def bamba(size: str) -> Subject:
    """State spaces, computed in chunks of 32 words, in every other layer, and attention in the others, where positions turn half of each head."""
    from transformers import BambaConfig, BambaForCausalLM

    config = BambaConfig(**stack(size), num_key_value_heads=2, attn_layer_indices=[1, 3], mamba_n_heads=8, mamba_d_state=32, mamba_chunk_size=32, max_position_embeddings=512, **SPECIAL)
    return Subject(BambaForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def clvp(size: str) -> Subject:
    """The part of Tortoise that foresees codes of sound: GPT2 with a second norm behind the last; attention is written out."""
    from transformers import ClvpDecoderConfig, ClvpForCausalLM

    config = ClvpDecoderConfig(vocab_size=VOCABULARY, hidden_size=width(size), num_hidden_layers=4, num_attention_heads=4, n_inner=1024, max_position_embeddings=512, bos_token_id=1, eos_token_id=2)
    return Subject(ClvpForCausalLM(config), tokens(VOCABULARY, length(size)), causal)


def neomme(size: str) -> Subject:
    """Patches of an image and words in one encoder, whose first layer sees 32 to both sides and its third 1024: each layer is also given what went into the first, and two add to values what they look up of each
    word. The program puts patches in their places, since the model looks on the device for where they are to go."""
    from transformers import NeoMMEConfig, NeoMMEForMaskedLM

    patches, side = scaled(size, 16, 36, 64), 16
    config = NeoMMEConfig(**stack(size), num_key_value_heads=2, head_dim=64, embedding_rank=scaled(size, 128, 160, 192), patch_size=side, sliding_window=32, max_position_embeddings=512,
                          layer_types=["sliding_attention", "full_attention"] * 2, **SPECIAL)

    class JoinedForMaskedLM(NeoMMEForMaskedLM):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            places = ids.new_full(given.shape[:2], config.image_token_id)
            joining = self.model.embed_tokens.register_forward_hook(lambda _, __, words: torch.cat((self.model.patch_embeddings(given), words[:, patches:]), 1))
            labels = torch.cat((ids.new_full(given.shape[:2], -100), ids), 1)
            told = super().forward(input_ids=torch.cat((places, ids), 1), labels=labels)
            joining.remove()
            return told

    def sample(samples: int) -> Batch:
        return torch.randint(7, VOCABULARY, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, patches, 3 * side * side)

    return Subject(JoinedForMaskedLM(config), sample, lambda model, ids, given: model(ids, given).loss)


def florence2(size: str) -> Subject:
    """Says of an image what is asked: attention within windows of a picture, and of its channels to each other, in turns; a BART reads patches before words. The program joins them, since the model looks on the device
    for where they are to go."""
    from transformers import Florence2Config, Florence2ForConditionalGeneration

    wide, part, pixels, count = width(size), scaled(size, 24, 32, 48), scaled(size, 64, 128, 192), scaled(size, 32, 64, 128)
    sight = {"depths": [1, 1, 2, 1], "embed_dim": [part, 2 * part, 4 * part, 8 * part], "num_heads": [1, 2, 4, 8], "num_groups": [1, 2, 4, 8], "window_size": 4, "projection_dim": wide}
    text = {"model_type": "bart", "d_model": wide, "decoder_start_token_id": 2, "use_cache": False, **TWO_SIDED}
    config = Florence2Config(vision_config=sight, text_config=text, image_token_id=999)

    class JoinedForConditionalGeneration(Florence2ForConditionalGeneration):
        def forward(self, asked: Tensor, given: Tensor, ids: Tensor) -> Any:
            seen = self.model.get_image_features(given).pooler_output
            return super().forward(inputs_embeds=torch.cat((seen, self.get_input_embeddings()(asked)), 1), labels=ids)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(8 * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels), torch.randint(3, 999, (samples, int(count * LENGTH.factor)))

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, asked, given, ids: model(asked, given, ids).loss)


def esmfold2(size: str) -> Subject:
    """How far apart parts of a protein are: what is known of each pair of them is mended by way of every third, twice in all layers, with what a language model knew of them and with other proteins like it.
    The language model, and what draws atoms and says how sure it is, are there, and are not used."""
    from transformers import EsmFold2Config, EsmFold2Model
    from transformers.models.esmfold2.modeling_esmfold2 import EsmFold2AtomInputs

    parts, atoms, wide, others = scaled(size, 16, 24, 32), 4, scaled(size, 32, 48, 48), 4
    reader = {"model_type": "esmc", "vocab_size": 64, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
    of_atoms = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
    drawing = {"diffusion_module": {"hidden_size": 64, "fourier_dim": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 128, "pair_intermediate_size": 64,
                                    "atom_encoder": {**of_atoms, "output_dim": 64}}, "num_distogram_bins": 32}
    config: Any = EsmFold2Config(hidden_size=64, pairwise_hidden_size=wide, single_inputs_size=128 + 2 * 33 + 1, pair_transition_intermediate_size=4 * wide, sliding_window=32, chunk_size=16, num_loops=1,
                                 folding_trunk_num_hidden_layers=2, parcae_num_coda_layers=1, atom_encoder={**of_atoms, "output_dim": 128}, structure_head=drawing, confidence_head={"num_hidden_layers": 1},
                                 msa_encoder={"hidden_size": 64, "outer_hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 16, "intermediate_size": 128},
                                 lm_encoder={"num_hidden_layers": 1}, esmc_config=reader)
    model = EsmFold2Model(config)
    for unused in (model.esmc, model.structure_head, model.confidence_head):
        unused.requires_grad_(False)

    def folded(model: nn.Module, kinds: Tensor, known: Tensor, alike: Tensor, places: Tensor, charges: Tensor, elements: Tensor, names: Tensor, wanted: Tensor) -> Tensor:
        rows, owner = torch.arange(parts, device=kinds.device).expand(len(kinds), -1), torch.arange(parts * atoms, device=kinds.device).div(atoms, rounding_mode="floor").expand(len(kinds), -1)
        chain, there = torch.zeros_like(kinds), torch.ones_like(kinds, dtype=torch.bool)
        given = EsmFold2AtomInputs(ref_pos=places, ref_charge=charges, atom_attention_mask=torch.ones_like(owner, dtype=torch.bool), ref_element=elements, ref_atom_name_chars=names, ref_space_uid=owner,
                                   atom_to_token=owner)
        seen = model(token_index=rows, residue_index=rows, asym_id=chain, sym_id=chain, entity_id=chain, mol_type=chain, res_type=kinds, token_bonds=known.new_zeros(len(kinds), parts, parts, 1),
                     attention_mask=there, atom_inputs=given, msa=alike, lm_hidden_states=known)
        return F.cross_entropy(seen.distogram_logits.flatten(0, 2), wanted.flatten())

    def sample(samples: int) -> Batch:
        count = parts * atoms
        return (torch.randint(33, (samples, parts)), torch.randn(samples, parts, 3, 64), torch.randint(33, (samples, others, parts)), torch.randn(samples, count, 3), torch.randn(samples, count),
                torch.randint(128, (samples, count)), torch.randint(64, (samples, count, 4)), torch.randint(32, (samples, parts, parts)))

    return Subject(model, sample, folded)


def hunyuan_vl(size: str) -> Subject:
    """Reads a page: each image goes through a transformer for itself, four patches are a word, and so is the end of a row; places of words, rows, columns and images turn a fourth of each head. The program joins words and
    images, since the model looks on the device for where they are to go, and counts places on the host."""
    from transformers import HunYuanVLConfig, HunYuanVLForConditionalGeneration

    side, rows, wide = 16, scaled(size, 4, 6, 8), scaled(size, 128, 192, 256)
    seen = rows // 2 * (rows // 2 + 1) + 2
    sight = {"hidden_size": wide, "intermediate_size": 3 * wide, "num_hidden_layers": 3, "num_attention_heads": 4, "patch_size": side, "max_image_size": 256}
    turned = {"rope_type": "dynamic", "rope_theta": 10000.0, "alpha": 1000.0, "factor": 1.0, "mrope_section": [8, 8, 8, 8]}
    text = {**stack(size), "num_key_value_heads": 2, "head_dim": 64, "max_position_embeddings": 512, "rope_parameters": turned, **SPECIAL}
    config = HunYuanVLConfig(text_config=text, vision_config=sight, image_token_id=999)

    def grid(samples: int) -> Tensor:
        return torch.tensor([[1, rows, rows]] * samples)

    class JoinedForConditionalGeneration(HunYuanVLForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, places: Tensor) -> Any:
            images = torch.stack(self.get_image_features(given, grid(len(ids))).pooler_output)
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), position_ids=places, labels=labels)

    model = JoinedForConditionalGeneration(config)
    model.model.vision_tower.patch_merger.image_sep.requires_grad_(False)  # which is not used

    def sample(samples: int) -> Batch:
        ids = torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor)))
        kinds = torch.cat((ids.new_ones(samples, seen), torch.zeros_like(ids)), 1)
        places, _ = model.model.get_rope_index(kinds, kinds, grid(samples))
        return ids, torch.randn(samples * rows * rows, 3 * side * side), places

    return Subject(model, sample, lambda model, ids, given, places: model(ids, given, places).loss)


def mlcd(size: str) -> Subject:
    """Patches with a trained place for the word that sums them up; an image belongs to some of many clusters, and is drawn to these and away from the others."""
    from transformers import MLCDVisionConfig, MLCDVisionModel

    pixels, wide, clusters = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), 500

    class Clustered(MLCDVisionModel):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.clusters = nn.Linear(wide, clusters, bias=False)

        def forward(self, given: Tensor) -> Tensor:
            seen = super().forward(pixel_values=given).pooler_output
            return 64 * F.linear(F.normalize(seen), F.normalize(self.clusters.weight))

    def drawn(model: nn.Module, given: Tensor, labels: Tensor) -> Tensor:
        near = model(given)
        theirs = torch.zeros_like(near, dtype=torch.bool).scatter(1, labels, True)
        others, own = near.masked_fill(theirs, -torch.inf), (-near).masked_fill(~theirs, -torch.inf)
        return F.softplus(others.logsumexp(1)).mean() + F.softplus(own.logsumexp(1)).mean()

    config: Any = MLCDVisionConfig(hidden_size=wide, intermediate_size=4 * wide, num_hidden_layers=4, num_attention_heads=4, image_size=pixels, patch_size=8)
    return Subject(Clustered(config), lambda samples: (torch.randn(samples, 3, pixels, pixels), torch.randint(clusters, (samples, 8))), drawn)


def mgp_str(size: str) -> Subject:
    """Reads a line: patches of it in one transformer, then what they say three times at once, as letters, pieces and words, of which each place gathers its patches by an attention without queries."""
    from transformers import MgpstrConfig, MgpstrForSceneTextRecognition

    rows, places, kinds = scaled(size, 16, 32, 32), 27, (38, 2000, 1000)
    columns = rows * scaled(size, 4, 3, 4)
    config: Any = MgpstrConfig(image_size=(rows, columns), patch_size=4, max_token_length=places, num_character_labels=kinds[0], num_bpe_labels=kinds[1], num_wordpiece_labels=kinds[2],
                               hidden_size=scaled(size, 192, 256, 384), num_hidden_layers=4, num_attention_heads=4)

    def read(model: nn.Module, given: Tensor, *labels: Tensor) -> Tensor:
        return sum(F.cross_entropy(logits.flatten(0, 1), each.flatten()) for logits, each in zip(model(pixel_values=given).logits, labels))

    return Subject(MgpstrForSceneTextRecognition(config), lambda samples: (torch.randn(samples, 3, rows, columns), *(torch.randint(each, (samples, places)) for each in kinds)), read)


def exaone4_5(size: str) -> Subject:
    """Exaone 4 before whose words stand images: a transformer for them, whose heads share keys and values, and see windows in two of four layers; four patches are a word. The program joins words and images, since the
    model looks on the device for where they are to go, and counts places and windows on the host."""
    from transformers import Exaone4_5_Config, Exaone4_5_ForConditionalGeneration
    from transformers.vision_utils import get_vision_position_ids, get_vision_window_index

    side, rows, wide, merged, window = 14, scaled(size, 8, 12, 16), scaled(size, 128, 192, 256), 2, 112
    sight = {"hidden_size": wide, "intermediate_size": 3 * wide, "depth": 4, "num_heads": 4, "num_key_value_heads": 2, "patch_size": side, "spatial_merge_size": merged, "window_size": window,
             "out_hidden_size": width(size), "fullatt_block_indexes": [1, 3]}
    text = {"model_type": "exaone4", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 512, "sliding_window": 64, "sliding_window_pattern": 4, **SPECIAL}
    config = Exaone4_5_Config(text_config=text, vision_config=sight, image_token_id=998, video_token_id=999)

    class JoinedForConditionalGeneration(Exaone4_5_ForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            grid = torch.tensor([[1, rows, rows]] * len(ids))
            order, ends = get_vision_window_index(grid, merged, window, side)
            places = get_vision_position_ids(grid, merged)
            seen = self.model.visual(given, grid, position_ids=places.to(given.device), window_index=order, cu_window_seqlens=ends).pooler_output
            images = seen.view(len(ids), -1, seen.shape[-1])
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 998, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples * rows * rows, 3 * 2 * side * side)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given: model(ids, given).loss)



def kosmos2(size: str) -> Subject:
    """Says of an image what is where: a CLIP, and 64 vectors that look at all it saw take the places of as many words, written into the embeddings. The program counts these places on the host, since the model looks on the
    device for where they are."""
    from transformers import Kosmos2Config, Kosmos2ForConditionalGeneration

    pixels, wide, queries = scaled(size, 56, 112, 168), scaled(size, 128, 192, 256), 64
    sight = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": pixels, "patch_size": 14}
    text = {"vocab_size": VOCABULARY, "embed_dim": width(size), "layers": 4, "ffn_dim": 1024, "attention_heads": 4, "max_position_embeddings": 512}
    config: Any = Kosmos2Config(vision_config=sight, text_config=text, latent_query_num=queries)

    class JoinedForConditionalGeneration(Kosmos2ForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            frame = torch.arange(3, queries + 5, device=ids.device).expand(len(ids), -1)  # where an image begins, its places, and where it ends
            seen = torch.zeros(len(ids), queries + 2 + ids.shape[1], dtype=torch.bool)
            seen[:, 2 : queries + 2] = True
            joined = torch.cat((ids[:, :1], frame, ids[:, 1:]), 1)
            labels = torch.cat((ids[:, :1], torch.full_like(frame, -100), ids[:, 1:]), 1)
            return super().forward(pixel_values=given, input_ids=joined, image_embeds_position_mask=seen, attention_mask=torch.ones_like(joined), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, VOCABULARY, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, ids, given: model(ids, given).loss)


def glm4v(size: str) -> Subject:
    """Reads images of any shape before words: places are looked up in a picture of them, drawn as large as the image, a convolution makes a word of four patches, and each image attends to itself alone. Places in time, rows
    and columns turn half of each head. The program joins words and images, since the model looks on the device for where they are to go, and counts places on the host."""
    from transformers import Glm4vConfig, Glm4vForConditionalGeneration
    from transformers.vision_utils import get_vision_cu_seqlens, get_vision_position_ids

    side, rows, wide, merged = 14, scaled(size, 8, 12, 16), scaled(size, 128, 192, 256), 2
    turned = width(size) // 4 // 4  # pairs of each head
    places = turned * 3 // 8
    sight = {"hidden_size": wide, "depth": 4, "num_heads": 4, "image_size": 10 * side, "patch_size": side, "spatial_merge_size": merged, "out_hidden_size": width(size), "intermediate_size": 1024}
    text = {**stack(size), "num_key_value_heads": 2, "max_position_embeddings": 512, "pad_token_id": 0,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "mrope_section": [turned - 2 * places, places, places]}}
    config: Any = Glm4vConfig(vision_config=sight, text_config=text, image_token_id=998, video_token_id=999, image_start_token_id=994, image_end_token_id=995, video_start_token_id=996, video_end_token_id=997)

    class JoinedForConditionalGeneration(Glm4vForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            grid = torch.tensor([[1, rows, rows]] * len(ids))
            where = get_vision_position_ids(grid, merged).to(given.device)
            seen = self.model.visual(given, grid.to(given.device), position_ids=where, cu_seqlens=get_vision_cu_seqlens(grid)).pooler_output
            images = seen.view(len(ids), -1, seen.shape[-1])
            kinds = torch.cat((torch.ones(images.shape[:2], dtype=torch.int64), torch.zeros(ids.shape, dtype=torch.int64)), 1)
            turns, _ = self.model.get_rope_index(kinds, kinds, grid)
            labels = torch.cat((ids.new_full(images.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((images, self.get_input_embeddings()(ids)), 1), position_ids=turns.to(ids.device), labels=labels)

    def on_device(_: nn.Module, given: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
        patches, lengths, *others = given
        return patches, lengths.to(patches.device), *others

    model = JoinedForConditionalGeneration(config)
    model.model.visual.embeddings.register_forward_pre_hook(on_device)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 994, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples * rows * rows, 3 * 2 * side * side)

    return Subject(model, sample, lambda model, ids, given: model(ids, given).loss)


def decision_transformer(size: str) -> Subject:
    """Learns of recorded runs what to do next: what is still to be won, what is seen and what was done are three words of each step, that a GPT-2 reads. What it says of states and returns is not trained on, as by its authors."""
    from transformers import DecisionTransformerConfig, DecisionTransformerModel

    steps, wide, state, act, longest = scaled(size, 20, 40, 60), scaled(size, 128, 192, 256), 17, 6, 1000
    config: Any = DecisionTransformerConfig(state_dim=state, act_dim=act, hidden_size=wide, max_ep_len=longest)

    class TrainableDecisionTransformer(DecisionTransformerModel):
        supports_gradient_checkpointing = True  # as its encoder does

    def acted(model: nn.Module, states: Tensor, actions: Tensor, rewards: Tensor, returns: Tensor, times: Tensor, mask: Tensor) -> Tensor:
        said = model(states=states, actions=actions, rewards=rewards, returns_to_go=returns, timesteps=times, attention_mask=mask).action_preds
        kept = torch.arange(mask.numel(), device=mask.device)  # all steps are there; its authors look on the device for which
        return torch.mean((said.reshape(-1, act)[kept] - actions.reshape(-1, act)[kept]) ** 2)

    def sample(samples: int) -> Batch:
        count = int(steps * LENGTH.factor)
        times = torch.randint(longest - 2 * steps, (samples, 1)) + torch.arange(count)
        return (torch.randn(samples, count, state), torch.rand(samples, count, act), torch.randn(samples, count, 1), torch.randn(samples, count, 1), times, torch.ones(samples, count))

    return Subject(TrainableDecisionTransformer(config), sample, acted)


def seamless_m4t_v2(size: str) -> Subject:
    """Writes down in one language what is said in another: a conformer, whose scores have relative positions and whose convolutions look back alone, a layer that leaves one of eight frames, and a decoder whose table is its
    head. Without leaving out layers by chance."""
    from transformers import SeamlessM4Tv2Config, SeamlessM4Tv2ForSpeechToText

    frames, count, wide = scaled(size, 96, 192, 384), scaled(size, 16, 32, 64), scaled(size, 128, 192, 256)
    config: Any = SeamlessM4Tv2Config(vocab_size=VOCABULARY, hidden_size=wide, speech_encoder_layers=3, speech_encoder_attention_heads=4, speech_encoder_intermediate_size=4 * wide, decoder_layers=2,
                                      decoder_attention_heads=4, decoder_ffn_dim=4 * wide, max_position_embeddings=512, speech_encoder_layerdrop=0.0, encoder_layerdrop=0.0, decoder_layerdrop=0.0)

    def written(model: nn.Module, sound: Tensor, mask: Tensor, labels: Tensor) -> Tensor:
        return model(input_features=sound, attention_mask=mask, labels=labels).loss

    return Subject(SeamlessM4Tv2ForSpeechToText(config), lambda samples: (torch.randn(samples, frames, 160), torch.ones(samples, frames, dtype=torch.int64), torch.randint(4, VOCABULARY, (samples, count))), written)
