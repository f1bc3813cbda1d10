#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with an NVIDIA GPU: are recordings of real CUDA tensors true, and what do dry runs predict wrongly? Results are appended to
# docs/gpu-results.md.
#
#   tests/gpu/check.sh              with the python3 that has PyTorch, or VRAMSCOPE_PYTHON
#   tests/gpu/check.sh --quick      one program, no oracle
#
# Needs no network: builds with what is there, or takes the build in build/release.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/environment.sh

python=$(torch_python)
has_torch "$python" || die "$python has no PyTorch; set VRAMSCOPE_PYTHON to an interpreter that has it"
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || die "PyTorch of $python finds no GPU here"
if [[ ! -x build/release/bin/vramscope ]]; then
  configure release
  build release
fi
exec python3 tests/gpu/check.py --python "$python" "$@"
