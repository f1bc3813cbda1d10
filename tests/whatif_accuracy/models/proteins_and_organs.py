# SPDX-License-Identifier: Apache-2.0
"""Models of the packages diffusers, monai and vit_pytorch that fold and name proteins, draw what each layer of a reader says, mark parts of bodies by their names, and attend in windows and between them."""

from typing import Any, Callable, Dict

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .subject import Batch, Subject, labelled, scaled


def diffusers_transformer_rfd4_proteina(size: str) -> Subject:
    """Designs proteins: where each residue is, a few numbers of what it is made of, its name, and where others may be put in. Attention of residues is told of pairs of them, which every other layer makes anew in triangles;
    the whole is gone through twice, the second time told what the first made. Residues have no mirrored atoms of their own, whose turning depends on values."""
    wide, pair, residues, latent = scaled(size, 256, 320, 384), scaled(size, 64, 80, 112), scaled(size, 32, 36, 40), 32
    model = of_diffusers("RFD4ProteinaTransformer")(nlayers=scaled(size, 4, 4, 5), token_dim=wide, nheads=4, dim_cond=wide // 2, pair_repr_dim=pair, tri_mult_c=pair)
    atoms, chance = 37, torch.rand

    def whole(low: int, high: int) -> Callable[..., Tensor]:
        return lambda *shape: torch.randint(low, high, shape)

    # What is said of residues, of their atoms, and of pairs; a name is asked for in numbers of its levels, of which each may be unknown.
    kinds: Dict[str, Any] = {
        "token_type": (whole(0, 3), ()), "atom37_mask": (whole(0, 2), (atoms,)), "is_in_context_conditioning": (whole(0, 2), ()), "supports_local_latent": (whole(0, 2), ()),
        "condition_coordinate_1_atom": (torch.randn, (atoms, 3)), "condition_InternalCoordinate_1_atom": (torch.randn, (atoms, 3)), "condition_CoordinateGroup_1_atom": (whole(-1, 4), (atoms,)),
        "condition_rasa-binned_1_atom": (whole(0, 4), (atoms,)), "condition_secondary-structure_1_residue": (whole(0, 4), ()), "condition_hbond_1_atom": (whole(0, 4), (atoms,)),
        "condition_pistack_1_atom": (whole(0, 2), (atoms,)), "condition_pication_1_atom": (whole(0, 4), (atoms,)), "condition_saltbridge_1_atom": (whole(0, 2), (atoms,)),
        "condition_hydrophobic_1_atom": (whole(0, 2), (atoms,)), "condition_metal-coord_1_atom": (whole(0, 2), (atoms,)), "condition_hotspot_1_atom": (whole(0, 2), (atoms,)),
        "condition_index-group_1_token": (whole(0, 4), ()), "condition_cath-label_1_residue": (whole(-1, 5), (3,)), "condition_ChainCentroid_1_atom": (torch.randn, (3,)),
        "condition_sequence-probability-ALA_1_residue": (chance, ()), "condition_sequence-probability-GLY_1_residue": (chance, ()),
        "charge": (whole(-2, 3), (atoms,)), "element": (whole(1, 17), (atoms,)), "na_ss_state": (whole(0, 2), ()), "na_ss_state_mask": (whole(0, 2), ()),
        "molecule_iid": (whole(0, 2), ()), "molecule_entity_id": (whole(0, 2), ()),
        **{name: (whole(0, 2), None) for name in ("bond_mask", "is_aromatic", "canonical_polymer_ordering", "na_ss_pair", "na_ss_pair_mask")},
        "bond_order": (whole(0, 5), None), "token_bond_path_length": (whole(0, 64), None),
    }

    def sample(samples: int) -> Batch:
        lengths = torch.randint(residues // 2, residues + 1, (samples, 1))
        place, latents, times = (samples, residues, 3), (samples, residues, latent), torch.rand(2, samples)
        said = (make(samples, residues, *((residues,) if shape is None else shape)) for make, shape in kinds.values())
        return (torch.randn(place), torch.randn(place), torch.randn(latents), torch.randn(latents), *times, torch.arange(residues) < lengths, torch.randint(147, place[:2]), torch.randint(residues, place[:2]), *said)

    def designed(module: nn.Module, places: Tensor, noise: Tensor, inner: Tensor, inner_noise: Tensor, time: Tensor, inner_time: Tensor, there: Tensor, names: Tensor, before: Tensor, *said: Tensor) -> Tensor:
        share, inner_share, known = time.view(-1, 1, 1), inner_time.view(-1, 1, 1), dict(zip(kinds, said))
        kind, mask = known.pop("token_type"), known.pop("atom37_mask")
        made = module((1 - share) * noise + share * places, (1 - inner_share) * inner_noise + inner_share * inner, time, inner_time, there, kind, mask, known, recycle_depth=2)
        real = there[..., None].to(places.dtype)
        moved = ((made.backbone - (places - noise)).square() * real).sum() / real.sum() + ((made.local_latents - (inner - inner_noise)).square() * real).sum() / real.sum()
        named = F.cross_entropy(made.sequence_logits.transpose(1, 2), names.masked_fill(~there, -100))
        return moved + named + 0.1 * F.cross_entropy(made.insertion_logits.transpose(1, 2), before.masked_fill(~there, -100))

    return Subject(model, sample, designed)


def diffusers_transformer_bria_fibo(size: str) -> Subject:
    """Draws an image after words: each block is told what another layer of a reader of words made of them, in a half of what it knows of words; words of shorter texts are not attended to. First words and image go through
    layers of their own, then through the same, as one line."""
    side, heads, words, states = scaled(size, 12, 14, 16), scaled(size, 4, 5, 6), scaled(size, 32, 40, 48), 512
    first, then = 2, scaled(size, 4, 5, 6)
    model = of_diffusers("BriaFiboTransformer2DModel")(in_channels=48, num_layers=first, num_single_layers=then, attention_head_dim=64, num_attention_heads=heads, joint_attention_dim=2 * states,
                                                      axes_dims_rope=[8, 28, 28], text_encoder_dim=states)

    def sample(samples: int) -> Batch:
        latents = (samples, side * side, 48)
        there = torch.arange(words) < torch.randint(words // 2, words + 1, (samples, 1))
        return (torch.randn(latents), torch.randn(latents), torch.rand(samples), there, *(torch.randn(samples, words, states) for _ in range(first + then)))

    def drawn(module: nn.Module, latents: Tensor, noise: Tensor, parts: Tensor, there: Tensor, *read: Tensor) -> Tensor:
        share, once = parts.view(-1, 1, 1), torch.arange(1)
        places = torch.cartesian_prod(once, torch.arange(side), torch.arange(side)).to(latents.device)
        seen = torch.cat([there, there.new_ones(latents.shape[:2])], 1)[:, None, None, :]
        made = module((1 - share) * latents + share * noise, torch.cat([read[-1], read[-2]], dim=-1), list(read), timestep=1000 * parts, img_ids=places, txt_ids=places.new_zeros(words, 3),
                      joint_attention_kwargs={"attention_mask": seen}).sample
        return F.mse_loss(made.float(), (noise - latents).float())

    return Subject(model, sample, drawn)


def monai_vista3d(size: str) -> Subject:
    """Marks parts of a body that are asked for by their names: a residual network down and up again, and names whose likeness to what is at each place is the mask. As its authors train it further where nobody points:
    what answers to points is not used, and not trained. It gives the cache back on its way."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import vista3d132

    side, deep, asked, kinds = scaled(size, 32, 48, 32), 48, scaled(size, 3, 4, 4), 132
    model = vista3d132(encoder_embed_dim=scaled(size, 8, 8, 16))
    model.image_encoder.up_layers.requires_grad_(False)
    model.point_head.requires_grad_(False)
    apart = DiceCELoss(include_background=True, sigmoid=True, smooth_dr=1e-5, smooth_nr=0, squared_pred=True)

    def marked(module: nn.Module, scan: Tensor, parts: Tensor, names: Tensor) -> Tensor:
        made = module(scan, class_vector=names[:, None])
        return apart(made, (parts.transpose(0, 1) == names.view(-1, 1, 1, 1, 1)).to(made.dtype))

    return Subject(model, lambda count: (torch.rand(count, 1, side, side, deep), torch.randint(kinds, (count, 1, side, side, deep)), torch.randperm(kinds)[:asked]), marked)


def vit_pytorch_sep_vit(size: str) -> Subject:
    """Attention in windows, each with a word of its own, and then of windows to one another by their words; where all is one window, at the end, there is nothing to be said between them."""
    from vit_pytorch.sep_vit import SepViT

    return labelled(SepViT(num_classes=100, dim=scaled(size, 32, 48, 64), depth=(1, 2, scaled(size, 2, 3, 4), 1), heads=(1, 2, 4, 8), window_size=7), 224)
