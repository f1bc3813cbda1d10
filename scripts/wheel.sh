#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a wheel for pip from the release build. It runs with glibc 2.28 or newer, and with any Python 3.8 or newer.
#
#   scripts/wheel.sh                   build/wheel/vramscope-VERSION-py3-none-manylinux_2_28_x86_64.whl
#   scripts/wheel.sh --out DIR         the wheel goes there
#   scripts/wheel.sh --bridges all     the deep recorder is compiled in advance for: all releases of PyTorch since 2.2 (the default; the first time
#                                      this downloads 4 GB and compiles for 5 minutes), newest (the PyTorch at hand), or none
#   scripts/wheel.sh --build           first brings build/release up to date, as `pip install .` does
#   scripts/wheel.sh --aarch64         build/wheel-aarch64/...-manylinux_2_28_aarch64.whl, from build/aarch64 (scripts/aarch64.sh), without the viewer
#
# build/release is built if it is not there. Its object files are linked again for the older C library, with zig from PyPI as linker. zig and
# auditwheel are installed into build/wheel-venv, each at one version. OpenGL is the machine's own.
# Exit 0: the wheel is made; 1: something failed; 77: zig or auditwheel is missing and cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly tools=(ziglang==0.17.0 auditwheel==6.8.2)
readonly venv=build/wheel-venv viewer_sources=build/viewer-sources
readonly fonts=(/usr/share/fonts/opentype/inter/Inter-{Regular,SemiBold}.otf /usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf)
readonly glibc=2.28

machine=x86_64
build=build/release
work=build/wheel
sysroot=
out=
bridges=all
with_build=no
while (($#)); do
  case $1 in
    --out) out=${2:?--out wants a folder}; shift ;;
    --bridges) bridges=${2:?--bridges wants all, newest or none}; shift ;;
    --build) with_build=yes ;;
    --aarch64) machine=aarch64 build=build/aarch64 work=build/wheel-aarch64 sysroot=$PWD/build/aarch64-sysroot ;;
    *) sed -n '3,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

readonly machine build work sysroot platform=manylinux_${glibc/./_}_$machine
readonly tree=$work/tree licenses=$work/licenses sbom=$work/vramscope.cdx.json
out=${out:-$work}

[[ $bridges =~ ^(all|newest|none)$ ]] || die "--bridges is all, newest or none, and not $bridges"
[[ $bridges != newest ]] || has_torch "$(torch_python)" || { say "--bridges newest wants a PyTorch, which scripts/setup.sh installs."; exit 77; }

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

# Builds what is installed, and no tests.
build_installed() {
  [[ $machine != aarch64 ]] || die "$build is not built: run scripts/aarch64.sh"
  local target targets=(vramscope vramscope_injector simulated_cuda vramscope-cudnn-oracle)
  configure release || exit 1
  for target in vramscope-viewer vramscope_python_library; do
    ! grep -q "^build $target: phony" "$build/build.ninja" || targets+=("$target")
  done
  build release --target "${targets[@]}" || exit 1
}

# Installs the files of the wheel into $tree, as `cmake --install` places them. The build folder's own links to the source are not installed.
install_tree() {
  rm -rf "$tree"
  cmake --install "$build" --prefix "$work/tree" >"$work/install.log" 2>&1 || { cat "$work/install.log" >&2; die "installing failed"; }
  rm -f "$tree/bin/vramscope-fleet-mpi"  # it needs the MPI of the machine where it was built
  [[ -x $tree/bin/vramscope-viewer ]] || return 0
  mkdir -p "$tree/share/vramscope/fonts"
  cp "${fonts[@]}" "$tree/share/vramscope/fonts/" || die "the viewer's fonts are missing; scripts/setup.sh installs them"
}

# The deep recorders for releases of PyTorch, of which pip downloads the headers the first time.
make_bridges() {
  [[ $bridges != none ]] || return 0
  say "$("$venv/bin/python" scripts/wheel/bridges.py "$tree/lib/vramscope/bridges" --machine "$machine" --releases "$bridges" \
    --torch-python "$(torch_python)" --zig "$(folder_of ziglang)/zig" --glibc "$glibc" --work build/wheel/bridges)"
}

