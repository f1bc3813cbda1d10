# SPDX-License-Identifier: Apache-2.0
"""Gives names to what vramscope records of TensorFlow and Keras programs. The parts that all frameworks share are in
vramscope_core.

    import_hook ── start() ─┬─ variables    parameters, buffers, optimizer slots, by name
                            ├─ tape         backward passes and their gradients, in eager mode
                            ├─ optimizers   steps of Keras' optimizers in eager mode, and traced ones
                            ├─ layers       calls of Keras layers, in eager mode
                            ├─ functions    calls of traced functions: each one that updates variables is a step
                            └─ data         batches from tf.data, in eager loops

The rules are those of vramscope_shim. In a traced function (tf.function, Model.fit) Python runs only once, while it is traced. What happens in each step
comes from the injector's hooks of the allocator, which know the operator; here we report which operators compute gradients."""


def start() -> bool:
    """Idempotent; called right after `import tensorflow`. True if this process is recorded."""
    from vramscope_core import guard

    return bool(guard.hook("python.tensorflow", _start)())


def _start() -> bool:
    from . import recorder

    return recorder.install()
