# SPDX-License-Identifier: Apache-2.0
"""A small network in Keras on TensorFlow, trained in one of the ways that tutorials show.

    --model         mlp, cnn (convolutions, batch normalization, pooling), transformer (two blocks of attention over tokens)
    --loop fit      Model.fit: Keras traces the step to a graph
    --loop tape     a loop of the program's own in eager mode, with gradients accumulated over --micro-batches
    --loop graph    the same with the step as a @tf.function
    --loop mirrored the step in strategy.run of tf.distribute.MirroredStrategy, on all GPUs
    --loop split    (mlp) the hidden layers on one GPU, the head on the next one; on the CPU, two logical devices
    --recompute     (mlp) the hidden layers in tf.recompute_grad, in the program's own loops
    --jit           Model.compile(jit_compile=True): XLA compiles the step

Prints nothing. --truth FILE: writes the variables, their bytes and their roles, to compare with a recording."""

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
    parser.add_argument("--model", choices=("mlp", "cnn", "transformer"), default="mlp")
    parser.add_argument("--loop", choices=("fit", "tape", "graph", "mirrored", "split"), default="fit")
    parser.add_argument("--recompute", action="store_true")
    parser.add_argument("--jit", action="store_true")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--micro-batches", type=int, default=2)
    parser.add_argument("--optimizer", choices=("adam", "sgd"), default="adam")
    parser.add_argument("--policy", default="float32", help="mixed_float16, mixed_bfloat16")
    parser.add_argument("--truth", default="")
    return parser.parse_args()


Classifier = Callable[..., Any]


def mlp(hidden: int) -> Any:
    layers = [keras.layers.Input((256,)), keras.layers.Dense(hidden, activation="relu", name="fc1"),
              keras.layers.Dense(hidden, activation="relu", name="fc2"), keras.layers.Dense(10, dtype="float32", name="head")]
    return keras.Sequential(layers, name="mlp")


def cnn(channels: int) -> Any:
    layers: List[Any] = [keras.layers.Input((32, 32, 3))]
    for number in (1, 2):
        layers += [keras.layers.Conv2D(channels, 3, padding="same", use_bias=False, name=f"conv{number}"),
                   keras.layers.BatchNormalization(name=f"norm{number}"), keras.layers.ReLU(name=f"relu{number}"),
                   keras.layers.MaxPooling2D(name=f"pool{number}")]
    layers += [keras.layers.GlobalAveragePooling2D(name="mean"), keras.layers.Dense(10, dtype="float32", name="head")]
    return keras.Sequential(layers, name="cnn")


def transformer(width: int) -> Any:
    tokens = keras.layers.Input((64,), dtype="int32")
    x = keras.layers.Embedding(1000, width, name="embedding")(tokens)
    for number in (1, 2):
        normed = keras.layers.LayerNormalization(name=f"norm{number}a")(x)
        x = x + keras.layers.MultiHeadAttention(4, width // 4, name=f"attention{number}")(normed, normed, use_causal_mask=True)
        normed = keras.layers.LayerNormalization(name=f"norm{number}b")(x)
        inner = keras.layers.Dense(4 * width, activation="gelu", name=f"up{number}")(normed)
        x = x + keras.layers.Dense(width, name=f"down{number}")(inner)
    x = keras.layers.GlobalAveragePooling1D(name="mean")(x)
    return keras.Model(tokens, keras.layers.Dense(10, dtype="float32", name="head")(x), name="transformer")


NETWORKS = {"mlp": mlp, "cnn": cnn, "transformer": transformer}


def inputs_of(name: str, rows: int) -> Any:
    random = np.random.default_rng(0)
    if name == "transformer":
        return random.integers(0, 1000, size=(rows, 64)).astype("int32")
    return random.normal(size=(rows, 256) if name == "mlp" else (rows, 32, 32, 3)).astype("float32")


def recomputing(model: Any) -> Classifier:
    """The same as model(x), but backward recomputes the outputs of the hidden layers."""
    hidden = tf.recompute_grad(lambda x: model.get_layer("fc2")(model.get_layer("fc1")(x)))
    return lambda x, training=True: model.get_layer("head")(hidden(x))


def gradients_of(model: Any, call: Classifier, loss: Any, x: Any, y: Any) -> List[Any]:
    with tf.GradientTape() as tape:
        value = loss(y, call(x, training=True))
    return tape.gradient(value, model.trainable_variables)


def accumulating_step(model: Any, call: Classifier, loss: Any, optimizer: Any, accumulated: List[Any], micro_batches: int) -> Callable[[Any, Any], None]:
    def step(x: Any, y: Any) -> None:
        for total in accumulated:
            total.assign(tf.zeros_like(total))
        for part_x, part_y in zip(tf.split(x, micro_batches), tf.split(y, micro_batches)):
            for total, gradient in zip(accumulated, gradients_of(model, call, loss, part_x, part_y)):
                total.assign_add(tf.convert_to_tensor(gradient) / micro_batches)  # an embedding has IndexedSlices
        optimizer.apply_gradients(zip(accumulated, model.trainable_variables))

    return step


def train_mirrored(strategy: Any, model: Any, loss: Any, optimizer: Any, batches: Any) -> None:
    def replica_step(x: Any, y: Any) -> None:
        optimizer.apply_gradients(zip(gradients_of(model, model, loss, x, y), model.trainable_variables))

    @tf.function
    def step(x: Any, y: Any) -> None:
        strategy.run(replica_step, args=(x, y))

    for x, y in strategy.experimental_distribute_dataset(batches):
        step(x, y)


def devices_to_split() -> List[str]:
    """The two devices for the parts of the model. Must be called before TensorFlow initializes its devices."""
    gpus = tf.config.list_physical_devices("GPU")
    if len(gpus) < 2:
        halves = [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()]
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], halves)
        return ["CPU:0", "CPU:1"]
    return ["GPU:0", "GPU:1"]


