# SPDX-License-Identifier: Apache-2.0
"""Public programs that come with a measurement on a real GPU, and where both lie. None of it is part of this project.

`edits` are what had to be changed in a script so that it does what its author
recorded: a choice that the script has as a constant.
"""
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

Edit = Tuple[str, str, str]  # file, old text, new text


class Recording(NamedTuple):
    name: str
    repository: str
    commit: str
    torch: str  # release, as the repository's lock file or project file says
    gpu: str  # the model whose cuBLAS workspaces fit what was recorded; authors seldom name theirs
    command: Sequence[str]  # after `python`
    folder: str  # the working folder, in the checkout
    python_path: Sequence[str]
    recorded: str  # the file with the measurement, in the repository
    produced: str  # what the command writes, in the checkout
    kind: str = "snapshot"  # how the two are compared: see compare.py
    recorded_commit: str = ""  # where it is not the commit of the script
    edits: Sequence[Edit] = ()
    options: Sequence[str] = ()  # more options of `vramscope dryrun`
    note: str = ""


def _profiled_transformers() -> List[Recording]:
    found = []
    for length in (128, 256, 512, 1024):
        for pattern, kind in (("full-training-step", "training"), ("forward-only", "inference")):
            autocast = "true" if length == 512 or (length == 1024 and kind == "training") else "false"
            pickle = f"results/medium_{length}_{kind}_memory_snapshot.pickle"
            found.append(Recording(
                name=f"medium_ctx{length}_{kind}", repository="Wedsonlin/assignment2-systems", commit="87b0864", torch="2.11", gpu="a100-40gb",
                command=["../cs336_systems/nsys_profile.py", "--d_model", "1024", "--d_ff", "4096", "--num_layers", "24", "--num_heads", "16",
                         "--context_length", str(length), "--model_name", "medium", "--memory-profiler", "pytorch", "--pattern", pattern,
                         "--autocast", autocast],
                folder="scripts", python_path=("cs336-basics", "."), recorded=pickle, produced=pickle,
                note="autocast bf16" if autocast == "true" else "fp32"))
    return found


RECORDINGS: List[Recording] = [
    *_profiled_transformers(),
    Recording(
        name="small_bs32_ctx256", repository="MAGMA27/assignment2-systems", commit="15883f2", torch="2.11", gpu="rtx-4090",
        command=["cs336_systems/benchmarking_script.py"], folder=".", python_path=("cs336-basics", "."),
        recorded="memory_snapshot.pickle", produced="memory_snapshot.pickle", note="fp32, gradients accumulate, no optimizer"),
    Recording(
        name="attention_20_shapes", repository="MAGMA27/assignment2-systems", commit="143265c", torch="2.11", gpu="rtx-3060",
        command=["cs336_systems/pytorch_attention.py"], folder=".", python_path=(".",),
        recorded="attention_benchmark_results.csv", produced="attention_benchmark_results_compiled.csv",
        edits=[("cs336_systems/pytorch_attention.py", "atten = torch.compile(atten)", "pass")],
        kind="csv:d_model,seq_len:mem_before_backward", note="memory_allocated before backward; without torch.compile"),
    Recording(
        name="attention_suite", repository="Wedsonlin/assignment2-systems", commit="87b0864", torch="2.11", gpu="h100-80gb",
        command=["cs336_systems/attention_benchmark.py", "--suite", "pytorch_attention", "--iters", "2", "--output", "produced.jsonl"], folder=".",
        python_path=("cs336-basics", "."), recorded="results/attention_benchmark.jsonl", produced="produced.jsonl",
        edits=[("cs336_systems/attention_benchmark.py", "from cs336_systems.flash_attention import FlashAttentionV2Triton", ""),
               ("cs336_systems/attention_benchmark.py", "from triton.testing import do_bench", "")],
        kind="jsonl:suite=pytorch_attention:seq_len,d_model,precision:activation_mib", note="memory_allocated after forward"),
    *[Recording(
        name=f"sharded_optimizer_{mode}", repository="Wedsonlin/assignment2-systems", commit="87b0864", torch="2.11", gpu="h100-80gb:2",
        command=["cs336_systems/sharded_optimizer.py", "--mode", mode, "--warmup-steps", "1", "--steps", "1", "--output", "produced.json"],
        folder=".", python_path=("cs336-basics", "."), recorded=f"results/sharded_optimizer_{mode}.json", produced="produced.json",
        kind="phases", note="3.4 billion parameters, 2 ranks, peak of each phase") for mode in ("baseline", "sharded")],
]


def by_name() -> Dict[str, Any]:
    return {recording.name: recording for recording in RECORDINGS}
