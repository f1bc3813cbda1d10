# SPDX-License-Identifier: Apache-2.0
"""Models of images and films from the packages timm and diffusers."""

import importlib
import os
from dataclasses import replace
from typing import Any, Callable, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .subject import Batch, Subject, labelled, scaled


def timm_vit(size: str) -> Subject:
    from timm.models.vision_transformer import VisionTransformer

    pixels = scaled(size, 64, 96, 128)
    return labelled(VisionTransformer(img_size=pixels, num_classes=100, embed_dim=scaled(size, 192, 320, 512), depth=scaled(size, 4, 5, 6), num_heads=4), pixels)


def timm_efficientnet(size: str) -> Subject:
    """Leaves whole blocks out by chance, as its training does."""
    from timm.models import efficientnet

    make = getattr(efficientnet, f"efficientnet_b{scaled(size, 0, 1, 2)}")
    return labelled(make(num_classes=100, drop_rate=0.2, drop_path_rate=0.2), scaled(size, 64, 96, 128))


def timm_metaformer(size: str) -> Subject:
    """Two stages of convolutions, then two of attention, between which channels go last."""
    from timm.models import metaformer

    width = scaled(size, 32, 48, 64)
    model = metaformer.MetaFormer(num_classes=100, depths=(2, 2, 3, 2), dims=(width, 2 * width, 4 * width, 8 * width),
                                  token_mixers=[metaformer.SepConv, metaformer.SepConv, metaformer.Attention, metaformer.Attention],
                                  norm_layers=[metaformer.LayerNorm2dNoBias] * 2 + [metaformer.LayerNormNoBias] * 2)
    return labelled(model, scaled(size, 64, 96, 128))


def timm_regnet(size: str) -> Subject:
    from timm.models import regnet

    make = getattr(regnet, f"regnety_{scaled(size, 2, 4, 8):03}")
    return labelled(make(num_classes=100), scaled(size, 64, 96, 128))


def timm_efficientvit_mit(size: str) -> Subject:
    """Convolutions, and in two of four stages attention without softmax, in float32, of queries, keys and values in two scales."""
    from timm.models.efficientvit_mit import EfficientVit

    wide = scaled(size, 16, 24, 32)
    model = EfficientVit(widths=(wide, 2 * wide, 4 * wide, 8 * wide, 16 * wide), depths=(1, 2, 2, 2, 2), head_dim=16, head_widths=(1024, 1280), num_classes=100)
    return labelled(model, scaled(size, 64, 128, 192))


