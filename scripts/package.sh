#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds vramscope for other machines: one archive that runs where there is nothing but a C library of Ubuntu 22.04 (glibc 2.35) or newer.
#
#   scripts/package.sh                     build/package/vramscope-x86_64.tar.gz
#   scripts/package.sh --glibc 2.34        fails when anything in it needs a newer C library than that
#
# libstdc++, Boost, fmt, SQLite, zstd and zlib are inside the programs. With them come the samples and what tests/gpu/check.sh needs, so that a machine
# with a GPU and no network can be checked:
#
#   tar xf vramscope-x86_64.tar.gz && vramscope/tests/gpu/check.sh vramscope --out results
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

glibc=2.35
while (($#)); do
  case $1 in
    --glibc) glibc=${2:?--glibc wants a version}; shift ;;
    *) sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

readonly build=build/package/build stage=build/package/vramscope
readonly archive="build/package/vramscope-$HOSTTYPE.tar.gz"

# Static libraries are found by their names: each must be there, or it would be linked dynamically without a message.
library() { "${CXX:-c++}" -print-file-name="lib$1.a" | grep / || die "lib$1.a is missing; scripts/setup.sh installs it"; }

configure_package() {
  local zstd zlib boost sqlite
  zstd=$(library zstd) && zlib=$(library z) && sqlite=$(library sqlite3) && boost=$(library boost_program_options)
  mkdir -p "$build"
  "${CC:-cc}" -O2 -fPIC -c cmake/older_glibc.c -o "$build/older_glibc.o"
  local link="$PWD/$build/older_glibc.o -static-libstdc++ -static-libgcc -Wl,--as-needed"
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DVRAMSCOPE_BENCHMARKS=OFF -DVRAMSCOPE_VIEWER=OFF \
    -DVRAMSCOPE_TORCH_PYTHON= -DBoost_USE_STATIC_LIBS=ON -DBoost_PROGRAM_OPTIONS_LIBRARY_RELEASE="$boost" -DZLIB_LIBRARY="$zlib" -DSQLite3_LIBRARY="$sqlite" -DCMAKE_CXX_FLAGS=-DFMT_HEADER_ONLY \
    -DCMAKE_EXE_LINKER_FLAGS="$link" -DCMAKE_SHARED_LINKER_FLAGS="$link" -DCMAKE_MODULE_LINKER_FLAGS="$link" \
    -Dpkgcfg_lib_zstd_zstd="$zstd" >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log" >&2; die "configuring failed"; }
}

build_package() {
  cmake --build "$build" --target vramscope vramscope_injector simulated_cuda vramscope-cudnn-oracle list_events >"$build/build.log" 2>&1 ||
    { grep -A 40 -m 1 '^FAILED' "$build/build.log" >&2; die "building failed; all of it is in $build/build.log"; }
  rm -rf "$stage"
  cmake --install "$build" --prefix "$stage" --strip >"$build/install.log" 2>&1 || { cat "$build/install.log" >&2; die "installing failed"; }
  mkdir -p "$stage/tests" "$stage/scripts"
  cp "$build/tests/list_events" "$stage/tests/"
  cp -r tests/gpu tests/truth tests/simulated_cuda tests/recorded_run.py tests/drawn.py tests/in_turn.py "$stage/tests/"
  cp -r samples "$stage/"
  cp scripts/environment.sh "$stage/scripts/"
  find "$stage" -name __pycache__ -prune -exec rm -rf {} +
}

# Prints each file that needs more from the machine than is allowed; nothing if there is none.
check_package() {
  local file needs newest
  while IFS= read -r file; do
    readelf -h "$file" >/dev/null 2>&1 || continue
    newest=$(objdump -T "$file" | grep -oE 'GLIBC_[0-9.]+' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
    if [[ -n $newest && $(printf '%s\n' "$newest" "$glibc" | sort -V | tail -n 1) != "$glibc" ]]; then
      echo "$file needs glibc $newest, for$(objdump -T "$file" | awk -v of="GLIBC_$newest" 'index($0, of) { printf " %s", $NF }')"
    fi
    for needs in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
      case $needs in
        libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux-*) ;;
        libcuda.so.1 | libcudart.so.* | libc10.so | libtorch*) ;;  # the simulated libraries' own names, and PyTorch's
        *) echo "$file needs $needs" ;;
      esac
    done
  done < <(find "$stage" -type f)
}

configure_package
build_package
found=$(check_package)
[[ -z $found ]] || die "not for other machines:
$found"
tar -C build/package -czf "$archive" vramscope
say "$archive, $(du -h "$archive" | cut -f1), for glibc $glibc or newer"
