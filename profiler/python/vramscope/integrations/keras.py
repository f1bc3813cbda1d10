# SPDX-License-Identifier: Apache-2.0
"""For Keras 3 with the torch backend.

    model.fit(..., callbacks=[VramscopeCallback(on_oom="dump", log=True), keras.callbacks.TensorBoard()])

Put it before the callbacks that write logs: Keras gives one dict to all of them, in their order."""

from typing import Any, Dict, Optional

from keras.callbacks import Callback

from .memory import StepMemory, Watch, check, harmless, watch_for


class VramscopeCallback(Callback):
    """Adds the figures of memory.py to the logs of each batch and epoch.

    on_oom: what is written to `folder`, the working directory by default, if memory runs out. "dump": a snapshot for
    `vramscope oom`; "trace": the last steps as a trace."""

    def __init__(self, on_oom: Optional[str] = "dump", log: bool = True, folder: Optional[str] = None) -> None:
        super().__init__()
        self._on_oom, self._log, self._folder = check(on_oom), log, folder
        self._memory = StepMemory()
        self._figures: Dict[str, float] = {}
        self._watch = Watch()

    @harmless
    def on_train_begin(self, logs: Optional[Dict[str, Any]] = None) -> None:
        self._memory = StepMemory()
        self._watch = watch_for(self._on_oom, self._folder or ".")
        self._watch.begin()

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
        self._watch.end()
