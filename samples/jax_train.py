# SPDX-License-Identifier: Apache-2.0
"""A small network in JAX, trained with optax in the way that tutorials show: one jitted step, with donated parameters and optimizer state.

    --model mlp     three dense layers
    --model gpt     blocks of causal attention over tokens
    --keep          nothing is donated: parameters and state exist twice during the step
    --checkpoint    (gpt) each block in jax.checkpoint
    --policy NAME   the loss in jax.checkpoint with this one of jax.checkpoint_policies
    --optimizer     adamw, sgd
    --split-step    two jitted functions: gradients, and the update
    --eager-update  gradients by a jitted function, and the update without jit
    --devices N     the batch is sharded over N devices, parameters are replicated

Prints nothing. --truth FILE: writes the bytes of parameters and state by path, and what each device reports after each step, to compare with a recording."""

import argparse
import json
from functools import partial
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

import jax
import jax.numpy as jnp
import optax

Tree = Any
VOCABULARY, FEATURES, CLASSES = 256, 256, 10


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("mlp", "gpt"), default="mlp")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--checkpoint", action="store_true")
    parser.add_argument("--policy", default="")
    parser.add_argument("--optimizer", choices=("adamw", "sgd"), default="adamw")
    parser.add_argument("--split-step", action="store_true")
    parser.add_argument("--eager-update", action="store_true")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--truth", default="")
    return parser.parse_args()


def dense(key: Any, inputs: int, outputs: int) -> Dict[str, Any]:
    return {"w": jax.random.normal(key, (inputs, outputs)) * inputs**-0.5, "b": jnp.zeros(outputs)}


def apply_dense(layer: Dict[str, Any], x: Any) -> Any:
    return x @ layer["w"] + layer["b"]


def mlp(settings: argparse.Namespace, key: Any) -> Tree:
    sizes = [FEATURES, settings.hidden, settings.hidden, CLASSES]
    keys = jax.random.split(key, 3)
    return {name: dense(one, inputs, outputs) for name, one, inputs, outputs in zip(("fc1", "fc2", "head"), keys, sizes, sizes[1:])}


def mlp_loss(params: Tree, x: Any, y: Any) -> Any:
    x = jax.nn.relu(apply_dense(params["fc1"], x))
    x = jax.nn.relu(apply_dense(params["fc2"], x))
    return optax.softmax_cross_entropy_with_integer_labels(apply_dense(params["head"], x), y).mean()


def gpt(settings: argparse.Namespace, key: Any) -> Tree:
    width = settings.hidden
    keys = iter(jax.random.split(key, 3 + 3 * settings.layers))
    blocks = [{"qkv": dense(next(keys), width, 3 * width), "out": dense(next(keys), width, width), "mlp": dense(next(keys), width, width)}
              for _ in range(settings.layers)]
    return {"tokens": jax.random.normal(next(keys), (VOCABULARY, width)) * 0.02, "positions": jax.random.normal(next(keys), (settings.tokens, width)) * 0.02,
            "blocks": blocks, "head": dense(next(keys), width, VOCABULARY)}


def block(layer: Tree, x: Any) -> Any:
    heads = 4
    batch, tokens, width = x.shape
    query, key, value = jnp.split(apply_dense(layer["qkv"], x).reshape(batch, tokens, 3 * heads, width // heads), 3, axis=2)
    x = x + apply_dense(layer["out"], jax.nn.dot_product_attention(query, key, value, is_causal=True).reshape(batch, tokens, width))
    return x + jax.nn.gelu(apply_dense(layer["mlp"], x))


def gpt_loss(params: Tree, x: Any, y: Any, checkpoint: bool = False) -> Any:
    run = jax.checkpoint(block) if checkpoint else block
    x = params["tokens"][x] + params["positions"]
    for layer in params["blocks"]:
        x = run(layer, x)
    return optax.softmax_cross_entropy_with_integer_labels(apply_dense(params["head"], x), y).mean()


def batches(settings: argparse.Namespace) -> List[Tuple[Any, Any]]:
    import numpy as np

    random = np.random.default_rng(0)
    if settings.model == "gpt":
        shape = (settings.batch, settings.tokens)
        return [(random.integers(0, VOCABULARY, shape, dtype=np.int32), random.integers(0, VOCABULARY, shape, dtype=np.int32)) for _ in range(settings.steps)]
    return [(random.standard_normal((settings.batch, FEATURES), dtype=np.float32), random.integers(0, CLASSES, settings.batch, dtype=np.int32))
            for _ in range(settings.steps)]


def sizes_of(name: str, tree: Tree) -> Dict[str, int]:
    return {name + jax.tree_util.keystr(path): leaf.nbytes for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


class Programs(NamedTuple):
    init: Callable[[], Tuple[Tree, Tree]]
    step: Callable[..., Tuple[Tree, Tree, Any]]
    gradients: Callable[..., Tuple[Any, Tree]]
    update: Callable[..., Tuple[Tree, Tree]]


def programs(settings: argparse.Namespace) -> Programs:
    optimizer = getattr(optax, settings.optimizer)(1e-3)
    loss: Callable[..., Any] = partial(gpt_loss, checkpoint=settings.checkpoint) if settings.model == "gpt" else mlp_loss
    if settings.policy:
        loss = jax.checkpoint(loss, policy=getattr(jax.checkpoint_policies, settings.policy))

    def init() -> Tuple[Tree, Tree]:
        params = (gpt if settings.model == "gpt" else mlp)(settings, jax.random.key(0))
        return params, optimizer.init(params)

    def update(params: Tree, state: Tree, grads: Tree) -> Tuple[Tree, Tree]:
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    def train_step(params: Tree, state: Tree, x: Any, y: Any) -> Tuple[Tree, Tree, Any]:
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return (*update(params, state, grads), value)

    donated = () if settings.keep else (0, 1)
    apply = update if settings.eager_update else jax.jit(update, donate_argnums=donated)
    return Programs(init, jax.jit(train_step, donate_argnums=donated), jax.jit(jax.value_and_grad(loss)), apply)


def main() -> None:
    settings = parse()
    init, step, gradients, update = programs(settings)
    params, state = init()
    place: Any = None
    if settings.devices > 1:
        mesh = jax.make_mesh((settings.devices,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
        place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
        params, state = jax.device_put((params, state), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
    devices = jax.local_devices()
    truth: Dict[str, Any] = {"in_use": [[] for _ in devices], "peak": [[] for _ in devices]}
    for batch in batches(settings):
        x, y = jax.device_put(batch, place)
        if settings.split_step or settings.eager_update:
            value, grads = gradients(params, x, y)
            params, state = update(params, state, grads)
        else:
            params, state, value = step(params, state, x, y)
        if settings.truth:
            jax.block_until_ready((params, state, value))
            for number, device in enumerate(devices):
                stats = device.memory_stats() or {}
                truth["in_use"][number].append(stats.get("bytes_in_use", 0))
                truth["peak"][number].append(stats.get("peak_bytes_in_use", 0))
    if settings.truth:
        truth["parameter"], truth["optimizer_state"] = sizes_of("params", params), sizes_of("state", state)
        with open(settings.truth, "w", encoding="utf-8") as file:
            json.dump(truth, file)


if __name__ == "__main__":
    main()
