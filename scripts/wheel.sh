#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a wheel for pip from the release build. It runs with glibc 2.28 or newer, and with any Python 3.8 or newer.
#
#   scripts/wheel.sh                   build/wheel/vramscope-VERSION-py3-none-manylinux_2_28_x86_64.whl
#   scripts/wheel.sh --out DIR         the wheel goes there
#
# build/release is built if it is not there. Its object files are linked again for the older C library, with zig from PyPI as linker. zig and
# auditwheel are installed into build/wheel-venv, each at one version; so is GLFW, which the viewer brings along. OpenGL is the machine's own.
# Exit 0: the wheel is made; 1: something failed; 77: zig or auditwheel is missing and cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly tools=(ziglang==0.17.0 auditwheel==6.8.2 glfw==2.11.0)
readonly venv=build/wheel-venv build=build/release work=build/wheel
readonly tree=$work/tree licenses=$work/licenses
readonly glibc=2.28 platform=manylinux_2_28_x86_64

out=$work
while (($#)); do
  case $1 in
    --out) out=${2:?--out wants a folder}; shift ;;
    *) sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

all_installed="$venv/complete-$(IFS=-; printf '%s' "${tools[*]}")"

install_tools() {
  [[ -e $all_installed ]] && "$venv/bin/python" -c 'import ziglang' 2>/dev/null && return 0
  rm -rf "$venv"
  python3 -m venv "$venv" >/dev/null 2>&1 || { say "python3 cannot make a virtual environment: install python3-venv."; exit 77; }
  "$venv/bin/pip" install --quiet --disable-pip-version-check "${tools[@]}" >build/wheel-venv.log 2>&1 ||
    { say "pip could not install ${tools[*]}: is there a network? Its messages are in build/wheel-venv.log."; exit 77; }
  touch "$all_installed"
}

# The folder of a package that was installed.
folder_of() { "$venv/bin/python" -c 'import importlib.util as u, sys; print(u.find_spec(sys.argv[1]).submodule_search_locations[0])' "$1"; }

version=$(sed -n 's/^project(vramscope VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
summary=$(sed -n 's/^project(vramscope .* DESCRIPTION "\([^"]*\)".*/\1/p' CMakeLists.txt)

# The files of the wheel, as `cmake --install` places them. The folder's own links to the source are not among them.
install_tree() {
  rm -rf "$tree"
  cmake --install "$build" --prefix "$work/tree" >"$work/install.log" 2>&1 || { cat "$work/install.log" >&2; die "installing failed"; }
  [[ ! -x $tree/bin/vramscope-viewer ]] || cp "$(folder_of glfw)/x11/libglfw.so" "$tree/lib/vramscope/libglfw.so.3"
}

# The licenses of what is linked in, or compiled in from headers, from the packages of the distribution that own the files.
copy_licenses() {
  local file package glfw=()
  [[ ! -x $tree/bin/vramscope-viewer ]] || glfw=(GLFW/glfw3.h)
  rm -rf "$licenses"
  mkdir -p "$licenses"
  cp LICENSE "$licenses/"
  cp "$(folder_of ziglang)/LICENSE" "$licenses/zig.txt"
  while IFS= read -r file; do
    package=$(dpkg-query -S "$file" 2>/dev/null | cut -d: -f1) || die "no package owns $file: its license is unknown"
    cp "/usr/share/doc/$package/copyright" "$licenses/$package.txt"
  done < <(cat "$work/archives.txt"; printf '/usr/include/%s\n' nlohmann/json.hpp fmt/format.h ${glfw[@]+"${glfw[@]}"})
}

# auditwheel reads the symbols that every program and library needs.
check_wheel() {
  local verdict
  verdict=$("$venv/bin/auditwheel" show "$1" 2>&1) || { printf '%s\n' "$verdict" >&2; die "auditwheel failed"; }
  tr '\n' ' ' <<<"$verdict" | grep -q "following platform tag: \"$platform\"" || { printf '%s\n' "$verdict" >&2; die "auditwheel: not $platform"; }
}

mkdir -p "$work"
install_tools
[[ -x $build/bin/vramscope ]] || { configure release && build release; }
export ZIG_GLOBAL_CACHE_DIR=$PWD/$venv/zig-cache ZIG_LOCAL_CACHE_DIR=$PWD/$venv/zig-cache
install_tree
python3 scripts/wheel/relink.py "$build" "$tree" --zig "$(folder_of ziglang)/zig" --glibc "$glibc" --work "$work/objects" >"$work/archives.txt"
copy_licenses
wheel=$(python3 scripts/make_wheel.py "$tree" --out "$out" --version "$version" --summary "$summary" \
  --platform "$platform" --licenses "$licenses")
check_wheel "$wheel"
[[ -x $tree/bin/vramscope-viewer ]] || say "without the viewer, which $build does not have"
say "$wheel, $(du -h "$wheel" | cut -f1), for glibc $glibc or newer"
