# SPDX-License-Identifier: Apache-2.0
"""Programs of one process (Lightning starts its second one itself)."""
import os
import tempfile
from typing import Any, Dict, List

import torch
from torch import nn

from catalog import BATCH, LENGTH, STEPS, WIDTH, WORDS, layers, program, train
from witness import DEVICE, Witness, state_of


def language_model() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=WIDTH, vocab_size=WORDS, n_positions=LENGTH, bos_token_id=0, eos_token_id=0))


def texts(count: int = STEPS * BATCH) -> List[Dict[str, torch.Tensor]]:
    return [{"input_ids": tokens, "labels": tokens} for tokens in torch.randint(0, WORDS, (count, LENGTH))]


# ---- Accelerate, Transformers and what builds on them


@program("accelerate")
def accelerate() -> None:
    from accelerate import Accelerator

    accelerator, witness, model = Accelerator(), Witness(), layers()
    data = torch.utils.data.DataLoader(list(torch.randn(STEPS * BATCH, WIDTH)), batch_size=BATCH)
    model, optimizer, data = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), data)
    for batch in data:
        accelerator.backward(model(batch).pow(2).mean())
        optimizer.step()
        witness.point(model, state_of(optimizer))
        optimizer.zero_grad()
    witness.tell()


def hugging_face(model: Any = None, build: Any = None, frozen: str = "", **options: Any) -> None:
    """frozen: the trainer's attribute with a second module that it does not train."""
    import transformers

    witness = Witness()

    class Points(transformers.TrainerCallback):
        def on_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, optimizer: Any = None, **_: Any) -> None:
            modules = [model, getattr(trainer, frozen)] if frozen else [model]
            witness.point(model, state_of(optimizer), parameters=[each for module in modules for each in module.parameters()])

    with tempfile.TemporaryDirectory() as folder:
        common = dict(output_dir=folder, max_steps=STEPS, per_device_train_batch_size=BATCH, report_to=[], save_strategy="no", disable_tqdm=True,
                      use_cpu=DEVICE == "cpu", logging_strategy="no", seed=0)
        if build is not None:
            trainer = build({**common, **options})
        else:
            trainer = transformers.Trainer(
                model=model or language_model(), args=transformers.TrainingArguments(**common, **options), train_dataset=texts(), eval_dataset=texts(BATCH))
        trainer.add_callback(Points())
        trainer.train()
    witness.tell()


@program("transformers", "accelerate")
def hf_trainer() -> None:
    hugging_face()


@program("transformers", "accelerate")
def hf_trainer_checkpointing() -> None:
    hugging_face(gradient_checkpointing=True)


@program("transformers", "accelerate")
def hf_trainer_bf16() -> None:
    hugging_face(bf16=True)


@program("transformers", "accelerate")
def hf_trainer_evaluation() -> None:
    hugging_face(eval_strategy="steps", eval_steps=2)


@program("transformers", "peft")
def peft_lora() -> None:
    import peft

    config = peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["c_attn"], fan_in_fan_out=True)
    model = peft.get_peft_model(language_model(), config).to(DEVICE)
    tokens = torch.randint(0, WORDS, (BATCH, LENGTH)).to(DEVICE)
    optimizer = torch.optim.AdamW(parameter for parameter in model.parameters() if parameter.requires_grad)
    train(model, optimizer, lambda _: model(input_ids=tokens, labels=tokens).loss)


def tokenizer() -> Any:
    import tokenizers
    import transformers

    words = {f"w{number}": number for number in range(WORDS - 2)}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel({**words, "[UNK]": WORDS - 2, "[PAD]": WORDS - 1}, unk_token="[UNK]"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]", pad_token="[PAD]", eos_token="[PAD]")


@program("transformers", "trl", "datasets")
def trl_sft() -> None:
    import datasets
    import trl

    rows = datasets.Dataset.from_list([{"text": " ".join(f"w{(row + place) % 200}" for place in range(LENGTH))} for row in range(STEPS * BATCH)])
    hugging_face(build=lambda options: trl.SFTTrainer(
        model=language_model(), processing_class=tokenizer(), train_dataset=rows,
        args=trl.SFTConfig(**options, max_length=LENGTH, bf16=False, gradient_checkpointing=False)))


# ---- Lightning, fastai, Keras


def lightning(**options: Any) -> None:
    import lightning as pl

    witness = Witness()

    class Module(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = layers()

        def training_step(self, batch: torch.Tensor) -> torch.Tensor:
            return self.model(batch).pow(2).mean()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters())

        def on_train_batch_end(self, *_: Any) -> None:
            witness.point(self, state_of(self.optimizers()))

    trainer = pl.Trainer(accelerator="gpu" if DEVICE == "cuda" else "cpu", max_steps=STEPS, logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False, **options)
    rows = list(torch.randn(STEPS * BATCH * options["devices"], WIDTH))
    trainer.fit(Module(), torch.utils.data.DataLoader(rows, batch_size=BATCH))
    witness.tell()


@program("lightning")
def lightning_one() -> None:
    lightning(devices=1)


@program("lightning", gpus=2)
def lightning_two() -> None:
    lightning(devices=2, strategy="ddp")


