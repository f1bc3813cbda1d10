#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation as a static site in build/site. A link that leads nowhere, or a page that the menu lacks, is an error.
#
#   scripts/docs_site.sh            build/site/index.html; it can be copied to any web server, or opened from the disk
#   scripts/docs_site.sh --serve    also shows it on http://127.0.0.1:8000, rebuilt after each change
#
# MkDocs Material comes from PyPI, once, into build/docs-venv.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly tools=(mkdocs==1.6.1 mkdocs-material==9.8.2 pymdown-extensions==13.1.2)
readonly venv=build/docs-venv
readonly installed="$venv/complete-$(IFS=-; printf '%s' "${tools[*]}")"

if [[ ! -e $installed ]]; then
  rm -rf "$venv"
  mkdir -p build
  python3 -m venv "$venv" >/dev/null 2>&1 || die "python3 cannot make a virtual environment: install python3-venv."
  "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 20 "${tools[@]}" >build/docs-venv.log 2>&1 ||
    die "pip could not install ${tools[*]}: is there a network? Its messages are in build/docs-venv.log."
  touch "$installed"
fi
export NO_MKDOCS_2_WARNING=1
case ${1:-} in
  '')
    # Not --quiet: it also hides the warnings that --strict counts.
    "$venv/bin/mkdocs" build --strict >build/docs-site.log 2>&1 || { grep -E '^(WARNING|ERROR)|Aborted|Error' build/docs-site.log >&2; die "the site was not built"; }
    say "build/site/index.html"
    ;;
  --serve) "$venv/bin/mkdocs" serve --strict ;;
  *) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
