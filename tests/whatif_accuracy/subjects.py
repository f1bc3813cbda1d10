# SPDX-License-Identifier: Apache-2.0
"""Which models the predictions are measured on, without torch: their batches, what is frozen of them, and what cannot be done to them in code.

Half of them were developed on. The others were looked at once, when the rules were frozen: no rule may be changed to suit them.
"""

from typing import Dict, List, NamedTuple, Tuple

SIZES = ("small", "medium", "large")


class Facts(NamedTuple):
    batches: Tuple[int, int, int]  # of the three sizes
    freeze: Tuple[str, str]  # the blocks, and all but the head; where the head is the embedding too, all but this
    impossible: Tuple[str, ...] = ()  # parts of the names of changes for which the code has no switch
    inner: str = ""  # modules to prune, when it is the inner widths of MLPs alone, since the program is written for its heads
    units: str = ""  # what train.py shards one by one, where it is no list of numbers
    checkpointed: str = "all"  # modules that its own switch wraps, where these are not the blocks; and what it lets require gradients


NO_BLOCKS = ("checkpoint",)  # or no switch for them
NOT_SHARDED = ("shard", "fsdp", "ddp")
NO_TOKENS = ("sequence",)  # in its samples, or other lengths beside theirs
ONE_RANK = ("tp",)  # no code that shares its layers out
NO_WIDTHS = ("prune", *ONE_RANK)  # nor code that narrows them
NO_LINEAR = ("lora", "quantize", "attention", *NO_WIDTHS)  # layers in their blocks, nor attention

