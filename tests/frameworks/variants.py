# SPDX-License-Identifier: Apache-2.0
"""What people do with the frameworks beyond their first example: accumulation, other optimizers, several of them, averages of the weights."""
import tempfile
from typing import Any, Callable, Dict, List, Tuple

import torch
from torch import nn

from catalog import BATCH, LENGTH, STEPS, WIDTH, WORDS, layers, program, train
from one_process import hugging_face, language_model, texts, tokenizer
from witness import DEVICE, Witness, state_of


@program("accelerate")
def accelerate_accumulation() -> None:
    from accelerate import Accelerator

    accelerator, witness, model = Accelerator(gradient_accumulation_steps=2), Witness(), layers()
    data = torch.utils.data.DataLoader(list(torch.randn(2 * STEPS * BATCH, WIDTH)), batch_size=BATCH)
    model, optimizer, data = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), data)
    for batch in data:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).pow(2).mean())
            optimizer.step()
            if accelerator.sync_gradients:
                witness.point(model, state_of(optimizer))
            optimizer.zero_grad()
    witness.tell()


@program("transformers", "accelerate")
def hf_trainer_adafactor() -> None:
    hugging_face(optim="adafactor", learning_rate=1e-3)


@program("transformers", "accelerate", "bitsandbytes")
def hf_trainer_8bit() -> None:
    hugging_face(optim="adamw_8bit")


@program("transformers", "accelerate")
def hf_trainer_compiled() -> None:
    hugging_face(torch_compile=True, torch_compile_backend="eager")


@program("transformers", "accelerate")
def seq2seq_trainer() -> None:
    import transformers

    config = transformers.T5Config(vocab_size=WORDS, d_model=WIDTH, d_kv=16, d_ff=2 * WIDTH, num_layers=2, num_heads=4, decoder_start_token_id=0)
    hugging_face(build=lambda options: transformers.Seq2SeqTrainer(
        model=transformers.T5ForConditionalGeneration(config), args=transformers.Seq2SeqTrainingArguments(**options), train_dataset=texts()))


