#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build vramscope and to record the samples; with --tests also what the test suite needs.
#
#   scripts/setup.sh                   compiler, libraries, and a Python with PyTorch
#   scripts/setup.sh --tests           also clang, for the sanitizers and the fuzz targets, CUDA's headers (4 MB), and training frameworks (600 MB)
#   scripts/setup.sh --packages        only what a build without PyTorch needs; with --tests, a build of the tests
#   scripts/setup.sh --web             also what scripts/web.sh needs: clang 22 with its C++ library for WebAssembly, sources of two libraries (400 MB)
#   scripts/setup.sh --triton          also Triton, for the test of torch.compile (1 GB)
#   scripts/setup.sh --torch VERSION   also build/venv-VERSION with that release of PyTorch (repeatable)
#
# Packages come from apt (Debian 12, Ubuntu 24.04). PyTorch goes into build/venv unless python3 has it already; VRAMSCOPE_PYTHON names
# another interpreter to use as it is. No root is needed when no package is missing. Safe to repeat; a second run takes no time.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly newest_torch=2.15.0
readonly build_packages=(g++ cmake ninja-build pkg-config git libzstd-dev zlib1g-dev libsqlite3-dev libfmt-dev nlohmann-json3-dev libboost-program-options-dev libboost-dev
  libgtest-dev libgmock-dev libbenchmark-dev python3)
# Packages of the desktop viewer; without them everything else is still built.
readonly viewer_packages=(libstb-dev libfreetype-dev libegl-dev libopengl-dev libgl-dev fonts-inter fonts-jetbrains-mono
  libx11-dev libxrandr-dev libxinerama-dev libxcursor-dev libxi-dev libwayland-dev libxkbcommon-dev)
# A source package of PyPI that has the sources of Dear ImGui 1.93.0 (with docking) and GLFW 3.5.1: the same on every system, and for the page.
readonly viewer_sources=imgui-bundle==1.93.0
readonly viewer_sources_sha256=10ad1dab8258a6787b4f07bb926b08d0efc648a7906242568c8dd778c5e719bf
# Debian 12 has clang 22; its C++ library is the first one that is complete enough for us on WebAssembly. The browsers are for the test.
readonly web_packages=(clang-22 lld-22 libc++-22-dev-wasm32 libc++abi-22-dev-wasm32 libclang-rt-22-dev-wasm32 wasi-libc dpkg-dev chromium firefox-esr)
readonly test_packages=(clang libclang-rt-dev procps python3-venv)
# What PyTorch imports, without the nvidia-* packages that its own metadata asks for.
readonly torch_dependencies=(filelock typing-extensions setuptools sympy networkx jinja2 fsspec)

# Headers of old and new releases, which the tables of driver functions are compared with; the wheels hold them and little else.
readonly cuda_headers=(nvidia-cuda-runtime-cu11==11.8.89 nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-runtime==13.0.96)

only_packages=no
with_tests=no
with_triton=no
with_web=no
releases=()
while (($#)); do
  case $1 in
    --packages) only_packages=yes ;;
    --tests) with_tests=yes ;;
    --triton) with_triton=yes ;;
    --web) with_web=yes ;;
    --torch) releases+=("${2:?--torch wants a version}"); shift ;;
    *) sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

# make_venv FOLDER TORCH NUMPY: a virtual environment with an unmodified PyTorch wheel and stand-ins for the CUDA libraries it lacks.
make_venv() {
  local folder=$1 torch=$2 numpy=$3
  [[ -e $folder/complete-$torch ]] && return 0
  say "PyTorch $torch goes into $folder (about 1.4 GB)"
  # The marker allows cuda_stand_ins.py to write there.
  rm -rf "$folder"
  # Debian's python3 comes without what venv needs; other Pythons have it.
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv
  python3 -m venv "$folder"
  touch "$folder/vramscope-venv"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "${torch_dependencies[@]}" "$numpy" ||
    die "pip could not install what PyTorch imports: is there a network?"
  "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps "torch==$torch" ||
    die "pip could not install torch $torch for $(python3 --version): name a Python that has PyTorch in VRAMSCOPE_PYTHON"
  python3 scripts/cuda_stand_ins.py "$folder/bin/python"
  "$folder/bin/python" -c 'import torch' || die "PyTorch $torch in $folder does not import"
  touch "$folder/complete-$torch"
}

# fetch_cuda_headers PYTHON: CUDA's headers into build/cuda-headers/RELEASE. Without a network this is no failure: a test is then skipped.
fetch_cuda_headers() {
  local wheel folder
  for wheel in "${cuda_headers[@]}"; do
    folder=build/cuda-headers/${wheel##*==}
    [[ -e $folder/cudaTypedefs.h ]] && continue
    mkdir -p "$folder"
    "$1" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: -d "$folder" "$wheel" ||
      { say "pip could not get $wheel, so its headers are not compared with the table of driver functions"; return 0; }
    "$1" - "$folder" <<'PYTHON'
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
for wheel in folder.glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".h") and "/include/" in name:
                target = folder / name.split("/include/", 1)[1]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
    wheel.unlink()
PYTHON
  done
}

