# SPDX-License-Identifier: Apache-2.0
"""The validation's models by name. Each is made from a configuration, without weights and without data."""

from typing import Callable, Dict

from . import language, own, sight
from .subject import Subject

MODELS: Dict[str, Callable[[str], Subject]] = {
    "transformer": own.transformer,
    "convolutional": own.convolutional,
    "recurrent": own.recurrent,
    "unet": own.unet,
    "gan": own.gan,
    "gpt2": language.gpt2,
    "llama": language.llama,
    "bert": language.bert,
    "t5": language.t5,
    "moe": language.moe,
    "gpt_neox": language.gpt_neox,
    "opt": language.opt,
    "albert": language.albert,
    "bart": language.bart,
    "gemma": language.gemma,
    "qwen2": language.qwen2,
    "bloom": language.bloom,
    "distilbert": language.distilbert,
    "phi3": language.phi3,
    "falcon": language.falcon,
    "xglm": language.xglm,
    "electra": language.electra,
    "whisper": language.whisper,
    "wav2vec2": language.wav2vec2,
    "vit": sight.vit,
    "resnet50": sight.resnet50,
    "convnext": sight.convnext,
    "mobilenet": sight.mobilenet,
    "swin": sight.swin,
    "segformer": sight.segformer,
    "dinov2": sight.dinov2,
    "densenet": sight.densenet,
    "efficientnet": sight.efficientnet,
    "beit": sight.beit,
    "regnet": sight.regnet,
    "shufflenet": sight.shufflenet,
    "vgg": sight.vgg,
    "mnasnet": sight.mnasnet,
    "mobilevit": sight.mobilevit,
    "clip": sight.clip,
}
