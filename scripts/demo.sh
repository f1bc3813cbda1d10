#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to an answer: sets up, builds, records a real GPT training run, and prints where its memory went. On a machine without
# a GPU the run is on a simulated one; with a PyTorch without CUDA code, on the CPU.
#
#   scripts/demo.sh                    the GPT sample as it is
#   scripts/demo.sh --amp bf16 ...     with switches of samples/gpt.py
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

scripts/setup.sh
say "building"
configure release
build release --target vramscope vramscope_injector simulated_cuda

trace=build/gpt.vms
python=$(torch_python)
gpu=$("$python" -c 'import torch; print("real" if torch.cuda.is_available() else "simulated" if torch.version.cuda else "none")')
if [[ $gpu == simulated ]]; then
  say "there is no GPU here: recording samples/gpt.py on a simulated H100 (vramscope dryrun); nothing is computed, the memory is exact"
  build/release/bin/vramscope dryrun --gpu h100-80gb --steps 12 -o "$trace" -- "$python" samples/gpt.py --device cuda --steps 12 "$@"
else
  say "recording samples/gpt.py"
  build/release/bin/vramscope record -o "$trace" -- "$python" samples/gpt.py --steps 12 "$@"
  build/release/bin/vramscope report "$trace"
fi
say "ask again with: build/release/bin/vramscope report $trace"
