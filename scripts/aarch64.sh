#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cross-builds vramscope for aarch64 on Debian 12, and runs what was built under qemu with 64 KiB pages, as kernels for NVIDIA Grace have.
#
#   scripts/aarch64.sh                  builds all that a wheel has, and the unit tests of the rooms below, and runs these
#   scripts/aarch64.sh --record         also compares the report of a stored trace with that of build/release, if there is one
#   scripts/aarch64.sh --no-build ...   uses build/aarch64 as it is
#
# Needs root the first time, for the compiler and qemu (apt-get). The libraries for aarch64 go into build/aarch64-sysroot, as files: no package of
# the machine changes. The viewer is not built. Not part of scripts/test.sh: it takes 15 minutes on two cores.
# Exit 0: all passed; 1: something failed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly build=build/aarch64 sysroot=$PWD/build/aarch64-sysroot
readonly host_packages=(g++-aarch64-linux-gnu qemu-user-static cmake ninja-build)
readonly packages=(libfmt-dev libfmt9 nlohmann-json3-dev libboost1.74-dev libboost-program-options1.74-dev libboost-program-options1.74.0
  libzstd-dev zlib1g-dev libsqlite3-dev libgtest-dev libgmock-dev)
readonly rooms=(trace_format injector_core injector_cuda)
# qemu 7.2 ignores MADV_WIPEONFORK, so a child made by a bare system call keeps its parent's page. Linux has had it since 4.14.
# NativeStackTest crashes in qemu with pages of 64 KiB only; with 4 KiB it passes. The reason is not known.
readonly not_under_qemu='-*ABareCloneDoesNotWriteIntoItsParentsRing:NativeStackTest.FramesAreNamedBySymbolAndLibrary'
qemu() { qemu-aarch64-static -L /usr/aarch64-linux-gnu -p 65536 "$@"; }

record=no
build_it=yes
while (($#)); do
  case $1 in
    --record) record=yes ;;
    --no-build) build_it=no ;;
    *) sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

# apt with lists of its own, so that this machine does not get a second architecture.
fetch_sysroot() {
  [[ -e $sysroot/complete ]] && return 0
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
  for package in "$lists"/archives/*.deb; do dpkg-deb -x "$package" "$sysroot"; done
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
  cmake --build "$build" --target vramscope vramscope_injector simulated_cuda vramscope_python_library list_events "${rooms[@]/%/_test}" \
    >build/build-aarch64.log 2>&1 || { grep -A 40 -m 1 '^FAILED' build/build-aarch64.log >&2; die "building failed; all of it is in build/build-aarch64.log"; }
}

run_unit_tests() {
  local room program failed=0
  for room in "${rooms[@]}"; do
    program=$(find "$build" -name "${room}_test" -type f)
    if qemu "$program" --gtest_filter="$not_under_qemu" >"$build/$room.log" 2>&1; then
      say "$room: $(grep -c '^\[       OK' "$build/$room.log") passed with pages of 64 KiB"
    else
      say "$room: $(grep -c '^\[  FAILED  \] .*(' "$build/$room.log") failed; see $build/$room.log"
      failed=1
    fi
  done
  return "$failed"
}

# Reads a trace that an x86-64 machine recorded, with the command for aarch64.
record_and_report() {
  local trace=trace_format/testdata/v1_training.vms
  qemu "$build/bin/vramscope" report "$trace" --json >"$build/report.json"
  if [[ -x build/release/bin/vramscope ]]; then
    cmp "$build/report.json" <(build/release/bin/vramscope report "$trace" --json) || die "the report differs from that of x86-64"
    say "report --json is byte for byte that of x86-64"
  fi
}

install_packages "${host_packages[@]}"
fetch_sysroot
[[ $build_it == no ]] || cross_build
run_unit_tests
[[ $record == no ]] || record_and_report
