# SPDX-License-Identifier: Apache-2.0
"""Callbacks for trainers. Each module needs its own framework, and nothing else:

    from vramscope.integrations.transformers import VramscopeCallback    Hugging Face's Trainer; TRL and Accelerate through it
    from vramscope.integrations.lightning import VramscopeCallback       PyTorch Lightning
    from vramscope.integrations.keras import VramscopeCallback           Keras 3 with the torch backend

VramscopeCallback(on_oom="dump", log=True) logs memory through the trainer's own logger, and leaves a snapshot if memory runs out. Nothing in it raises
while the trainer runs."""
