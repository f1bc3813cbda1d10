# SPDX-License-Identifier: Apache-2.0
"""For Hugging Face's Trainer, and what is built on it: TRL, and Accelerate through the Trainer.

    trainer = Trainer(..., callbacks=[VramscopeCallback(on_oom="dump", log=True)])"""

import gc
from typing import Any, Dict, Optional

from transformers import TrainerCallback
from transformers.trainer_callback import DefaultFlowCallback

from .memory import StepMemory, Watch, check, harmless, watch_for


class VramscopeCallback(TrainerCallback):
    """Adds the figures of memory.py to what the Trainer logs, for all of its loggers (report_to), its screen and its history.

    on_oom: what is written to `folder`, the Trainer's output folder by default, if memory runs out. "dump": a snapshot for
    `vramscope oom`; "trace": the last steps as a trace."""

    def __init__(self, on_oom: Optional[str] = "dump", log: bool = True, folder: Optional[str] = None) -> None:
        self._on_oom, self._log, self._folder = check(on_oom), log, folder
        self._memory = StepMemory()
        self._figures: Dict[str, float] = {}
        self._watch = Watch()

    @harmless
    def on_init_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Moves this callback to the front: loggers read the same dict one after the other, and the Trainer appends users' callbacks to its own."""
        for callbacks in gc.get_referrers(self):
            if isinstance(callbacks, list) and any(isinstance(callback, DefaultFlowCallback) for callback in callbacks):
                callbacks.remove(self)
                callbacks.insert(0, self)

    @harmless
    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._memory = StepMemory()
        self._watch = watch_for(self._on_oom, self._folder or args.output_dir)
        self._watch.begin()

    @harmless
    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._figures = self._memory.after_step()

    @harmless
    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Dict[str, Any]] = None, **_: Any) -> None:
        if not self._log or not self._figures or logs is None or "loss" not in logs:
            return  # evaluations and the summary have logs of their own
        logs.update(self._figures)
        if state.log_history and state.log_history[-1].get("step") == state.global_step:
            state.log_history[-1].update(self._figures)

    @harmless
    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._watch.end()