def timm_mobilevit(size: str) -> Subject:
    """Convolutions, and in three of five stages attention between the same points of all patches."""
    from timm.models.byobnet import ByobNet, ByoModelCfg
    from timm.models.mobilevit import _inverted_residual_block, _mobilevit_block

    wide = scaled(size, 16, 32, 32)
    late = [_mobilevit_block(d=1, c=part * wide, s=2, transformer_dim=(part + 1) * wide, transformer_depth=depth, patch_size=2, br=2.0) for part, depth in ((3, 2), (4, 4), (5, 3))]
    config = ByoModelCfg(blocks=(_inverted_residual_block(d=1, c=wide, s=1, br=2.0), _inverted_residual_block(d=3, c=3 * wide // 2, s=2, br=2.0), *late), stem_chs=wide, stem_type="3x3", stem_pool="", downsample="",
                         act_layer="silu", num_features=20 * wide)
    return labelled(ByobNet(config, num_classes=100), scaled(size, 64, 128, 192))


def timm_efficientvit_msra(size: str) -> Subject:
    """Each head attends within windows to a share of the channels, to which is added what the head before it has made; norms are of batches, also before the last layer."""
    from timm.models.efficientvit_msra import EfficientVitMsra

    part, pixels = scaled(size, 32, 64, 96), scaled(size, 128, 192, 256)
    return labelled(EfficientVitMsra(pixels, num_classes=100, embed_dim=(2 * part, 4 * part, 6 * part)), pixels)


def timm_vgg(size: str) -> Subject:
    """Convolutions in a row, also in its head, where the first spans all places: most of its weights."""
    from timm.models.vgg import VGG

    wide = scaled(size, 16, 32, 48)
    widths = [part if isinstance(part, str) else part * wide for part in (1, "M", 2, "M", 4, 4, "M", 8, 8, "M", 8, 8, "M")]
    return labelled(VGG(widths, num_classes=100, mlp_ratio=scaled(size, 1, 2, 2) / 8), scaled(size, 64, 96, 128))


def timm_pit(size: str) -> Subject:
    """Between stages of attention, convolutions make fewer places of wider ones."""
    from timm.models.pit import PoolingVisionTransformer

    pixels, heads = scaled(size, 64, 96, 128), scaled(size, 2, 2, 3)
    model = PoolingVisionTransformer(img_size=pixels, patch_size=14, stride=7, base_dims=(scaled(size, 32, 48, 48),) * 3, depth=(2, scaled(size, 2, 4, 4), scaled(size, 2, 2, 3)),
                                     heads=(heads, 2 * heads, 4 * heads), num_classes=100)
    return labelled(model, pixels)


def timm_davit(size: str) -> Subject:
    """Attention in turns between the places of a window and between channels."""
    from timm.models.davit import DaVit

    heads = scaled(size, 1, 2, 3)
    model = DaVit(depths=(1, 1, scaled(size, 1, 2, 3), 1), embed_dims=(32 * heads, 64 * heads, 128 * heads, 256 * heads), num_heads=(heads, 2 * heads, 4 * heads, 8 * heads), num_classes=100)
    return labelled(model, scaled(size, 64, 128, 192))


def of_diffusers(name: str) -> Callable[..., nn.Module]:
    """Imported so that nothing asks for the device before train.py forks, as diffusers does to see whether there is one, and bitsandbytes, which it imports."""
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    from diffusers.utils import import_utils

    import_utils._bitsandbytes_available = False
    return getattr(importlib.import_module("diffusers"), name)


def _noisy(pixels: int, channels: int, beside: Callable[[int], Tuple[Tensor, ...]]) -> Callable[[int], Batch]:
    """Latents with noise, the noise, times, and what else the model is told."""
    return lambda count: (torch.randn(count, channels, pixels, pixels), torch.randn(count, channels, pixels, pixels), torch.randint(1000, (count,)), *beside(count))


def diffusers_unet(size: str) -> Subject:
    """The denoiser of Stable Diffusion."""
    width = scaled(size, 32, 64, 96)
    model = of_diffusers("UNet2DConditionModel")(
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        block_out_channels=(width, 2 * width, 2 * width), layers_per_block=1, norm_num_groups=16, cross_attention_dim=128, attention_head_dim=4)
    return Subject(model, _noisy(scaled(size, 16, 24, 32), 4, lambda count: (torch.randn(count, 24, 128),)),
                   lambda module, latents, noise, times, states: F.mse_loss(module(latents, times, states).sample, noise))


def diffusers_sd3(size: str) -> Subject:
    """Words and patches in one attention, each with layers of its own; in the first block patches have another attention for themselves."""
    pixels, heads = scaled(size, 16, 24, 32), scaled(size, 32, 64, 96)
    model = of_diffusers("SD3Transformer2DModel")(sample_size=pixels, in_channels=16, num_layers=4, attention_head_dim=heads, num_attention_heads=4, joint_attention_dim=256,
                                                 caption_projection_dim=4 * heads, pooled_projection_dim=128, pos_embed_max_size=32, dual_attention_layers=(0,), qk_norm="rms_norm")
    return Subject(model, _noisy(pixels, 16, lambda count: (torch.randn(count, 24, 256), torch.randn(count, 128))),
                   lambda module, latents, noise, times, states, pooled: F.mse_loss(module(latents, states, pooled, times).sample, noise))


class Reconstruction(nn.Module):
    """An autoencoder in one pass, which diffusers' own does not give the latents' distribution out of."""

    def __init__(self, vae: Any) -> None:
        super().__init__()
        self.vae = vae

    def enable_gradient_checkpointing(self) -> None:
        self.vae.enable_gradient_checkpointing()

    def forward(self, pixels: Tensor) -> Tuple[Tensor, Tensor]:
        latents = self.vae.encode(pixels).latent_dist
        return self.vae.decode(latents.sample()).sample, latents.kl()


def diffusers_vae(size: str) -> Subject:
    """The autoencoder of Stable Diffusion."""
    pixels, width = scaled(size, 32, 48, 64), scaled(size, 32, 48, 64)
    model = of_diffusers("AutoencoderKL")(down_block_types=("DownEncoderBlock2D",) * 3, up_block_types=("UpDecoderBlock2D",) * 3, block_out_channels=(width, 2 * width, 4 * width), norm_num_groups=16)

    def loss(module: nn.Module, given: Tensor) -> Tensor:
        made, divergence = module(given)
        return F.mse_loss(made, given) + 1e-6 * divergence.mean()

    return Subject(Reconstruction(model), lambda count: (torch.randn(count, 3, pixels, pixels),), loss)


def diffusers_dit(size: str) -> Subject:
    """Each block's norms are scaled by times and classes."""
    pixels = scaled(size, 16, 24, 32)
    model = of_diffusers("DiTTransformer2DModel")(num_attention_heads=4, attention_head_dim=scaled(size, 32, 64, 96), in_channels=4, num_layers=4, sample_size=pixels, num_embeds_ada_norm=100)
    return Subject(model, _noisy(pixels, 4, lambda count: (torch.randint(100, (count,)),)),
                   lambda module, latents, noise, times, labels: F.mse_loss(module(latents, times, labels).sample, noise))


def diffusers_unet2d(size: str) -> Subject:
    """Says what was added to an image, and is told how much: four sizes of it, and attention in all but the largest."""
    wide, pixels = scaled(size, 32, 48, 64), scaled(size, 32, 32, 48)
    model = of_diffusers("UNet2DModel")(sample_size=pixels, block_out_channels=(wide, 2 * wide, 3 * wide, 4 * wide), norm_num_groups=16)

    def mended(model: nn.Module, given: Tensor, steps: Tensor, noise: Tensor) -> Tensor:
        return F.mse_loss(model(given, steps).sample, noise)

    def sample(samples: int) -> Batch:
        return torch.randn(samples, 3, pixels, pixels), torch.randint(1000, (samples,)), torch.randn(samples, 3, pixels, pixels)

    return Subject(model, sample, mended)


def diffusers_minimax_h3(size: str) -> Subject:
    """Films as few numbers, and back: convolutions in three dimensions that look back in time make them, five frames at a time, and a transformer that sees three of them in time, and all places, draws them."""
    wide, pixels, frames = scaled(size, 16, 32, 48), scaled(size, 32, 48, 48), 6

    base: Any = of_diffusers("AutoencoderKLMiniMaxH3")

    class Both(base):
        def forward(self, film: Tensor) -> Any:
            likely = self.encode(film).latent_dist
            return self.decode(likely.sample()).sample, likely.kl()

    model = Both(latent_channels=16, block_out_channels=(wide, 2 * wide, 2 * wide, 4 * wide), spatial_downsample_factors=(2, 2, 2, 1), temporal_downsample_factors=(1, 2, 2, 1), norm_num_groups=16, decoder_num_layers=4,
                 decoder_num_attention_heads=4, decoder_attention_head_dim=scaled(size, 48, 64, 96), clip_length=5, token_drop=1, latents_mean=(0.0,) * 16, latents_std=(1.0,) * 16)

    def drawn(model: nn.Module, film: Tensor) -> Tensor:
        again, far = model(film)
        return F.mse_loss(again, film) + 1e-6 * far.mean()

    return Subject(model, lambda samples: (torch.randn(samples, 3, frames, pixels, pixels),), drawn)


def diffusers_cogvideox(size: str) -> Subject:
    """Words and the patches of a film in one attention, with layers for both; norms, and what is added after them, are scaled by times, for words and for patches."""
    pixels, frames = scaled(size, 16, 24, 28), scaled(size, 3, 3, 4)
    model = of_diffusers("CogVideoXTransformer3DModel")(
        num_attention_heads=4, attention_head_dim=scaled(size, 48, 64, 96), time_embed_dim=scaled(size, 128, 256, 512), text_embed_dim=256, num_layers=4,
        sample_width=pixels, sample_height=pixels, sample_frames=4 * (frames - 1) + 1, max_text_seq_length=24)

    def sample(samples: int) -> Batch:
        return torch.randn(samples, frames, 16, pixels, pixels), torch.randn(samples, frames, 16, pixels, pixels), torch.randint(1000, (samples,)), torch.randn(samples, 24, 256)

    return Subject(model, sample, lambda module, latents, velocity, times, states: F.mse_loss(module(latents, states, times).sample, velocity))


def diffusers_dreamlite(size: str) -> Subject:
    """A denoiser for small devices: convolutions of single channels, then of single places, and attention whose heads share one key and value; where the image is large, to words alone.

    It sees latents with noise and, on their right, an image to start from.
    """
    pixels, wide = scaled(size, 16, 24, 32), scaled(size, 32, 48, 64)
    model = of_diffusers("DreamLiteUNetModel")(
        block_out_channels=(wide, 2 * wide, 4 * wide), layers_per_block=scaled(size, 1, 1, 2), norm_num_groups=16, cross_attention_dim=128, attention_head_dim=scaled(size, 4, 6, 4),
        encoder_hid_dim=192, encoder_hid_dim_type="text_proj_rms", addition_embed_type="time", addition_time_embed_dim=64, projection_class_embeddings_input_dim=128)

    def sample(samples: int) -> Batch:
        latents, given, noise = (torch.randn(samples, 4, pixels, pixels) for _ in range(3))
        return latents, given, noise, torch.randint(1000, (samples,)), torch.randn(samples, 24, 192), torch.full((samples, 2), 8 * pixels)

    def mended(model: nn.Module, latents: Tensor, given: Tensor, noise: Tensor, times: Tensor, states: Tensor, sides: Tensor) -> Tensor:
        made = model(torch.cat([latents, given], dim=3), times, states, added_cond_kwargs={"time_ids": sides}).sample
        return F.mse_loss(made[..., :pixels], noise)

    return Subject(model, sample, mended)


def timm_vision_transformer_sam(size: str) -> Subject:
    """Attention within windows that reach past the image, in some blocks between all places, and what each adds for how far places are from each other."""
    from timm.models.vision_transformer_sam import VisionTransformerSAM

    pixels, depth = scaled(size, 128, 256, 384), scaled(size, 4, 5, 6)
    model = VisionTransformerSAM(img_size=pixels, num_classes=100, embed_dim=scaled(size, 192, 320, 512), depth=depth, num_heads=4, use_rel_pos=True, window_size=7,
                                 global_attn_indexes=(depth // 2 - 1, depth - 1), neck_chans=scaled(size, 64, 128, 256))
    return labelled(model, pixels)


def timm_maxxvit(size: str) -> Subject:
    """Two stages of convolutions, then two of attention between all places, whose linear layers are convolutions too."""
    from timm.models.maxxvit import MaxxVit, model_cfgs

    pixels, wide = scaled(size, 96, 128, 192), scaled(size, 32, 48, 80)
    config = replace(model_cfgs["coatnet_pico_rw"], embed_dim=(wide, 2 * wide, 4 * wide, 8 * wide), depths=(2, 3, scaled(size, 3, 4, 5), 2), stem_width=(wide // 2, wide))
    return labelled(MaxxVit(config, img_size=pixels, num_classes=100), pixels)


def timm_fasternet(size: str) -> Subject:
    """Of each block's channels a quarter is convolved with its neighbours, and put beside the others again."""
    from timm.models.fasternet import FasterNet
    from torch import nn

    model = FasterNet(num_classes=100, embed_dim=scaled(size, 32, 64, 96), depths=(1, 2, scaled(size, 4, 6, 8), 2), feature_dim=scaled(size, 640, 1280, 1280), drop_path_rate=0.0, act_layer=nn.GELU)
    return labelled(model, scaled(size, 64, 128, 192))


def _restored(model: nn.Module, given: Tensor) -> Tensor:
    made, divergence = model(given)
    return F.mse_loss(made, given) + 1e-6 * divergence.mean()


def diffusers_wan_vae(size: str) -> Subject:
    """Films as few numbers, and back, by convolutions that look back in time: the first frame alone, then four at a time, with the last two of each layer kept from those before."""
    pixels, frames = scaled(size, 32, 48, 64), scaled(size, 5, 5, 9)
    model = of_diffusers("AutoencoderKLWan")(base_dim=scaled(size, 16, 32, 48))
    return Subject(Reconstruction(model), lambda samples: (torch.randn(samples, 3, frames, pixels, pixels),), _restored)


def diffusers_hunyuan_image_vae(size: str) -> Subject:
    """Its convolutions change how large images are by moving places to channels and back, beside means and copies of channels."""
    pixels, wide = scaled(size, 64, 64, 96), scaled(size, 32, 64, 64)
    model = of_diffusers("AutoencoderKLHunyuanImage")(in_channels=3, out_channels=3, latent_channels=16, block_out_channels=(wide, 2 * wide, 4 * wide, 4 * wide), layers_per_block=scaled(size, 1, 1, 2),
                                                      spatial_compression_ratio=8, sample_size=pixels)
    return Subject(Reconstruction(model), lambda samples: (torch.randn(samples, 3, pixels, pixels),), _restored)


def timm_levit(size: str) -> Subject:
    """Norms are of batches, also in attention, which adds what it has learned for how far places are from each other; between stages fewer places ask. Two heads, whose mean it answers."""
    from timm.models.levit import LevitDistilled

    pixels, wide, heads = scaled(size, 128, 192, 224), scaled(size, 64, 128, 256), scaled(size, 1, 2, 2)
    model = LevitDistilled(img_size=pixels, num_classes=100, embed_dim=(wide, 2 * wide, 3 * wide), key_dim=scaled(size, 16, 16, 32), num_heads=(2 * heads, 3 * heads, 4 * heads), depth=(2, 3, 4))
    return labelled(model, pixels)


def timm_mobilenetv5(size: str) -> Subject:
    """Convolutions, and in two of four stages attention whose heads share one key and value; what the last two make is put beside each other."""
    from timm.models._efficientnet_builder import decode_arch_def
    from timm.models.mobilenetv5 import MobileNetV5

    wide, pixels, heads, deep = scaled(size, 24, 40, 64), scaled(size, 128, 192, 256), scaled(size, 3, 4, 6), scaled(size, 1, 2, 3)
    third = ["mqa_r1_k3_h{heads}_v2_s1_d32_c{third}", "uir_r1_a0_k0_s1_e2_c{third}"] * deep
    fourth = ["mqa_r1_k3_h{heads}_s1_d48_c{fourth}", "uir_r1_a0_k0_s1_e2_c{fourth}"] * deep
    stages = [["er_r1_k3_s2_e4_c{first}", "er_r1_k3_s1_e4_c{first}"],
              ["uir_r1_a3_k5_s2_e6_c{second}", "uir_r1_a5_k0_s1_e4_c{second}", "uir_r1_a3_k0_s1_e4_c{second}"],
              ["uir_r1_a5_k5_s2_e6_c{third}", "uir_r1_a5_k0_s1_e4_c{third}", "uir_r1_a0_k0_s1_e1_c{third}", *third],
              ["uir_r1_a5_k5_s2_e6_c{fourth}", *fourth]]
    widths = {"first": wide, "second": 2 * wide, "third": 5 * wide, "fourth": 10 * wide, "heads": heads}
    model = MobileNetV5(decode_arch_def([[block.format(**widths) for block in stage] for stage in stages]), num_classes=100, stem_size=scaled(size, 16, 24, 32), num_features=scaled(size, 256, 512, 1024),
                        msfa_output_resolution=pixels // 32, layer_scale_init_value=1e-5)
    return labelled(model, pixels)


def timm_vovnet(size: str) -> Subject:
    """Convolutions in a row, whose results are all kept and put beside each other at the end of each block."""
    from timm.models.vovnet import VovNet, model_cfgs

    part = scaled(size, 12, 16, 32)
    config = dict(model_cfgs["vovnet39a"], stem_chs=[2 * part, 2 * part, 4 * part], stage_conv_chs=[4 * part, 5 * part, 6 * part, 7 * part], stage_out_chs=[8 * part, 16 * part, 24 * part, 32 * part],
                  block_per_stage=[1, 1, scaled(size, 1, 2, 2), 2])
    return labelled(VovNet(config, num_classes=100), scaled(size, 64, 128, 192))


def diffusers_wan_vace(size: str) -> Subject:
    """Draws films after others: blocks of their own see what is to be followed, and what they make is added after every other block of the film's."""
    pixels, frames, heads = scaled(size, 16, 24, 32), scaled(size, 3, 3, 4), scaled(size, 32, 64, 96)
    model = of_diffusers("WanVACETransformer3DModel")(num_attention_heads=4, attention_head_dim=heads, text_dim=256, freq_dim=64, ffn_dim=16 * heads, num_layers=4, vace_layers=[0, 2])

    def sample(samples: int) -> Batch:
        film = (frames, pixels, pixels)
        return torch.randn(samples, 16, *film), torch.randn(samples, 16, *film), torch.randint(1000, (samples,)), torch.randn(samples, 24, 256), torch.randn(samples, 96, *film)

    return Subject(model, sample, lambda module, latents, velocity, times, states, followed: F.mse_loss(module(latents, times, states, control_hidden_states=followed).sample, velocity))


def diffusers_cosmos3(size: str) -> Subject:
    """Words, which see those before them, and the places of a film, which see words too, with layers of their own throughout.

    There is no dimension for samples, nor a mask between them, so each goes through for itself.
    """
    side, frames, heads, words = scaled(size, 8, 12, 16), 3, scaled(size, 32, 64, 96), 24
    base: Any = of_diffusers("Cosmos3OmniTransformer")
    count = frames * side * side
    grid = torch.cartesian_prod(torch.arange(frames), torch.arange(side), torch.arange(side)).T
    places = torch.cat((torch.arange(words).expand(3, -1), grid + torch.tensor([[words + 15000], [0], [0]])), 1).float()

    class EachSample(base):
        def forward(self, latents: Tensor, times: Tensor, ids: Tensor) -> Tensor:
            said, shown = torch.arange(words, device=ids.device), torch.arange(words, words + count, device=ids.device)
            drawn = [super(EachSample, self).forward(ids[each], said, places.to(ids.device), words, words + count, [latents[each:each + 1]], [(frames, side, side)], shown, shown, times[each].expand(count),
                                                     [torch.arange(frames, device=ids.device)]).sample[0] for each in range(len(ids))]
            return torch.cat(drawn)

    model = EachSample(head_dim=heads, hidden_size=4 * heads, intermediate_size=12 * heads, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=4, vocab_size=1000,
                       rope_axes_dim=(3 * heads // 16, 5 * heads // 32, 5 * heads // 32))
    last = model.layers[-1]
    for unused in (model.lm_head, model.norm, last.self_attn.to_q, last.self_attn.norm_q, last.self_attn.to_out, last.post_attention_layernorm, last.mlp):  # words are not asked for
        unused.requires_grad_(False)

    def sample(samples: int) -> Batch:
        film = (samples, 48, frames, 2 * side, 2 * side)
        return torch.randn(film), torch.randn(film), torch.randint(1000, (samples,)), torch.randint(1000, (samples, words))

    return Subject(model, sample, lambda module, latents, velocity, times, ids: F.mse_loss(module(latents, times, ids), velocity))
