# SPDX-License-Identifier: Apache-2.0
"""The models of the packages timm and diffusers, without torch: their batches, what is frozen of them, and what cannot be done to them in code."""

from typing import Dict

from facts import NO_LINEAR, NO_TOKENS, ONE_RANK, Facts

OTHER_LIBRARIES: Dict[str, Facts] = {
    "timm_vit": Facts((8, 12, 16), ("blocks.*", "cls_token,pos_embed,patch_embed,blocks,norm"), (*ONE_RANK, *NO_TOKENS), ":blocks.*.mlp"),
    "timm_efficientnet": Facts((8, 12, 16), ("blocks.*", "conv_stem,bn1,blocks,conv_head,bn2"), (*NO_LINEAR, *NO_TOKENS, "fsdp, checkpoint"),  # which calls what is in a stage, and no stage
                               units=":blocks.*", checkpointed="blocks.*.*"),
}
