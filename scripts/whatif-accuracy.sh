#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The error tables of whatif in docs/accuracy.md: every development model, size and lever, some minutes for each model.
#
#   scripts/whatif-accuracy.sh /venv/bin/python [--model bert]        the interpreter has torch, transformers and torchvision
set -eu
if [ $# -lt 1 ]; then
  echo "usage: scripts/whatif-accuracy.sh PYTHON [options of tests/whatif_accuracy/measure.py]" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
python=$1
shift
VRAMSCOPE_BIN=${VRAMSCOPE_BIN:-$root/build/release/bin/vramscope} OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 \
  exec python3 "$root/tests/whatif_accuracy/measure.py" --python "$python" "$@"