# owner FILE: the package of the distribution that has this file, and its version.
owner() {
  local package
  if [[ -n $sysroot && $1 == "$sysroot"/* ]]; then
    awk -v file="${1#"$sysroot"}" '$1 == file { print $2, $3; found = 1 } END { exit !found }' "$sysroot/files.txt"
  else
    package=$(dpkg-query -S "$1" 2>/dev/null | cut -d: -f1) && dpkg-query -W -f='${Package} ${Version}\n' "$package"
  fi
}

# The licenses of what is linked in, or compiled in from headers, from the packages of the distribution that own the files. packages.txt lists them
# all, for the bill of materials.
copy_licenses() {
  local file package package_version documents files=("$sysroot"/usr/include/{nlohmann/json.hpp,fmt/format.h})
  # These are in the viewer for browsers; all else in it is also in the desktop viewer.
  [[ ! -d $tree/share/vramscope/web ]] || files+=(/usr/include/wasm32-wasi/stdlib.h /usr/lib/llvm-22/lib/wasm32-wasi/libc++.a)
  rm -rf "$licenses"
  mkdir -p "$licenses"
  cp LICENSE "$licenses/"
  cp "$(folder_of ziglang)/LICENSE" "$licenses/zig.txt"
  printf 'pypi %s\n' "${tools[0]/==/ }" >"$work/packages.txt"
  if [[ -x $tree/bin/vramscope-viewer ]]; then
    files+=("${fonts[@]}")
    cp "$viewer_sources/imgui/LICENSE.txt" "$licenses/imgui.txt"
    cp "$viewer_sources/glfw/LICENSE.md" "$licenses/glfw.txt"
    # What scripts/setup.sh fetched: "imgui-bundle==1.93.0 --hash=...".
    sed 's/==\([^ ]*\) .*/ \1/; s/^/pypi /' "$viewer_sources/requirements.txt" >>"$work/packages.txt"
  fi
  while IFS= read -r file; do
    read -r package package_version < <(owner "$file") || die "no package owns $file: its license is unknown"
    documents=/usr/share/doc/$package
    [[ $file != "${sysroot:-/none}"/* ]] || documents=$sysroot$documents
    cp "$documents/copyright" "$licenses/$package.txt"
    printf 'deb %s %s\n' "$package" "$package_version" >>"$work/packages.txt"
  done < <(cat "$work/archives.txt"; printf '%s\n' "${files[@]}")
  python3 scripts/wheel/sbom.py --version "$version" <"$work/packages.txt" >"$sbom"
}

# auditwheel reads the symbols that every program and library needs. The deep recorders also need libraries of PyTorch, which are in the process
# that loads them; auditwheel's command has no option for that.
check_wheel() {
  local verdict
  verdict=$("$venv/bin/python" - "$1" 2>&1 <<'PYTHON'
import pathlib, sys
from auditwheel.wheel_abi import analyze_wheel_abi
from auditwheel.wheeltools import get_wheel_architecture, get_wheel_libc
name = pathlib.Path(sys.argv[1])
found = analyze_wheel_abi(get_wheel_libc(name.name), get_wheel_architecture(name.name), name, frozenset({"libtorch_cpu.so", "libc10.so"}),
                          disable_isa_ext_check=False, allow_graft=False)
print(found.overall_policy.name, found.versioned_symbols)
PYTHON
  ) || { printf '%s\n' "$verdict" >&2; die "auditwheel failed"; }
  [[ $verdict == "$platform "* ]] || { printf '%s\n' "$verdict" >&2; die "auditwheel: not $platform"; }
}

mkdir -p "$work"
install_tools
[[ $with_build == no && -x $build/bin/vramscope ]] || build_installed
export ZIG_GLOBAL_CACHE_DIR=$PWD/$venv/zig-cache ZIG_LOCAL_CACHE_DIR=$PWD/$venv/zig-cache
install_tree
python3 scripts/wheel/relink.py "$build" "$tree" --machine "$machine" --zig "$(folder_of ziglang)/zig" --glibc "$glibc" --work "$work/objects" \
  >"$work/archives.txt"
make_bridges
copy_licenses
wheel=$(python3 scripts/make_wheel.py "$tree" --out "$out" --version "$version" --summary "$summary" \
  --platform "$platform" --licenses "$licenses" --sbom "$sbom")
check_wheel "$wheel"
[[ -x $tree/bin/vramscope-viewer ]] || say "without the viewer, which $build does not have"
say "$wheel, $(du -h "$wheel" | cut -f1), for glibc $glibc or newer"
