# SPDX-License-Identifier: Apache-2.0
"""Models of the packages monai, segmentation_models_pytorch, open_clip, vit_pytorch and x_transformers, as their own examples build and train them, and what of timm and diffusers
other_libraries.py has no room for."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .other_libraries import of_diffusers
from .sizes import VOCABULARY, length, width
from .subject import LENGTH, Batch, Subject, labelled, scaled, tokens


def monai_unet(size: str) -> Subject:
    """The network of MONAI's tutorial on the spleen: each level is a pair of residual units around the next, in three dimensions."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import UNet

    wide, side, organs = scaled(size, 16, 24, 32), scaled(size, 32, 48, 64), 3
    model = UNet(spatial_dims=3, in_channels=1, out_channels=organs, channels=[wide << level for level in range(5)], strides=(2, 2, 2, 2), num_res_units=2, norm="batch")
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    return Subject(model, lambda count: (torch.randn(count, 1, side, side, side), torch.randint(organs, (count, 1, side, side, side))), lambda module, scan, labels: loss(module(scan), labels))


def smp_unet(size: str) -> Subject:
    """Each level up sees what the encoder made of it: a ResNet of two kinds of blocks."""
    from segmentation_models_pytorch import Unet
    from segmentation_models_pytorch.losses import DiceLoss

    pixels = scaled(size, 64, 128, 192)
    model = Unet(f"resnet{scaled(size, 18, 34, 50)}", encoder_weights=None, classes=1)
    overlap = DiceLoss("binary")

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3, pixels, pixels), torch.randint(2, (samples, 1, pixels, pixels)).float()

    def loss(module: nn.Module, given: Tensor, masks: Tensor) -> Tensor:
        logits = module(given)
        return overlap(logits, masks) + F.binary_cross_entropy_with_logits(logits, masks)

    return Subject(model, sample, loss)


def open_clip_vit(size: str) -> Subject:
    """Two towers, of images and of their texts, whose attention is torch's own module. Its scale is no scalar, as open_clip makes it to be sharded."""
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    pixels, wide, words, layers = scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32), scaled(size, 3, 4, 4)
    model = CLIP(128, CLIPVisionCfg(layers=layers, width=wide, patch_size=16, image_size=pixels),
                 CLIPTextCfg(context_length=words, vocab_size=VOCABULARY, width=wide, heads=4, layers=layers), nonscalar_logit_scale=True)
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))


def vit_pytorch_vit(size: str) -> Subject:
    """Attention is written out, and patches are cut by einops."""
    from vit_pytorch import ViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 192, 320, 512)
    model = ViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=4, mlp_dim=2 * wide, dropout=0.1, emb_dropout=0.1)
    return labelled(model, pixels)


def x_transformers_decoder(size: str) -> Subject:
    """Each layer is a list of norms, attention or an MLP, and what adds it up; the wrapper makes labels of what it is given, and the loss."""
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    model = TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=512, attn_layers=Decoder(dim=width(size), depth=4, heads=4))
    return Subject(AutoregressiveWrapper(model), tokens(VOCABULARY, length(size)), lambda module, ids: module(ids))



def monai_unetr(size: str) -> Subject:
    """The network of MONAI's tutorial on UNETR: what a transformer makes of patches, in four depths, is widened by convolutions in three dimensions."""
    from monai.losses import DiceCELoss
    from monai.networks.nets import UNETR

    side, wide, organs = scaled(size, 32, 32, 48), scaled(size, 96, 192, 288), scaled(size, 4, 14, 14)
    model = UNETR(in_channels=1, out_channels=organs, img_size=(side, side, side), feature_size=scaled(size, 8, 16, 16), hidden_size=wide, mlp_dim=4 * wide, num_heads=12,
                  proj_type="perceptron", norm_name="instance", res_block=True, dropout_rate=0.0)
    for block in model.vit.blocks:
        block.norm_cross_attn.requires_grad_(False)  # which is not used
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    return Subject(model, lambda count: (torch.randn(count, 1, side, side, side), torch.randint(organs, (count, 1, side, side, side))), lambda module, scan, labels: loss(module(scan), labels))


def monai_densenet(size: str) -> Subject:
    """The network of MONAI's tutorial on classes of whole scans; the large one is DenseNet201, the medium one DenseNet121."""
    from monai.networks.nets import DenseNet

    side = scaled(size, 32, 40, 48)
    model = DenseNet(spatial_dims=3, in_channels=1, out_channels=2, block_config=(scaled(size, 3, 6, 6), scaled(size, 6, 12, 12), scaled(size, 12, 24, 48), scaled(size, 8, 16, 32)))
    return Subject(model, lambda count: (torch.randn(count, 1, side, side, side), torch.randint(2, (count,))), lambda module, scan, labels: F.cross_entropy(module(scan), labels))


