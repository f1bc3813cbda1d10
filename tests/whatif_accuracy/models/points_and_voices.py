# SPDX-License-Identifier: Apache-2.0
"""Models that put together what layers of all depths have made, say words of any voice, find what words name, and find the same points in two images, from the packages timm and transformers."""

import importlib
from typing import Any, List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .subject import LENGTH, Batch, Subject, labelled, scaled


def timm_dla(size: str) -> Subject:
    """Convolutions in trees: a layer puts together what two blocks made, and behind it what all trees before it in its stage did; blocks are a ResNet's with bottlenecks, and what is put together is added to. As timm's dla102,
    shallower and, for the small one, narrower."""
    from timm.models.dla import DLA, DlaBottleneck

    wide = scaled(size, 80, 96, 112)
    model = DLA((1, 1, 1, 2, scaled(size, 2, 2, 3), 1), (16, 32, wide, 2 * wide, 4 * wide, 8 * wide), num_classes=100, block=DlaBottleneck, shortcut_root=True)
    return labelled(model, scaled(size, 128, 160, 160))


def gradium_phonon_tts(size: str) -> Subject:
    """Says words as a voice of which it is given a part: blocks read the voice, words and sounds one after another, and for each sound to come a head of layers that times scale learns which way noise goes to it, four times a
    sound; in one step of four, chosen on the host, it is held against its own derivative by time as well, by forward differentiation. Voices and sounds are not all as long, and the program is told where they are, since the
    model looks for them on the device."""
    from transformers import GradiumPhononTTSConfig, GradiumPhononTTSForConditionalGeneration, GradiumPhononTTSModel
    from transformers.loss.loss_lsd import PocketTTSForConditionalGenerationLoss

    importlib.import_module("torch._decomp.decompositions_for_jvp")  # forward differentiation imports it: once for all
    wide, voice, spoken, words = scaled(size, 320, 384, 512), scaled(size, 16, 20, 24), scaled(size, 20, 28, 32), scaled(size, 24, 24, 32)
    head = {"hidden_size": scaled(size, 256, 320, 384), "condition_dim": wide}
    config: Any = GradiumPhononTTSConfig(flow_head_config=head, hidden_size=wide, num_attention_heads=wide // 64, intermediate_size=4 * wide, num_hidden_layers=scaled(size, 4, 5, 5))
    asked, said, begins = config.audio_prompt_token_id, config.audio_latent_token_id, config.audio_bos_token_id

    class Reader(GradiumPhononTTSModel):
        def get_token_mask(self, *_: Any) -> Tensor:
            return self.begun

    class Speaker(GradiumPhononTTSForConditionalGeneration):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.model = Reader(config)

        def told(self, frames: Tensor) -> None:
            with torch.no_grad():
                decay = self.config.latent_stats_ema_decay
                self.latent_mean.mul_(decay).add_(frames.mean(dim=0), alpha=1 - decay)
                self.latent_std.mul_(decay).add_(frames.std(dim=0), alpha=1 - decay)
                self.latent_stats_num_updates += 1

        def forward(self, ids: Tensor, mask: Tensor, voices: Tensor, sounds: Tensor, in_voices: Tensor, in_sounds: Tensor, prompts: Tensor, latents: Tensor, audio: Tensor, told: Tensor, ends: Tensor) -> Tensor:
            self.told(sounds.flatten(0, 1).index_select(0, in_sounds))
            normal = ((sounds - self.latent_mean) / self.latent_std).to(sounds.dtype).flatten(0, 1)
            embedded = self.model.embed_tokens(ids)
            heard = self.model.audio_prompt_proj(voices.flatten(0, 1).index_select(0, in_voices)).to(embedded.dtype)
            before = self.model.embed_audio_latents(normal.index_select(0, in_sounds)).to(embedded.dtype)
            joined = embedded.flatten(0, 1).index_copy(0, prompts, heard).index_copy(0, latents, before).view_as(embedded)
            self.model.begun = (ids == begins).unsqueeze(-1)
            states = self.model(inputs_embeds=joined, attention_mask=mask).last_hidden_state
            likely = self.eos_head(states)
            return PocketTTSForConditionalGenerationLoss(
                self.flow_head, states.flatten(0, 1).index_select(0, audio).index_select(0, told), normal.index_select(0, in_sounds), likely.flatten().index_select(0, audio), ends, self.config, self.loss_weighting,
                self.distill_generator, self.training)

    def sample(samples: int) -> Batch:
        count = int(words * LENGTH.factor)
        ids = torch.full((samples, voice + count + 1 + spoken), config.pad_token_id)
        known = [torch.arange(long) < torch.tensor([long - place % 2 * long // 4 for place in range(samples)])[:, None] for long in (voice, spoken)]
        for row, *parts in zip(ids, *known):
            first, last = (int(part.sum()) for part in parts)
            line = torch.cat((torch.full((first,), asked), torch.randint(7, config.vocab_size, (count,)), torch.tensor([begins]), torch.full((last,), said)))
            row[: len(line)] = line
        audio = ((ids == begins) | (ids == said)).flatten().nonzero().flatten()
        ends = F.pad(audio[1:] - audio[:-1], (0, 1), value=2) > 1
        places = [part.flatten().nonzero().flatten() for part in (*known, ids == asked, ids == said)]
        return ids, (ids != config.pad_token_id).long(), torch.randn(samples, voice, config.audio_prompt_dim), torch.randn(samples, spoken, config.latent_dim), *places, audio, (~ends).nonzero().flatten(), ends

    return Subject(Speaker(config), sample, lambda model, *given: model(*given))


def lightglue(size: str) -> Subject:
    """Finds the same points in two images: what is known of points attends to the others in its image and to those in the other one, by where they lie, and behind each layer scores say which two are one, and a layer, whether
    these are those of the last one. The program trains it as its authors do, on points that were found before and are always as many: none stops earlier, no point is left out, and all layers are told what is right."""
    from transformers import LightGlueConfig, LightGlueForKeypointMatching
    from transformers.masking_utils import create_bidirectional_mask
    from transformers.models.lightglue.modeling_lightglue import LightGlueTokenConfidenceLayer, normalize_keypoints

    found, pixels = scaled(size, 136, 176, 192), 640
    config: Any = LightGlueConfig(num_hidden_layers=scaled(size, 4, 6, 9))

    class Sure(LightGlueTokenConfidenceLayer):
        def forward(self, known: Tensor) -> Tensor:
            return self.token(known.detach()).squeeze(-1)

    class Matcher(LightGlueForKeypointMatching):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            del self.keypoint_detector
            self.token_confidence = nn.ModuleList([Sure(config) for _ in range(config.num_hidden_layers - 1)])

        def forward(self, points: Tensor, known: Tensor, mask: Tensor) -> Tuple[List[Tensor], List[Tensor]]:
            mask, made = mask.flatten(0, 1), []
            known, (places,) = self._keypoint_processing(known.flatten(0, 1), normalize_keypoints(points.flatten(0, 1), pixels, pixels))
            for layer in self.transformer_layers:
                seen = create_bidirectional_mask(config=self.config, inputs_embeds=known[:, :1], attention_mask=mask, allow_is_bidirectional_skip=False)
                known, _, _ = layer(known, places, attention_mask=seen)
                made.append(known)
            return [layer(each, mask) for layer, each in zip(self.match_assignment_layers, made)], [layer(each) for layer, each in zip(self.token_confidence, made)]

    def matched(model: nn.Module, points: Tensor, known: Tensor, mask: Tensor, right: Tensor) -> Tensor:
        scores, sure = model(points, known, mask)
        same, alone = right[:, :-1, :-1].sum((1, 2)).clamp(min=1), (right[:, :-1, -1].sum(1) + right[:, -1, :-1].sum(1)).clamp(min=1)

        def wrong(likely: Tensor) -> Tensor:
            told = -likely * right
            return (told[:, :-1, :-1].sum((1, 2)) / same + (told[:, :-1, -1].sum(1) + told[:, -1, :-1].sum(1)) / alone).mean() / 2

        last = scores[-1].detach()
        total, parts = wrong(scores[-1]), len(sure) * (len(sure) + 1) / 2 + 1
        for place, (likely, logits) in enumerate(zip(scores, sure)):
            now = likely.detach()
            agreed = torch.stack((last[:, :-1].argmax(2) == now[:, :-1].argmax(2), last[:, :, :-1].argmax(1) == now[:, :, :-1].argmax(1)), 1).flatten(0, 1)
            total = total + wrong(likely) * (place + 1)
            parts_sure = F.binary_cross_entropy_with_logits(logits, agreed.to(logits.dtype))
            total = total + parts_sure * parts / len(sure)
        return total / parts

    def sample(samples: int) -> Batch:
        right = torch.zeros(samples, found + 1, found + 1)
        right[:, :-1, :-1] = torch.diag((torch.rand(found) > 0.5).float())[torch.randperm(found)]
        right[:, :-1, -1], right[:, -1, :-1] = 1 - right[:, :-1, :-1].sum(2), 1 - right[:, :-1, :-1].sum(1)
        known = F.normalize(torch.randn(samples, 2, found, config.descriptor_dim), dim=-1)
        return torch.rand(samples, 2, found, 2) * pixels, known, torch.ones(samples, 2, found, dtype=torch.int), right

    return Subject(Matcher(config), sample, matched)


def grounding_dino(size: str) -> Subject:
    """Finds what a text names: a Swin and a BERT, whose phrases do not see each other, look at each other in each block before points around each place are asked. The places that fit a word best are where queries begin, and
    which of these, and of what comes of them, is to find which thing is decided on the host."""
    from transformers import BertConfig, GroundingDinoConfig, GroundingDinoForObjectDetection, SwinConfig
    from transformers.image_transforms import center_to_corners_format
    from transformers.loss.loss_for_object_detection import generalized_box_iou
    from transformers.loss.loss_grounding_dino import GroundingDinoHungarianMatcher, sigmoid_focal_loss

    pixels, wide, count, things = scaled(size, 128, 160, 192), scaled(size, 96, 128, 128), scaled(size, 16, 24, 32), 4
    sight = SwinConfig(image_size=pixels, embed_dim=scaled(size, 40, 48, 64), depths=[2, 2, 2, 2], num_heads=[2, 4, 8, 8], window_size=5, out_indices=[2, 3, 4])
    text = BertConfig(vocab_size=1100, hidden_size=scaled(size, 192, 192, 256), intermediate_size=scaled(size, 768, 768, 1024), num_hidden_layers=4, num_attention_heads=4)
    config: Any = GroundingDinoConfig(backbone_config=sight, text_config=text, d_model=wide, encoder_layers=3, encoder_ffn_dim=4 * wide, encoder_attention_heads=4, decoder_layers=3, decoder_ffn_dim=4 * wide,
                                      decoder_attention_heads=4, num_queries=scaled(size, 50, 80, 100))
    matcher = GroundingDinoHungarianMatcher(class_cost=config.class_cost, bbox_cost=config.bbox_cost, giou_cost=config.giou_cost)

    def found(model: nn.Module, given: Tensor, ids: Tensor, named: Tensor, boxes: Tensor) -> Tensor:
        seen = model(pixel_values=given, input_ids=ids)
        place, total = torch.arange(len(ids), device=ids.device)[:, None], named.new_zeros(())
        told = [{"class_labels": torch.arange(things, device=ids.device), "boxes": box} for box in boxes.float()]  # distances are not computed in 16 bits
        best = seen.enc_outputs_class.max(-1).values.topk(config.num_queries, 1).indices[..., None]
        first = seen.enc_outputs_class.gather(1, best.expand(-1, -1, config.max_text_len)), seen.enc_outputs_coord_logits.gather(1, best.expand(-1, -1, 4)).sigmoid()
        for logits, near in ((seen.logits, seen.pred_boxes), first):
            likely = logits[..., : ids.shape[1]]
            chosen = matcher({"logits": likely.float(), "pred_boxes": near.float(), "label_maps": named.float()}, told)
            queries, which = (torch.stack(half).to(ids.device) for half in zip(*chosen))
            wanted = torch.zeros_like(likely).index_put((place, queries), named[place, which].to(likely.dtype))
            mine, real = near[place, queries].flatten(0, 1), boxes[place, which].flatten(0, 1)
            apart = 5 * F.l1_loss(mine, real) + 2 * (1 - torch.diag(generalized_box_iou(center_to_corners_format(mine), center_to_corners_format(real)))).mean()
            total = total + 2 * sigmoid_focal_loss(likely, wanted, things * len(ids)) + apart
        return total

    def sample(samples: int) -> Batch:
        words = int(count * LENGTH.factor)
        ids = torch.randint(200, 1000, (samples, words))
        ids[:, 0], ids[:, -1], ids[:, 3:-1:4] = 101, 102, 1012  # where a phrase ends
        named = torch.zeros(samples, things, words)
        for thing in range(things):
            named[:, thing, 4 * (thing % (words // 4)) + 1 :][:, :2] = 1
        return torch.randn(samples, 3, pixels, pixels), ids, named, torch.rand(samples, things, 4) / 2 + 0.25

    model = GroundingDinoForObjectDetection(config)
    model.model.backbone.conv_encoder.model.swin.layernorm.requires_grad_(False)  # which is not used
    return Subject(model, sample, found)
