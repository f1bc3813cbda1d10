# SPDX-License-Identifier: Apache-2.0
"""Runs a sample on the simulated device once for each combination of changes, and prints how much PyTorch then reserved.

    python rerun.py < cases.json          [{"name", "program", "flags", "checkpoint": [paths], "alloc_conf"}, ...]

One process imports PyTorch; each case runs in a fork of it, so a case costs as much as its steps. A line of JSON is printed for each as it ends.
"""
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "try_change"))
import histories  # noqa: E402
import torch  # noqa: E402


def run(case: Dict[str, Any], folder: str) -> None:
    if case["alloc_conf"]:
        torch.cuda.memory._set_allocator_settings(case["alloc_conf"])
    plan = {"checkpoint": case["checkpoint"]} if case["checkpoint"] else None
    result = histories.run({**case, "plan": plan}, folder)
    applied = all(note["state"] == "applied" for note in result["notes"])
    print(json.dumps({"name": case["name"], "reserved": result["peak"][1] if applied else None}), flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for case in json.load(sys.stdin):
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                try:
                    run(case, folder)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)


if __name__ == "__main__":
    main()
