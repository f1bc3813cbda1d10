#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cross-builds vramscope for aarch64 on Debian 12, and runs what was built under qemu with 64 KiB pages, as kernels for NVIDIA Grace have.
#
#   scripts/aarch64.sh                  builds all that a wheel has, and the unit tests; runs these, records programs, and reads a stored trace
#   scripts/aarch64.sh --wheel          also makes the wheel with scripts/wheel.sh --aarch64, installs it in a folder, and uses it
#   scripts/aarch64.sh --no-build ...   uses build/aarch64 as it is
#
# Needs root the first time, for the compiler and qemu (apt-get). The libraries for aarch64 go into build/aarch64-sysroot, as files: no package of
# the machine changes. The viewer is not built. Not part of scripts/test.sh: it takes half an hour on two cores.
# Exit 0: all passed; 1: something failed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly build=build/aarch64 scripts=build/aarch64/under_qemu sysroot=$PWD/build/aarch64-sysroot
readonly host_packages=(g++-aarch64-linux-gnu qemu-user-static cmake ninja-build)
readonly packages=(libfmt-dev libfmt9 nlohmann-json3-dev libboost1.74-dev libboost-program-options1.74-dev libboost-program-options1.74.0
  libzstd-dev zlib1g-dev libsqlite3-dev libgtest-dev libgmock-dev)
# qemu 7.2 ignores MADV_WIPEONFORK, so a child made by a bare system call keeps its parent's page. Linux has had it since 4.14.
# Three groups start or read programs of the machine, which is not one for aarch64. record_programs() records those that are.
readonly not_under_qemu=-*ABareCloneDoesNotWriteIntoItsParentsRing:RecordTest.*:SignalsTest.*:TargetProgramTest.*
# Without SVE: qemu 7.2 lets SVE read the loader's last page only up to the next 4 KiB, whatever the size of a page is. Then memcpy() of the name of a
# loaded library ends a program, also one without vramscope.
readonly emulator=(qemu-aarch64-static -cpu max,sve=off -L /usr/aarch64-linux-gnu -p 65536)
# qemu keeps facts about each page that a program reserves: over 22 GiB for a simulated device, which reserves less if it may not have its 4 TiB.
readonly most_kilobytes=$((100 << 20))
qemu() { (ulimit -v "$most_kilobytes" && exec "${emulator[@]}" "$@"); }

with_wheel=no
build_it=yes
while (($#)); do
  case $1 in
    --wheel) with_wheel=yes ;;
    --no-build) build_it=no ;;
    *) sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

