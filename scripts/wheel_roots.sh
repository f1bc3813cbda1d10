#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the wheel in clean systems and uses it there: no compiler, no library but what python3-pip and python3-venv bring. Run by hand for a release.
#
#   scripts/wheel_roots.sh                     Debian 11 to 14 and Ubuntu 22.04, 24.04, 26.04; one line of a table for each
#   scripts/wheel_roots.sh bookworm noble      only these
#   scripts/wheel_roots.sh --wheel FILE ...    another wheel than the newest in build/wheel, or a Debian package (scripts/deb.sh)
#
# Needs root, debootstrap and a network the first time: the systems stay in build/wheel/roots, 0.3 GB each. Debian 12 also gets the PyTorch of
# build/venv, if that is for Python 3.11, and records operators and a dry run with it. Exit 0: all steps passed in all systems; 1: some did not; the
# output of each step is in build/wheel/roots/SYSTEM.log.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly roots=build/wheel/roots trace=trace_format/testdata/v1_training.vms
readonly steps=(install version record report screenshot import operators dryrun)

wheel=
systems=()
while (($#)); do
  case $1 in
    --wheel) wheel=${2:?--wheel wants a file}; shift ;;
    bullseye | bookworm | trixie | forky | jammy | noble | resolute) systems+=("$1") ;;
    *) sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done
((${#systems[@]})) || systems=(bullseye bookworm trixie forky jammy noble resolute)
[[ -n $wheel ]] || wheel=$(ls -t build/wheel/*.whl 2>/dev/null | head -n 1)
[[ -f $wheel ]] || die "there is no wheel: run scripts/wheel.sh"
((EUID == 0)) || die "debootstrap and chroot need root"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"

# make_root SYSTEM: makes a minimal installation, from debootstrap's own mirror for this system.
make_root() {
  local options=()
  [[ -e $roots/$1/complete ]] && return 0
  if [[ $1 == @(jammy|noble|resolute) ]]; then
    options=(--components=main,universe)
    # Debian's debootstrap has no key for Ubuntu. What is installed here is thrown away.
    [[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ]] || options+=(--no-check-gpg)
  fi
  rm -rf "${roots:?}/$1"
  debootstrap --variant=minbase --include=python3-pip,python3-venv "${options[@]}" "$1" "$roots/$1" '' /usr/share/debootstrap/scripts/"$(script_of "$1")" &&
    touch "$roots/$1/complete"
}

# debootstrap may be older than the system that it installs.
script_of() {
  [[ -e /usr/share/debootstrap/scripts/$1 ]] && { echo "$1"; return; }
  case $1 in jammy | noble | resolute) echo gutsy ;; *) echo sid ;; esac
}

# inside SYSTEM COMMAND...: runs it in the root, with /proc, and nothing of our environment.
inside() {
  local root=$roots/$1
  shift
  unshare --mount --pid --fork bash -c '
    mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" 2>/dev/null || mount -t tmpfs tmpfs "$1/tmp"
    [[ ! -d $1/torch ]] || mount --bind -o ro "$2" "$1/torch"
    root=$1; shift 2
    exec chroot "$root" env -i PATH=/w/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root OMP_NUM_THREADS=1 "$@"' - "$root" "$torch" "$@"
}

# run_step SYSTEM STEP
run_step() {
  case $2 in
    install) [[ $wheel != *.deb ]] || { inside "$1" sh -c 'rm -rf /w && dpkg -i /wheel/*.deb && ! command -v cc c++ g++ clang++'; return; }
      inside "$1" sh -c 'rm -rf /w && { dpkg -r vramscope 2>/dev/null || true; } && python3 -m venv /w && pip install --no-index /wheel/*.whl && ! command -v cc c++ g++ clang++' ;;
    version) inside "$1" vramscope --version ;;
    record) inside "$1" sh -c 'rm -f /run.vms && vramscope record --device cpu -o /run.vms -- python3 -c "print(sum(range(10**6)))" && vramscope info /run.vms' ;;
    report) inside "$1" sh -c 'vramscope report /trace.vms && vramscope report /trace.vms --json >/report.json' &&
      cmp <(build/release/bin/vramscope report "$trace" --json | grep -v '"file"') <(grep -v '"file"' "$roots/$1/report.json") ;;
    screenshot) inside "$1" sh -c 'rm -f /view.png && vramscope view --screenshot /view.png /trace.vms' && [[ -s $roots/$1/view.png ]] ;;
    import) inside "$1" python3 -c 'import vramscope; print(vramscope.open("/trace.vms").peak)' ;;
    operators) inside "$1" sh -c 'rm -f /run.vms && PYTHONPATH=/torch vramscope record -o /run.vms -- python3 /train.py cpu && vramscope info /run.vms' |
      tee -a /dev/stderr | grep -q 'LibTorch bridge *hooked' ;;
    dryrun) inside "$1" sh -c 'PYTHONPATH=/torch vramscope dryrun --gpu rtx-4090 -o /dryrun.vms -- python3 /train.py cuda' |
      tee -a /dev/stderr | grep -q 'Peak allocated  *[1-9]' ;;
  esac
}

# The folder of a PyTorch that the system's Python can load; nothing for most.
torch_for() {
  local site=build/venv/lib/python3.11/site-packages
  [[ $1 != bookworm || ! -d $site/torch ]] || realpath "$site"
}

program_with_torch='import sys, torch
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).to(sys.argv[1])
optimizer = torch.optim.Adam(model.parameters())
for step in range(4):
    model(torch.randn(64, 256, device=sys.argv[1])).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()'

failed=0
mkdir -p "$roots"
printf '| system | Python | glibc |'
printf ' %s |' "${steps[@]}"
printf '\n|---|---|---|'
printf '%s---|' "${steps[@]//*/}"
printf '\n'
for system in "${systems[@]}"; do
  log=$roots/$system.log
  make_root "$system" >"$log" 2>&1 || { say "$system cannot be installed; see $log"; failed=1; continue; }
  root=$roots/$system torch=$(torch_for "$system")
  mkdir -p "$root/wheel"
  rm -f "$root"/wheel/*
  cp "$wheel" "$root/wheel/"
  cp "$trace" "$root/trace.vms"
  printf '%s\n' "$program_with_torch" >"$root/train.py"
  [[ -z $torch ]] || mkdir -p "$root/torch"
  printf '| %s | %s | %s |' "$system" "$(inside "$system" python3 -c 'import platform; print(platform.python_version(), "|", platform.libc_ver()[1])')" "" | sed 's/ |  |$/ |/'
  for step in "${steps[@]}"; do
    if [[ $step == @(operators|dryrun) && -z $torch ]]; then
      printf ' - |'
    elif { echo "== $step"; run_step "$system" "$step"; } >>"$log" 2>&1; then
      printf ' yes |'
    else
      printf ' no |'
      failed=1
    fi
  done
  printf '\n'
done
exit "$failed"
