#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to an answer: sets up, builds, records the training of GPT-2 small, and prints where its memory went. On a machine without
# a GPU the run is on a simulated one, and computes nothing. With a PyTorch without CUDA code, a small GPT trains on the CPU.
#
#   scripts/demo.sh                     batch 8
#   scripts/demo.sh --batch 24 ...      with switches of samples/gpt2.py
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

scripts/setup.sh
say "building"
configure release
build release --target vramscope vramscope_injector simulated_cuda

trace=build/demo.vms
python=$(torch_python)
gpu=$("$python" -c 'import torch; print("real" if torch.cuda.is_available() else "simulated" if torch.version.cuda else "none")')
case $gpu in
  simulated)
    say "there is no GPU here: recording samples/gpt2.py on a simulated RTX 4090 (vramscope dryrun); nothing is computed, the memory is exact"
    build/release/bin/vramscope dryrun --gpu rtx-4090 -o "$trace" -- "$python" samples/gpt2.py "$@"
    ;;
  real)
    say "recording samples/gpt2.py"
    build/release/bin/vramscope record -o "$trace" -- "$python" samples/gpt2.py "$@"
    build/release/bin/vramscope report "$trace"
    ;;
  none)
    say "this PyTorch has no CUDA code: recording samples/gpt.py, a small GPT, on the CPU"
    build/release/bin/vramscope record -o "$trace" -- "$python" samples/gpt.py --steps 12 "$@"
    build/release/bin/vramscope report "$trace"
    ;;
esac
say "ask again with: build/release/bin/vramscope report $trace"
say "what to ask next: docs/README.md"