def vit_pytorch_hyper(size: str) -> Subject:
    """Four streams of residuals, which attention and MLPs are given a mixture of: what mixes them is called by two methods, before and after."""
    from vit_pytorch.simple_vit_with_hyper_connections import SimpleViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 128, 192, 256)
    model = SimpleViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=4, heads=4, mlp_dim=2 * wide, num_residual_streams=4)
    return labelled(model, pixels)


def vit_pytorch_dca(size: str) -> Subject:
    """Queries, keys and values of a block are each a mixture of what all blocks before it made."""
    from vit_pytorch.attn_residual_with_dca_simple_vit import SimpleViT

    pixels, wide = scaled(size, 64, 96, 128), scaled(size, 128, 192, 256)
    model = SimpleViT(image_size=pixels, patch_size=8, num_classes=100, dim=wide, depth=scaled(size, 4, 5, 6), heads=4, mlp_dim=2 * wide)
    return labelled(model, pixels)


def x_transformers_xval(size: str) -> Subject:
    """Each place has a token and a number, which scales the token's vector where the token says that it is one: two heads, and a loss of each."""
    from x_transformers import Decoder, XValAutoregressiveWrapper, XValTransformerWrapper

    numerical = 3
    model = XValTransformerWrapper(num_tokens=VOCABULARY, numerical_token_id=numerical, max_seq_len=1024, attn_layers=Decoder(dim=width(size), depth=4, heads=4))

    def sample(samples: int) -> Batch:
        ids = torch.randint(VOCABULARY, (samples, int(length(size) * LENGTH.factor)))
        return torch.where(torch.rand(ids.shape) < 0.25, numerical, ids), torch.randn(ids.shape)

    def loss(module: nn.Module, ids: Tensor, numbers: Tensor) -> Tensor:
        return module(ids, numbers)

    return Subject(XValAutoregressiveWrapper(model), sample, loss)


def x_transformers_xl(size: str) -> Subject:
    """A sequence goes through the network in eight segments, and attention sees what each layer was given of the four before."""
    from x_transformers import Decoder, TransformerWrapper, XLAutoregressiveWrapper

    segment = scaled(size, 16, 32, 64)
    model = TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=segment, max_mem_len=4 * segment, attn_layers=Decoder(dim=width(size), depth=4, heads=4, rel_pos_bias=True))
    return Subject(XLAutoregressiveWrapper(model), tokens(VOCABULARY, 8 * segment), lambda module, ids: module(ids))



def timm_mambaout(size: str) -> Subject:
    """Channels go last but for convolutions: of what a layer makes, a part is a gate, and a part is convolved with its neighbours."""
    from timm.models.mambaout import MambaOut

    wide = scaled(size, 48, 72, 96)
    return labelled(MambaOut(num_classes=100, depths=(2, 2, scaled(size, 3, 4, 6), 2), dims=(wide, 2 * wide, 4 * wide, 6 * wide)), scaled(size, 64, 96, 128))


def timm_twins(size: str) -> Subject:
    """Attention in turns within windows, which reach past the image, and to what convolutions have left of all places; after the first block of a stage a convolution says where places are."""
    from timm.models.twins import Twins

    heads, pixels = scaled(size, 1, 2, 3), scaled(size, 64, 96, 128)
    model = Twins(img_size=pixels, num_classes=100, embed_dims=(32 * heads, 64 * heads, 128 * heads, 256 * heads), num_heads=(heads, 2 * heads, 4 * heads, 8 * heads), depths=(2, 2, scaled(size, 2, 4, 4), 2),
                  wss=(7, 7, 7, 7), sr_ratios=(8, 4, 2, 1))
    return labelled(model, pixels)


