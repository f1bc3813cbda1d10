# SPDX-License-Identifier: Apache-2.0
"""Trains a small model with one of the usual libraries: trainers.py NAME. For the table that breadth.py writes."""
import importlib.util
import os
import sys
import tempfile
from typing import Any, Callable, Dict, Iterator, List

import torch
from torch import nn

STEPS, BATCH, LENGTH, WORDS, WIDTH = 4, 4, 64, 512, 128
PROGRAMS: Dict[str, Callable[[], None]] = {}


def program(function: Callable[[], None]) -> Callable[[], None]:
    PROGRAMS[function.__name__] = function
    return function


def language_model() -> Any:
    import transformers

    return transformers.AutoModelForCausalLM.from_config(
        transformers.GPT2Config(n_layer=2, n_head=4, n_embd=WIDTH, vocab_size=WORDS, n_positions=LENGTH))


def texts(count: int = STEPS * BATCH) -> List[Dict[str, torch.Tensor]]:
    return [{"input_ids": tokens, "labels": tokens} for tokens in torch.randint(0, WORDS, (count, LENGTH))]


def batches() -> Iterator[torch.Tensor]:
    for _ in range(STEPS):
        yield torch.randn(BATCH, WIDTH)


def layers(count: int = 4) -> nn.Sequential:
    return nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(count)])


def train(model: nn.Module, optimizer: torch.optim.Optimizer, **inputs: torch.Tensor) -> None:
    for _ in range(STEPS):
        model(**inputs).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


# ---- one process


def hugging_face_trainer(**options: Any) -> None:
    import transformers

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder, max_steps=STEPS, per_device_train_batch_size=BATCH, report_to=[], save_strategy="no", disable_tqdm=True, **options)
        transformers.Trainer(model=language_model(), args=arguments, train_dataset=texts()).train()


@program
def transformers_trainer() -> None:
    hugging_face_trainer(bf16=True, gradient_checkpointing=True)


@program
def transformers_trainer_compiled() -> None:
    hugging_face_trainer(torch_compile=True)


@program
def transformers_generate() -> None:
    model = language_model().cuda().eval()
    model.generate(torch.randint(1, WORDS, (BATCH, 8)).cuda(), max_new_tokens=8, do_sample=False, pad_token_id=0)


@program
def lightning_trainer() -> None:
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = layers()

        def training_step(self, batch: torch.Tensor) -> torch.Tensor:
            return self.model(batch).pow(2).mean()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters())

    trainer = lightning.Trainer(
        accelerator="gpu", devices=1, max_steps=STEPS, precision="bf16-mixed", gradient_clip_val=1.0, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Module(), torch.utils.data.DataLoader(list(torch.randn(STEPS * BATCH, WIDTH)), batch_size=BATCH))


@program
def accelerate_loop() -> None:
    import accelerate

    accelerator = accelerate.Accelerator(mixed_precision="fp16", gradient_accumulation_steps=2)
    model = layers()
    model, optimizer, loader = accelerator.prepare(
        model, torch.optim.AdamW(model.parameters()), torch.utils.data.DataLoader(list(torch.randn(STEPS * BATCH, WIDTH)), batch_size=BATCH))
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).pow(2).mean())
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


@program
def peft_lora() -> None:
    import peft

    model = peft.get_peft_model(language_model(), peft.LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=["c_attn"], fan_in_fan_out=True)).cuda()
    tokens = torch.randint(0, WORDS, (BATCH, LENGTH)).cuda()
    train(model, torch.optim.AdamW(parameter for parameter in model.parameters() if parameter.requires_grad), input_ids=tokens, labels=tokens)


@program
def bitsandbytes_absent() -> None:
    sys.modules["bitsandbytes"] = None  # type: ignore[assignment]  # as if it were not installed
    find = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *rest: None if name == "bitsandbytes" else find(name, *rest)  # type: ignore[assignment]
    hugging_face_trainer(optim="adamw_bnb_8bit")


@program
def bitsandbytes_adamw_8bit() -> None:
    import bitsandbytes

    model = language_model().cuda()
    tokens = torch.randint(0, WORDS, (BATCH, LENGTH)).cuda()
    train(model, bitsandbytes.optim.AdamW8bit(model.parameters()), input_ids=tokens, labels=tokens)


