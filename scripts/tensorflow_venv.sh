#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/venv-tensorflow: TensorFlow and Keras for the tests that run them, without the nvidia-* packages (600 MB to download, 2.1 GB on disk).
#
#   scripts/tensorflow_venv.sh
#
# Exit 0 also without a network, or with less than 6 GB of free space. Tests of TensorFlow are then skipped by name.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly packages=(tensorflow==2.21.0 keras==3.15.1)
readonly folder=build/venv-tensorflow
readonly most_seconds=300  # a slow network must not hold up the tests

[[ ! -x $folder/bin/python || -e $folder/incomplete ]] || exit 0
free_kib=$(df -Pk build | awk 'END { print $4 }')
((free_kib > 6 * 1024 * 1024)) || { say "less than 6 GB are free, so TensorFlow is not installed and its tests are skipped"; exit 0; }
rm -rf "$folder"
"$(torch_python)" -m venv "$folder" || { say "$(torch_python) cannot make a virtual environment, so tests of TensorFlow are skipped"; exit 0; }
touch "$folder/incomplete"
timeout "$most_seconds" "$folder/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "${packages[@]}" ||
  { say "pip could not install ${packages[*]} in $most_seconds s, so tests of TensorFlow are skipped"; rm -rf "$folder"; exit 0; }
rm "$folder/incomplete"
