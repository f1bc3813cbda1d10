# SPDX-License-Identifier: Apache-2.0
"""Models of images, sound and several kinds of inputs from the package transformers."""

from typing import Any, Dict, List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from unittest import mock

from .sizes import SPECIAL, TWO_SIDED, VOCABULARY, length, stack, width
from .subject import Batch, LENGTH, Subject, scaled


def heard_parts(heard: int, place: int) -> int:
    """The number of tokens for sound in this sample."""
    return heard - place % 2 * heard // 4


def heard_before_words(samples: int, heard: int, words: int) -> Tuple[Tensor, Tensor, Tensor]:
    """Token ids (999 marks a place for sound), their mask, and labels."""
    ids, mask, labels = (torch.full((samples, heard + words), value) for value in (0, 0, -100))
    for place in range(samples):
        begin = heard_parts(heard, place)
        end = begin + words
        ids[place, :begin], ids[place, begin:end] = 999, torch.randint(3, 997, (words,))
        mask[place, :end], labels[place, begin:end] = 1, ids[place, begin:end]
    return ids, mask, labels


def granite_speech(size: str) -> Subject:
    """A Granite that gets speech before text. The encoder is a conformer: its attention within blocks runs as one kernel and adds learned relative
    positions; in the middle, it feeds back its own prediction of the text. Then queries summarize the speech, three for fifteen steps. The program joins
    text and speech itself, because the model would look up their places on the device."""
    from transformers import GraniteSpeechConfig, GraniteSpeechForConditionalGeneration

    steps, wide = scaled(size, 60, 150, 250), scaled(size, 128, 192, 256)
    hearing = {"hidden_dim": wide, "num_layers": 4, "num_heads": 4, "context_size": scaled(size, 40, 100, 200)}
    asking = {"model_type": "blip_2_qformer", "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 2, "num_attention_heads": 4, "encoder_hidden_size": wide, "cross_attention_frequency": 1}
    text = {"model_type": "granite", **stack(size), "num_key_value_heads": 2, "max_position_embeddings": 1024, **SPECIAL}
    config: Any = GraniteSpeechConfig(text_config=text, encoder_config=hearing, projector_config=asking, audio_token_index=999, has_lora_adapter=False)

    class JoinedForConditionalGeneration(GraniteSpeechForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            heard = self.get_audio_features(given).pooler_output
            labels = torch.cat((ids.new_full(heard.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((heard, self.get_input_embeddings()(ids)), 1), labels=labels)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(length(size) * LENGTH.factor))), torch.randn(samples, steps, 160)

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, *given: model(*given).loss)


def florence2(size: str) -> Subject:
    """Image to text: attention within windows of the image and attention between its channels alternate; a BART gets patches before text. The program joins
    them itself, because the model would look up their places on the device."""
    from transformers import Florence2Config, Florence2ForConditionalGeneration

    wide, part, pixels, count = width(size), scaled(size, 24, 32, 48), scaled(size, 64, 128, 192), scaled(size, 32, 64, 128)
    vision_libraries = {"depths": [1, 1, 2, 1], "embed_dim": [part, 2 * part, 4 * part, 8 * part], "num_heads": [1, 2, 4, 8], "num_groups": [1, 2, 4, 8], "window_size": 4, "projection_dim": wide}
    text = {"model_type": "bart", "d_model": wide, "decoder_start_token_id": 2, "use_cache": False, **TWO_SIDED}
    config = Florence2Config(vision_config=vision_libraries, text_config=text, image_token_id=999)

    class JoinedForConditionalGeneration(Florence2ForConditionalGeneration):
        def forward(self, asked: Tensor, given: Tensor, ids: Tensor) -> Any:
            seen = self.model.get_image_features(given).pooler_output
            return super().forward(inputs_embeds=torch.cat((seen, self.get_input_embeddings()(asked)), 1), labels=ids)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(8 * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels), torch.randint(3, 999, (samples, int(count * LENGTH.factor)))

    return Subject(JoinedForConditionalGeneration(config), sample, lambda model, asked, given, ids: model(asked, given, ids).loss)


def esmfold2(size: str) -> Subject:
    """Distances between the parts of a protein. The features of each pair are updated by way of every third part, in two passes through all layers, with
    states of a language model and with an alignment of similar proteins. The language model, the structure head and the confidence head exist, and are
    not used."""
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


def decision_transformer(size: str) -> Subject:
    """Learns actions from recorded episodes: return to go, state and action are three tokens of each step, for a GPT-2. Its predictions of states and
    returns are not trained, as in its authors' code."""
    from transformers import DecisionTransformerConfig, DecisionTransformerModel

    steps, wide, state, act, longest = scaled(size, 20, 40, 60), scaled(size, 128, 192, 256), 17, 6, 1000
    config: Any = DecisionTransformerConfig(state_dim=state, act_dim=act, hidden_size=wide, max_ep_len=longest)

    class TrainableDecisionTransformer(DecisionTransformerModel):
        supports_gradient_checkpointing = True  # as its encoder does

    def acted(model: nn.Module, states: Tensor, actions: Tensor, rewards: Tensor, returns: Tensor, times: Tensor, mask: Tensor) -> Tensor:
        said = model(states=states, actions=actions, rewards=rewards, returns_to_go=returns, timesteps=times, attention_mask=mask).action_preds
        kept = torch.arange(mask.numel(), device=mask.device)  # all steps are valid; its authors' code looks that up on the device
        return torch.mean((said.reshape(-1, act)[kept] - actions.reshape(-1, act)[kept]) ** 2)

    def sample(samples: int) -> Batch:
        count = int(steps * LENGTH.factor)
        times = torch.randint(longest - 2 * steps, (samples, 1)) + torch.arange(count)
        return (torch.randn(samples, count, state), torch.rand(samples, count, act), torch.randn(samples, count, 1), torch.randn(samples, count, 1), times, torch.ones(samples, count))

    return Subject(TrainableDecisionTransformer(config), sample, acted)


def aria(size: str) -> Subject:
    """Gets an image before text: learned queries attend to the output of a SigLIP, and the results take the places of image tokens. Each token goes to two
    of eight experts, and to shared experts. The last norm of the SigLIP is not used, and not trained. The program joins text and images itself, because
    the model would look up their places on the device."""
    from transformers import AriaConfig, AriaForConditionalGeneration

    patch, wide, hidden, words = 14, scaled(size, 128, 192, 256), scaled(size, 128, 160, 192), scaled(size, 24, 28, 32)
    pixels, asked = patch * scaled(size, 12, 14, 16), scaled(size, 16, 20, 24)
    vision_libraries = {"hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": pixels, "patch_size": patch}
    text = {"vocab_size": VOCABULARY, "hidden_size": hidden, "intermediate_size": scaled(size, 96, 112, 128), "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 4, "max_position_embeddings": 512,
            **SPECIAL}
    config: Any = AriaConfig(vision_config=vision_libraries, text_config=text, projector_patch_to_query_dict={(pixels // patch) ** 2: asked}, experts_implementation="batched_mm")
    frame = torch.tensor([992, *[config.image_token_index] * asked, 993])

    class JoinedForConditionalGeneration(AriaForConditionalGeneration):
        def forward(self, ids: Tensor, given: Tensor, whole: Tensor, places: Tensor) -> Any:
            seen = self.get_image_features(given, whole).pooler_output.flatten(0, 1)
            embedded = self.get_input_embeddings()(ids)
            joined = embedded.flatten(0, 1).index_copy(0, places, seen.to(embedded.dtype)).view_as(embedded)
            return super().forward(inputs_embeds=joined, labels=torch.cat((ids.new_full((len(ids), len(frame)), -100), ids[:, len(frame) :]), 1))

    def sample(samples: int) -> Batch:
        length = int((len(frame) + words) * LENGTH.factor)  # of all tokens, as in a change of the sequence
        ids = torch.cat((frame.expand(samples, -1), torch.randint(10, 990, (samples, length - len(frame)))), 1)
        whole = torch.ones(samples, pixels, pixels, dtype=torch.long)
        return ids, torch.randn(samples, 3, pixels, pixels), whole, (ids == config.image_token_index).flatten().nonzero().flatten()

    model = JoinedForConditionalGeneration(config)
    model.model.vision_tower.post_layernorm.requires_grad_(False)
    return Subject(model, sample, lambda module, *given: module(*given).loss)


def pp_doclayout_v3(size: str) -> Subject:
    """Page layout: what is where, and in what order it is read. A hybrid encoder of convolutions and attention selects the most likely places as queries.
    They start from the masks that they predict; each layer refines boxes, masks and the order of all pairs. As many denoising queries start from noisy
    labels. The host decides which query matches which label. The indices of correct denoising queries are given, so that they need not be looked up on
    the device."""
    from transformers import HGNetV2Config, PPDocLayoutV3Config, PPDocLayoutV3ForObjectDetection
    from transformers.loss.loss_rt_detr import RTDetrForObjectDetectionLoss, RTDetrHungarianMatcher

    pixels, things, wide = scaled(size, 96, 128, 160), 10, scaled(size, 64, 96, 128)
    vision_libraries: Any = HGNetV2Config(stem_channels=[3, 16, 32], stage_in_channels=[32, 64, 128, 256], stage_mid_channels=[16, 32, 64, 64], stage_out_channels=[64, 128, 256, 256], hidden_sizes=[64, 128, 256, 256],
                               stage_num_blocks=[1, 1, 1, 1], stage_numb_of_layers=[3, 3, 3, 3], out_features=["stage1", "stage2", "stage3", "stage4"])
    config: Any = PPDocLayoutV3Config(backbone_config=vision_libraries, encoder_hidden_dim=wide, encoder_in_channels=[128, 256, 256], decoder_in_channels=[wide] * 3, encoder_ffn_dim=512, encoder_attention_heads=4,
                                      d_model=wide, decoder_ffn_dim=512, decoder_layers=3, decoder_attention_heads=4, num_queries=100, x4_feat_dim=64, num_labels=25)
    for name, value in {"matcher_class_cost": 2.0, "matcher_bbox_cost": 5.0, "matcher_giou_cost": 2.0, "matcher_alpha": 0.25, "matcher_gamma": 2.0, "use_focal_loss": True, "weight_loss_vfl": 1.0, "weight_loss_bbox": 5.0,
                        "weight_loss_giou": 2.0, "eos_coefficient": 1e-4, "focal_loss_alpha": 0.75, "focal_loss_gamma": 2.0, "auxiliary_loss": True}.items():  # as in RT-DETR
        setattr(config, name, value)

    class TrainableForObjectDetection(PPDocLayoutV3ForObjectDetection):
        def forward(self, given: Tensor, kinds: Tensor, boxes: Tensor, masks: Tensor, ranks: Tensor, right: Tensor) -> Tensor:
            wanted: List[Dict[str, Tensor]] = [{"class_labels": kind, "boxes": box} for kind, box in zip(kinds, boxes)]
            with mock.patch("torch.nonzero", lambda _: right):
                told = self.model(given, labels=wanted)
            own = told.denoising_meta_values["dn_num_split"][0]
            named, placed = told.intermediate_logits, told.intermediate_reference_points
            loss = RTDetrForObjectDetectionLoss(named[:, -1], wanted, given.device, placed[:, -1], config, named, placed, told.enc_topk_logits, told.enc_topk_bboxes, told.denoising_meta_values)[0]
            matched = RTDetrHungarianMatcher(config)({"logits": named[:, -1, own:], "pred_boxes": placed[:, -1, own:]}, wanted)
            queries, found = (torch.stack(part).to(given.device) for part in zip(*matched))
            rows = torch.arange(len(given), device=given.device)[:, None]
            drawn = told.out_masks[:, -1, own:][rows, queries]
            share, masks = drawn.sigmoid(), masks[rows, found]
            overlap = (2 * (share * masks).sum((2, 3)) + 1) / (share.sum((2, 3)) + masks.sum((2, 3)) + 1)
            loss = loss + 5 * F.binary_cross_entropy_with_logits(drawn, masks) + 5 * (1 - overlap).mean()
            pairs = told.out_order_logits[:, -1][rows[..., None], queries[..., None], queries[:, None]]
            ranks = ranks[rows, found]
            earlier = (ranks[..., None] < ranks[:, None]).to(pairs.dtype)
            return loss + F.binary_cross_entropy_with_logits(pairs.triu(1), earlier.triu(1))

    def sample(samples: int) -> Batch:
        ranks = torch.stack([torch.randperm(things) for _ in range(samples)])
        masks = torch.rand(samples, things, pixels // 4, pixels // 4).round()
        right = (torch.arange(2 * config.num_denoising) // things % 2 == 0).expand(samples, -1).nonzero()  # half of the denoising queries are wrong
        return torch.randn(samples, 3, pixels, pixels), torch.randint(25, (samples, things)), torch.rand(samples, things, 4) / 2 + 0.25, masks, ranks, right

    return Subject(TrainableForObjectDetection(config), sample, lambda model, *given: model(*given))


def _joined(kind: Any) -> Any:
    """A subclass of such a model that gets images and text, and puts patches before text."""

    class Joined(kind):
        def forward(self, ids: Tensor, given: Tensor) -> Any:
            seen = self.model.connector(self.model.vision_model(given).last_hidden_state)
            labels = torch.cat((ids.new_full(seen.shape[:2], -100), ids), 1)
            return super().forward(inputs_embeds=torch.cat((seen, self.get_input_embeddings()(ids)), 1), labels=labels)

    return Joined


def _read(model_class: Any, config_class: Any, text: Dict[str, Any], size: str) -> Subject:
    """Text to be predicted after the patches of an image, which a SigLIP encodes."""
    pixels, count = scaled(size, 64, 96, 128), scaled(size, 32, 96, 192)
    vision_libraries = {"model_type": "siglip_vision_model", "hidden_size": scaled(size, 192, 256, 320), "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": pixels, "patch_size": 8, "vision_use_head": False}
    config = config_class(text_config=text, vision_config=vision_libraries, image_token_id=999)

    def sample(samples: int) -> Batch:
        return torch.randint(3, 999, (samples, int(count * LENGTH.factor))), torch.randn(samples, 3, pixels, pixels)

    return Subject(_joined(model_class)(config), sample, lambda model, ids, given: model(ids, given).loss)


def modernvbert(size: str) -> Subject:
    """A ModernBERT that gets patches of an image before text. A SigLIP encodes the image, and sixteen patches become one token. The program joins them
    itself, because the model would count empty images on the device."""
    from transformers import ModernVBertConfig, ModernVBertForMaskedLM

    wide = width(size)
    text = {"model_type": "modernbert", "vocab_size": 1000, "hidden_size": wide, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 4, "max_position_embeddings": 512, "local_attention": 32,
            "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    return _read(ModernVBertForMaskedLM, ModernVBertConfig, text, size)


def rf_detr(size: str) -> Subject:
    """Object detection: a DINOv2 with attention within windows in three of four layers, and thirteen groups of queries, each of which selects the patches
    from which it starts."""
    from transformers import RfDetrConfig, RfDetrForObjectDetection
    from transformers.models.rf_detr.configuration_rf_detr import RfDetrDinov2Config

    pixels, things, wide = scaled(size, 128, 192, 256), 20, scaled(size, 64, 96, 128)
    vision_libraries = RfDetrDinov2Config(hidden_size=scaled(size, 192, 256, 320), num_hidden_layers=4, num_attention_heads=4, mlp_ratio=3, image_size=pixels, patch_size=16, num_windows=4, use_mask_token=False,
                               out_features=["stage2", "stage4"])
    config: Any = RfDetrConfig(backbone_config=vision_libraries, d_model=wide, decoder_ffn_dim=256, decoder_layers=3, decoder_self_attention_heads=4, decoder_cross_attention_heads=4, num_queries=things, num_labels=19)

    def found(model: nn.Module, given: Tensor, kinds: Tensor, boxes: Tensor) -> Tensor:
        seen = model(pixel_values=given)
        named = sum(F.cross_entropy(logits.flatten(0, 1), kinds.flatten()) for logits in (seen.logits, seen.enc_outputs_class))
        return named + F.l1_loss(seen.pred_boxes, boxes) + F.l1_loss(seen.enc_outputs_coord_logits, boxes)

    def sample(count: int) -> Batch:
        return torch.randn(count, 3, pixels, pixels), torch.randint(19, (count, 13 * things)), torch.rand(count, 13 * things, 4)

    return Subject(RfDetrForObjectDetection(config), sample, found)
