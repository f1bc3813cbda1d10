# SPDX-License-Identifier: Apache-2.0
"""Runs all sample programs one after the other in one process: importing PyTorch takes longer than their steps."""
import contextlib
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "samples"))

import torch  # noqa: E402

import autoencoder_lbfgs  # noqa: E402
import gan  # noqa: E402
import gpt  # noqa: E402
import mlp_small  # noqa: E402
import resnet  # noqa: E402

SMALL = {
    gpt: ["--layers", "2", "--dim", "64", "--batch", "8"],
    resnet: ["--layers", "1", "--dim", "8", "--batch", "16"],
    gan: ["--layers", "2", "--dim", "32", "--batch", "64"],
    autoencoder_lbfgs: ["--dim", "16", "--batch", "32"],
    mlp_small: [],
}
OTHER_WAYS = {gpt: ["--amp", "bf16", "--checkpoint"], resnet: ["--amp", "bf16", "--accumulate", "2"]}

with contextlib.redirect_stdout(io.StringIO()):
    for sample, size in SMALL.items():
        for way in ([], OTHER_WAYS[sample]) if sample in OTHER_WAYS else ([],):
            sample.main([*size, *way, "--steps", "2", "--device", "cuda"])
            torch.cuda.empty_cache()