def _padded(samples: int, words: int) -> Tensor:
    """Which words of captions of unlike lengths there are; the first is the longest."""
    return torch.arange(words) < words - torch.arange(samples)[:, None] % (words // 2)


def diffusers_qwen_image(size: str) -> Subject:
    """Words and patches in one attention, each with layers of its own; places are turns of complex numbers, which stay on the device. Latents are packed, and a mask says which words there are."""
    pixels, heads, words = scaled(size, 16, 24, 32), scaled(size, 32, 64, 96), 24
    model: Any = of_diffusers("QwenImageTransformer2DModel")(attention_head_dim=heads, num_attention_heads=4, num_layers=4, joint_attention_dim=256, axes_dims_rope=(heads // 8, 7 * heads // 16, 7 * heads // 16))
    last = model.transformer_blocks[-1]
    for unused in (last.attn.to_add_out, last.txt_mlp):  # words are not asked for
        unused.requires_grad_(False)

    def sample(samples: int) -> Batch:
        latents, noise = torch.randn(samples, 16, pixels, pixels), torch.randn(samples, 16, pixels, pixels)
        return latents, noise, torch.rand(samples), torch.randn(samples, words, 256), _padded(samples, words)

    def drawn(module: nn.Module, latents: Tensor, noise: Tensor, parts: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        samples, side = len(latents), pixels // 2
        noisy = (1.0 - parts.view(-1, 1, 1, 1)) * latents + parts.view(-1, 1, 1, 1) * noise
        packed = noisy.view(samples, 16, side, 2, side, 2).permute(0, 2, 4, 1, 3, 5).reshape(samples, side * side, 64)
        made = module(packed, states, mask, parts, img_shapes=[[(1, side, side)]] * samples).sample
        velocity = made.view(samples, side, side, 16, 2, 2).permute(0, 3, 1, 4, 2, 5).reshape(samples, 16, pixels, pixels)
        return ((velocity.float() - (noise - latents).float()) ** 2).reshape(samples, -1).mean(1).mean()

    return Subject(model, sample, drawn)


def diffusers_kandinsky6(size: str) -> Subject:
    """Films and their sound at once, each with words and layers of its own, and attention to the other in each block.

    With what its released weights turn on, and an image to start from, which is one more frame at the place of the first.
    """
    pixels, heads, frames, sounds, words = scaled(size, 16, 20, 24), scaled(size, 32, 48, 64), scaled(size, 2, 2, 3), 40, 24
    model = of_diffusers("Kandinsky6Transformer3DModel")(
        in_text_dim=256, in_text_dim2=128, time_dim=heads, model_dim=4 * heads, ff_dim=16 * heads, num_text_blocks=2, num_visual_blocks=3, axes_dims=(heads // 4, 3 * heads // 8, 3 * heads // 8),
        text_token_padding=True, ca_rope=True, cross_gates=True, fix_modulation=True, visual_token_type_num_embeddings=2)

    def sample(samples: int) -> Batch:
        film, sound = torch.randn(samples, frames, pixels, pixels, 16), torch.randn(samples, sounds, 20)
        return film, torch.randn_like(film), torch.randn(samples, 1, pixels, pixels, 16), sound, torch.randn_like(sound), 1000 * torch.rand(samples), torch.randn(samples, words, 256), torch.randn(samples, 128), \
            _padded(samples, words)

    def drawn(module: nn.Module, film: Tensor, flow: Tensor, first: Tensor, sound: Tensor, sound_flow: Tensor, times: Tensor, states: Tensor, pooled: Tensor, mask: Tensor) -> Tensor:
        seen = torch.cat([film, first], 1)
        given = seen.new_zeros(*seen.shape[:-1], 1)
        given[:, -1] = 1
        kinds = torch.zeros(seen.shape[:2], dtype=torch.long, device=seen.device)
        kinds[:, -1] = 1
        side = torch.arange(pixels // 2, device=seen.device)
        places = torch.cat([torch.arange(frames, device=seen.device), side.new_zeros(1)]), side, side
        made = module(torch.cat([seen, torch.zeros_like(seen), given], -1), states, pooled, times, sound, places, mask, kinds)
        return F.mse_loss(made.sample[:, :-1], flow) + F.mse_loss(made.audio_sample, sound_flow)

    return Subject(model, sample, drawn)


OF_CAMVID = 12  # classes


def on_camvid(model: nn.Module, size: str) -> Subject:
    """As smp's example trains it: a class for each pixel, and how far they lie over one another."""
    from segmentation_models_pytorch.losses import MULTICLASS_MODE, DiceLoss

    pixels, overlap = scaled(size, 64, 96, 160), DiceLoss(MULTICLASS_MODE, from_logits=True)
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(OF_CAMVID, (count, pixels, pixels))), lambda module, given, masks: overlap(module(given), masks))


def smp_deeplabv3plus(size: str) -> Subject:
    """Convolutions that look far apart, beside each other and beside what is left of the whole image; their results meet an early layer of the encoder. Trained as in the package's example on CamVid."""
    from segmentation_models_pytorch import DeepLabV3Plus

    return on_camvid(DeepLabV3Plus(f"resnet{scaled(size, 18, 34, 50)}", encoder_weights=None, classes=OF_CAMVID), size)


def open_clip_convnext(size: str) -> Subject:
    """A tower of convolutions, one of timm's that open_clip takes by its name, and one of texts. Its scale is no scalar, as open_clip makes it to be sharded."""
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg
    from timm.models import convnext, register_model

    part, pixels, wide, words = scaled(size, 32, 64, 96), scaled(size, 64, 96, 128), scaled(size, 192, 256, 384), scaled(size, 16, 24, 32)

    def narrower(pretrained: bool = False, **settings: Any) -> nn.Module:
        return convnext.convnext_large(pretrained, depths=(2, 2, scaled(size, 3, 4, 6), 2), dims=(part, 2 * part, 4 * part, 8 * part), **settings)

    narrower.__name__ = f"convnext_large_{size}"
    register_model(narrower)
    model = CLIP(128, CLIPVisionCfg(timm_model_name=narrower.__name__, timm_pool="", timm_proj="mlp", timm_drop_path=0.1, image_size=pixels),
                 CLIPTextCfg(context_length=words, vocab_size=VOCABULARY, width=wide, heads=4, layers=scaled(size, 3, 4, 4)), nonscalar_logit_scale=True)
    loss = ClipLoss()
    return Subject(model, lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(VOCABULARY, (count, words))), lambda module, pictures, texts: loss(*module(pictures, texts)))
