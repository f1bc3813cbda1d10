# SPDX-License-Identifier: Apache-2.0
"""The lines that make a change in a Keras program, for what was not applied from outside."""

from typing import Any, Dict, List, Optional

LONG = {"bf16": "bfloat16", "fp16": "float16"}
_OPTIMIZERS = {"sgd": "SGD(learning_rate)", "momentum": "SGD(learning_rate, momentum=0.9)", "adam": "Adam(learning_rate)",
               "adamw": "AdamW(learning_rate)", "adafactor": "Adafactor(learning_rate)"}


def lines_for(lever: str, plan: Dict[str, Any]) -> Optional[List[str]]:
    """Empty if Keras has no switch for it. None: the answer has lines that do not depend on the framework."""
    if lever == "amp":
        return _amp(plan["amp"])
    if lever == "precision":
        return [f'keras.config.set_dtype_policy("{LONG[plan["beyond"]["precision"]]}")  # before the model is created']
    if lever == "optimizer" and plan["optimizer"] in _OPTIMIZERS:
        return [f"optimizer = keras.optimizers.{_OPTIMIZERS[plan['optimizer']]}"]
    if lever == "batch":
        return None
    if lever == "accumulate":
        return [f"optimizer = keras.optimizers.Adam(learning_rate, gradient_accumulation_steps={plan['accumulate']})",
                f"batch_size = batch_size // {plan['accumulate']}"]
    if lever == "checkpoint":
        return ['with keras.RematScope(mode="list_of_layers", layer_names=["block0", ...]):', "    model = ...  # created inside the scope"]
    if lever == "shard" and plan["beyond"]["shard"].startswith("ddp:"):
        return ["strategy = tf.distribute.MirroredStrategy()", "with strategy.scope():", "    model = ...  # and compile() inside the scope",
                "# your own loop: strategy.run(step, args=(batch,)), with batches of strategy.experimental_distribute_dataset(data)"]
    if lever == "freeze":
        return ["layer.trainable = False  # before compile()"]
    if lever == "alloc-conf":
        return ["tf.config.experimental.set_memory_growth(gpu, True)  # before the GPU is used: allow_growth"]
    return []


def _amp(dtype: str) -> List[str]:
    policy = f'keras.config.set_dtype_policy("mixed_{LONG[dtype]}")  # before the model is created'
    if dtype == "bf16":
        return [policy]
    return [policy, "optimizer = keras.optimizers.LossScaleOptimizer(optimizer)  # compile() does this for fit()",
            "loss = optimizer.scale_loss(loss)  # in the tape of your own loop; apply_gradients() divides again"]