# python_with_pip: a Python that can download. Debian's python3 has no pip, and build/venv may not be made yet.
python_with_pip() {
  local python
  python=$(torch_python)
  if ! "$python" -m pip --version >/dev/null 2>&1; then
    python=$PWD/build/pip-venv/bin/python
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv >&2
    [[ -x $python ]] || python3 -m venv build/pip-venv >&2
  fi
  printf '%s\n' "$python"
}

# fetch_viewer_sources: Dear ImGui and GLFW into build/viewer-sources. 54 MB to download, of which 11 MB are kept.
fetch_viewer_sources() {
  local folder=$PWD/build/viewer-sources name=${viewer_sources%%==*} version=${viewer_sources##*==} python
  local archive=${name//-/_}-$version
  [[ -e $folder/complete-$version ]] && return 0
  python=$(python_with_pip)
  rm -rf "$folder"
  mkdir -p "$folder/backend/scikit_build_core"
  # pip runs a source package's build backend to get its name, and would install that backend first. This stand-in answers instead.
  cat >"$folder/backend/scikit_build_core/build.py" <<PYTHON
import pathlib, shutil
def prepare_metadata_for_build_wheel(folder, settings=None):
    info = pathlib.Path(folder, "$archive.dist-info")
    info.mkdir()
    shutil.copy("PKG-INFO", info / "METADATA")
    return info.name
PYTHON
  printf '%s --hash=sha256:%s\n' "$viewer_sources" "$viewer_sources_sha256" >"$folder/requirements.txt"
  PYTHONPATH=$folder/backend "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation \
    --ignore-requires-python --require-hashes -r "$folder/requirements.txt" -d "$folder" >"$folder/fetch.log" 2>&1 ||
    die "pip could not get the sources of Dear ImGui and GLFW ($viewer_sources): is there a network? See $folder/fetch.log"
  tar -x -f "$folder/$archive.tar.gz" -C "$folder" --strip-components 3 --exclude '*/docs' --exclude '*/examples' --exclude '*/tests' \
    "$archive/external/imgui/imgui" "$archive/external/glfw/glfw"
  rm -r "$folder/$archive.tar.gz" "$folder/backend"
  touch "$folder/complete-$version"
}

# fetch_web_sources: the libraries that the page is compiled with, from the distribution's source packages, into build/web-sources.
fetch_web_sources() {
  local folder=$PWD/build/web-sources release package path
  [[ -e $folder/include/fmt ]] && return 0
  release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  mkdir -p "$folder/lists/partial" "$folder/include"
  # A copy of this machine's list of package sources, for source packages. The machine's own list is not changed.
  sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$folder/web.sources" ||
    die "only Debian 12's package sources are known here: put zstd and zlib into $folder by hand"
  local options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder" -o "Dir::State::lists=$folder/lists")
  (
    cd "$folder"
    apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only "libzstd/$release" zlib
  ) >"$folder/fetch.log" 2>&1 || die "apt-get could not fetch the sources of zstd and zlib; see $folder/fetch.log"
  rm -f "$folder"/*.asc  # some archives come with a signature file
  for package in libzstd:zstd zlib:zlib; do
    rm -rf "${folder:?}/${package#*:}"
    mkdir "$folder/${package#*:}"
    tar -x -f "$folder/${package%:*}"_*.orig.tar.* --strip-components 1 -C "$folder/${package#*:}"
  done
  # Only the headers of these libraries; the rest of /usr/include is for this machine, not for WebAssembly.
  for path in nlohmann stb fmt; do ln -sfn "/usr/include/$path" "$folder/include/$path"; done
}

if command -v dpkg-query >/dev/null; then
  install_packages "${build_packages[@]}" "${viewer_packages[@]}"
  [[ $with_tests == no ]] || install_packages "${test_packages[@]}"
  if [[ $with_web == yes ]]; then
    install_packages "${web_packages[@]}"
    fetch_web_sources
  fi
else
  for tool in g++ cmake ninja pkg-config python3; do
    command -v "$tool" >/dev/null || die "$tool is missing, and this is not Debian or Ubuntu: install ${build_packages[*]} by their names here"
  done
fi

fetch_viewer_sources
[[ $only_packages == no ]] || exit 0

if [[ -z ${VRAMSCOPE_PYTHON:-} ]] && ! has_torch python3; then
  make_venv build/venv "$newest_torch" numpy
fi
if [[ $with_triton == yes ]]; then
  python=$(torch_python)
  # The release of Triton that PyTorch's metadata requires.
  triton=$("$python" -c 'from importlib.metadata import requires; print(next(r.split(";")[0] for r in requires("torch") if r.startswith("triton")))') ||
    die "the PyTorch of $python does not ask for Triton"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps "$triton" || die "pip could not install $triton: is there a network?"
fi
for release in ${releases[@]+"${releases[@]}"}; do
  make_venv "build/venv-$release" "$release" 'numpy<2'  # wheels before 2.3 were built against NumPy 1
done
if [[ $with_tests == yes ]]; then
  fetch_cuda_headers "$(torch_python)"
  scripts/frameworks_venv.sh
fi
say "ready: PyTorch of $(torch_python)"
