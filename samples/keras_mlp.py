# SPDX-License-Identifier: Apache-2.0
"""A small network in Keras on TensorFlow, trained in one of the three ways that tutorials show.

    --loop fit      Model.fit: Keras traces the step to a graph
    --loop tape     a loop of the program's own in eager mode, with gradients accumulated over --micro-batches
    --loop graph    the same with the step as a @tf.function

Prints nothing. --truth FILE: writes the variables, their bytes and their roles, for a comparison with a recording."""

import argparse
import json
import os
from typing import Any, Callable, Dict, List

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loop", choices=("fit", "tape", "graph"), default="fit")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--micro-batches", type=int, default=2)
    parser.add_argument("--optimizer", choices=("adam", "sgd"), default="adam")
    parser.add_argument("--policy", default="float32", help="mixed_float16, mixed_bfloat16")
    parser.add_argument("--truth", default="")
    return parser.parse_args()


def network(hidden: int) -> Any:
    layers = [keras.layers.Input((256,)), keras.layers.Dense(hidden, activation="relu", name="fc1"),
              keras.layers.Dense(hidden, activation="relu", name="fc2"), keras.layers.Dense(10, dtype="float32", name="head")]
    return keras.Sequential(layers, name="mlp")


def gradients_of(model: Any, loss: Any, x: Any, y: Any) -> List[Any]:
    with tf.GradientTape() as tape:
        value = loss(y, model(x, training=True))
    return tape.gradient(value, model.trainable_variables)


def accumulating_step(model: Any, loss: Any, optimizer: Any, accumulated: List[Any], micro_batches: int) -> Callable[[Any, Any], None]:
    def step(x: Any, y: Any) -> None:
        for total in accumulated:
            total.assign(tf.zeros_like(total))
        for part_x, part_y in zip(tf.split(x, micro_batches), tf.split(y, micro_batches)):
            for total, gradient in zip(accumulated, gradients_of(model, loss, part_x, part_y)):
                total.assign_add(gradient / micro_batches)
        optimizer.apply_gradients(zip(accumulated, model.trainable_variables))

    return step


def main() -> None:
    options = parse()
    keras.utils.set_random_seed(0)
    keras.mixed_precision.set_global_policy(options.policy)
    model = network(options.hidden)
    optimizer = keras.optimizers.Adam() if options.optimizer == "adam" else keras.optimizers.SGD(momentum=0.9)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    rows = options.batch * options.steps
    x = np.random.default_rng(0).normal(size=(rows, 256)).astype("float32")
    y = (np.arange(rows) % 10).astype("int32")
    accumulated: List[Any] = []
    if options.loop == "fit":
        model.compile(optimizer=optimizer, loss=loss, jit_compile=False)
        model.fit(x, y, batch_size=options.batch, epochs=1, verbose=0)
    else:
        accumulated = [tf.Variable(tf.zeros_like(variable), trainable=False) for variable in model.trainable_variables]
        step = accumulating_step(model, loss, optimizer, accumulated, options.micro_batches)
        if options.loop == "graph":
            optimizer.build(model.trainable_variables)
            step = tf.function(step)
        for batch_x, batch_y in tf.data.Dataset.from_tensor_slices((x, y)).batch(options.batch, drop_remainder=True):
            step(batch_x, batch_y)
    if options.truth:
        write_truth(options.truth, model, optimizer, accumulated)


def write_truth(path: str, model: Any, optimizer: Any, accumulated: List[Any]) -> None:
    def sizes(variables: Any) -> Dict[str, int]:
        return {variable.path: int(np.prod(variable.shape)) * tf.as_dtype(variable.dtype).size for variable in variables}

    truth = {
        "parameter": sizes(model.trainable_variables),
        "optimizer_state": sizes(optimizer.variables),
        "accumulated": [int(np.prod(variable.shape)) * 4 for variable in accumulated],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(truth, file)


if __name__ == "__main__":
    main()
