# SPDX-License-Identifier: Apache-2.0
"""Models of the packages monai, vit_pytorch, segmentation_models_pytorch and open_clip that register scans, fill in what is hidden, see at several scales, and read texts twice, as their own examples build
and train them."""

import tempfile
from pathlib import Path
from typing import Any, Dict
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from .more_libraries import OF_CAMVID, on_camvid
from .sizes import VOCABULARY, length, width
from .subject import LENGTH, Batch, Subject, images, scaled


def monai_voxelmorph(size: str) -> Subject:
    """How one scan is to be bent so that it is like another: a U-Net says how fast each place moves, which is followed in seven steps, each by sampling what it found at the places it leads to; then scan and organs are
    sampled so. As in MONAI's tutorials: they shall be alike where they are, their organs shall lie over one another, and all shall bend little."""
    from monai.losses import BendingEnergyLoss, DiceLoss, LocalNormalizedCrossCorrelationLoss
    from monai.networks import one_hot
    from monai.networks.blocks import Warp
    from monai.networks.nets import VoxelMorph, VoxelMorphUNet

    sides, organs, part = {"small": (32, 32, 32), "medium": (32, 32, 64), "large": (48, 48, 48)}[size], scaled(size, 3, 4, 5), scaled(size, 8, 16, 16)
    model = VoxelMorph(VoxelMorphUNet(3, 2, 2 * part, (part, *[2 * part] * scaled(size, 5, 5, 7)), (part, part)))
    alike, overlap, bent = LocalNormalizedCrossCorrelationLoss(kernel_size=9), DiceLoss(include_background=False), BendingEnergyLoss()
    warp = Warp(padding_mode="zeros")

    def loss(module: nn.Module, moving: Tensor, fixed: Tensor, of_moving: Tensor, of_fixed: Tensor) -> Tensor:
        warped, field = module(moving, fixed)
        laid = warp(one_hot(of_moving, organs, dtype=field.dtype), field)
        return alike(warped, fixed) + overlap(laid, one_hot(of_fixed, organs, dtype=field.dtype)) + 0.5 * bent(field)

    def sample(count: int) -> Batch:
        return torch.rand(count, 1, *sides), torch.rand(count, 1, *sides), torch.randint(organs, (count, 1, *sides)), torch.randint(organs, (count, 1, *sides))

    return Subject(model, sample, loss)


def vit_pytorch_mae(size: str) -> Subject:
    """Three of four patches, drawn by chance, are hidden, and what is in them is told from the others: an encoder reads what is seen, a narrower decoder all places. Tokens are put in their places with indices."""
    from vit_pytorch.mae import MAE
    from vit_pytorch.vit import ViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    encoder = ViT(image_size=pixels, patch_size=8, num_classes=1000, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 6, 6), mlp_dim=2 * wide, pool="mean")  # it takes no other
    model = MAE(encoder=encoder, masking_ratio=0.75, decoder_dim=scaled(size, 128, 192, 256), decoder_depth=scaled(size, 3, 4, 6))
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels),), lambda module, given: module(given))


def smp_upernet(size: str) -> Subject:
    """The deepest level is pooled to four sizes; each level then meets the next on the way up, and all of them together. The encoder is a ConvNeXt of timm's; trained as in the package's example on CamVid."""
    from segmentation_models_pytorch import UPerNet

    encoder = {"small": "atto", "medium": "pico", "large": "nano"}[size]
    return on_camvid(UPerNet(f"tu-convnextv2_{encoder}", encoder_weights=None, decoder_channels=scaled(size, 96, 128, 192), classes=OF_CAMVID), size)