def split_mlp(hidden: int, devices: List[str]) -> Any:
    """A model in two parts; the variables of each part are on its device."""
    with tf.device(devices[0]):
        body = keras.Sequential([keras.layers.Input((256,)), keras.layers.Dense(hidden, activation="relu", name="fc1"),
                                 keras.layers.Dense(hidden, activation="relu", name="fc2")], name="body")
    with tf.device(devices[1]):
        head = keras.Sequential([keras.layers.Input((hidden,)), keras.layers.Dense(10, dtype="float32", name="logits")], name="head")
    return keras.Sequential([keras.layers.Input((256,)), body, head], name="split")


def train_split(devices: List[str], model: Any, loss: Any, optimizer: Any, batches: Any) -> None:
    """Trains a model whose parts are on two devices, as if it were too large for one."""
    def call(x: Any, training: bool = True) -> Any:
        with tf.device(devices[0]):
            x = model.get_layer("body")(x)
        with tf.device(devices[1]):
            return model.get_layer("head")(x)

    for x, y in batches:
        gradients = gradients_of(model, call, loss, x, y)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))


def train_accumulating(options: argparse.Namespace, model: Any, loss: Any, optimizer: Any, batches: Any) -> List[Any]:
    accumulated = [tf.Variable(tf.zeros_like(variable), trainable=False) for variable in model.trainable_variables]
    call = recomputing(model) if options.recompute else model
    step = accumulating_step(model, call, loss, optimizer, accumulated, options.micro_batches)
    if options.loop == "graph":
        optimizer.build(model.trainable_variables)
        step = tf.function(step)
    for x, y in batches:
        step(x, y)
    return accumulated


def main() -> None:
    options = parse()
    devices = devices_to_split() if options.loop == "split" else []
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    keras.utils.set_random_seed(0)
    keras.mixed_precision.set_global_policy(options.policy)
    strategy = tf.distribute.MirroredStrategy() if options.loop == "mirrored" else tf.distribute.get_strategy()
    with strategy.scope():
        model = split_mlp(options.hidden, devices) if devices else NETWORKS[options.model](options.hidden)
        optimizer = keras.optimizers.Adam() if options.optimizer == "adam" else keras.optimizers.SGD(momentum=0.9)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        if options.loop == "mirrored":
            optimizer.build(model.trainable_variables)
    rows = options.batch * options.steps
    x = inputs_of(options.model, rows)
    y = (np.arange(rows) % 10).astype("int32")
    accumulated: List[Any] = []
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(options.batch, drop_remainder=True)
    if options.loop == "fit":
        model.compile(optimizer=optimizer, loss=loss, jit_compile=options.jit)
        model.fit(x, y, batch_size=options.batch, epochs=1, verbose=0)
    elif options.loop == "split":
        train_split(devices, model, loss, optimizer, batches)
    elif options.loop == "mirrored":
        train_mirrored(strategy, model, loss, optimizer, batches)
    else:
        accumulated = train_accumulating(options, model, loss, optimizer, batches)
    if options.truth:
        write_truth(options.truth, model, optimizer, accumulated)


def write_truth(path: str, model: Any, optimizer: Any, accumulated: List[Any]) -> None:
    def sizes(variables: Any) -> Dict[str, int]:
        return {variable.path: int(np.prod(variable.shape)) * tf.as_dtype(variable.dtype).size for variable in variables}

    truth = {
        "parameter": sizes(model.trainable_variables),
        "optimizer_state": sizes(optimizer.variables),
        "accumulated": [int(np.prod(variable.shape)) * 4 for variable in accumulated],
        "device_peaks": [tf.config.experimental.get_memory_info(gpu.name.partition("device:")[2])["peak"] for gpu in tf.config.list_logical_devices("GPU")],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(truth, file)


if __name__ == "__main__":
    main()