@program("transformers", "trl", "datasets")
def trl_dpo() -> None:
    import datasets
    import trl

    words = [" ".join(f"w{(row + place) % 200}" for place in range(LENGTH // 4)) for row in range(STEPS * BATCH + 1)]
    rows = datasets.Dataset.from_list([{"prompt": words[row], "chosen": " " + words[row + 1], "rejected": " w1 w2"} for row in range(STEPS * BATCH)])
    hugging_face(frozen="ref_model", build=lambda options: trl.DPOTrainer(
        model=language_model(), ref_model=language_model(), processing_class=tokenizer(), train_dataset=rows,
        args=trl.DPOConfig(**options, max_length=LENGTH, bf16=False, gradient_checkpointing=False)))


@program("lightning")
def lightning_manual() -> None:
    """Manual optimization of two networks."""
    import lightning as pl

    witness = Witness()

    class Module(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.maker, self.judge = layers(), layers()
            self.automatic_optimization = False

        def training_step(self, batch: torch.Tensor) -> None:
            made, judged = self.optimizers()
            for optimizer, detached in ((judged, True), (made, False)):
                self.toggle_optimizer(optimizer)
                output = self.maker(batch)
                self.manual_backward(self.judge(output.detach() if detached else output).pow(2).mean())
                optimizer.step()
                if optimizer is made:
                    witness.point(self, [*state_of(made), *state_of(judged)])
                optimizer.zero_grad()
                self.untoggle_optimizer(optimizer)

        def configure_optimizers(self) -> List[torch.optim.Optimizer]:
            return [torch.optim.AdamW(self.maker.parameters()), torch.optim.AdamW(self.judge.parameters())]

    trainer = pl.Trainer(accelerator="gpu" if DEVICE == "cuda" else "cpu", devices=1, max_epochs=1, logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Module(), torch.utils.data.DataLoader(list(torch.randn(STEPS * BATCH, WIDTH)), batch_size=BATCH))
    witness.tell()


class OwnAdam:
    """An optimizer that is no subclass of torch.optim.Optimizer."""

    def __init__(self, parameters: Any) -> None:
        self.parameters = list(parameters)
        self.state: Dict[nn.Parameter, Tuple[torch.Tensor, torch.Tensor]] = {}

    @torch.no_grad()
    def step(self) -> None:
        for parameter in self.parameters:
            if parameter not in self.state:
                self.state[parameter] = (torch.zeros_like(parameter), torch.zeros_like(parameter))
            first, second = self.state[parameter]
            first.lerp_(parameter.grad, 0.1)
            second.lerp_(parameter.grad.square(), 0.01)
            parameter.sub_(first / (second.sqrt() + 1e-8), alpha=1e-3)

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None


@program()
def own_optimizer() -> None:
    model = layers().to(DEVICE)
    train(model, OwnAdam(model.parameters()), lambda batch: model(batch).pow(2).mean())


@program()
def own_optimizer_with_loader() -> None:
    model, witness = layers().to(DEVICE), Witness()
    optimizer = OwnAdam(model.parameters())
    for batch in torch.utils.data.DataLoader(list(torch.randn(STEPS * BATCH, WIDTH)), batch_size=BATCH):
        model(batch.to(DEVICE)).pow(2).mean().backward()
        optimizer.step()
        witness.point(model, state_of(optimizer))
        optimizer.zero_grad()
    witness.tell()


@program("timm", "torchvision")
def timm_ema_mixup() -> None:
    import timm
    from timm.data.mixup import Mixup
    from timm.loss import SoftTargetCrossEntropy
    from timm.utils import ModelEmaV3

    model = timm.create_model("resnet10t", num_classes=10).to(DEVICE)
    average, mix, loss = ModelEmaV3(model), Mixup(mixup_alpha=0.8, num_classes=10), SoftTargetCrossEntropy()
    optimizer, witness = torch.optim.AdamW(model.parameters()), Witness()
    both = nn.ModuleList([model, average.module])
    for _ in range(STEPS):
        images, classes = torch.randn(BATCH, 3, 64, 64).to(DEVICE), torch.randint(0, 10, (BATCH,)).to(DEVICE)
        # Mixup creates its targets on the device of `classes`.
        images, targets = mix(images, classes)
        loss(model(images), targets).backward()
        optimizer.step()
        average.update(model)
        witness.point(both, state_of(optimizer))
        optimizer.zero_grad()
    witness.tell()


@program("diffusers", "transformers")
def diffusers_ema() -> None:
    from diffusers import UNet2DModel
    from diffusers.training_utils import EMAModel

    model = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(32, 64), norm_num_groups=8,
                        down_block_types=("DownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "UpBlock2D")).to(DEVICE)
    average = EMAModel(model.parameters(), use_ema_warmup=True)
    average.to(DEVICE)
    optimizer, witness = torch.optim.AdamW(model.parameters()), Witness()
    for _ in range(STEPS):
        images = torch.randn(BATCH, 3, 16, 16).to(DEVICE)
        model(images, torch.randint(0, 100, (BATCH,)).to(DEVICE)).sample.pow(2).mean().backward()
        optimizer.step()
        average.step(model.parameters())
        witness.point(model, state_of(optimizer))
        optimizer.zero_grad()
    witness.tell()


def pretrained(save: Callable[[str], Any], load: Callable[[str], Any]) -> Any:
    """A model that is loaded from a folder, as most models are."""
    with tempfile.TemporaryDirectory() as folder:
        save(folder)
        return load(folder)


@program("transformers")
def from_pretrained() -> None:
    import transformers

    model = pretrained(language_model().save_pretrained, transformers.GPT2LMHeadModel.from_pretrained).to(DEVICE)
    tokens = torch.randint(0, WORDS, (BATCH, LENGTH)).to(DEVICE)
    train(model, torch.optim.AdamW(model.parameters()), lambda _: model(input_ids=tokens, labels=tokens).loss)
