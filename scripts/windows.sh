#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the verbs that only read files (report, whatif, diff, ...) as build/windows/vramscope.exe, with mingw-w64 on Debian 12.
#
# The libraries are compiled from the distribution's source packages, which the first run fetches into build/portable-sources (80 MB).
# Needs root the first time for the compiler (apt-get). About 10 CPU minutes; seconds with ccache.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly sources=$PWD/build/portable-sources
readonly packages=(cmake ninja-build tcl make gcc libc6-dev libfmt-dev nlohmann-json3-dev libboost-dev g++-mingw-w64-x86-64-posix)

# The sources of the libraries, and links to the headers of those that are headers alone.
fetch_sources() {
  local release package
  [[ -e $sources/complete ]] && return 0
  release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  rm -rf "$sources"
  mkdir -p "$sources/lists/partial" "$sources"/{include,zstd,zlib,sqlite,boost,program_options}
  # A copy of this machine's list of package sources, for source packages. The machine's own list is not changed.
  sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$sources/debian.sources" ||
    die "only Debian 12's package sources are known here"
  local options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$sources" -o "Dir::State::lists=$sources/lists")
  (
    cd "$sources"
    apt-get "${options[@]}" update &&
      apt-get "${options[@]}" source --download-only "libzstd/$release" zlib "sqlite3/$release" "boost1.74/$release"
  ) >"$sources/fetch.log" 2>&1 || die "apt-get could not fetch the sources of zstd, zlib, SQLite and Boost; see $sources/fetch.log"
  rm -f "$sources"/*.asc
  for package in libzstd:zstd zlib:zlib sqlite3:sqlite; do
    tar -x -f "$sources/${package%:*}"_*.orig.tar.* --strip-components 1 -C "$sources/${package#*:}"
  done
  tar -x -f "$sources"/boost1.74_*.orig.tar.* --strip-components 1 -C "$sources/boost" --wildcards '*/libs/program_options/src/*'
  cp "$sources"/boost/libs/program_options/src/*.cpp "$sources/program_options/"
  rm "$sources/program_options/winmain.cpp"
  (cd "$sources/sqlite" && ./configure --disable-readline && make sqlite3.c) >"$sources/sqlite.log" 2>&1 ||
    die "SQLite's sources could not be joined; see $sources/sqlite.log"
  for package in fmt nlohmann boost; do ln -sfn "/usr/include/$package" "$sources/include/$package"; done
  touch "$sources/complete"
}

install_packages "${packages[@]}"
fetch_sources
cmake -G Ninja -S profiler/cli/portable -B build/windows -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/mingw.cmake" -DVRAMSCOPE_SOURCES="$sources" \
  >build/configure-windows.log 2>&1 || { cat build/configure-windows.log >&2; die "configuring failed"; }
cmake --build build/windows >build/build-windows.log 2>&1 ||
  { grep -A 40 -m 1 '^FAILED' build/build-windows.log >&2; die "building failed; all of it is in build/build-windows.log"; }
say "build/windows/vramscope.exe, $(du -h build/windows/vramscope.exe | cut -f1)"
