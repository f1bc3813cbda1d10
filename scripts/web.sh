#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the viewer for browsers into build/web: a folder for any web server, and viewer.html, the page that `vramscope report --viewer` fills.
#
#   scripts/setup.sh --web    once: the compiler, and the sources of Dear ImGui, zstd and zlib
#   scripts/web.sh            about 9 CPU minutes; seconds with ccache
#
# A build of vramscope that is configured or installed afterwards takes the folder along as share/vramscope/web.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly out=build/web sources=$PWD/build/web-sources viewer_sources=$PWD/build/viewer-sources
[[ -e $sources/include/fmt && -e $viewer_sources/imgui ]] || die "the sources of the libraries are missing: run scripts/setup.sh --web"
command -v clang++-22 >/dev/null || die "clang 22 is missing: run scripts/setup.sh --web"
mkdir -p build
cmake -G Ninja -S viewer/platform/web -B build/web-module -DCMAKE_TOOLCHAIN_FILE="$PWD/viewer/platform/web/cmake/wasi.cmake" \
  -DVRAMSCOPE_WEB_SOURCES="$sources" -DVRAMSCOPE_VIEWER_SOURCES="$viewer_sources" >build/configure-web.log 2>&1 || { cat build/configure-web.log >&2; die "configuring failed"; }
cmake --build build/web-module "$@" >build/build-web.log 2>&1 ||
  { grep -A 40 -m 1 '^FAILED' build/build-web.log >&2 || tail -n 40 build/build-web.log >&2; die "building failed; all of it is in build/build-web.log"; }
python3 scripts/web_page.py build/web-module/viewer.wasm "$out"
