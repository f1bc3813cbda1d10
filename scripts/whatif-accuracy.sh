#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the error tables of whatif in docs/accuracy.md: every model that was used in development, with every size and change. FOLDER keeps the
# results; a run that was interrupted goes on where it stopped.
#
#   scripts/whatif-accuracy.sh /venv/bin/python FOLDER [--model bert]        the interpreter has torch and the packages that docs/accuracy.md names
set -eu
if [ $# -lt 2 ]; then
  echo "usage: scripts/whatif-accuracy.sh PYTHON FOLDER [options of tests/whatif_accuracy/measure.py]" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
python=$1
results=$2
shift 2
VRAMSCOPE_BIN=${VRAMSCOPE_BIN:-$root/build/release/bin/vramscope} OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 \
  exec python3 "$root/tests/whatif_accuracy/measure.py" --python "$python" --results "$results" "$@"