# apt with lists of its own, so that this machine does not get a second architecture.
fetch_sysroot() {
  [[ -e $sysroot/complete && -e $sysroot/files.txt ]] && return 0
  local lists=$sysroot/apt package
  rm -rf "$sysroot"
  mkdir -p "$lists/lists/partial" "$lists/archives/partial"
  touch "$lists/status"
  local options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$lists" -o Dir::State::lists="$lists/lists"
    -o Dir::State::status="$lists/status" -o Dir::Cache="$lists")
  (
    cd "$lists/archives"
    apt-get "${options[@]}" update && apt-get "${options[@]}" download "${packages[@]}"
  ) >"$sysroot/fetch.log" 2>&1 || die "apt-get could not fetch the libraries for aarch64; see $sysroot/fetch.log"
  for package in "$lists"/archives/*.deb; do
    dpkg-deb -x "$package" "$sysroot"
    # "/usr/lib/aarch64-linux-gnu/libzstd.a libzstd-dev 1.5.4": scripts/wheel.sh looks licenses up.
    dpkg-deb --fsys-tarfile "$package" | tar -t | sed "s|^\.||; s|\$| $(dpkg-deb -W --showformat='${Package} ${Version}' "$package")|" >>"$sysroot/files.txt"
  done
  rm -rf "$lists"
  touch "$sysroot/complete"
}

# All libraries are linked statically, except those of C and C++.
cross_build() {
  local libraries=$sysroot/usr/lib/aarch64-linux-gnu
  mkdir -p build
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -DVRAMSCOPE_SYSROOT="$sysroot" \
    -DVRAMSCOPE_BENCHMARKS=OFF -DVRAMSCOPE_VIEWER=OFF -DVRAMSCOPE_UNIT_TESTS=OFF -DVRAMSCOPE_TORCH_PYTHON= -DBoost_USE_STATIC_LIBS=ON \
    -DZLIB_LIBRARY="$libraries/libz.a" -DSQLite3_LIBRARY="$libraries/libsqlite3.a" -Dpkgcfg_lib_zstd_zstd="$libraries/libzstd.a" \
    -DCMAKE_CXX_FLAGS=-DFMT_HEADER_ONLY -DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed >build/configure-aarch64.log 2>&1 ||
    { cat build/configure-aarch64.log >&2; die "configuring failed"; }
  cmake --build "$build" --target vramscope vramscope_injector simulated_cuda vramscope_python_library list_events unit_tests driver_calls clients \
    client_of_12 client_of_13 client_of_driver client_of_static static_names >build/build-aarch64.log 2>&1 ||
    { grep -A 40 -m 1 '^FAILED' build/build-aarch64.log >&2; die "building failed; all of it is in build/build-aarch64.log"; }
}

# Not those of the simulated device: each of them reserves the memory of devices anew, which costs too much in qemu.
run_unit_tests() {
  local program room failed=0
  for program in $(find "$build"/{trace_format,injector/{core,cuda,nvtx,attach},profiler} -name '*_test' -type f | sort); do
    room=$(basename "$program" _test)
    if qemu "$program" --gtest_filter="$not_under_qemu" >"$build/$room.log" 2>&1; then
      say "$room: $(grep -c '^\[       OK' "$build/$room.log") passed with pages of 64 KiB"
    else
      say "$room: $(grep -c '^\[  FAILED  \] .*(' "$build/$room.log") failed; see $build/$room.log"
      failed=1
    fi
  done
  return "$failed"
}

# through_qemu NAME PROGRAM [FIRST LINE]: a script that runs this program for aarch64.
through_qemu() {
  printf '%sulimit -v %d && exec %s %q "$@"\n' "${3:-}" "$most_kilobytes" "${emulator[*]}" "$2" >"$1"
  chmod +x "$1"
}

# make_scripts FOLDER: scripts in the places where tests expect programs; FOLDER has bin/vramscope and its lib. Recorded programs are scripts without a
# first line: vramscope would look at the machine of the interpreter that it names. Their shell does not load the recorder, the program in qemu does.
make_scripts() {
  local name
  rm -rf "$scripts"
  mkdir -p "$scripts"/{bin,tests}
  ln -s "$PWD/$1/lib" "$scripts/lib"
  through_qemu "$scripts/bin/vramscope" "$PWD/$1/bin/vramscope" $'#!/bin/sh\n'
  through_qemu "$scripts/tests/list_events" "$PWD/$build/tests/list_events" $'#!/bin/sh\n'
  for name in driver_calls clients static_names; do through_qemu "$scripts/tests/$name" "$PWD/$build/tests/$name"; done
}

# must_name FILE TEXT...: what the command wrote contains these.
must_name() {
  local text
  for text in "${@:2}"; do grep -qF "$text" "$1" || { cat "$1" >&2; die "$text is missing in $1"; }; done
}

# record_programs FOLDER: records C++ programs with FOLDER/bin/vramscope.
record_programs() {
  local vramscope=$scripts/bin/vramscope programs=$scripts/tests simulated=$PWD/$scripts/lib/vramscope/simulated_cuda trace=$scripts/run.vms
  make_scripts "$1"
  VRAMSCOPE_BIN=$PWD/$vramscope VRAMSCOPE_BINARY_DIR=$PWD/$programs PYTHONDONTWRITEBYTECODE=1 \
    python3 tests/driver_level/driver_level_test.py Calls >"$build/driver_calls.log" 2>&1 ||
    { tail -n 30 "$build/driver_calls.log" >&2; die "recording of driver calls failed"; }
  say "calls of CUDA's driver: recorded as the simulated device counts them, to the byte, after each call"
  LD_LIBRARY_PATH=$simulated/cuda13:$simulated/cuda12 "$vramscope" record --quiet -o "$trace" -- "$programs/clients" \
    "$PWD/$build/tests"/libclient_of_{12,13,driver,static}.so >"$build/clients.log" 2>&1 || { cat "$build/clients.log" >&2; die "recording failed"; }
  "$vramscope" explain "$trace" >"$build/explain.log"
  must_name "$build/explain.log" 'libclient_of_static.so   32.0 MiB' 'libclient_of_driver.so    8.0 MiB' 'libclient_of_13.so        4.0 MiB'
  say "explain names the libraries that allocated through CUDA's runtime and driver, and their bytes"
  "$vramscope" record --quiet --depth all --stacks native -o "$trace" -- "$programs/static_names" 3 2>"$build/static_names.log"
  "$vramscope" report "$trace" >"$build/report.log"
  must_name "$build/report.log" 'Pool::Take'
  say "report names the C++ functions that allocated"
}

# Reads a trace that an x86-64 machine recorded: read_trace COMMAND OUTPUT
read_trace() {
  local trace=trace_format/testdata/v1_training.vms
  qemu "$1" report "$trace" --json >"$2"
  [[ -x build/release/bin/vramscope ]] || { say "report reads a stored trace"; return 0; }
  cmp "$2" <(build/release/bin/vramscope report "$trace" --json) || die "the report differs from that of x86-64"
  say "report --json is byte for byte that of x86-64"
}

# Places the files of the wheel as pip does, which can do it for another machine only without the libraries.
use_wheel() {
  local wheel installed=$build/installed
  scripts/wheel.sh --aarch64 || exit 1
  wheel=$(ls -t build/wheel-aarch64/*.whl | head -n 1)
  rm -rf "$installed"
  python3 -m zipfile -e "$wheel" "$installed"
  mv "$installed"/*.data/data/* "$installed"/*.data/scripts "$installed"
  mv "$installed/scripts" "$installed/bin"
  chmod +x "$installed/bin/vramscope"
  say "the wheel:"
  read_trace "$installed/bin/vramscope" "$build/wheel-report.json"
  record_programs "$installed"
}

install_packages "${host_packages[@]}"
fetch_sysroot
[[ $build_it == no ]] || cross_build
run_unit_tests
record_programs "$build"
read_trace "$build/bin/vramscope" "$build/report.json"
[[ $with_wheel == no ]] || use_wheel
