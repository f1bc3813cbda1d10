# SPDX-License-Identifier: Apache-2.0
"""Keras programs for `vramscope try`, with each change that it makes from outside also written in code, as a user would write it.

    mlp, cnn, unet, lstm, text    Model.fit; mlp on arrays, the others on a tf.data data set
    transformer             Model.fit; its blocks are layers of the program's own
    resnet, mobilenet, efficientnet    of keras.applications, Model.fit
    eager_mlp, graph_transformer       the program's own loop, in eager mode and as a @tf.function

--recompute: keras.RematScope around the blocks, or around every layer of a model without blocks."""

import argparse
import contextlib
import os
from typing import Any, Callable, Dict, List

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

CLASSES, TOKENS, WORDS = 10, 64, 1000
LARGE_IMAGES = ("resnet", "mobilenet", "efficientnet")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=tuple(MODELS), default="mlp")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--policy", default="", help="mixed_float16, mixed_bfloat16, bfloat16")
    parser.add_argument("--optimizer", choices=tuple(OPTIMIZERS), default="adam")
    parser.add_argument("--accumulate", type=int, default=0)
    parser.add_argument("--recompute", action="store_true")
    parser.add_argument("--replicas", type=int, default=0, help="MirroredStrategy over this many GPUs")
    return parser.parse_args()


class Block(layers.Layer):
    """A transformer block, whose activations --recompute computes again."""

    def __init__(self, width: int, **settings: Any) -> None:
        super().__init__(**settings)
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.attention = layers.MultiHeadAttention(4, width // 4)
        self.up, self.down = layers.Dense(4 * width, activation="gelu"), layers.Dense(width)

    def build(self, shape: Any) -> None:
        self.norm1.build(shape)
        self.norm2.build(shape)
        self.attention.build(shape, shape)
        self.up.build(shape)
        self.down.build((*shape[:-1], 4 * shape[-1]))
        self.built = True

    def call(self, x: Any) -> Any:
        normed = self.norm1(x)
        x = x + self.attention(normed, normed)
        return x + self.down(self.up(self.norm2(x)))


def mlp(recomputing: Callable[[], Any]) -> Any:
    with recomputing():
        hidden = [layers.Dense(1024, activation="gelu", name=f"hidden{number}") for number in range(4)]
        head = layers.Dense(CLASSES, name="head")
    return keras.Sequential([keras.Input((256,)), *hidden, head])


def cnn(recomputing: Callable[[], Any]) -> Any:
    inner: List[Any] = []
    with recomputing():
        for width in (32, 64, 128):
            inner += [layers.Conv2D(width, 3, padding="same", use_bias=False), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D()]
        inner += [layers.GlobalAveragePooling2D(), layers.Dense(CLASSES)]
    return keras.Sequential([keras.Input((32, 32, 3)), *inner])


def transformer(recomputing: Callable[[], Any]) -> Any:
    tokens = keras.Input((TOKENS,), dtype="int32")
    x = layers.Embedding(WORDS, 256)(tokens)
    with recomputing():
        blocks = [Block(256, name=f"block{number}") for number in range(4)]
    for block in blocks:
        x = block(x)
    return keras.Model(tokens, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x)))


def lstm(recomputing: Callable[[], Any]) -> Any:
    tokens = keras.Input((TOKENS,), dtype="int32")
    with recomputing():
        inner = [layers.Embedding(WORDS, 128), layers.LSTM(256, return_sequences=True), layers.LSTM(256), layers.Dense(CLASSES)]
    x = tokens
    for layer in inner:
        x = layer(x)
    return keras.Model(tokens, x)


def unet(recomputing: Callable[[], Any]) -> Any:
    image = keras.Input((32, 32, 3))
    with recomputing():
        x, skips = image, []
        for width in (32, 64):
            x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
            skips.append(x)
            x = layers.MaxPooling2D()(x)
        x = layers.Conv2D(128, 3, padding="same", activation="relu")(x)
        for width, skip in zip((64, 32), reversed(skips)):
            x = layers.Conv2DTranspose(width, 2, strides=2, padding="same")(x)
            x = layers.Conv2D(width, 3, padding="same", activation="relu")(layers.Concatenate()([x, skip]))
        x = layers.Dense(CLASSES)(layers.GlobalAveragePooling2D()(layers.Conv2D(16, 1)(x)))
    return keras.Model(image, x)


