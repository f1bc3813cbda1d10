#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Debian package from the files of the wheel: one package for Debian 11 and newer and Ubuntu 20.04 and newer.
#
#   scripts/deb.sh                     build/wheel/vramscope_VERSION_amd64.deb
#   scripts/deb.sh --out DIR           the package goes there
#   scripts/deb.sh --bridges newest    other options are those of scripts/wheel.sh, which runs first
#   scripts/deb.sh --quick             without compression, for tests
#   scripts/deb.sh --tree              packs the files of the last wheel, and does not make the wheel again
#
#   TREE/bin, lib, include, share      /usr/bin, ...
#   site-packages/vramscope            /usr/lib/python3/dist-packages/vramscope, for every python3 of the system
#   licenses                           /usr/share/doc/vramscope/copyright, one after the other
#
# Equal files make equal packages: their time is $SOURCE_DATE_EPOCH, or 1980. Exit codes are those of scripts/wheel.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly work=build/wheel
readonly tree=$work/tree stage=$work/deb licenses=$work/licenses
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800}

out=$work
make_wheel=yes
compression=xz
for_wheel=()
while (($#)); do
  case $1 in
    --out) out=${2:?--out wants a folder}; shift ;;
    --bridges) for_wheel+=("$1" "${2:?--bridges wants all, newest or none}"); shift ;;
    --build) for_wheel+=("$1") ;;
    --quick) compression=none ;;
    --tree) make_wheel=no ;;
    *) sed -n '3,16s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done
command -v dpkg-deb >/dev/null || { say "dpkg-deb is missing: apt-get install dpkg"; exit 77; }
[[ $make_wheel == no ]] || scripts/wheel.sh "${for_wheel[@]}" || exit $?
[[ -x $tree/bin/vramscope && -d $licenses ]] || die "$tree is not complete: run this script without --tree"

version=$("$tree/bin/vramscope" --version | awk '{ print $2; exit }')
summary=$(sed -n 's/^project(vramscope .* DESCRIPTION "\([^"]*\)".*/\1/p' CMakeLists.txt)

# Copies the files to where Debian expects them. No Python bytecode is made in advance, because several Pythons share the folder.
stage_files() {
  local packages=$stage/usr/lib/python3/dist-packages
  rm -rf "$stage"
  mkdir -p "$stage/DEBIAN" "$packages" "$stage/usr/share/doc/vramscope"
  cp -a "$tree/." "$stage/usr/"
  mv "$stage/usr/share/vramscope/site-packages/vramscope" "$packages/"
  rmdir "$stage/usr/share/vramscope/site-packages"
  find "$stage" -name __pycache__ -prune -exec rm -rf {} +
  find "$stage/usr/share/man" -type f -exec gzip -9n {} +
}

# pip and pytest find the package by these: its version, and the entry point of the plugin.
describe_to_python() {
  local information=$stage/usr/lib/python3/dist-packages/vramscope-$version.dist-info
  mkdir "$information"
  printf 'Metadata-Version: 2.1\nName: vramscope\nVersion: %s\nSummary: %s\n' "$version" "$summary" >"$information/METADATA"
  printf '[pytest11]\nvramscope = vramscope.pytest_plugin\n' >"$information/entry_points.txt"
  echo dpkg >"$information/INSTALLER"
}

write_copyright() {
  local license
  for license in "$licenses/LICENSE" "$licenses"/*.txt; do
    printf '==== %s\n\n' "$(basename "$license" .txt)" | sed 's/LICENSE/vramscope/'
    cat "$license"
    printf '\n'
  done >"$stage/usr/share/doc/vramscope/copyright"
}

# The package only depends on the C library; the viewer loads OpenGL and X11 if they are there.
write_control() {
  cat >"$stage/DEBIAN/control" <<CONTROL
Package: vramscope
Version: $version
Architecture: amd64
Maintainer: ${DEBFULLNAME:-vramscope developers} <${DEBEMAIL:-vramscope@example.invalid}>
Installed-Size: $(du -sk --exclude=DEBIAN "$stage" | cut -f1)
Depends: libc6 (>= 2.28)
Recommends: python3 (>= 3.8)
Suggests: libegl1, libopengl0, libx11-6
Section: devel
Priority: optional
Description: $summary
 Records every allocation of a PyTorch program, in Python or in LibTorch C++,
 and reports what each byte is: parameter, gradient, optimizer state,
 activation, input, temporary and more. Dry runs need no GPU.
CONTROL
}

stage_files
describe_to_python
write_copyright
write_control
chmod -R u+rwX,go+rX,go-w "$stage"
mkdir -p "$out"
package=$out/vramscope_${version}_amd64.deb
dpkg-deb --root-owner-group -Z"$compression" --build "$stage" "$package" >"$work/deb.log" 2>&1 || { cat "$work/deb.log" >&2; die "dpkg-deb failed"; }
say "$package, $(du -h "$package" | cut -f1)"