def open_clip_mammut(size: str) -> Subject:
    """One tower of texts, which are read twice in each step: once without the image, each word looking at all, for the mean of them; and once word by word, every second layer followed by one that asks the image.

    As open_clip's configurations of MaMMUT have it, of whose parts it is made; the release measured has the parts alone. Texts are as long as can be: none is filled up.
    """
    from open_clip.loss import CoCaLoss
    from open_clip.model import CLIPVisionCfg, _build_vision_tower
    from open_clip.transformer import MultimodalTransformer

    pixels, seen, wide, words, layers = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 128, 192, 256), scaled(size, 16, 24, 32), scaled(size, 3, 4, 4)

    class Decoder(MultimodalTransformer):
        def __init__(self) -> None:
            super().__init__(width=wide, layers=layers, heads=4, context_length=words, output_dim=VOCABULARY)
            self.cross_attn = nn.ModuleList(list(self.cross_attn)[::2])
            self.token_embedding = nn.Embedding(VOCABULARY, wide)
            self.positional_embedding = nn.Parameter(torch.randn(words, wide) * 0.01)
            nn.init.normal_(self.text_projection, std=wide**-0.5)

        def through(self, block: nn.Module, *given: Any) -> Tensor:
            return checkpoint(block, *given, use_reentrant=False) if self.grad_checkpointing else block(*given)

        def forward(self, texts: Tensor, image: Any = None) -> Tensor:
            count = texts.shape[1]
            told = self.token_embedding(texts) + self.positional_embedding[:count]
            for number, block in enumerate(self.resblocks):
                told = self.through(block, told, None, None, None if image is None else self.attn_mask[:count, :count])
                if image is not None and number % 2 == 0:
                    told = self.through(self.cross_attn[number // 2], told, image, image, None)
            told = self.ln_final(told)
            return told.mean(1) if image is None else told @ self.text_projection

    class MaMMUT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.visual = _build_vision_tower(wide, CLIPVisionCfg(layers=layers, width=seen, patch_size=16, image_size=pixels, pool_type="avg", final_ln_after_pool=True, output_tokens=True))
            self.text = Decoder()
            self.map_viz2txt_kv = nn.Parameter(torch.randn(seen, wide) * seen**-0.5)
            self.logit_scale = nn.Parameter(torch.full((1,), 2.66))

        def set_grad_checkpointing(self) -> None:
            self.visual.set_grad_checkpointing()
            self.text.set_grad_checkpointing()

        def forward(self, pictures: Tensor, texts: Tensor) -> Dict[str, Tensor]:
            image, places = self.visual(pictures)
            told = F.normalize(self.text(texts), dim=-1)
            logits = self.text(texts[:, :-1], places @ self.map_viz2txt_kv)
            return {"image_features": F.normalize(image, dim=-1), "text_features": told, "logits": logits, "labels": texts[:, 1:], "logit_scale": self.logit_scale.exp()}

    losses = CoCaLoss(caption_loss_weight=1.0, clip_loss_weight=1.0)
    return Subject(MaMMUT(), lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: sum(losses(**module(pictures, texts))))


def monai_transchex(size: str) -> Subject:
    """What is wrong with a chest, from an X-ray and what was written of it: layers of BERT for patches, others for words, then those in which each asks the other; the first word tells. What was written is read in the end,
    so of the last layer the half for patches is not. As in MONAI's tutorial; it begins from weights in a folder, of which there are none."""
    from monai.networks.nets import Transchex

    pixels, kinds, layers = scaled(size, 128, 192, 256), 14, scaled(size, 2, 2, 3)
    with tempfile.TemporaryDirectory() as folder, mock.patch("torch.cuda.is_available", lambda: False):  # it asks where weights are to go
        torch.save({}, Path(folder) / "pytorch_model.bin")
        model = Transchex(3, (pixels, pixels), (32, 32), kinds, layers, layers, layers, hidden_size=width(size), intermediate_size=4 * width(size), num_attention_heads=4, vocab_size=VOCABULARY, path_or_repo_id=folder)

    def loss(module: nn.Module, ids: Tensor, parts: Tensor, scan: Tensor, found: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(module(input_ids=ids, token_type_ids=parts, vision_feats=scan), found)

    def sample(count: int) -> Batch:
        words = int(length(size) * LENGTH.factor)
        return torch.randint(3, VOCABULARY, (count, words)), torch.zeros(count, words, dtype=torch.int64), torch.randn(count, 3, pixels, pixels), torch.rand(count, kinds).round()

    return Subject(model, sample, loss)


def vit_pytorch_vit_with_decorr(size: str) -> Subject:
    """What goes into all layers is kept, and compared, channel with channel, in each sample and layer: channels that say the same are a loss beside that of kinds."""
    from vit_pytorch.vit_with_decorr import ViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384)
    model = ViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=scaled(size, 4, 4, 6), mlp_dim=2 * wide, dropout=0.1, emb_dropout=0.1)

    def loss(module: nn.Module, given: Tensor, labels: Tensor) -> Tensor:
        logits, same = module(given)
        return F.cross_entropy(logits, labels) + 0.1 * same

    return Subject(model, images(pixels, 100), loss)


def smp_deeplabv3(size: str) -> Subject:
    """Convolutions that look far apart, beside each other and beside the mean of the whole image, behind an encoder whose last stages look farther instead of making maps smaller: a MobileNet of timm's. Trained as in the
    package's example on CamVid."""
    from segmentation_models_pytorch import DeepLabV3
    from segmentation_models_pytorch.losses import MULTICLASS_MODE, DiceLoss

    pixels, overlap = scaled(size, 64, 96, 128), DiceLoss(MULTICLASS_MODE, from_logits=True)
    model = DeepLabV3(f"tu-mobilenetv2_{scaled(size, 50, 100, 140):03}", encoder_weights=None, classes=OF_CAMVID)
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(OF_CAMVID, (count, pixels, pixels))), lambda module, given, masks: overlap(module(given), masks))


def open_clip_so400m(size: str) -> Subject:
    """Two towers as its configurations of SO400M-SigLIP have them, with heads 72 wide: timm's for images, of which a query that is trained makes one, and its own for texts, whose last word stands for all. Each pair of an
    image and a text is judged by itself."""
    from open_clip.loss import SigLipLoss
    from open_clip.model import CLIPTextCfg, CLIPVisionCfg, CustomTextCLIP
    from timm.models import register_model, vision_transformer

    pixels, wide, words, layers, ratio = scaled(size, 70, 98, 126), scaled(size, 288, 288, 576), 16, scaled(size, 3, 6, 4), 3.7362

    def narrower(pretrained: bool = False, **settings: Any) -> nn.Module:
        return vision_transformer.vit_so400m_patch14_siglip_224(pretrained, img_size=pixels, embed_dim=wide, depth=layers, num_heads=wide // 72, **settings)

    narrower.__name__ = f"vit_so400m_patch14_siglip_{size}"
    register_model(narrower)
    text = CLIPTextCfg(context_length=words, vocab_size=VOCABULARY, width=wide, heads=wide // 72, layers=layers, mlp_ratio=ratio, no_causal_mask=True, proj_bias=True, pool_type="last", norm_kwargs={"eps": 1e-6})
    model = CustomTextCLIP(wide, CLIPVisionCfg(timm_model_name=narrower.__name__, timm_pool="map", timm_proj="none", image_size=pixels), text, init_logit_bias=-10, nonscalar_logit_scale=True)
    loss = SigLipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))
