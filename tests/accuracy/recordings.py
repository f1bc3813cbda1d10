# SPDX-License-Identifier: Apache-2.0
"""Public programs that come with a measurement on a real GPU, and where to find both. None of it is part of this project.

`edits` change a script: a constant gets the value with which its author recorded, repetitions become fewer, and code that fails on a device
that computes nothing is replaced, such as a division by a count.
"""
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

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
    produced: str  # what the command writes, in the checkout; empty: what it prints
    kind: str = "snapshot"  # how the two are compared: see compare.py
    recorded_commit: str = ""  # where it is not the commit of the script
    edits: Sequence[Edit] = ()
    options: Sequence[str] = ()  # more options of `vramscope dryrun`
    patterns: Sequence[str] = ()  # kind "text": what to look for in what was recorded
    produced_patterns: Sequence[str] = ()  # and in what the command prints, where that is another form
    environment: Mapping[str, str] = {}
    stand_ins: Sequence[str] = ()  # what cannot be downloaded: functions of stand_ins.py
    thread: int = 0  # the script and the measurement are in this issue, and neither is in the repository
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


def _snapshots_of_a_small_model() -> List[Recording]:
    found = []
    for mode, short in (("forward", "forward"), ("forward_and_backward", "training")):
        for length, mixed in ((100, False), (150, False), (200, False), (200, True)):
            command = ["profile_mixprecision_memory.py", "--use_mixed_precision"] if mixed else ["profile_memory.py"]
            folder, name = "cs336_systems/profile_memory/", f"{mode}_memory_snapshot_{length}"
            found.append(Recording(
                name=f"small_batch10_ctx{length}_{short}{'_amp' if mixed else ''}", repository="NiuHuangxiaozi/assignment2-systems", commit="9d868b9",
                torch="2.6", gpu="a100-40gb", command=[*command, "--mode", mode, "--context_length", str(length)],
                folder=folder, python_path=(".",), recorded=f"{folder}{name}{'_mixed_precision' if mixed else ''}.pickle",
                produced=f"{folder}{name}{'_mixed_precision' if mixed else ''}.pickle",
                note="autocast, an optimizer of its own" if mixed else "fp32, an optimizer of its own"))
    return found


_LATER = r"(?=[\s\S]*{})"  # this comes later in the text
_NO_LONGER = r"(?![\s\S]*{})"


def _measured_by_suites() -> List[Recording]:
    common: Dict[str, Any] = {"repository": "EnzoDing-rgb/cs336-assignment2-systems", "commit": "9cb4efb", "torch": "2.6", "gpu": "a100-80gb",
                              "folder": ".", "python_path": ("cs336-basics", "."), "produced": "", "kind": "text"}
    segment = r"segment_size=(?P<segment>\w+) …\n    peak (?P<allocated_gib>[\d.]+) GiB"
    return [
        Recording(
            name="xl_forward_and_training", command=["-m", "cs336_systems.memory_profiling.suite"], recorded="reports/memory-profiling.md",
            patterns=[r"^\| (?P<length>\d+) \| (?P<mode>\w+) \| (?P<allocated_gib>[\d.]+) \| [\d.]+ \|",
                      r"^\| (?P<length>\d+) \| (?P<mode>\w+) \| [\d.]+ \| (?P<allocated_gib>[\d.]+) \|"],
            produced_patterns=[rf"xl_ctx(?P<length>\d+)_(?P<mode>[a-z]+)_mp{precision} …\n  → peak=(?P<allocated_gib>[\d.]+)"
                               for precision in ("off", "bf16")],
            note="3.4 billion parameters, fp32 and autocast bf16, AdamW", **common),
        Recording(
            name="xl_checkpointed", command=["-m", "cs336_systems.gradient_checkpointing"], recorded="reports/gradient-checkpointing.md",
            patterns=[r"^\| \**(?P<segment>\w+)\** \| \**(?P<allocated_gib>[\d.]+)\** \| no \|$",
                      r"^\| \**(?P<segment>\w+)\** \| \**(?P<allocated_gib>[\d.]+)\** \|$"],
            produced_patterns=[segment + _LATER.format("Appendix sweep"), segment + _NO_LONGER.format("Appendix sweep")],
            note="activation checkpoints of 1 to 32 layers", **common),
        Recording(
            name="attention_d128_s16384", command=["-m", "cs336_systems.attention_operator"],
            recorded="reports/benchmarking-scaled-dot-product-attention.md",
            patterns=[r"^\| (?P<d>\d+) \| (?P<length>\d+) \| [\d.]+ \| [\d.]+ \| (?P<allocated_gib>[\d.]+) \| no \|$"],
            produced_patterns=[r"\[eager\] d=(?P<d>\d+) S=(?P<length>\d+) …\n    fwd .* mem (?P<allocated_gib>[\d.]+) GiB"],
            edits=[("cs336_systems/attention_operator/benchmark.py", "DEFAULT_ITERS = 100", "DEFAULT_ITERS = 2")],
            note="memory_allocated before backward", **common),
    ]


