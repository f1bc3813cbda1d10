#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to an answer: sets up, builds, records a real GPT training run, and prints where its memory went.
#
#   scripts/demo.sh                    the GPT sample as it is
#   scripts/demo.sh --amp bf16 ...     with switches of samples/gpt.py
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

scripts/setup.sh
say "building"
configure release
build release --target vramscope vramscope_injector

trace=build/gpt.vms
say "recording samples/gpt.py"
build/release/bin/vramscope record -o "$trace" -- "$(torch_python)" samples/gpt.py --steps 12 "$@"
build/release/bin/vramscope report "$trace"
say "ask again with: build/release/bin/vramscope report $trace"
