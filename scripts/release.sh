#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prepares a release: checks the tree, sets the version, makes the archive and the release notes. It commits, tags and pushes nothing; its last
# lines are the commands for that.
#
#   scripts/release.sh 0.2.0           build/release-0.2.0: the archive, and notes.md from the section of CHANGELOG.md
#
# The tree must be clean and lint.sh must pass. CHANGELOG.md must have a section for the version with the date of today, or else text below
# "Unreleased", which becomes that section. If anything fails, CMakeLists.txt and CHANGELOG.md are as before.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

(($# == 1)) && [[ $1 != -* ]] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }

readonly version=$1
readonly today=${VRAMSCOPE_RELEASE_DATE:-$(date +%F)}  # the variable is for tests
readonly tag=v$version
readonly out=build/release-$version notes=build/release-$version/notes.md

# section HEADING: prints the text of CHANGELOG.md below the heading, without empty lines around it.
section() {
  awk -v heading="## $1" '$0 == heading { here = 1; next } /^## / { here = 0 } here' CHANGELOG.md | sed -e '/./,$!d' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

project_version() { sed -n 's/^project(vramscope VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt; }

check_tree() {
  local before changes
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "\"$version\" is no version: give three numbers, as in 0.2.0"
  before=$(project_version)
  [[ -n $before ]] || die "CMakeLists.txt has no line \"project(vramscope VERSION ...\""
  [[ $(printf '%s\n' "$before" "$version" | sort -V | tail -n 1) == "$version" ]] || die "$version is older than $before in CMakeLists.txt"
  git rev-parse --verify --quiet HEAD >/dev/null || die "this is no clone of the repository"
  changes=$(git status --porcelain) || die "git status failed"
  [[ -z $changes ]] || die "the tree is not clean: commit your changes, or remove them (git status)"
  ! git rev-parse --verify --quiet "refs/tags/$tag" >/dev/null || die "the tag $tag exists already"
}

check_changelog() {
  local heading
  heading=$(grep -m 1 -E "^## ${version//./\\.}( |\$)" CHANGELOG.md || true)
  if [[ -n $heading ]]; then
    [[ $heading == "## $version - $today" ]] || die "CHANGELOG.md has \"$heading\": its date must be today, \"## $version - $today\""
    [[ -n $(section "$version - $today") ]] || die "CHANGELOG.md has no text below \"$heading\""
  else
    [[ -n $(section Unreleased) ]] || die "CHANGELOG.md has no section for $version, and no text below \"## Unreleased\""
  fi
}

restore() { git checkout --quiet -- CMakeLists.txt CHANGELOG.md; }

set_version() {
  sed -i "s/^project(vramscope VERSION [0-9.]*/project(vramscope VERSION $version/" CMakeLists.txt
  [[ $(project_version) == "$version" ]] || die "the version in CMakeLists.txt could not be set"
  grep -q "^## $version - $today\$" CHANGELOG.md || sed -i "s/^## Unreleased\$/&\n\n## $version - $today/" CHANGELOG.md
}

# The archive has the version in its name, and its programs print it: it is built after set_version.
make_archive() {
  local archive=build/package/vramscope-$HOSTTYPE.tar.gz
  [[ -x scripts/package.sh ]] || { say "there is no scripts/package.sh: no archive"; return 0; }
  scripts/package.sh
  cp "$archive" "$out/vramscope-$version-$HOSTTYPE.tar.gz"
}

check_tree
check_changelog
status=0
scripts/lint.sh || status=$?
((status != 77)) || die "lint.sh could not run: it needs its tools (scripts/lint.sh --tools)"
((status == 0)) || die "lint.sh found something: correct it first"

trap restore EXIT
set_version
rm -rf "$out"
mkdir -p "$out"
section "$version - $today" >"$notes"
make_archive
trap - EXIT

say "$out is ready: $(ls "$out" | tr '\n' ' ')"
say "read $notes, run the tests, then:"
git diff --quiet || printf '  git commit -a -m "Release %s"\n' "$version"
printf '  git tag -a %s --cleanup=whitespace -F %s\n' "$tag" "$notes"
printf '  git push origin HEAD %s\n' "$tag"
