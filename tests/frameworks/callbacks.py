# SPDX-License-Identifier: Apache-2.0
"""Trains with vramscope's callback until memory runs out, and prints what callbacks_test.py checks. Usage: callbacks.py FRAMEWORK FOLDER

On a simulated GPU. Every framework trains six steps; then a step asks for a tebibyte."""
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List

import torch
from torch import nn

WIDTH, STEPS = 64, 6
KEPT = 1024  # elements that each step keeps: growth of 4096 bytes
kept: List[torch.Tensor] = []


class Model(nn.Module):
    """Has the inputs and outputs that Hugging Face's Trainer expects."""

    def __init__(self, fails: bool) -> None:
        super().__init__()
        self.layer, self.fails = nn.Linear(WIDTH, WIDTH), fails

    def forward(self, x: torch.Tensor, labels: Any = None) -> Dict[str, torch.Tensor]:
        kept.append(torch.zeros(KEPT, device=x.device))
        if self.fails:
            torch.empty(1 << 40, dtype=torch.uint8, device=x.device)
        return {"loss": self.layer(x).square().mean()}


def transformers(folder: Path, fails: bool) -> List[Dict[str, Any]]:
    import transformers

    from vramscope.integrations.transformers import VramscopeCallback

    seen: List[Dict[str, Any]] = []

    class Logger(transformers.TrainerCallback):
        """Takes the place of TensorBoard's callback: it runs before the user's own callbacks."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            seen.append(dict(logs))

    data = [{"x": torch.ones(WIDTH)} for _ in range(4 * STEPS)]
    arguments = transformers.TrainingArguments(output_dir=str(folder), max_steps=STEPS, per_device_train_batch_size=4, report_to=[], save_strategy="no",
                                               disable_tqdm=True, logging_steps=1, remove_unused_columns=False)
    trainer = transformers.Trainer(model=Model(fails), args=arguments, train_dataset=data, callbacks=[Logger(), VramscopeCallback(on_oom="dump", log=True)])
    trainer.train()
    assert all("vramscope/peak_allocated_bytes" in entry for entry in trainer.state.log_history if "loss" in entry)
    return [entry for entry in seen if "loss" in entry]


def lightning(folder: Path, fails: bool) -> List[Dict[str, Any]]:
    import lightning
    from lightning.pytorch.loggers import Logger

    from vramscope.integrations.lightning import VramscopeCallback

    class Seen(Logger):
        name = version = "seen"

        def __init__(self) -> None:
            super().__init__()
            self.metrics: List[Dict[str, Any]] = []

        def log_metrics(self, metrics: Dict[str, Any], step: Any = None) -> None:
            self.metrics.append(dict(metrics))

        def log_hyperparams(self, *_: Any, **__: Any) -> None:
            pass

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = Model(fails)

        def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
            return self.model(batch)["loss"]

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters())

    logger = Seen()
    trainer = lightning.Trainer(max_steps=STEPS, logger=logger, log_every_n_steps=1, enable_checkpointing=False, enable_progress_bar=False,
                                enable_model_summary=False, default_root_dir=str(folder), callbacks=[VramscopeCallback(on_oom="dump", log=True)])
    trainer.fit(Module(), torch.utils.data.DataLoader(torch.ones(4 * STEPS, WIDTH), batch_size=4))
    return [entry for entry in logger.metrics if any(key.startswith("vramscope/") for key in entry)]


def keras(folder: Path, fails: bool) -> List[Dict[str, Any]]:
    os.environ["KERAS_BACKEND"] = "torch"
    os.chdir(folder)
    import keras

    from vramscope.integrations.keras import VramscopeCallback

    class Layer(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            kept.append(torch.zeros(KEPT, device=x.device))
            if fails and x.device.type == "cuda":
                torch.empty(1 << 40, dtype=torch.uint8, device=x.device)
            return x

    class Seen(keras.callbacks.Callback):
        batches: List[Dict[str, Any]] = []

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.batches.append(dict(logs))

    model = keras.Sequential([keras.layers.Dense(WIDTH), Layer()])
    model.compile(optimizer="adam", loss="mse")
    data = torch.ones(4 * STEPS, WIDTH).numpy()
    seen = Seen()
    seen.batches = []
    model.fit(data, data, batch_size=4, verbose=0, callbacks=[VramscopeCallback(on_oom="dump", log=True), seen])
    return seen.batches


def main() -> None:
    framework, folder = globals()[sys.argv[1]], Path(sys.argv[2])
    logged = framework(folder, False)
    try:
        framework(folder, True)
        failed = "no request failed"
    except torch.OutOfMemoryError:
        failed = "out of memory"
    print("found " + json.dumps({"logged": logged, "failed": failed, "history": torch._C._cuda_isHistoryEnabled()}, default=float))


if __name__ == "__main__":
    main()