def text(recomputing: Callable[[], Any]) -> Any:
    with recomputing():
        inner = [layers.Embedding(WORDS, 256), layers.Conv1D(256, 5, padding="same", activation="relu"), layers.Dropout(0.2),
                 layers.Conv1D(256, 5, padding="same", activation="relu"), layers.GlobalMaxPooling1D(), layers.Dense(CLASSES)]
    return keras.Sequential([keras.Input((TOKENS,), dtype="int32"), *inner])


def application(name: str) -> Callable[..., Any]:
    def build(recomputing: Callable[[], Any]) -> Any:
        with recomputing():
            return getattr(keras.applications, name)(weights=None, input_shape=(64, 64, 3), classes=CLASSES, classifier_activation=None)

    return build


MODELS = {"mlp": mlp, "cnn": cnn, "transformer": transformer, "lstm": lstm, "unet": unet, "text": text, "eager_mlp": mlp, "graph_transformer": transformer,
          "resnet": application("ResNet50"), "mobilenet": application("MobileNetV2"), "efficientnet": application("EfficientNetB0")}
OPTIMIZERS: Dict[str, Callable[..., Any]] = {
    "adam": lambda **settings: keras.optimizers.Adam(**settings),
    "sgd": lambda **settings: keras.optimizers.SGD(**settings),
    "momentum": lambda **settings: keras.optimizers.SGD(momentum=0.9, **settings),
    "adamw": lambda **settings: keras.optimizers.AdamW(**settings),
    "adafactor": lambda **settings: keras.optimizers.Adafactor(**settings),
}


def model_of(options: argparse.Namespace) -> Any:
    build = MODELS[options.model]
    if not options.recompute:
        return build(contextlib.nullcontext)
    # The mode "full" would also wrap the layers inside a block, and the model itself if it is created inside the scope. So the layers are named.
    with tf.device("CPU:0"):  # these variables must not take part in the layout of the GPU's memory
        names = [layer.name for layer in build(contextlib.nullcontext).layers]
    if "transformer" in options.model:
        names = [name for name in names if name.startswith("block")]
    keras.utils.clear_session()
    keras.config.set_dtype_policy(options.policy or "float32")
    return build(lambda: keras.RematScope(mode="list_of_layers", layer_names=names))


def data_of(options: argparse.Namespace, rows: int) -> Any:
    random = np.random.default_rng(0)
    labels = (np.arange(rows) % CLASSES).astype("int32")
    if options.model in ("lstm", "text", "transformer", "graph_transformer"):
        return random.integers(0, WORDS, size=(rows, TOKENS)).astype("int32"), labels
    if options.model.endswith("mlp"):
        return random.normal(size=(rows, 256)).astype("float32"), labels
    edge = 64 if options.model in LARGE_IMAGES else 32
    return random.normal(size=(rows, edge, edge, 3)).astype("float32"), labels


def train_by_hand(model: Any, loss: Any, optimizer: Any, batches: Any, traced: bool) -> None:
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    if traced:
        optimizer.build(model.trainable_variables)
        step = tf.function(step)
    for x, y in batches:
        step(x, y)


def main() -> None:
    options = parse()
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    keras.utils.set_random_seed(0)
    if options.policy:
        keras.config.set_dtype_policy(options.policy)
    scope = tf.distribute.MirroredStrategy([f"GPU:{number}" for number in range(options.replicas)]).scope() if options.replicas else contextlib.nullcontext()
    with scope:
        train(options)


def train(options: argparse.Namespace) -> None:
    model = model_of(options)
    optimizer = OPTIMIZERS[options.optimizer](**({"gradient_accumulation_steps": options.accumulate} if options.accumulate else {}))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    x, y = data_of(options, options.batch * options.steps)
    if options.model == "mlp":
        model.compile(optimizer=optimizer, loss=loss)
        model.fit(x, y, batch_size=options.batch, epochs=1, shuffle=False, verbose=0)
        return
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(options.batch, drop_remainder=True)
    if options.model in ("eager_mlp", "graph_transformer"):
        train_by_hand(model, loss, optimizer, batches, traced=options.model == "graph_transformer")
    else:
        model.compile(optimizer=optimizer, loss=loss)
        model.fit(batches, epochs=1, verbose=0)


if __name__ == "__main__":
    main()
