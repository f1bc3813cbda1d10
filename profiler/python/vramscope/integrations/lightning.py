# SPDX-License-Identifier: Apache-2.0
"""For PyTorch Lightning (`lightning`, or the older `pytorch_lightning`).

    trainer = Trainer(..., callbacks=[VramscopeCallback(on_oom="dump", log=True)])"""

import sys
from typing import Any, Optional

if "lightning" in sys.modules or "pytorch_lightning" not in sys.modules:
    from lightning.pytorch.callbacks import Callback
else:
    from pytorch_lightning.callbacks import Callback

from .memory import StepMemory, Watch, check, harmless, watch_for


class VramscopeCallback(Callback):
    """Gives the figures of memory.py to all loggers of the trainer, as often as the trainer logs (log_every_n_steps).

    on_oom: what is written to `folder`, the trainer's root folder by default, if memory runs out. "dump": a snapshot for
    `vramscope oom`; "trace": the last steps as a trace."""

    def __init__(self, on_oom: Optional[str] = "dump", log: bool = True, folder: Optional[str] = None) -> None:
        super().__init__()
        self._on_oom, self._log, self._folder = check(on_oom), log, folder
        self._memory = StepMemory()
        self._watch = Watch()

    @harmless
    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._memory = StepMemory()
        self._watch = watch_for(self._on_oom, self._folder or trainer.default_root_dir)
        self._watch.begin()

    @harmless
    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        figures = self._memory.after_step()
        if figures and self._log and (batch_idx + 1) % max(1, trainer.log_every_n_steps) == 0:
            for logger in trainer.loggers:
                logger.log_metrics(figures, step=trainer.global_step)

    @harmless
    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._watch.end()

    @harmless
    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._watch.end()
