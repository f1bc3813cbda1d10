# SPDX-License-Identifier: Apache-2.0
"""For Keras 3 with the torch backend.

    model.fit(..., callbacks=[VramscopeCallback(on_oom="dump", log=True), keras.callbacks.TensorBoard()])

Put it before the callbacks that write logs: Keras gives one dict to all of them, in their order."""

from typing import Any, Dict, Optional

from keras.callbacks import Callback

from .memory import OutOfMemoryDump, StepMemory, check, dump_for, harmless


class VramscopeCallback(Callback):
    """Adds the figures of memory.py to the logs of each batch and epoch.

    on_oom="dump": if memory runs out, a snapshot for `vramscope oom` is written to `folder`, which is the working directory by default."""

    def __init__(self, on_oom: Optional[str] = "dump", log: bool = True, folder: Optional[str] = None) -> None:
        super().__init__()
        self._on_oom, self._log, self._folder = check(on_oom), log, folder
        self._memory = StepMemory()
        self._figures: Dict[str, float] = {}
        self._dump: Optional[OutOfMemoryDump] = None

    @harmless
    def on_train_begin(self, logs: Optional[Dict[str, Any]] = None) -> None:
        self._memory = StepMemory()
        self._dump = dump_for(self._on_oom, self._folder or ".")
        if self._dump is not None:
            self._dump.begin()

    @harmless
    def on_train_batch_end(self, batch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        self._figures = self._memory.after_step()
        if self._log and logs is not None:
            logs.update(self._figures)

    @harmless
    def on_epoch_end(self, epoch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        if self._log and logs is not None:
            logs.update(self._figures)

    @harmless
    def on_train_end(self, logs: Optional[Dict[str, Any]] = None) -> None:
        if self._dump is not None:
            self._dump.end()
