# SPDX-License-Identifier: Apache-2.0
"""The models on which predictions are measured: their batches, which parts are frozen, and which changes code cannot make. Does not import torch.

Drawn once, from 552 models that were at hand: the names of each library in order, shuffled by random.Random(60). FROZEN are the first ones of each
library, UNSEEN the next ones. Nothing is developed on UNSEEN: a model that is examined to fix something moves to FROZEN, and docs/accuracy.md records
that. The last eight of FROZEN came there in this way: their first results showed what noting and re-runs could not do yet.
"""

from typing import Dict, List, NamedTuple, Tuple

from heads import HEADS, STAGES

SIZES = ("small", "medium", "large")


class Facts(NamedTuple):
    batches: Tuple[int, int, int]  # of the three sizes
    freeze: Tuple[str, str]  # the blocks; and all but the head (or all but the embedding, if the head shares its weight)
    impossible: Tuple[str, ...] = ()  # parts of the names of changes for which the code has no switch
    units: str = ""  # modules that train.py shards one by one, if they are not a numbered list
    checkpointed: str = "all"  # modules that the switch of timm and the like wraps, if these are not the blocks; whatif knows what that of transformers wraps


FROZEN: Dict[str, Facts] = {
    "diffusers_unet_spatio_temporal_condition": Facts((4, 4, 4), ("down_blocks.*,mid_block", "conv_in,time_embedding,add_embedding,down_blocks,mid_block,up_blocks"), impossible=("tp", "sequence"), units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*", checkpointed="down_blocks.*.resnets.*,down_blocks.*.attentions.*.transformer_blocks.*,mid_block.attentions.*.transformer_blocks.*,mid_block.resnets.1,up_blocks.*.resnets.*,up_blocks.*.attentions.*.transformer_blocks.*"),
    "diffusers_dit": Facts((4, 8, 16), ("transformer_blocks.*.attn1,transformer_blocks.*.ff", "pos_embed,transformer_blocks"), impossible=("tp", "sequence", "fsdp")),
    "diffusers_cogvideox": Facts((4, 8, 8), ("transformer_blocks.*", "patch_embed,time_embedding,transformer_blocks,norm_final"), impossible=("tp", "sequence")),
    "diffusers_transformer_hunyuan_video_framepack": Facts((8, 8, 8), ("transformer_blocks.*,single_transformer_blocks.*", "x_embedder,clean_x_embedder,context_embedder,image_projection,time_text_embed,transformer_blocks,single_transformer_blocks"), impossible=("tp", "sequence", "attention flash"), units=":context_embedder.token_refiner.refiner_blocks.*,transformer_blocks.*,single_transformer_blocks.*", checkpointed="transformer_blocks.*,single_transformer_blocks.*"),
    "diffusers_transformer_wan": Facts((4, 4, 4), ("blocks.*", "patch_embedding,condition_embedder,blocks"), impossible=("tp", "sequence"), units=":blocks.*", checkpointed="blocks.*"),
    "diffusers_wan_vace": Facts((4, 8, 8), ("blocks.*,vace_blocks.*", "patch_embedding,vace_patch_embedding,condition_embedder,blocks,vace_blocks"), impossible=("tp", "sequence"), units=":blocks.*,vace_blocks.*", checkpointed="blocks.*,vace_blocks.*"),
    "monai_vista3d": Facts((4, 4, 4), ("image_encoder.encoder.layers.*", "image_encoder,class_head.image_post_mapping"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence"), units=":image_encoder.encoder.layers.*.blocks,image_encoder.encoder.layers.*.downsample,image_encoder.up_layers.*.upsample,image_encoder.up_layers.*.blocks,image_encoder.up_layers.*.head,image_encoder.up_layers_auto.*.upsample,image_encoder.up_layers_auto.*.blocks,image_encoder.up_layers_auto.*.head,point_head.transformer.layers.*,class_head.image_post_mapping.*"),
    "monai_patchgan_discriminator": Facts((8, 8, 8), ("scales.*.initial_conv,scales.*.0,scales.*.1,scales.*.2", "scales.*.initial_conv,scales.*.0,scales.*.1,scales.*.2,scales.*.3,scales.*.4,scales.*.5"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence"), units=":scales.*"),
    "monai_highresnet": Facts((4, 4, 4), ("blocks.1,blocks.2,blocks.3,blocks.4,blocks.5,blocks.6,blocks.7,blocks.8,blocks.9", "blocks.0,blocks.1,blocks.2,blocks.3,blocks.4,blocks.5,blocks.6,blocks.7,blocks.8,blocks.9,blocks.10"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence"), units=":blocks.*"),
    "open_clip_rn50": Facts((8, 12, 16), ("visual.layer1,visual.layer2,visual.layer3,visual.layer4,transformer.resblocks.*.mlp.c_proj", "visual,positional_embedding,token_embedding,transformer,ln_final"), impossible=("tp", "sequence", "attention flash"), units=":visual.layer1.*,visual.layer2.*,visual.layer3.*,visual.layer4.*,transformer.resblocks.*", checkpointed="transformer.resblocks.*"),
    "recurrent": Facts((8, 12, 16), ("lstm", "table,lstm"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "fsdp", "zero2")),
    "unet": Facts((4, 8, 16), ("down.*", "down.*,up.*"), impossible=("lora", "quantize", "attention", "tp", "sequence")),
    "gan": Facts((8, 16, 32), ("maker", "maker"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "shard", "fsdp", "ddp", "freeze", "sequence")),
    "transformer": Facts((8, 12, 16), ("layers.*", "layers.*,table,places")),
    "convolutional": Facts((8, 16, 32), ("blocks.*", "stem,blocks.*"), impossible=("lora", "quantize", "attention", "tp", "sequence")),
    "smp_fpn": Facts((8, 8, 8), ("encoder._blocks.*", "encoder,decoder"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence", "ddp", "zero1"), units=":encoder._blocks.*,decoder.seg_blocks.*,segmentation_head.*"),
    "timm_rexnet": Facts((8, 12, 16), ("features.*", "stem,features"), impossible=("lora", "quantize", "attention", "tp", "sequence"), units=":features.*", checkpointed="features.*"),
    "timm_nfnet": Facts((8, 12, 16), ("stages.*", "stem,stages,final_conv"), impossible=("lora", "quantize", "attention", "tp", "sequence"), units=":stages.*", checkpointed="stages.*"),
    "timm_maxxvit": Facts((8, 12, 16), ("stages.*", "stem,stages,norm"), impossible=("tp", "sequence", "lora", "quantize", "attention flash"), units=":stages.*", checkpointed="stages.*.blocks.*"),
    "timm_twins": Facts((8, 12, 16), ("blocks.*.*", "patch_embeds,blocks,pos_block,norm"), impossible=("checkpoint", "tp", "sequence", "attention efficient", "attention flash"), units=":patch_embeds.*,blocks.*.*,pos_block.*"),
    "timm_xcit": Facts((8, 12, 12), ("blocks.*,cls_attn_blocks.*", "cls_token,patch_embed,pos_embed,blocks,cls_attn_blocks,norm"), impossible=("tp", "sequence"), units=":patch_embed.proj.*,blocks.*,cls_attn_blocks.*", checkpointed="blocks.*,cls_attn_blocks.*"),
    "timm_gcvit": Facts((8, 12, 16), ("stages.*", "stem,stages"), impossible=("tp", "sequence", "attention"), units=":stages.*", checkpointed="stages.*.blocks.*"),
    "timm_efficientvit_msra": Facts((8, 12, 16), ("stages.*", "patch_embed,stages"), impossible=("lora", "quantize", "attention", "tp", "sequence"), units=":patch_embed.*,stages.*", checkpointed="stages.*"),
    "mobilenet": Facts((8, 12, 16), ("features", "features"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence")),
    "shufflenet": Facts((8, 12, 16), ("stage2,stage3", "conv1,stage2,stage3,stage4,conv5"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence")),
    "r3d_18": Facts((8, 12, 16), ("layer1,layer2", "stem,layer1,layer2,layer3,layer4"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence")),
    "fcn": Facts((8, 12, 16), ("backbone", "backbone"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence")),
    "gemma": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), impossible=("tp",)),
    "pp_ocrv5_server_det": Facts((4, 8, 8), ("model.backbone.encoder.stages.*", "model"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence"), units=":model.backbone.encoder.stages.*,model.neck.intraclass_blocks.*"),
    "modernvbert": Facts((4, 8, 8), ("model.text_model.layers.*", "model"), impossible=("tp",), units=":model.vision_model.encoder.layers.*,model.text_model.layers.*"),
    "vjepa2": Facts((8, 12, 16), ("vjepa2.encoder.layer.*", "vjepa2,pooler"), impossible=("tp", "sequence"), units=":vjepa2.encoder.layer.*,vjepa2.predictor.layer.*,pooler.self_attention_layers.*"),
    "megatron_bert": Facts((4, 8, 8), ("bert.encoder.layer.*", "bert.encoder.layer.*"), impossible=("tp", "attention")),
    "xlm": Facts((4, 8, 8), ("transformer.attentions.*,transformer.ffns.*", "transformer.attentions.*,transformer.ffns.*"), impossible=("checkpoint", "tp", "attention")),
    "esmfold2": Facts((4, 4, 4), ("folding_trunk.layers.*,lm_encoder.layers.*,msa_encoder.layers.*", "input_embedder,language_model,lm_encoder,msa_encoder,folding_trunk,parcae"), impossible=("tp", "sequence", "attention flash", "precision"), units=":input_embedder.atom_encoder.layers.*,esmc.layers.*,folding_trunk.layers.*,lm_encoder.layers.*,parcae.output_stack.layers.*,structure_head.atom_encoder.layers.*,structure_head.atom_decoder.layers.*,structure_head.token_transformer.layers.*,confidence_head.folding_trunk.layers.*,msa_encoder.layers.*"),
    "marian": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), impossible=("tp",)),
    "decision_transformer": Facts((32, 48, 64), ("encoder.h.*", "encoder,embed_timestep,embed_return,embed_state,embed_action,embed_ln"), impossible=("tp", "attention flash", "ddp", "zero1"), units=":encoder.h.*"),
    "granite_speech": Facts((4, 8, 8), ("model.encoder.layers.*,model.language_model.layers.*", "model.encoder,model.projector,model.language_model.layers,model.language_model.norm"), impossible=("checkpoint", "tp", "attention efficient", "attention flash"), units=":model.encoder.layers.*,model.projector.qformer.encoder.layer.*,model.language_model.layers.*"),
    "cohere": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), impossible=("tp",)),
    "hyperclovax": Facts((4, 8, 8), ("model.layers.*", "model"), impossible=("tp",)),
    "cohere_compass": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), impossible=("tp",)),
    "textnet": Facts((8, 12, 16), ("textnet.encoder", "textnet"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence")),
    "florence2": Facts((4, 8, 8), ("model.vision_tower.blocks.*,model.language_model.encoder.layers.*", "model.vision_tower,model.multi_modal_projector,model.language_model.encoder,model.language_model.decoder.layers.*"), impossible=("tp", "fsdp", "zero2", "attention efficient", "attention flash")),
    "olmo": Facts((4, 8, 8), ("model.layers.*", "model"), impossible=("tp",)),
    "pp_doclayout_v3": Facts((4, 8, 8), ("model.encoder.aifi.*,model.decoder.layers.*", "model.backbone,model.encoder_input_proj,model.encoder,model.denoising_class_embed,model.enc_output,model.decoder_input_proj,model.decoder.layers,model.decoder.query_pos_head,model.decoder_norm"), impossible=("checkpoint", "tp", "sequence", "attention flash", "precision"), units=":model.backbone.model.encoder.stages.*,model.encoder_input_proj.*,model.encoder.aifi.*,model.encoder.lateral_convs.*,model.encoder.fpn_blocks.*,model.encoder.downsample_convs.*,model.encoder.pan_blocks.*,model.encoder.mask_feature_head.scale_heads.*,model.decoder_input_proj.*,model.decoder.layers.*"),
    "canine": Facts((4, 8, 8), ("canine.encoder.layer.*", "canine"), impossible=("tp", "attention"), units=":canine.initial_char_encoder.layer.*,canine.encoder.layer.*,canine.final_char_encoder.layer.*"),
    "dpt": Facts((8, 12, 16), ("dpt.encoder.layer.*", "dpt,neck"), impossible=("tp", "sequence")),
    "gemma3": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), impossible=("tp",)),
    "dinov2_with_registers": Facts((8, 12, 16), ("dinov2_with_registers.encoder.layer.*", "dinov2_with_registers"), impossible=("tp", "sequence")),
    "helium": Facts((4, 8, 8), ("model.layers.*", "model"), impossible=("tp",)),
    "gte": Facts((4, 8, 8), ("gte.layers.*", "gte.layers.*"), impossible=("tp",)),
    "mellum": Facts((4, 4, 4), ("model.layers.*", "model"), impossible=("tp",)),
    "mpt": Facts((4, 8, 8), ("transformer.blocks.*", "transformer.blocks.*"), impossible=("tp", "attention")),
    "layoutlmv3": Facts((4, 8, 8), ("layoutlmv3.encoder.layer.*", "layoutlmv3"), impossible=("checkpoint", "tp", "attention")),
    "rf_detr": Facts((8, 12, 16), ("model.decoder.layers.*", "model"), impossible=("checkpoint", "tp", "sequence"), units=":model.backbone.backbone.encoder.layer.*,model.backbone.projector.projector_layer.bottlenecks.*,model.decoder.layers.*,model.enc_out_bbox_embed.*"),
    "audioflamingo3": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), impossible=("tp", "attention flash"), units=":model.audio_tower.layers.*,model.language_model.layers.*"),
    "funnel": Facts((4, 8, 8), ("funnel.encoder.blocks.*.*,funnel.decoder.layers.*", "funnel.encoder,funnel.decoder"), impossible=("checkpoint", "tp", "attention"), units=":funnel.encoder.blocks.*,funnel.decoder.layers.*"),
    "vit_pytorch_simple": Facts((8, 12, 16), ("transformer.layers.*", "to_patch_embedding,transformer"), impossible=("checkpoint", "tp", "sequence", "attention"), units=":transformer.layers.*.*"),
    "vit_pytorch_pit": Facts((8, 8, 8), ("layers.*.layers.*", "to_patch_embedding,pos_embedding,cls_token,layers"), impossible=("checkpoint", "tp", "sequence", "attention"), units=":layers.*"),
    "vit_pytorch_cait": Facts((8, 12, 12), ("patch_transformer.layers.*,cls_transformer.layers.*", "to_patch_embedding,pos_embedding,cls_token,patch_transformer,cls_transformer"), impossible=("checkpoint", "tp", "sequence", "attention"), units=":patch_transformer.layers.*.*,cls_transformer.layers.*.*"),
    "x_transformers_full_bandwidth": Facts((4, 8, 8), ("net.attn_layers.layers.*", "net.post_emb_norm,net.attn_layers,transitions"), impossible=("checkpoint", "tp", "attention"), units=":net.attn_layers.layers.*.0.*,net.attn_layers.layers.*.1"),
    "wav2vec2_conformer": Facts((4, 8, 8), ("wav2vec2_conformer.encoder.layers.*", "wav2vec2_conformer"), impossible=("tp", "sequence")),
    "levit": Facts((8, 12, 16), ("levit.encoder", "levit"), impossible=("checkpoint", "tp", "sequence", "attention")),
    "openai": Facts((4, 8, 8), ("transformer.h.*", "transformer.h.*"), impossible=("checkpoint", "tp", "attention")),
    "vit_pytorch_vit_with_keel_post_ln": Facts((8, 12, 12), ("transformer.layers.*", "to_patch_embedding,cls_token,pos_embedding,transformer"), impossible=("checkpoint", "tp", "sequence", "attention"), units=":transformer.layers.*"),
    "aria": Facts((4, 4, 4), ("model.language_model.layers.*", "model"), impossible=("tp",), units=":model.vision_tower.encoder.layers.*,model.language_model.layers.*"),
    "x_transformers_vi_transformer": Facts((8, 12, 8), ("attn_layers.layers.*", "pos_embedding,patch_to_embedding,attn_layers"), impossible=("checkpoint", "tp", "sequence", "attention"), units=":patch_to_embedding.*,attn_layers.layers.*.0.*,attn_layers.layers.*.1"),
    "fast_vlm": Facts((4, 8, 8), ("model.language_model.layers.*", "model"), impossible=("tp",), units=":model.vision_tower.timm_model.stem.*,model.vision_tower.timm_model.stages.*,model.language_model.layers.*"),
    "gemma4": Facts((4, 8, 8), ("model.layers.*", "model.layers.*"), impossible=("tp",)),
}
UNSEEN: Dict[str, Facts] = {
    "diffusers_kandinsky6": Facts((4, 8, 8), ("video_text_transformer_blocks.*,audio_text_transformer_blocks.*,visual_transformer_blocks.*", "visual_embeddings,visual_token_type_embeddings,audio_embeddings,video_time_embeddings,audio_time_embeddings,video_text_embeddings,audio_text_embeddings,video_pooled_text_embeddings,audio_pooled_text_embeddings,video_text_transformer_blocks,audio_text_transformer_blocks,visual_transformer_blocks"), impossible=("tp", "sequence", "attention flash"), units=":video_text_transformer_blocks.*,audio_text_transformer_blocks.*,visual_transformer_blocks.*", checkpointed="video_text_transformer_blocks.*,audio_text_transformer_blocks.*,visual_transformer_blocks.*"),
    "diffusers_unet": Facts((4, 8, 16), ("down_blocks.*,mid_block", "conv_in,time_embedding,down_blocks,mid_block,up_blocks"), impossible=("tp", "sequence"), units=":down_blocks.*,up_blocks.*,mid_block.attentions.*,mid_block.resnets.*", checkpointed="down_blocks.*.resnets.*,down_blocks.*.attentions.*.transformer_blocks.*,mid_block.attentions.*.transformer_blocks.*,mid_block.resnets.1,up_blocks.*.resnets.*,up_blocks.*.attentions.*.transformer_blocks.*"),
    "monai_dynunet": Facts((4, 4, 4), ("input_block,downsamples.*,bottleneck", "input_block,downsamples,bottleneck,upsamples"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence"), units=":downsamples.*,upsamples.*,deep_supervision_heads.*"),
    "smp_upernet": Facts((8, 8, 8), ("encoder.model.stages_0,encoder.model.stages_1,encoder.model.stages_2,encoder.model.stages_3", "encoder,decoder"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence"), units=":encoder.model.stages_0.blocks.*,encoder.model.stages_1.blocks.*,encoder.model.stages_2.blocks.*,encoder.model.stages_3.blocks.*,decoder.psp.blocks.*,decoder.fpn_lateral_blocks.*,decoder.fpn_conv_blocks.*,segmentation_head.*"),
    "timm_efficientvit_mit": Facts((8, 12, 16), ("stages.*", "stem,stages"), impossible=("lora", "quantize", "attention", "tp", "sequence"), units=":stem.*,stages.*", checkpointed="stages.*"),
    "timm_lowformer": Facts((8, 12, 16), ("stages.*", "stem,stages"), impossible=("tp", "sequence", "lora", "quantize", "attention efficient", "attention flash"), units=":stem.*,stages.*", checkpointed="stages.*"),
    "deeplabv3": Facts((8, 12, 16), ("backbone", "backbone"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence"), units=":backbone.*.block.*,classifier.*"),
    "whisper": Facts((4, 8, 8), ("model.encoder", "model.encoder,model.decoder.layers.*"), impossible=("tp", "sequence")),
    "mobilenet_v1": Facts((8, 12, 16), ("mobilenet_v1.layer", "mobilenet_v1"), impossible=("checkpoint", "lora", "quantize", "attention", "tp", "sequence")),
    "convbert": Facts((4, 8, 8), ("convbert.encoder.layer.*", "convbert.encoder.layer.*"), impossible=("tp", "attention")),
    "roberta": Facts((4, 8, 8), ("roberta.encoder.layer.*", "roberta.encoder.layer.*"), impossible=("tp",)),
    "gpt_neox_japanese": Facts((4, 8, 8), ("gpt_neox_japanese.layers.*", "gpt_neox_japanese.layers.*"), impossible=("checkpoint", "tp", "attention")),
}
ALL = {**FROZEN, **UNSEEN}


def words(model: str, size: str) -> Dict[str, str]:
    """The values of {batch}, {half}, {double}, {blocks}, {body}, {units} and {checkpointed} in a change."""
    facts = ALL[model]
    batch = facts.batches[SIZES.index(size)]
    blocks, body = facts.freeze
    return {"batch": str(batch), "half": str(batch // 2), "double": str(batch * 2), "blocks": blocks, "body": body, "units": facts.units, "checkpointed": facts.checkpointed}


def possible(model: str, changes: List[str]) -> List[str]:
    impossible = (*ALL[model].impossible, *(() if model in HEADS else ("cross-entropy",)), *(() if model in STAGES else ("pipeline",)))
    return [name for name in changes if not any(part in name for part in impossible)]