@program
def bitsandbytes_linear_4bit() -> None:
    import bitsandbytes

    model = nn.Sequential(bitsandbytes.nn.Linear4bit(WIDTH, WIDTH, compute_dtype=torch.bfloat16, quant_type="nf4"), nn.Linear(WIDTH, WIDTH)).cuda()
    optimizer = torch.optim.AdamW(model[1].parameters())
    for batch in batches():
        model(batch.cuda()).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def compiled(**options: Any) -> None:
    model = language_model().cuda()
    tokens = torch.randint(0, WORDS, (BATCH, LENGTH)).cuda()
    with torch.autocast("cuda", torch.bfloat16):
        train(torch.compile(model, **options), torch.optim.AdamW(model.parameters()), input_ids=tokens, labels=tokens)


@program
def torch_compile() -> None:
    compiled()


@program
def torch_compile_reduce_overhead() -> None:
    compiled(mode="reduce-overhead")


@program
def torch_compile_max_autotune() -> None:
    """One layer: Triton lowers some twenty kernels for each of its products, and inductor times them."""
    layer = nn.Linear(WIDTH, WIDTH).cuda()
    optimizer = torch.optim.AdamW(layer.parameters())
    model = torch.compile(layer, mode="max-autotune")
    for batch in batches():
        model(batch.cuda()).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


@program
def torch_compile_dynamic() -> None:
    compiled(dynamic=True)


# ---- one rank of many


def deepspeed_engine(stage: int, **zero: Any) -> None:
    import deepspeed

    deepspeed.init_distributed("nccl")
    model = layers()
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={
        "train_micro_batch_size_per_gpu": BATCH, "bf16": {"enabled": True}, "zero_optimization": {"stage": stage, **zero},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}}})
    for batch in batches():
        engine.backward(engine(batch.cuda().bfloat16()).pow(2).mean())
        engine.step()


@program
def deepspeed_zero_1() -> None:
    deepspeed_engine(1)


@program
def deepspeed_zero_2() -> None:
    deepspeed_engine(2)


@program
def deepspeed_zero_3() -> None:
    deepspeed_engine(3)


@program
def deepspeed_zero_3_offload() -> None:
    deepspeed_engine(3, offload_param={"device": "cpu"})


def pipeline(schedule: str, stages_per_rank: int = 1) -> None:
    import torch.distributed as dist
    from torch.distributed import pipelining

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", torch.cuda.current_device())
    numbers = [rank + world * turn for turn in range(stages_per_rank)]
    modules = [layers(2).to(device) for _ in numbers]
    def shape(has_gradient: bool) -> torch.Tensor:
        """The shape of what passes from stage to stage: a rank that runs alone cannot ask its neighbors."""
        return torch.empty(BATCH, WIDTH, device=device, requires_grad=has_gradient)

    stages = [pipelining.PipelineStage(module, number, world * stages_per_rank, device, input_args=shape(number > 0), output_args=shape(True))
              for number, module in zip(numbers, modules)]
    run = pipelining.schedules.get_schedule_class(schedule)(
        stages if stages_per_rank > 1 else stages[0], n_microbatches=2 * world, loss_fn=lambda output, target: (output - target).pow(2).mean())
    optimizer = torch.optim.AdamW([parameter for module in modules for parameter in module.parameters()])
    for _ in range(STEPS):
        batch = torch.randn(2 * world * BATCH, WIDTH, device=device)
        run.step(*[batch] if rank == 0 else [], **{"target": batch} if rank == world - 1 else {})
        optimizer.step()
        optimizer.zero_grad()
    dist.destroy_process_group()


@program
def pipeline_gpipe() -> None:
    pipeline("GPipe")


@program
def pipeline_1f1b() -> None:
    pipeline("1F1B")


@program
def pipeline_interleaved_1f1b() -> None:
    pipeline("Interleaved1F1B", 2)


@program
def accelerate_loop_ddp() -> None:
    accelerate_loop()


@program
def transformers_trainer_fsdp() -> None:
    hugging_face_trainer(bf16=True, fsdp="full_shard auto_wrap", fsdp_config={"transformer_layer_cls_to_wrap": ["GPT2Block"]})


@program
def transformers_trainer_deepspeed() -> None:
    hugging_face_trainer(bf16=True, deepspeed={
        "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto", "bf16": {"enabled": "auto"},
        "zero_optimization": {"stage": 3}})


if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
