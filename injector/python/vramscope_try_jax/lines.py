# SPDX-License-Identifier: Apache-2.0
"""The lines that make a change in a JAX program, for what was not applied from outside."""

from typing import Any, Dict, List, Optional


def lines_for(lever: str, plan: Dict[str, Any]) -> Optional[List[str]]:
    """Empty if JAX has no switch for it. None: the answer has lines that do not depend on the framework."""
    if lever == "checkpoint":
        return ["block = jax.checkpoint(block, policy=jax.checkpoint_policies.dots_saveable)  # each block of the model"]
    if lever == "free-early":
        return ["step = jax.jit(step, donate_argnums=(0, 1))  # parameters and optimizer state"]
    if lever == "batch":
        return None
    if lever == "accumulate":
        return [f"optimizer = optax.MultiSteps(optimizer, every_k_schedule={plan['accumulate']})",
                f"batch_size = batch_size // {plan['accumulate']}"]
    if lever == "shard":
        return ['mesh = jax.make_mesh((jax.device_count(),), ("data",))',
                'x, y = jax.device_put((x, y), NamedSharding(mesh, P("data")))  # each batch',
                "params, state = jax.device_put((params, state), NamedSharding(mesh, P()))  # once"]
    if lever in ("precision", "amp"):
        return ["params = jax.tree.map(lambda x: x.astype(jnp.bfloat16), params)  # in the loss function: the master copy stays in float32"]
    return []
