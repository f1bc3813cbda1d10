# SPDX-License-Identifier: Apache-2.0
"""Executes a notebook with vramscope's magics, and prints what each cell showed, as one JSON document. Usage: notebook.py FOLDER"""
import json
import os
import sys
from typing import Any, List

import nbformat
from nbclient import NotebookClient

CELLS = [
    "%load_ext vramscope",
    "import torch\nlayer = torch.nn.Linear(64, 64)",
    "%%vramscope --device cpu\nlayer(torch.ones(8, 64)).sum().backward()",
    "%vramscope report --top 1",
    "%%vramscope kept.vms --device cpu\nlayer(torch.ones(8, 64))\nraise KeyError('its own')",
    "%vramscope info",
    "%%vramscope --nonsense 3\npass",
]


def shown(output: Any) -> str:
    """Its text, and its page if it has one."""
    if output.output_type == "stream":
        return str(output.text)
    return str(output.get("data", {}).get("text/html", "")) + str(output.get("evalue", ""))


def main() -> None:
    os.chdir(sys.argv[1])
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True).execute()
    outputs: List[str] = ["".join(shown(output) for output in cell.outputs) for cell in notebook.cells]
    print("found " + json.dumps(outputs))


if __name__ == "__main__":
    main()
