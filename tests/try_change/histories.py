# SPDX-License-Identifier: Apache-2.0
"""Runs training programs on the simulated device, with a change in their code or applied from outside, and writes down what PyTorch's own
allocator recorded of each: every allocation, free and segment, in order, with address and size.

    python histories.py OUTPUT < cases.json          [{"name", "program", "flags", "plan"}, ...]; plan null: unchanged from outside;
                                                     "settings": what the code sets in the allocator

One process imports PyTorch; each case runs in a fork of it, before CUDA is initialized, so a case costs as much as its steps.
"""
import contextlib
import importlib
import io
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "injector/python"), str(ROOT / "samples"), str(ROOT / "tests/whatif_accuracy"), str(Path(__file__).parent)]

import torch  # noqa: E402
import torch._dynamo  # noqa: E402, F401  every optimizer imports it: once for all cases

import vramscope_try  # noqa: E402


def history() -> List[List[Any]]:
    (trace,) = torch.cuda.memory._snapshot()["device_traces"]
    return [[entry["action"], entry["addr"], entry["size"], entry["stream"]] for entry in trace]


def run(case: Dict[str, Any], folder: str) -> Dict[str, Any]:
    """Runs one case; called in a process of its own."""
    if case.get("settings"):
        torch.cuda.memory._set_allocator_settings(case["settings"])
    if case["plan"] is not None:
        if "alloc_conf" in case["plan"]:  # as the command does
            os.environ.update(PYTORCH_ALLOC_CONF=case["plan"]["alloc_conf"], PYTORCH_CUDA_ALLOC_CONF=case["plan"]["alloc_conf"])
        vramscope_try.arrange(json.dumps({**case["plan"], "notes": folder}))
    torch.cuda.memory._record_memory_history(context=None, max_entries=1_000_000)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        importlib.import_module(case["program"]).main([*case["flags"], "--device", "cuda"])
    torch.cuda.synchronize()
    notes = Path(folder) / f"{os.getpid()}.try"
    return {
        "history": history(),
        "peak": [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()],
        "notes": json.loads(notes.read_text(encoding="utf-8")) if notes.exists() else [],
        "output": output.getvalue(),
    }


def main() -> None:
    folder = os.path.dirname(os.path.abspath(sys.argv[1]))
    results = {}
    for case in json.load(sys.stdin):
        answer = os.path.join(folder, "case.json")
        child = os.fork()
        if child == 0:
            try:
                result = run(case, folder)
            except BaseException:
                result = {"failed": traceback.format_exc()}
            Path(answer).write_text(json.dumps(result), encoding="utf-8")
            os._exit(0)
        os.waitpid(child, 0)
        results[case["name"]] = json.loads(Path(answer).read_text(encoding="utf-8"))
        os.remove(answer)
    Path(sys.argv[1]).write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()