def _speedruns() -> List[Recording]:
    """Submissions to openai/parameter-golf, from different authors: each is a script and the log of its run. Five steps of 20,000."""
    found = []
    for name, folder, log, torch, gpu, settings in (
            ("golf_fp16_embedding", "track_10min_16mb/2026-03-18_FP16Embed_WD3600", "train.log", "2.9", "h100-80gb",
             {"MLP_HIDDEN": "992", "VAL_LOSS_EVERY": "0"}),  # no validation before the first step, as its log shows
            ("golf_seq2048", "track_10min_16mb/2026-03-19_Seq2048_FP16Emb_TunedLR", "train_seed1337.log", "2.8", "h100-80gb",
             {"MLP_HIDDEN": "1344", "VAL_LOSS_EVERY": "0"})):  # the same
        place = f"records/{folder}"
        script = f"{place}/train_gpt.py"
        found.append(Recording(
            name=name, repository="openai/parameter-golf", commit="4908dc4", torch=torch, gpu=gpu, command=["train_gpt.py"], folder=place,
            python_path=(), recorded=f"{place}/{log}", produced="", kind="text",
            patterns=[r"^peak memory allocated: (?P<allocated_mib>\d+) MiB reserved: (?P<reserved_mib>\d+) MiB"],
            edits=[(script, '"nvidia-smi"', '"true"'), (script, " val_byte_count.item()", " (val_byte_count.item() or 1)"),
                   (script, "    # SERIALIZATION", "    return\n    # SERIALIZATION")],
            options=["--world-size", "8", "--rank", "0"], environment={"ITERATIONS": "5", **settings}, stand_ins=["fineweb"],
            note="17 to 22 million parameters, torch.compile, DDP, 8 ranks"))
    return found


def _issues() -> List[Recording]:
    common: Dict[str, Any] = {"repository": "pytorch/pytorch", "commit": "", "torch": "2.4", "gpu": "h100-80gb", "command": ["script.py"],
                              "folder": ".", "python_path": (), "recorded": "", "produced": "", "kind": "text"}
    printed = [r"^(?P<allocated_bytes>\d+)$"]
    return [
        Recording(name="radam_eager", thread=125511, edits=[("script.py", '@torch.compile(backend="eager")', "")],
                  patterns=[r"^eager: (?P<allocated_bytes>\d+)"], produced_patterns=printed, note="RAdam, foreach, capturable", **common),
        Recording(name="radam_dynamo", thread=125511, patterns=[r"^compile: (?P<allocated_bytes>\d+)"], produced_patterns=printed,
                  note="the same under torch.compile, backend eager", **common),
        Recording(name="conv3d", thread=132300, patterns=[r"allocated is ~(?P<allocated_gib>[\d.]+) GB"],
                  produced_patterns=[r"peak: (?P<allocated_gib>[\d.]+)"], note="one 3D convolution, bf16", **common),
    ]


