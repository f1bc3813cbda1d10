#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the rules that a compiler does not check. Prints one line for each check; a check that fails lists what is wrong.
#
#   scripts/lint.sh                   all of: format ruff types names layers docs commits. About 20 seconds on two cores
#   scripts/lint.sh ruff names        only these
#   scripts/lint.sh --fix             first corrects what clang-format and ruff can correct
#   scripts/lint.sh --tidy            also clang-tidy on the C++ files that changed; needs a release build
#   scripts/lint.sh --tools           only installs the tools
#
# The tools are installed from PyPI into build/lint-venv, each at one version, so that everybody gets the same answer.
# Exit 0: nothing is wrong; 1: something is; 77: the tools are missing and cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly tools=(clang-format==14.0.6 ruff==0.8.6 mypy==1.14.1)
readonly venv=build/lint-venv
readonly longest_subject=70

checks=()
with_fix=no
with_tidy=no
only_tools=no
while (($#)); do
  case $1 in
    format | ruff | types | names | layers | docs | commits) checks+=("$1") ;;
    --fix) with_fix=yes ;;
    --tidy) with_tidy=yes ;;
    --tools) only_tools=yes ;;
    *) sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done
((${#checks[@]})) || checks=(format ruff types names layers docs commits)
[[ $with_tidy == no ]] || checks+=(tidy)

all_installed="$venv/complete-$(IFS=-; printf '%s' "${tools[*]}")"

# True if these versions are there and run. They do not run after the folder was moved, or its Python was removed.
have_tools() { [[ -e $all_installed ]] && "$venv/bin/clang-format" --version >/dev/null 2>&1; }

# install_tools: once for each set of versions. Two runs at a time wait for each other.
install_tools() {
  have_tools && return 0
  mkdir -p build
  exec 9>build/lint-venv.lock
  flock 9
  have_tools && return 0
  rm -rf "$venv"
  python3 -m venv "$venv" >/dev/null 2>&1 || { say "python3 cannot make a virtual environment: install python3-venv."; exit 77; }
  "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 20 "${tools[@]}" >build/lint-venv.log 2>&1 ||
    { say "pip could not install ${tools[*]}: is there a network? Its messages are in build/lint-venv.log."; exit 77; }
  touch "$all_installed"
  exec 9>&-
}

# True if git reads this tree: not in an archive, nor where git is missing or refuses a folder of another user.
is_clone() { git rev-parse --verify --quiet HEAD >/dev/null 2>&1; }

# files PATTERN...: the files of the working tree, also those not yet added; in a tree without git, all but the build folders.
files() {
  if is_clone; then
    git ls-files --cached --others --exclude-standard -- "$@" | while IFS= read -r path; do [[ ! -e $path ]] || printf '%s\n' "$path"; done
  else
    local pattern names=()
    for pattern in "$@"; do names+=(-o -name "$pattern"); done
    find . -path './build*' -prune -o -type f \( "${names[@]:1}" \) -print | sed 's/^\.\///' | sort
  fi
}

# last_old_commit: prints the newest commit that the main branch of origin has, or else the 20th before HEAD.
last_old_commit() {
  git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD origin/HEAD 2>/dev/null || git rev-parse --verify --quiet HEAD~20 || git rev-list --max-parents=0 HEAD | tail -n 1
}

check_format() {
  local format=$venv/bin/clang-format paths wrong
  mapfile -t paths < <(files '*.h' '*.cc' '*.cpp' '*.c')
  ((${#paths[@]})) || { echo "There are no C++ files to check."; return 1; }
  if [[ $with_fix == yes ]]; then printf '%s\n' "${paths[@]}" | xargs -P "$(nproc)" -n 40 "$format" -i; fi
  wrong=$(printf '%s\n' "${paths[@]}" | xargs -P "$(nproc)" -n 40 "$format" --dry-run 2>&1 | sed -n 's/^\([^ ]*:[0-9]*\):[0-9]*: warning: .*/\1: not formatted/p' | sort -u)
  "$format" --dump-config >/dev/null || return 1  # clang-format prints what it cannot read
  [[ -z $wrong ]] || { printf '%s\n' "$wrong" "Correct them with scripts/lint.sh --fix."; return 1; }
}

check_ruff() {
  local options=()
  [[ $with_fix == no ]] || options=(--fix)
  "$venv/bin/ruff" check --quiet --cache-dir build/lint-cache/ruff --output-format concise ${options[@]+"${options[@]}"} .
}

check_types() { "$venv/bin/mypy" --no-error-summary; }

check_names() { python3 scripts/check_names.py; }

check_layers() { python3 scripts/check_layers.py; }

check_docs() { python3 scripts/check_docs.py; }

# long_subjects REVISION...: prints the commits whose subjects have too many characters.
long_subjects() {
  local LC_ALL=C.UTF-8 hash subject
  git log --no-merges --format='%h %s' "$@" | while read -r hash subject; do
    case $subject in 'fixup! '* | 'squash! '* | 'amend! '* | 'Revert "'*) continue ;; esac
    ((${#subject} <= longest_subject)) || printf '%s %s\n' "$hash" "$subject"
  done
}

# Commits that origin/main has, or that are older than the hook, cannot be changed any more: they are only counted.
check_commits() {
  if ! is_clone; then
    echo "This is no clone: there are no commits to check."
    return 0
  fi
  local old long count
  mapfile -t old < <(last_old_commit && git log -1 --diff-filter=A --format=%H -- scripts/commit-msg)
  ((${#old[@]} == 2)) || old+=(HEAD)  # the hook is not committed yet
  count=$(long_subjects "${old[@]}" | wc -l)
  ((count == 0)) || echo "Warning: $count older commits have subjects of more than $longest_subject characters."
  long=$(long_subjects HEAD --not "${old[@]}")
  [[ -z $long ]] || { printf '%s\n' "$long" "These subjects have more than $longest_subject characters. Link scripts/commit-msg as a hook."; return 1; }
}

# What changed since origin/main, or since the last commit in a clone without it.
check_tidy() {
  local database=build/release base paths
  [[ -e $database/compile_commands.json ]] || { echo "Skipped: there is no $database/compile_commands.json. scripts/test.sh makes it."; return 0; }
  command -v clang-tidy >/dev/null || { echo "Skipped: clang-tidy is not installed."; return 0; }
  is_clone || { echo "Skipped: this is no clone."; return 0; }
  base=$(git merge-base HEAD origin/main 2>/dev/null) || base=HEAD
  mapfile -t paths < <(git diff --name-only --diff-filter=d "$base" -- '*.cc' '*.cpp')
  ((${#paths[@]})) || { echo "No C++ file changed."; return 0; }
  printf '%s\n' "${paths[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$database" 2>/dev/null
}

install_tools
[[ $only_tools == no ]] || exit 0
failed=()
for check in "${checks[@]}"; do
  begin=${EPOCHREALTIME/./}
  status=0
  output=$("check_$check" 2>&1) || status=$?
  [[ -z $output ]] || printf '%s\n' "$output"
  tenths=$(((${EPOCHREALTIME/./} - begin) / 100000))
  took="$((tenths / 10)).$((tenths % 10)) s"
  if ((status == 0)); then say "$check: $took"; else failed+=("$check"); say "$check FAILED: $took"; fi
done
((${#failed[@]} == 0)) || die "wrong: ${failed[*]}"