DEVELOPMENT: Dict[str, Facts] = {
    "transformer": Facts((8, 12, 16), ("layers.*", "layers.*,table,places")),
    "convolutional": Facts((8, 16, 32), ("blocks.*", "stem,blocks.*"), (*NO_LINEAR, *NO_TOKENS)),
    "recurrent": Facts((8, 12, 16), ("lstm", "table,lstm"), (*NO_BLOCKS, *NO_LINEAR, "fsdp", "zero2")),
    "resnet50": Facts((8, 12, 16), ("layer1,layer2", "conv1,bn1,layer1,layer2,layer3,layer4"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "bert": Facts((4, 8, 8), ("bert.encoder.layer.*", "bert"), inner=":bert.encoder.layer.*.intermediate", checkpointed="all,inputs:bert.embeddings.word_embeddings"),
    "gpt2": Facts((4, 8, 8), ("transformer.h.*", "transformer.h.*"), ONE_RANK, ":transformer.h.*.mlp", checkpointed="all,inputs:transformer.wte"),
    "llama": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "vit": Facts((8, 12, 16), ("vit.encoder.layer.*,vit.layers.*", "vit"), (*ONE_RANK, *NO_TOKENS), ":vit.encoder.layer.*.intermediate,vit.layers.*.mlp"),
    "t5": Facts((4, 8, 8), ("encoder", "encoder"), NO_WIDTHS, checkpointed="all,inputs:encoder.embed_tokens+decoder.embed_tokens,masks:decoder.block.0.layer.1.EncDecAttention"),
    "unet": Facts((4, 8, 16), ("down.*", "down.*,up.*"), (*NO_LINEAR, *NO_TOKENS)),
    "gan": Facts((8, 16, 32), ("maker", "maker"), (*NO_BLOCKS, *NO_LINEAR, *NOT_SHARDED, "freeze", *NO_TOKENS)),
    # Looked at once, and looked into since.
    "convnext": Facts((8, 12, 16), ("convnext.encoder", "convnext"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention")),
    "moe": Facts((4, 4, 4), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "whisper": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), (*NO_WIDTHS, *NO_TOKENS)),
    "gpt_neox": Facts((4, 8, 8), ("gpt_neox.layers.*", "gpt_neox"), NO_WIDTHS, checkpointed="all,inputs:gpt_neox.embed_in"),
    "segformer": Facts((4, 8, 8), ("segformer.stages", "segformer"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS)),
    "wav2vec2": Facts((4, 8, 8), ("wav2vec2.encoder.layers.*", "wav2vec2"), (*NO_WIDTHS, *NO_TOKENS)),
    "swin": Facts((8, 8, 12), ("swin.encoder", "swin"), (*NO_WIDTHS, *NO_TOKENS), checkpointed="swin.encoder.layers.*,swin.encoder.layers.*.blocks.*"),
    "opt": Facts((4, 8, 8), ("model.decoder.layers.*", "model.decoder.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.decoder.embed_tokens"),
    "mobilenet": Facts((8, 12, 16), ("features", "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "albert": Facts((4, 8, 8), ("albert.encoder", "albert.encoder"), NO_WIDTHS, units=":albert.encoder.albert_layer_groups.*", checkpointed="all,inputs:albert.embeddings.word_embeddings"),
    "bart": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "gemma": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "dinov2": Facts((8, 12, 16), ("dinov2.encoder.layer.*", "dinov2"), (*NO_WIDTHS, *NO_TOKENS)),
    "densenet": Facts((8, 12, 16), ("features", "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":features.*"),
    "efficientnet": Facts((8, 12, 16), ("features", "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "qwen2": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "bloom": Facts((4, 8, 8), ("transformer.h.*", "transformer.h.*"), NO_WIDTHS, checkpointed="all,inputs:transformer.word_embeddings"),
    "distilbert": Facts((4, 8, 8), ("distilbert.transformer.layer.*", "distilbert.transformer.layer.*"), NO_WIDTHS, checkpointed="all,inputs:distilbert.embeddings.word_embeddings"),
    "beit": Facts((8, 12, 16), ("beit.encoder.layer.*,beit.layers.*", "beit"), (*NO_WIDTHS, *NO_TOKENS)),
    "regnet": Facts((8, 12, 16), ("trunk_output", "stem,trunk_output"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":trunk_output.*"),
    "shufflenet": Facts((8, 12, 16), ("stage2,stage3", "conv1,stage2,stage3,stage4,conv5"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "phi3": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "falcon": Facts((4, 8, 8), ("transformer.h.*", "transformer.h.*"), NO_WIDTHS, checkpointed="all,inputs:transformer.word_embeddings"),
    "xglm": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "electra": Facts((4, 8, 8), ("electra.encoder.layer.*", "electra.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:electra.embeddings.word_embeddings"),
    "vgg": Facts((8, 12, 16), ("features", "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "mnasnet": Facts((8, 12, 16), ("layers", "layers"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "mobilevit": Facts((8, 12, 16), ("mobilevit.encoder.layer.*", "mobilevit"), (*NO_WIDTHS, *NO_TOKENS, "attention"),  # which it writes out
                       checkpointed="mobilevit.encoder.layer.2,mobilevit.encoder.layer.3,mobilevit.encoder.layer.4"),
    "clip": Facts((8, 12, 16), ("text_model.encoder.layers.*,vision_model.encoder.layers.*", "text_model,vision_model"), (*NO_WIDTHS, *NO_TOKENS),
                  checkpointed="all,inputs:text_model.embeddings.token_embedding+vision_model.embeddings.patch_embedding"),
    "roberta": Facts((4, 8, 8), ("roberta.encoder.layer.*", "roberta.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:roberta.embeddings.word_embeddings"),
    "mpnet": Facts((4, 8, 8), ("mpnet.encoder.layer.*", "mpnet.encoder.layer.*"), (*NO_BLOCKS, *NO_WIDTHS, "attention")),
    "deberta": Facts((4, 8, 8), ("deberta.encoder.layer.*", "deberta.encoder.layer.*"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:deberta.embeddings.word_embeddings"),
    "mistral": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "qwen3": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "siglip": Facts((8, 12, 16), ("text_model.encoder.layers.*,vision_model.encoder.layers.*", "text_model,vision_model"), (*NO_WIDTHS, *NO_TOKENS),
                    checkpointed="all,inputs:text_model.embeddings.token_embedding+vision_model.embeddings.patch_embedding"),
    "googlenet": Facts((8, 12, 16), ("inception3a,inception3b,inception4a", "conv1,conv2,conv3,inception3a,inception3b,inception4a,inception4b,inception4c,inception4d"),
                       (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "squeezenet": Facts((8, 12, 16), ("features", "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "esm": Facts((4, 8, 8), ("esm.encoder.layer.*", "esm.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:esm.embeddings.word_embeddings"),
    "marian": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "gemma2": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:model.embed_tokens"),
    "olmo2": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "hubert": Facts((4, 8, 8), ("hubert.encoder.layers.*", "hubert"), (*NO_WIDTHS, *NO_TOKENS)),
    "deit": Facts((8, 12, 16), ("deit.encoder.layer.*,deit.layers.*", "deit"), (*NO_WIDTHS, *NO_TOKENS)),
    "resnext": Facts((8, 12, 16), ("layer1,layer2", "conv1,bn1,layer1,layer2,layer3,layer4"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "alexnet": Facts((8, 12, 16), ("features", "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "phi": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "starcoder2": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "granite": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "m2m_100": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "gptj": Facts((4, 8, 8), ("transformer.h.*", "transformer"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:transformer.wte"),
    "convnextv2": Facts((8, 12, 16), ("convnextv2.encoder", "convnextv2"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention")),
    "mobilenet_v2": Facts((8, 12, 16), ("features", "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "inception": Facts((8, 12, 16), ("Mixed_5b,Mixed_5c,Mixed_5d", "Conv2d_1a_3x3,Conv2d_2a_3x3,Conv2d_2b_3x3,Conv2d_3b_1x1,Conv2d_4a_3x3,Mixed_5b,Mixed_5c,Mixed_5d,Mixed_6a,Mixed_6b"),
                       (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "stablelm": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "smollm3": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "gemma3": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "pegasus": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "mobilebert": Facts((4, 8, 8), ("mobilebert.encoder.layer.*", "mobilebert.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:mobilebert.embeddings.word_embeddings"),
    "data2vec_audio": Facts((4, 8, 8), ("data2vec_audio.encoder.layers.*", "data2vec_audio"), (*NO_WIDTHS, *NO_TOKENS),
                            checkpointed="data2vec_audio.feature_extractor.conv_layers.*,data2vec_audio.encoder.layers.*"),
    "swinv2": Facts((8, 8, 12), ("swinv2.encoder", "swinv2"), (*NO_WIDTHS, *NO_TOKENS, "attention"), checkpointed="swinv2.encoder.layers.*"),
    "wide_resnet": Facts((8, 12, 16), ("layer1,layer2", "conv1,bn1,layer1,layer2,layer3,layer4"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "gpt_neo": Facts((4, 8, 8), ("transformer.h.*", "transformer.h.*"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:transformer.wte"),
    "cohere": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "codegen": Facts((4, 8, 8), ("transformer.h.*", "transformer"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:transformer.wte"),
    "exaone4": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "helium": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "megatron_bert": Facts((4, 8, 8), ("bert.encoder.layer.*", "bert.encoder.layer.*"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:bert.embeddings.word_embeddings"),
    "modernbert": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embeddings.tok_embeddings"),
    "blenderbot": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "wavlm": Facts((4, 8, 8), ("wavlm.encoder.layers.*", "wavlm"), (*NO_WIDTHS, *NO_TOKENS, "attention")),
    "focalnet": Facts((8, 12, 16), ("focalnet.encoder", "focalnet"), (*NO_WIDTHS, *NO_TOKENS, "attention"), checkpointed="focalnet.encoder.stages.*"),
    "pvt_v2": Facts((8, 12, 16), ("pvt_v2.encoder", "pvt_v2"), (*NO_WIDTHS, *NO_TOKENS, "attention"), checkpointed="pvt_v2.encoder.layers.*"),
    "diffllama": Facts((4, 8, 8), ("model.layers.*", "model"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:model.embed_tokens"),
    "apertus": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "biogpt": Facts((4, 8, 8), ("biogpt.layers.*", "biogpt.layers.*"), NO_WIDTHS, checkpointed="all,inputs:biogpt.embed_tokens"),
    "gpt_bigcode": Facts((4, 8, 8), ("transformer.h.*", "transformer.h.*"), NO_WIDTHS, checkpointed="all,inputs:transformer.wte"),
    "persimmon": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "olmo": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "xlm_roberta_xl": Facts((4, 8, 8), ("roberta.encoder.layer.*", "roberta.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:roberta.embeddings.word_embeddings"),
    "convbert": Facts((4, 8, 8), ("convbert.encoder.layer.*", "convbert.encoder.layer.*"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:convbert.embeddings.word_embeddings"),
    "plbart": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "speech_to_text": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), (*NO_WIDTHS, *NO_TOKENS, "attention")),
    "hiera": Facts((8, 12, 16), ("hiera.encoder", "hiera"), (*NO_WIDTHS, *NO_TOKENS, "attention"), checkpointed="hiera.encoder.stages.*"),
    "levit": Facts((8, 12, 16), ("levit.encoder", "levit"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention")),
    "glm4": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "nemotron": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "mpt": Facts((4, 8, 8), ("transformer.blocks.*", "transformer.blocks.*"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:transformer.wte"),
    "mbart": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "roformer": Facts((4, 8, 8), ("roformer.encoder.layer.*", "roformer.encoder.layer.*"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:roformer.embeddings.word_embeddings"),
    "ast": Facts((4, 8, 8), ("audio_spectrogram_transformer.layers.*", "audio_spectrogram_transformer"), (*NO_WIDTHS, *NO_TOKENS)),
    "dinov3": Facts((8, 12, 16), ("model.layer.*", "embeddings,model"), (*NO_WIDTHS, *NO_TOKENS)),
    "efficientnet_v2": Facts((8, 12, 16), ("features", "features"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "seed_oss": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "cohere2": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "ernie": Facts((4, 8, 8), ("ernie.encoder.layer.*", "ernie.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:ernie.embeddings.word_embeddings"),
    "nystromformer": Facts((4, 8, 8), ("nystromformer.encoder.layer.*", "nystromformer.encoder.layer.*"), (*NO_WIDTHS, *NO_TOKENS, "attention"),
                           checkpointed="all,inputs:nystromformer.embeddings.word_embeddings"),
    "sew": Facts((4, 8, 8), ("sew.encoder.layers.*", "sew"), (*NO_WIDTHS, *NO_TOKENS)),
    "mobilevitv2": Facts((8, 12, 16), ("mobilevitv2.encoder.layer.*", "mobilevitv2"), (*NO_LINEAR, *NO_TOKENS),
                         checkpointed="mobilevitv2.encoder.layer.2,mobilevitv2.encoder.layer.3,mobilevitv2.encoder.layer.4"),
    "bit": Facts((8, 12, 16), ("bit.encoder.stages.0,bit.encoder.stages.1", "bit"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "vit_msn": Facts((8, 12, 16), ("vit.layers.*", "vit"), (*NO_WIDTHS, *NO_TOKENS)),
    "minicpm3": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "olmo3": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "rembert": Facts((4, 8, 8), ("rembert.encoder.layer.*", "rembert"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:rembert.embeddings.word_embeddings"),
    "blenderbot_small": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "pvt": Facts((8, 12, 16), ("pvt.encoder", "pvt"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention", "fsdp", "zero2")),
    "unispeech": Facts((4, 8, 8), ("unispeech.encoder.layers.*", "unispeech"), (*NO_WIDTHS, *NO_TOKENS)),
    "ctrl": Facts((4, 8, 8), ("transformer.h.*", "transformer.h.*"), (*NO_BLOCKS, *NO_WIDTHS)),
    "r3d_18": Facts((8, 12, 16), ("layer1,layer2", "stem,layer1,layer2,layer3,layer4"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "arcee": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "hunyuan_v1_dense": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "eurobert": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "umt5": Facts((4, 8, 8), ("encoder", "encoder"), NO_WIDTHS, checkpointed="all,inputs:encoder.embed_tokens+decoder.embed_tokens"),
    "ijepa": Facts((8, 12, 16), ("ijepa.layers.*", "ijepa"), (*NO_WIDTHS, *NO_TOKENS)),
    "wav2vec2_conformer": Facts((4, 8, 8), ("wav2vec2_conformer.encoder.layers.*", "wav2vec2_conformer"), (*NO_WIDTHS, *NO_TOKENS)),
    "deeplabv3": Facts((8, 12, 16), ("backbone", "backbone"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":backbone.*.block.*,classifier.*"),
    "swiftformer": Facts((8, 12, 16), ("swiftformer.encoder", "swiftformer"), (*NO_WIDTHS, *NO_TOKENS, "attention"),
                         checkpointed="swiftformer.encoder.network.0,swiftformer.encoder.network.2,swiftformer.encoder.network.4,swiftformer.encoder.network.6"),
    "ernie4_5": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "nanochat": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "roberta_prelayernorm": Facts((4, 8, 8), ("roberta_prelayernorm.encoder.layer.*", "roberta_prelayernorm.encoder.layer.*"), NO_WIDTHS,
                                  checkpointed="all,inputs:roberta_prelayernorm.embeddings.word_embeddings"),
    "mvp": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), (*NO_WIDTHS, "attention"),
                 checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "dinov2_with_registers": Facts((8, 12, 16), ("dinov2_with_registers.encoder.layer.*", "dinov2_with_registers"), (*NO_WIDTHS, *NO_TOKENS)),
    "unispeech_sat": Facts((4, 8, 8), ("unispeech_sat.encoder.layers.*", "unispeech_sat"), (*NO_WIDTHS, *NO_TOKENS)),
    "cvt": Facts((8, 12, 16), ("cvt.encoder", "cvt"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention")),
    "fcn": Facts((8, 12, 16), ("backbone", "backbone"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "ministral": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "openai": Facts((4, 8, 8), ("transformer.h.*", "transformer.h.*"), (*NO_BLOCKS, *NO_WIDTHS, "attention")),
    "camembert": Facts((4, 8, 8), ("roberta.encoder.layer.*", "roberta.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:roberta.embeddings.word_embeddings"),
    "mt5": Facts((4, 8, 8), ("encoder", "encoder"), NO_WIDTHS, checkpointed="all,inputs:encoder.embed_tokens+decoder.embed_tokens,masks:decoder.block.0.layer.1.EncDecAttention"),
    "moonshine": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), (*NO_WIDTHS, *NO_TOKENS)),
    "videomae": Facts((8, 12, 16), ("videomae.encoder.layer.*", "videomae"), (*NO_WIDTHS, *NO_TOKENS)),
    "mobilenet_v1": Facts((8, 12, 16), ("mobilenet_v1.layer", "mobilenet_v1"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "poolformer": Facts((8, 12, 16), ("poolformer.encoder", "poolformer"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS, "fsdp", "zero2")),
    "glm": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "gpt_neox_japanese": Facts((4, 8, 8), ("gpt_neox_japanese.layers.*", "gpt_neox_japanese.layers.*"), (*NO_BLOCKS, *NO_WIDTHS, "attention")),
    "layoutlm": Facts((4, 8, 8), ("layoutlm.encoder.layer.*", "layoutlm.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:layoutlm.embeddings.word_embeddings"),
    "squeezebert": Facts((4, 8, 8), ("transformer.encoder.layers.*", "transformer.encoder.layers.*"), (*NO_BLOCKS, *NO_LINEAR)),
    "prophetnet": Facts((4, 8, 8), ("prophetnet.encoder", "prophetnet.encoder,prophetnet.decoder.layers.*"), (*NO_WIDTHS, "attention"),
                        checkpointed="all,inputs:prophetnet.encoder.word_embeddings+prophetnet.decoder.word_embeddings"),
    "wav2vec2_bert": Facts((4, 8, 8), ("wav2vec2_bert.encoder.layers.*", "wav2vec2_bert"), (*NO_WIDTHS, *NO_TOKENS)),
    "timesformer": Facts((8, 12, 16), ("timesformer.encoder.layer.*", "timesformer"), (*NO_WIDTHS, *NO_TOKENS, "attention")),
    "hgnet_v2": Facts((8, 12, 16), ("encoder", "embedder,encoder"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "jais2": Facts((4, 8, 8), ("model.layers.*", "model"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "vaultgemma": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:model.embed_tokens"),
    "xmod": Facts((4, 8, 8), ("roberta.encoder.layer.*", "roberta.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:roberta.embeddings.word_embeddings"),
    "nomic_bert": Facts((4, 8, 8), ("nomic_bert.layers.*", "nomic_bert.layers.*"), NO_WIDTHS, checkpointed="all,inputs:nomic_bert.embeddings.word_embeddings"),
    "sew_d": Facts((4, 8, 8), ("sew_d.encoder.encoder.layer.*", "sew_d"), (*NO_WIDTHS, *NO_TOKENS, "attention"),
                   checkpointed="sew_d.feature_extractor.conv_layers.*,sew_d.encoder.encoder.layer.*"),
    "vit_mae": Facts((8, 12, 16), ("vit.layers.*", "vit"), (*NO_WIDTHS, *NO_TOKENS)),
    "r2plus1d_18": Facts((8, 12, 16), ("layer1,layer2", "stem,layer1,layer2,layer3,layer4"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "lraspp": Facts((8, 12, 16), ("backbone", "backbone"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS), units=":backbone.*.block.*"),
    "youtu": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "modernbert_decoder": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embeddings.tok_embeddings"),
    "roc_bert": Facts((4, 8, 8), ("roc_bert.encoder.layer.*", "roc_bert.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:roc_bert.embeddings.word_embeddings"),
    "flaubert": Facts((4, 8, 8), ("transformer.attentions.*,transformer.ffns.*", "transformer.attentions.*,transformer.ffns.*"), (*NO_BLOCKS, *NO_WIDTHS, "attention")),
    "fsmt": Facts((4, 8, 8), ("model.encoder.layers.*", "model.encoder.layers.*,model.decoder.layers.*"), (*NO_BLOCKS, *NO_WIDTHS, "attention")),
    "textnet": Facts((8, 12, 16), ("textnet.encoder", "textnet"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "vivit": Facts((8, 12, 16), ("vivit.layers.*", "vivit"), (*NO_WIDTHS, *NO_TOKENS)),
    "patchtst": Facts((8, 12, 16), ("model.encoder.layers.*", "model"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS)),
}
HELD_OUT: Dict[str, Facts] = {
    "lfm2": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), NO_WIDTHS, checkpointed="all,inputs:model.embed_tokens"),
    "bert_generation": Facts((4, 8, 8), ("bert.encoder.layer.*", "bert.encoder.layer.*"), NO_WIDTHS, checkpointed="all,inputs:bert.embeddings.word_embeddings"),
    "luke": Facts((4, 8, 8), ("luke.encoder.layer.*", "luke.encoder.layer.*"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:luke.embeddings.word_embeddings"),
    "lilt": Facts((4, 8, 8), ("lilt.encoder.layer.*", "lilt"), (*NO_WIDTHS, "attention"), checkpointed="all,inputs:lilt.embeddings.word_embeddings"),
    "pegasus_x": Facts((4, 8, 8), ("model.encoder.layers.*", "model.encoder.layers.*,model.decoder.layers.*"), (*NO_WIDTHS, "attention"),
                       checkpointed="all,inputs:model.encoder.embed_tokens+model.decoder.embed_tokens"),
    "patchtsmixer": Facts((8, 12, 16), ("model.encoder.mlp_mixer_encoder.mixers.*", "model"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention")),
    "pp_lcnet": Facts((8, 12, 16), ("encoder.blocks", "encoder"), (*NO_BLOCKS, *NO_LINEAR, *NO_TOKENS)),
    "glpn": Facts((8, 12, 16), ("glpn.encoder", "glpn"), (*NO_BLOCKS, *NO_WIDTHS, *NO_TOKENS, "attention")),
}
ALL = {**DEVELOPMENT, **HELD_OUT}

# The layer before the loss, and whether labels are those of the next token: of models whose loss can be computed without logits.
HEADS: Dict[str, Tuple[str, bool]] = {
    "transformer": ("head", False), "bert": ("cls.predictions.decoder", False), "roberta": ("lm_head.decoder", False), "distilbert": ("vocab_projector", False),
    "electra": ("generator_lm_head", False),
    "megatron_bert": ("cls.predictions.decoder", False), "roformer": ("cls.predictions.decoder", False), "modernbert": ("decoder", False), "convbert": ("generator_lm_head", False),
    "ernie": ("cls.predictions.decoder", False), "nystromformer": ("cls.predictions.decoder", False),
    "rembert": ("cls.predictions.decoder", False), "eurobert": ("lm_head", False), "roberta_prelayernorm": ("lm_head.decoder", False),
    "camembert": ("lm_head.decoder", False), "xmod": ("lm_head.decoder", False), "layoutlm": ("cls.predictions.decoder", False), "squeezebert": ("cls.predictions.decoder", False),
    "nomic_bert": ("cls.predictions.decoder", False), "gpt_neox_japanese": ("embed_out", True), "modernbert_decoder": ("decoder", True), "bert_generation": ("lm_head.decoder", True),
    "xlm_roberta_xl": ("lm_head.decoder", False), "biogpt": ("output_projection", True),
    **{name: ("lm_head", True) for name in ("gpt2", "gpt_neox", "llama", "opt", "qwen2", "qwen3", "mistral", "phi3", "gemma", "olmo2", "phi", "starcoder2", "bloom", "falcon", "xglm", "stablelm", "smollm3", "gemma3", "exaone4", "helium",
                                              "apertus", "gpt_bigcode", "persimmon", "olmo", "glm4", "nemotron", "mpt", "seed_oss",
                                              "minicpm3", "olmo3", "ctrl", "arcee", "hunyuan_v1_dense", "ernie4_5", "ministral", "openai", "glm", "jais2", "youtu", "lfm2")}}
# The blocks, and what comes behind them: of models that can be cut into stages.
STAGES: Dict[str, Tuple[str, List[str]]] = {
    "transformer": ("layers", ["head"]), "opt": ("model.decoder.layers", ["model.decoder.final_layer_norm", "lm_head"]), "xglm": ("model.layers", ["model.layer_norm", "lm_head"]),
    "phi": ("model.layers", ["model.final_layernorm", "lm_head"]), "persimmon": ("model.layers", ["model.final_layernorm", "lm_head"]),
    "ctrl": ("transformer.h", ["transformer.layernorm", "lm_head"]),
    "openai": ("transformer.h", ["lm_head"]), "gpt_neo": ("transformer.h", ["transformer.ln_f", "lm_head"]), "mpt": ("transformer.blocks", ["transformer.norm_f", "lm_head"]),
    "gpt_neox": ("gpt_neox.layers", ["gpt_neox.final_layer_norm", "lm_head"]),
    **{name: ("transformer.h", ["transformer.ln_f", "lm_head"]) for name in ("gpt2", "bloom", "falcon")},
    **{name: ("model.layers", ["model.norm", "lm_head"]) for name in ("llama", "qwen2", "qwen3", "mistral", "phi3", "gemma", "gemma2", "olmo2", "starcoder2", "granite", "stablelm", "smollm3", "gemma3", "cohere",
                                                                         "exaone4", "helium", "apertus", "olmo", "glm4", "nemotron", "seed_oss", "cohere2",
                                                                         "minicpm3", "olmo3", "arcee", "hunyuan_v1_dense", "ernie4_5", "ministral", "glm", "jais2", "vaultgemma", "youtu")}}


def words(model: str, size: str) -> Dict[str, str]:
    """What stands for {batch}, {half}, {double}, {blocks}, {body}, {inner}, {units} and {checkpointed} in a change."""
    facts = ALL[model]
    batch = facts.batches[SIZES.index(size)]
    blocks, body = facts.freeze
    return {"batch": str(batch), "half": str(batch // 2), "double": str(batch * 2), "blocks": blocks, "body": body, "inner": facts.inner, "units": facts.units, "checkpointed": facts.checkpointed}


def possible(model: str, changes: List[str]) -> List[str]:
    impossible = (*ALL[model].impossible, *(() if model in HEADS else ("cross-entropy",)), *(() if model in STAGES else ("pipeline",)))
    return [name for name in changes if not any(part in name for part in impossible)]