@program("fastai")
def fastai() -> None:
    from fastai.callback.core import Callback
    from fastai.callback.progress import ProgressCallback
    from fastai.data.core import DataLoaders
    from fastai.learner import Learner

    witness = Witness()

    class Points(Callback):
        def after_step(self) -> None:
            states = [state for parameter, state in self.learn.opt.state.items()]
            witness.point(self.learn.model, [tensor for state in states for tensor in state.values() if isinstance(tensor, torch.Tensor)])

    rows = [(torch.randn(WIDTH), torch.randn(WIDTH)) for _ in range(STEPS * BATCH)]
    loaders = DataLoaders(*[torch.utils.data.DataLoader(rows, batch_size=BATCH) for _ in range(2)], device=torch.device(DEVICE))
    learner = Learner(loaders, layers().to(DEVICE), loss_func=nn.functional.mse_loss, cbs=[Points()])
    learner.remove_cb(ProgressCallback)
    learner.fit(1)
    witness.tell()


@program("keras")
def keras() -> None:
    os.environ["KERAS_BACKEND"] = "torch"
    import keras
    import numpy

    witness = Witness()

    class Points(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            optimizer = self.model.optimizer
            witness.point(self.model, [variable.value for variable in optimizer.variables])

    model = keras.Sequential([keras.layers.Input((WIDTH,)), keras.layers.Dense(WIDTH, activation="gelu"), keras.layers.Dense(WIDTH)])
    model.compile(optimizer=keras.optimizers.Adam(), loss="mse")
    rows = numpy.random.rand(STEPS * BATCH, WIDTH).astype("float32")
    model.fit(rows, rows, batch_size=BATCH, epochs=1, verbose=0, callbacks=[Points()])
    witness.tell()


# ---- models of other libraries, and loops of other kinds


@program("timm", "torchvision")
def timm() -> None:
    import timm

    model = timm.create_model("resnet10t", num_classes=10).to(DEVICE)
    images = torch.randn(BATCH, 3, 64, 64).to(DEVICE)
    train(model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), lambda _: model(images).pow(2).mean())


@program("diffusers", "transformers")
def diffusers() -> None:
    from diffusers import DDPMScheduler, UNet2DModel

    model = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(32, 64), norm_num_groups=8,
                        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D")).to(DEVICE)
    scheduler = DDPMScheduler(num_train_timesteps=100)

    def loss(_: torch.Tensor) -> torch.Tensor:
        images, noise = torch.randn(BATCH, 3, 16, 16).to(DEVICE), torch.randn(BATCH, 3, 16, 16).to(DEVICE)
        times = torch.randint(0, 100, (BATCH,)).to(DEVICE)
        return nn.functional.mse_loss(model(scheduler.add_noise(images, noise, times), times).sample, noise)

    train(model, torch.optim.AdamW(model.parameters()), loss)


@program("torch_geometric")
def torch_geometric() -> None:
    from torch_geometric.data import Data
    from torch_geometric.nn import GCNConv

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = GCNConv(WIDTH, WIDTH), GCNConv(WIDTH, 4)

        def forward(self, graph: Data) -> torch.Tensor:
            return self.second(torch.relu(self.first(graph.x, graph.edge_index)), graph.edge_index)

    model = Net().to(DEVICE)
    graph = Data(x=torch.randn(50, WIDTH), edge_index=torch.randint(0, 50, (2, 200))).to(DEVICE)
    train(model, torch.optim.Adam(model.parameters()), lambda _: model(graph).pow(2).mean())


@program()
def augmenting() -> None:
    """Trains as object detectors are trained: sizes that change, warm-up by group, autocast, averaged weights, validation after each epoch."""
    import copy

    model = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.BatchNorm2d(16), nn.SiLU(), nn.Conv2d(16, 16, 3), nn.BatchNorm2d(16), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(16, 8)).to(DEVICE)
    average = copy.deepcopy(model).eval()
    for parameter in average.parameters():
        parameter.requires_grad_(False)
    optimizer = torch.optim.SGD([{"params": [p]} for p in model.parameters()], lr=0.01, momentum=0.937, nesterov=True)
    scaler, witness = torch.amp.GradScaler(DEVICE, enabled=DEVICE == "cuda"), Witness()
    both = nn.ModuleList([model, average])
    for _ in range(2):
        for step in range(3):
            size = (32, 48, 40)[step]
            images = nn.functional.interpolate(torch.randn(BATCH, 3, 32, 32).to(DEVICE), size=(size, size), mode="bilinear")
            images = torch.where(torch.rand(BATCH, 1, 1, 1).to(DEVICE) < 0.5, images.flip(3), images)
            with torch.autocast(DEVICE, torch.bfloat16):
                loss = model(images).float().pow(2).mean()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            scaler.step(optimizer)
            scaler.update()
            witness.point(both, state_of(optimizer))
            optimizer.zero_grad()
            with torch.no_grad():
                for kept, now in zip(average.state_dict().values(), model.state_dict().values()):
                    if kept.dtype.is_floating_point:
                        kept.mul_(0.9).add_(now.detach(), alpha=0.1)
        with torch.no_grad():
            average(torch.randn(2 * BATCH, 3, 32, 32).to(DEVICE))
    witness.tell()


@program("bitsandbytes")
def bitsandbytes() -> None:
    import bitsandbytes

    model = layers().to(DEVICE)
    train(model, bitsandbytes.optim.AdamW8bit(model.parameters(), min_8bit_size=64), lambda batch: model(batch).pow(2).mean())
