#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the pictures of docs/images/viewer again: every view, dark and light, at scale 1 and 2, from training runs on simulated GPUs.
#
#   scripts/viewer_pictures.sh [FOLDER]        default: docs/images/viewer; takes some minutes, mostly for recording
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

folder=$(realpath -m "${1:-docs/images/viewer}")
root=$PWD
vramscope=$root/build/release/bin/vramscope
python=$(torch_python)
runs=$(mktemp -d)
programs=${TMPDIR:-/tmp}/train  # stacks show this path: a picture must not contain the path of a checkout
mkdir "$programs" || die "$programs exists; the pictures need a folder of this name"
trap 'rm -rf "$runs" "$programs"' EXIT
cp samples/*.py "$programs/"
export XDG_STATE_HOME=$runs/state  # without any saved layout of windows

# record NAME GPU PROGRAM...: writes NAME.vms. Fails only if there is no trace: the program may run out of memory.
record() {
  say "recording $1"
  PATH=$(dirname "$python"):$PATH "$vramscope" dryrun --quiet --gpu "$2" --steps all "${options[@]}" -o "$runs/$1.vms" -- python "${@:3}" >/dev/null || [[ -s $runs/$1.vms ]]
}
options=()
gpt() { record "$1" "$2" "$programs/gpt.py" --device cuda --steps 4 "${@:3}"; }

# A list that keeps 1 MiB of every step.
cat >"$programs/grows.py" <<'PYTHON'
import torch
from torch import nn
model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
history = []
for step in range(12):
    output = model(torch.randn(256, 1024).cuda())
    history.append(output.detach())
    output.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
PYTHON

gpt gpt rtx-4090 --dim 512 --layers 6 --batch 16
options=(--variants now)
VRAMSCOPE_PYTHON=$python record changed rtx-4090 "$programs/gpt.py" --device cuda --steps 8 --dim 512 --layers 6 --batch 16
options=()
gpt before a100-40gb --dim 768 --layers 12 --batch 24
gpt after a100-40gb --dim 768 --layers 13 --batch 24
gpt failed rtx-4090 --dim 2048 --layers 24 --batch 128
record grows rtx-4090 "$programs/grows.py"

# draw VIEW [FILE...]: draws the view of these traces at a fixed place; in whatif, some changes are chosen first.
draw() {
  local view=$1 theme scale place=(--goto step:3,peak) files=()
  shift
  for file in "$@"; do files+=("$file.vms"); done
  [[ $view == oom ]] && place=(--goto oom)
  [[ $view == leaks ]] && place=(--goto end)
  for theme in dark light; do
    for scale in 1 2; do
      local picture=$folder/$theme-$scale/$view.png
      mkdir -p "$(dirname "$picture")"
      local size=1600x1000
      [[ $scale == 2 ]] && size=1280x800
      {
        echo "wait loaded"
        printf 'click tab.%s\nwait answered\n' "$view"
        if [[ $view == whatif ]]; then
          printf '%s\n' "click whatif.rerun" "click whatif.rerun.amp=bf16" "wait answered" "click whatif.checkpoint.all" "wait answered" \
            "click whatif.fit.into" "text 880MiB" "key enter" "wait answered"
        fi
        printf 'wait 5\nwait answered\nshot %s\n' "$picture"
      } >"$runs/script.txt"
      "$vramscope" view --script "$runs/script.txt" "${place[@]}" --theme "$theme" --scale "$scale" --size "$size" "${files[@]}"
    done
  done
  say "$view"
}

cd "$runs"  # names of files are in the pictures
for view in summary timeline owners map address-time fragmentation; do draw "$view" gpt; done
draw whatif changed
draw oom failed
draw leaks grows
draw compare before after
# Eight ranks, of which seven have a fault.
mkdir job
"$root/build/release/tests/make_job" job 8 30
draw ranks job/rank{0..7}

# Makes the files a third as large, if Python has Pillow.
if python3 -c 'import PIL' 2>/dev/null; then
  python3 - "$folder" <<'PYTHON'
import pathlib, sys
from PIL import Image
for path in pathlib.Path(sys.argv[1]).glob("*/*.png"):
    # The most frequent colors stay as they are. The others: maximum coverage, because the median cut gives a small square of a legend the color of a
    # larger one.
    picture = Image.open(path).convert("RGB")
    often = {color: i for i, (_, color) in enumerate(sorted(picture.getcolors(1 << 24), reverse=True)[:128])}
    rest = picture.quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    parts = picture.tobytes()
    pixels = zip(zip(parts[0::3], parts[1::3], parts[2::3]), rest.tobytes())
    small = Image.frombytes("P", picture.size, bytes(often.get(color, len(often) + index) for color, index in pixels))
    small.putpalette([part for color in often for part in color] + rest.getpalette()[: 3 * 128])
    small.save(path, optimize=True)
PYTHON
fi
