# SPDX-License-Identifier: Apache-2.0
"""Models of the packages vit_pytorch, segmentation_models_pytorch and open_clip with what is learned beside a frozen network, and with attention to less than all places, as their own examples build
and train them."""

import tempfile

import torch

from .more_libraries import OF_CAMVID, on_camvid
from .sizes import VOCABULARY
from .subject import Subject, labelled, scaled


def vit_pytorch_learnable_memory(size: str) -> Subject:
    """A network that is frozen, with learned vectors beside the keys and values of each layer, a class token of its own and a head: what was there before does not see them, by a mask."""
    from vit_pytorch.learnable_memory_vit import Adapter, ViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    model = ViT(image_size=pixels, patch_size=8, num_classes=1000, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dropout=0.1, emb_dropout=0.1)
    return labelled(Adapter(vit=model, num_classes=100, num_memories_per_layer=5), pixels)


def vit_pytorch_cait(size: str) -> Subject:
    """Heads are mixed among each other before and after what they attend to is chosen; then two blocks in which the class token alone asks. No layer is left out by chance."""
    from vit_pytorch.cait import CaiT

    pixels, wide = scaled(size, 64, 96, 112), scaled(size, 192, 256, 384)
    model = CaiT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), cls_depth=2, heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dropout=0.1, emb_dropout=0.1)
    return labelled(model, pixels)


def smp_manet(size: str) -> Subject:
    """All places of the deepest level are compared, with one softmax over all pairs; on the way up, channels are weighed by both levels. Trained as in the package's example on CamVid."""
    from segmentation_models_pytorch import MAnet

    return on_camvid(MAnet(f"timm-regnetx_00{scaled(size, 2, 4, 6)}", encoder_weights=None, classes=OF_CAMVID), size)


def open_clip_nllb(size: str) -> Subject:
    """The encoder of a translator of transformers' for texts, taken from a folder with its configuration, whose first token stands for all; the tower for images is locked, as NLLB-CLIP was trained.

    Texts are as long as can be: none is filled up.
    """
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIPTextCfg, CLIPVisionCfg, CustomTextCLIP
    from transformers import M2M100Config

    pixels, wide, words, layers = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32), scaled(size, 3, 4, 6)
    with tempfile.TemporaryDirectory() as folder:
        M2M100Config(vocab_size=VOCABULARY, d_model=wide, encoder_layers=layers, decoder_layers=1, encoder_attention_heads=4, encoder_ffn_dim=4 * wide, max_position_embeddings=words,
                     encoder_layerdrop=0, decoder_layerdrop=0).save_pretrained(folder)
        model = CustomTextCLIP(128, CLIPVisionCfg(layers=layers, width=wide, patch_size=16, image_size=pixels),
                               CLIPTextCfg(hf_model_name=folder, hf_model_pretrained=False, hf_proj_type="linear", hf_pooler_type="cls_pooler"), nonscalar_logit_scale=True)
    model.lock_image_tower()
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(2, VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))


def vit_pytorch_regionvit(size: str) -> Subject:
    """A token for each region of a map, which look at each other, and then each with the places of its region, by the same layers; with a bias for each distance within it."""
    from vit_pytorch.regionvit import RegionViT

    window, wide = scaled(size, 3, 4, 7), scaled(size, 32, 48, 64)
    model = RegionViT(dim=(wide, 2 * wide, 4 * wide, 8 * wide), depth=(2, 2, scaled(size, 2, 4, 8), 2), window_size=window, num_classes=100)
    return labelled(model, 32 * window)


def vit_pytorch_cvt(size: str) -> Subject:
    """Queries, keys and values are made by convolutions, keys and values of every second place; all layers are convolutions, and channels lie first. As its authors have it when large."""
    from vit_pytorch.cvt import CvT

    part = scaled(size, 32, 48, 64)
    model = CvT(num_classes=100, s1_emb_dim=part, s2_emb_dim=3 * part, s3_emb_dim=6 * part, s3_depth=scaled(size, 3, 5, 10))
    return labelled(model, scaled(size, 64, 96, 128))


def smp_pan(size: str) -> Subject:
    """A pyramid of maps of one channel weighs what the encoder made, whose last stage looks farther instead of making maps smaller. The encoder is a MobileNet of timm's; trained as in the package's example on
    CamVid."""
    from segmentation_models_pytorch import PAN
    from segmentation_models_pytorch.losses import MULTICLASS_MODE, DiceLoss

    pixels, overlap = scaled(size, 128, 128, 160), DiceLoss(MULTICLASS_MODE, from_logits=True)  # it takes none that are smaller
    model = PAN(f"tu-mobilenetv4_conv_{size}", encoder_weights=None, classes=OF_CAMVID)
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(OF_CAMVID, (count, pixels, pixels))), lambda module, given, masks: overlap(module(given), masks))


def open_clip_clipa(size: str) -> Subject:
    """Two towers as its configurations of CLIPA have them: of places the mean is made, then normed; words look at those after them too, and the last stands for all."""
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    pixels, wide, words, layers = scaled(size, 70, 98, 126), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32), scaled(size, 3, 4, 6)
    model = CLIP(128, CLIPVisionCfg(layers=layers, width=wide, patch_size=14, image_size=pixels, no_ln_pre=True, pool_type="avg", final_ln_after_pool=True),
                 CLIPTextCfg(context_length=words, vocab_size=VOCABULARY, width=wide, heads=wide // 64, layers=layers, pool_type="last", no_causal_mask=True), nonscalar_logit_scale=True)
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))
