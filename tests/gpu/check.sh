#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks on a machine with an NVIDIA GPU whether vramscope records the truth, whether a dry run predicts it, and what recording costs. Writes a table.
#
#   tests/gpu/check.sh BUILD_DIR --out FOLDER            BUILD_DIR has bin/vramscope: a build, or what scripts/package.sh packs
#   tests/gpu/check.sh BUILD_DIR --out FOLDER --only eager attach
#   tests/gpu/check.sh BUILD_DIR --out FOLDER --simulated h100-80gb      with no GPU: tries the check itself
#
# Needs a Python with PyTorch (VRAMSCOPE_PYTHON, build/venv or python3) and no network. Can be broken off and started again with the same FOLDER.
# Ends by itself after 25 minutes (--minutes N).
set -euo pipefail
cd_from=$PWD
cd "$(dirname "$0")/../.."
source scripts/environment.sh

[[ ${1:-} == /* || ${1:-} == -* || -z ${1:-} ]] || set -- "$cd_from/$1" "${@:2}"
python=$(torch_python)
has_torch "$python" || die "$python has no PyTorch; set VRAMSCOPE_PYTHON to an interpreter that has it"
words=" $* "
if [[ $words != *" --simulated "* ]]; then
  "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || die "PyTorch of $python finds no GPU here"
fi
root=$PWD
cd "$cd_from"
exec python3 "$root/tests/gpu/check.py" --python "$python" "$@"
