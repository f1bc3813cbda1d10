# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions that the other scripts share: messages, packages, builds, and which Python has PyTorch. Sourced from the repository root.

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# install_packages PACKAGE...: those that are missing, with apt-get.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "these packages are missing: ${missing[*]}. Ask an administrator to run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq || die "apt-get update failed: is there a network?"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    die "apt-get could not install ${missing[*]}"
}

# True if the interpreter can find torch; importing it would take seconds.
has_torch() { "$1" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("torch") is None)' 2>/dev/null; }

# The interpreter that runs PyTorch programs: the caller's choice, the environment that setup.sh made, or python3 itself.
torch_python() {
  if [[ -n ${VRAMSCOPE_PYTHON:-} ]]; then
    command -v "$VRAMSCOPE_PYTHON" || die "VRAMSCOPE_PYTHON=$VRAMSCOPE_PYTHON cannot be run"
  elif [[ -x build/venv/bin/python ]]; then
    printf '%s\n' "$PWD/build/venv/bin/python"
  else
    command -v python3
  fi
}

# With ccache, a second clone takes only a minute to build what the first one has built. The checks that are off are those that ccache's manual
# requires to be off for precompiled headers ("Precompiled headers"). Paths are relative, so that clones share the cache.
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi

# configure PRESET [cmake options]: quiet unless it fails. Only the release build gets a Python with PyTorch: sanitizer builds do not run in it.
configure() {
  local python=''
  [[ $1 == release ]] && python=$(torch_python)
  mkdir -p build
  cmake --preset "$1" -DVRAMSCOPE_TORCH_PYTHON="$python" -DVRAMSCOPE_TEST_PYTHON="$python" "${@:2}" >"build/configure-$1.log" 2>&1 ||
    { cat "build/configure-$1.log" >&2; say "configuring $1 failed"; return 1; }
}

# build PRESET [cmake --build options]: shows compiler output only when something fails, and then what failed first.
build() {
  local log="build/build-$1.log"
  cmake --build --preset "$1" "${@:2}" >"$log" 2>&1 && return 0
  { grep -A 40 -m 1 '^FAILED' "$log" || tail -n 40 "$log"; } >&2
  say "building $1 failed; all of it is in $log"
  return 1
}
