# SPDX-License-Identifier: Apache-2.0
"""What models that see or hear before they read have in common: images in slices, each of which attention sees for itself, and sounds of which every second one is shorter."""

from typing import Any, Callable, Dict, List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sizes import length
from .subject import LENGTH, Batch


def end_on_host(model: nn.Module, attention: type, lengths: Callable[[nn.Module], List[int]]) -> None:
    """Where each part ends, whose patches `lengths` says, is told on the host, since the model looks on the device for it."""

    def ends(module: nn.Module, _: Tuple[Any, ...], given: Dict[str, Any]) -> Any:
        parts = lengths(module)
        return (), {**given, "cu_seqlens": F.pad(torch.tensor(parts * (given["hidden_states"].shape[1] // sum(parts))).cumsum(0), (1, 0))}

    for module in model.modules():
        if isinstance(module, attention):
            module.register_forward_pre_hook(ends, with_kwargs=True)


def end_slices_on_host(model: Any, attention: type, counts: List[int]) -> None:
    """Of MiniCPM-V's tower: whole slices in two layers, then four patches each, of which one is left."""
    tower = model.model.vision_tower
    before = [layer.self_attn for layer in tower.encoder.layers[:2]]
    end_on_host(model, attention, lambda module: [4] if module is tower.vit_merger.self_attn else counts if module in before else [count // 4 for count in counts])


def words_and_slices(size: str, side: int, counts: List[int]) -> Callable[[int], Batch]:
    return lambda samples: (torch.randint(3, 990, (samples, int(length(size) * LENGTH.factor))), torch.randn(1, 3, side, side * sum(counts) * samples))


def heard_parts(heard: int, place: int) -> int:
    """Of the sample there, so many of the places for sound."""
    return heard - place % 2 * heard // 4


def heard_before_words(samples: int, heard: int, words: int) -> Tuple[Tensor, Tensor, Tensor]:
    """Ids, in which 999 is a place for sound, their mask, and labels."""
    ids, mask, labels = (torch.full((samples, heard + words), value) for value in (0, 0, -100))
    for place in range(samples):
        begin = heard_parts(heard, place)
        end = begin + words
        ids[place, :begin], ids[place, begin:end] = 999, torch.randint(3, 997, (words,))
        mask[place, :end], labels[place, begin:end] = 1, ids[place, begin:end]
    return ids, mask, labels