def _book_scripts() -> List[Recording]:
    common: Dict[str, Any] = {"repository": "rasbt/LLMs-from-scratch", "commit": "908dd2f", "torch": "2.6", "gpu": "a100-40gb",
                              "folder": "ch05/10_llm-training-speed", "python_path": (), "recorded": "ch05/10_llm-training-speed/README.md",
                              "produced": "", "kind": "text", "stand_ins": ["middlemarch"]}
    plain, fast = "ch05/10_llm-training-speed/00_orig.py", "ch05/10_llm-training-speed/01_opt_single_gpu.py"
    reserved = r"Reserved memory: (?P<reserved_gib>[\d.]+) GB"
    epochs = ('"num_epochs": 15', '"num_epochs": 2')
    return [
        Recording(
            name="gpt2_from_scratch", command=["00_orig.py"], patterns=[r"^Allocated memory: (?P<allocated_gib>[\d.]+) GB\n" + reserved],
            edits=[(plain, *epochs)], note="GPT-2 124M, fp32, 2 epochs of 15; memory_allocated at their end", **common),
        Recording(
            name="gpt2_flash_attention", command=["01_opt_single_gpu.py"], patterns=[r"### 7\.[\s\S]*?After:\n.*\n- `" + reserved],
            produced_patterns=[reserved], edits=[(fast, *epochs), (fast, "model = torch.compile(model)", "pass"), (fast, "50304", "50257"),
                                                 (fast, '"batch_size": 32', '"batch_size": 8')],
            note="GPT-2 124M, bf16; as of the README's step 7", **common),
    ]


RECORDINGS: List[Recording] = [
    *_profiled_transformers(),
    *_snapshots_of_a_small_model(),
    *_measured_by_suites(),
    *_speedruns(),
    *_book_scripts(),
    *_issues(),
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
    Recording(
        name="sharded_adamw", repository="kbjiang/cs336-assignment2-systems-mine", commit="79814e6", torch="2.6", gpu="h100-80gb:2",
        command=["cs336_systems/sharded_optimizer_accounting.py", "--train-steps", "2"], folder=".", python_path=("cs336-basics", "."),
        recorded="cs336_systems/sharded_optimizer_accounting_log.json", produced="", kind="text",
        patterns=[r'"phase": "(?P<phase>[^"]+)",\s+"current_GB_mean": [\d.]+,\s+"peak_GB_mean": (?P<allocated_gib>[\d.]+)'
                  + order.format('"scenario": "sharded"') for order in (_LATER, _NO_LONGER)],
        edits=[("cs336_systems/__init__.py", 'importlib.metadata.version("cs336-systems")', '""'),
               ("cs336_systems/sharded_optimizer_accounting.py", 'torch.device(get_device(rank, "nccl"))', 'get_device(rank, "nccl")')],
        note="2 billion parameters, 2 ranks, peak of each phase"),
    Recording(
        name="attention_forward_backward", repository="damek/cs336-assignment2-systems", commit="749e968", torch="2.6", gpu="a100-80gb",
        command=["attention_benchmarking_script.py"], folder="cs336_systems/benchmarking_scripts", python_path=("cs336-basics", "."),
        recorded="cs336_systems/outputs/attention_benchmark.md", produced="", kind="text",
        patterns=[r"^\| +(?P<d>\d+) \| +(?P<length>\d+) \|" + rf"(?: +[\d.]+ +\|){{{before}}}" + r" +(?P<allocated_mib>[\d.]+) +\|.* ok +\| False"
                  for before in (2, 3, 5, 6)],
        edits=[("cs336_systems/__init__.py", 'importlib.metadata.version("cs336-systems")', '""'),
               ("cs336_systems/benchmarking_scripts/attention_benchmarking_script.py", "for compile in [False, True]", "for compile in [False]"),
               ("cs336_systems/benchmarking_scripts/attention_benchmarking_script.py", "nb_forward_passes = 100", "nb_forward_passes = 2")],
        note="before and after forward, peaks of forward and backward; without torch.compile"),
]


def by_name() -> Dict[str, Any]:
    return {recording.name: recording for recording in RECORDINGS}
