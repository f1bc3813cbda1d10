#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/venv-frameworks: training frameworks over the PyTorch that the tests use, which is not installed again.
#
#   scripts/frameworks_venv.sh           Accelerate, Transformers, Lightning, Keras, pytest, nbclient: what the tests `frameworks` and `frameworks_callbacks` run
#   scripts/frameworks_venv.sh --all     all that tests/frameworks/run_all runs (1 GB)
#
# Packages that require torch find it: a .pth file leads to its folder, and a copy of its metadata without requirements keeps pip from
# installing CUDA's libraries. Exit 0 also without a network; the tests then report what they lack.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

packages=(accelerate transformers lightning keras pytest nbclient ipykernel)
with_torch_pinned=()
if [[ ${1:-} == --all ]]; then
  packages+=(datasets peft trl diffusers torch-geometric bitsandbytes deepspeed fastcore fastprogress fastdownload fasttransform matplotlib scikit-learn scipy pillow
    cloudpickle)
  with_torch_pinned=(timm fastai torchvision)  # these would install a torch of their own choice
fi

python=$(torch_python)
folder=build/venv-frameworks
"$python" -m venv --without-pip "$folder" 2>/dev/null || { say "$python cannot make a virtual environment"; exit 0; }
"$folder/bin/python" - "$python" <<'PYTHON'
import pathlib, shutil, subprocess, sys, sysconfig
ask = "import importlib.metadata as m; print(m.distribution('torch')._path)"
metadata = pathlib.Path(subprocess.check_output([sys.argv[1], "-c", ask], text=True).strip())
site = pathlib.Path(sysconfig.get_paths()["purelib"])
(site / "torch.pth").write_text(f"{metadata.parent}\n")
copy = site / metadata.name
copy.mkdir(exist_ok=True)
kept = [line for line in (metadata / "METADATA").read_text().split("\n\n")[0].splitlines() if not line.startswith(("Requires-Dist", "Provides-Extra"))]
(copy / "METADATA").write_text("\n".join(kept) + "\n")
shutil.copy(metadata / "entry_points.txt", copy)  # torch.distributed finds its backends there
PYTHON
install() { "$python" -m pip --python "$folder/bin/python" install --quiet --disable-pip-version-check "$@"; }
install "${packages[@]}" || { say "pip could not install ${packages[*]}: the test of frameworks is skipped"; exit 0; }
((${#with_torch_pinned[@]} == 0)) || install --no-deps "${with_torch_pinned[@]}" || say "pip could not install ${with_torch_pinned[*]}"
