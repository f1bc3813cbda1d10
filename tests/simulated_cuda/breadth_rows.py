# SPDX-License-Identifier: Apache-2.0
"""The rows of breadth.py that share one process of PyTorch: its operators, and architectures from configuration.

Run on the device by breadth.py: breadth_rows.py operators|architectures OUTPUT [NAME...]. Each row is a forked process of its own, so a crash is a
row too. OUTPUT gets one JSON line for each: [name, "works" | "fails" | "crashes", note].
"""
import itertools
import json
import os
import sys
import warnings
from typing import Any, Callable, Dict, Iterator, List, Tuple

TRANSFORMERS = (
    "Albert", "Bart", "Bert", "BigBird", "Bloom", "CamemBERT", "ConvBert", "Deberta", "DebertaV2", "DistilBert", "Electra", "Ernie", "Falcon",
    "FNet", "Funnel", "Gemma", "GPT2", "GPTNeo", "GPTNeoX", "GPTJ", "Layoutlm", "Llama", "Longformer", "MBart", "Mistral", "Mixtral", "MobileBert",
    "MPNet", "MT5", "Nystromformer", "Olmo", "OPT", "Pegasus", "Phi", "Qwen2", "Qwen3", "Reformer", "RemBert", "Roberta", "RoFormer",
    "SqueezeBert", "StableLm", "T5", "XLMRoberta", "XLNet", "Xmod", "Yoso", "Mamba")
TORCHVISION = (
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "googlenet", "mnasnet1_0", "mobilenet_v2", "mobilenet_v3_small", "regnet_y_400mf",
    "resnet18", "resnet50", "resnext50_32x4d", "shufflenet_v2_x1_0", "squeezenet1_0", "swin_t", "vgg11", "vit_b_16", "wide_resnet50_2")
SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100, "num_key_value_heads": 4}
# Settings of architectures whose sizes depend on each other in other ways.
SMALL_TOO = {
    "Funnel": {"block_sizes": [1, 1], "block_repeats": [1, 1], "num_decoder_layers": 1, "d_model": 64, "n_head": 4, "d_head": 16, "d_inner": 128},
    "GPTJ": {"rotary_dim": 16},
    "Reformer": {"axial_pos_embds_dim": (16, 48), "axial_pos_shape": (8, 8), "attention_head_size": 16, "feed_forward_size": 128},
    "SqueezeBert": {"embedding_size": 64},
    "Xmod": {"default_language": "en_XX"},
}
BATCH, LENGTH = 2, 64

Row = Tuple[str, Callable[[], str]]  # a name; what is to be done, returns a note


def tensors_in(value: Any) -> Iterator[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from itertools.chain.from_iterable(map(tensors_in, value.values()))
    elif isinstance(value, (list, tuple)):
        yield from itertools.chain.from_iterable(map(tensors_in, value))


def operators() -> List[Row]:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    def run(operator: Any) -> str:
        dtypes = operator.supported_dtypes("cuda")
        dtype = next((kind for kind in (torch.float32, torch.complex64, torch.int64, torch.bool) if kind in dtypes), next(iter(dtypes)))
        backward = dtype in operator.supported_backward_dtypes("cuda") and dtype.is_floating_point and operator.supports_autograd
        done = 0
        for sample in itertools.islice(operator.sample_inputs("cuda", dtype, requires_grad=backward), 3):
            result = operator(sample.input, *sample.args, **sample.kwargs)
            losses = [tensor.sum() for tensor in tensors_in(result) if backward and tensor.requires_grad and tensor.is_floating_point()]
            if losses:
                sum(losses).backward()
            done += 1
        return f"{done} samples, {'forward and backward' if backward else 'forward'}, {str(dtype).replace('torch.', '')}"

    return [(f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}", lambda op=op: run(op)) for op in op_db]


def architectures() -> List[Row]:
    import torch

    def step(model: Any, inputs: Dict[str, Any]) -> str:
        model = model.cuda().train()
        optimizer = torch.optim.AdamW(model.parameters())
        output = model(**{name: tensor.cuda() for name, tensor in inputs.items()})
        loss = sum(tensor.float().sum() for tensor in tensors_in(output if isinstance(output, (dict, list, tuple)) else [output])
                   if tensor.is_floating_point() and tensor.requires_grad)
        loss.backward()
        optimizer.step()
        return f"{sum(parameter.numel() for parameter in model.parameters()):,} parameters"

    def can_be_set(config: Any, key: str) -> bool:
        """False for a size that is computed from others."""
        try:
            setattr(config, key, getattr(config, key))
        except (AttributeError, NotImplementedError):
            return False
        return True

    def transformer(name: str) -> str:
        import transformers

        kind = next(candidate for candidate in dir(transformers) if candidate.lower() == f"{name}config".lower())
        config = getattr(transformers, kind)()
        sizes = {**SMALL, "head_dim": SMALL["hidden_size"] // SMALL["num_attention_heads"]}
        for key in sizes:
            if isinstance(getattr(config, key, None), int) and can_be_set(config, key):
                setattr(config, key, sizes[key])
        for key, value in SMALL_TOO.get(name, {}).items():
            setattr(config, key, value)
        for key in ("pad_token_id", "bos_token_id", "eos_token_id"):
            if isinstance(getattr(config, key, None), int):
                setattr(config, key, min(getattr(config, key), SMALL["vocab_size"] - 1))
        text = torch.randint(3, 90, (BATCH, LENGTH))
        model = transformers.AutoModel.from_config(config)
        encoder_decoder = {"decoder_input_ids": text} if getattr(config, "is_encoder_decoder", False) else {}
        return step(model, {"input_ids": text, **encoder_decoder})

    def vision(name: str) -> str:
        import torchvision

        # torchvision names its first argument x or input or inputs
        model = getattr(torchvision.models, name)(weights=None)
        return step(_First(model), {"images": torch.randn(BATCH, 3, 224, 224)})

    class _First(torch.nn.Module):
        def __init__(self, inner: torch.nn.Module) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, images: Any) -> Any:
            return self.inner(images)

    return [*((f"transformers {name}", lambda name=name: transformer(name)) for name in TRANSFORMERS),
            *((f"torchvision {name}", lambda name=name: vision(name)) for name in TORCHVISION)]


def in_a_process(work: Callable[[], str]) -> Tuple[str, str]:
    """("works" | "fails" | "crashes", a note)"""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        import torch

        warnings.simplefilter("ignore")
        torch.cuda._is_in_bad_fork = bool  # a real driver does not survive a fork; the simulated one does
        try:
            answer = ("works", work())
        except BaseException as error:  # noqa: B036  whatever it is, it becomes the row
            answer = ("fails", f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:160]}")
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    return tuple(json.loads(text)) if text else ("crashes", f"wait status {status}")


def main(section: str, output: str, names: List[str]) -> None:
    rows = {"operators": operators, "architectures": architectures}[section]()
    with open(output, "w", encoding="utf-8") as file:
        for name, work in rows:
            if not names or name in names:
                print(json.dumps([name, *in_a_process(work)]), file=file, flush=True)
    import torch

    torch.zeros(1, device="cuda")  # vramscope requires that the command itself uses the device


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
