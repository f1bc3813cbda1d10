#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, checks the sources (lint.sh), builds, and runs the tests: unit tests and the viewer's scripts under the sanitizers, end-to-end tests on the
# release build, fuzz targets for fifteen seconds each. From the beginning, the sanitizer builds use the processor time that the other steps leave idle,
# such as the setup, which mostly downloads.
#
#   scripts/test.sh                  about half an hour on two cores
#   scripts/test.sh --quick          lint, unit tests and the end-to-end tests without PyTorch, all on the release build; no sanitizers
#   scripts/test.sh --all            also the long tests that take turns from commit to commit (tests/drawn.py), unit tests on the release build, and a
#                                    build in which gcc compares all definitions of a type (-Wodr)
#   scripts/test.sh --wheels all     the end-to-end tests also on PyTorch 2.6.0 and 2.2.2
#
# A test that fails once has failed: none runs a second time. The last line is "N passed, N failed"; exit 0 when nothing failed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh

readonly older_torch=(2.6.0 2.2.2)
quick=no
every=no
setup=(--tests)
more_pythons=()
while (($#)); do
  case $1 in
    --quick) quick=yes ;;
    --all) every=yes; export VRAMSCOPE_TEST_EVERY=1 ;;
    --wheels)
      [[ ${2:-} == all ]] || die "--wheels wants: all"
      for release in "${older_torch[@]}"; do
        setup+=(--torch "$release")
        more_pythons+=("$PWD/build/venv-$release/bin/python")
      done
      shift ;;
    *) sed -n '3,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

passed=0
failed=0
launcher=(env)  # the command that starts ctest
builder=''      # the session of build_behind, while it builds
last_behind=''  # what it builds last
count() { passed=$((passed + $1)) failed=$((failed + $2)); }

# stage NAME COMMAND...: prints what begins and how long it took. A command that fails counts as one failed test, and the next stage begins.
stage() {
  local name=$1 begin=$SECONDS
  shift
  say "$name"
  if "$@"; then say "$name: $((SECONDS - begin)) s"; else count 0 1; say "$name FAILED after $((SECONDS - begin)) s"; fi
}

# run_tests BUILD [ctest options]: adds ctest's counts to ours. Skipped tests are neither passed nor failed. Reads ctest's report, which tells more than
# its exit status.
run_tests() {
  local folder="$PWD/build/$1" tests failures skipped
  rm -f "$folder/tests.xml"
  "${launcher[@]}" ctest --test-dir "$folder" --output-on-failure --output-junit "$folder/tests.xml" --parallel "$(nproc)" "${@:2}" || true
  read -r tests failures skipped < <(python3 scripts/junit_totals.py "$folder/tests.xml") || return 1
  count $((tests - failures - skipped)) "$failures"
}

# fuzz_one TARGET SECONDS: starts from the room's own corpus (ROOM/fuzz/corpus/TARGET) and from what earlier runs here have found. The exit status goes
# into a file, because several of these run at once.
fuzz_one() {
  local name seeds
  name=$(basename "$1")
  seeds=$(find trace_format profiler -type d -path "*/fuzz/corpus/$name")
  mkdir -p "build/fuzz/$name"
  rm -f "build/fuzz/$name.status"
  local status=0
  [[ -n $seeds ]] || { echo "there is no */fuzz/corpus/$name" >"build/fuzz/$name.log"; echo 1 >"build/fuzz/$name.status"; return; }
  "$1" -max_total_time="$2" -rss_limit_mb=2048 -timeout=20 -artifact_prefix="build/fuzz/$name-" "build/fuzz/$name" "$seeds" \
    >"build/fuzz/$name.log" 2>&1 || status=$?
  echo "$status" >"build/fuzz/$name.status"
}
export -f fuzz_one

# fuzz SECONDS: all targets of the sanitizer build, as many at a time as there are cores.
fuzz() {
  local targets target name
  mapfile -t targets < <(find build/asan -name '*_fuzz' -type f -perm -u+x | sort)
  ((${#targets[@]})) || { say "no fuzz targets were built"; return 1; }
  printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c "fuzz_one {} $1"
  for target in "${targets[@]}"; do
    name=$(basename "$target")
    if [[ $(<"build/fuzz/$name.status") == 0 ]]; then
      count 1 0
      say "$name: $(grep -ao 'Done [0-9]* runs.*' "build/fuzz/$name.log" | tail -n 1)"
    else
      count 0 1
      say "$name FAILED:"
      tail -n 40 "build/fuzz/$name.log"
    fi
  done
}

# view_one SCRIPT RENDERER: one of the viewer's scripts on the sanitizer build. Its output and exit status go into files, as in fuzz_one.
view_one() {
  local name=$1-$2 leaks=1 status=0
  rm -f "build/$name.status"
  [[ $2 == egl ]] && leaks=0  # Mesa unloads its modules before LeakSanitizer looks at what they hold
  VRAMSCOPE_BIN=$PWD/build/release/bin/vramscope VRAMSCOPE_BINARY_DIR=$PWD/build/release/tests VRAMSCOPE_TEST_PYTHON=$viewer_python \
    VRAMSCOPE_VIEWER=$PWD/build/asan/bin/vramscope-viewer VRAMSCOPE_RENDERER=$2 ASAN_OPTIONS=detect_leaks=$leaks UBSAN_OPTIONS=print_stacktrace=1 \
    python3 "tests/viewer/$1.py" >"build/$name.log" 2>&1 || status=$?
  echo "$status" >"build/$name.status"
}
export -f view_one

# viewer_with_sanitizers: the viewer's scripts, once with each renderer, as many at a time as there are cores. The release build records the traces,
# and computes what the views must show.
viewer_with_sanitizers() {
  local name renderer runs=()
  [[ -x build/asan/bin/vramscope-viewer ]] || { say "the viewer was not built, for its libraries are not installed"; return 0; }
  for name in viewer_test gpu_views_test; do
    for renderer in software egl; do runs+=("$name $renderer"); done
  done
  printf '%s\n' "${runs[@]}" | viewer_python=$(torch_python) xargs -P "$(nproc)" -I{} bash -c "view_one {}"
  for name in "${runs[@]}"; do
    if [[ $(<"build/${name/ /-}.status") == 0 ]]; then
      count 1 0
    else
      count 0 1
      say "${name/ / with } FAILED:"
      tail -n 40 "build/${name/ /-}.log"
    fi
  done
}

# build_behind PRESET...: builds these in the background, one after the other, with the processor time that the tests leave idle. `built PRESET` waits
# for one, shows its output, and fails if it failed.
build_behind() {
  local preset
  mkdir -p build
  last_behind=${*: -1}
  for preset in "$@"; do rm -f "build/behind-$preset.status"; done
  export -f build_asan build_tsan configure build torch_python say
  # In a session of its own: ninja's compilers stay in it, although each has its own process group.
  setsid bash -c '
    set -euo pipefail
    chrt --idle --pid 0 $$ || renice -n 19 -p $$ || true
    echo 19 >"/proc/$$/autogroup" || true  # the kernel schedules a session as one group, which is not idle just because its tasks are
    for preset in "$@"; do
      status=0
      "build_$preset" >"build/behind-$preset.log" 2>&1 || status=$?
      echo "$status" >"build/behind-$preset.status"
    done' "$0" "$@" </dev/null >/dev/null 2>&1 &
  builder=$!
  trap '[[ -z $builder ]] || pkill -s "$builder" || true' EXIT  # ends all processes of its session that still run
}

built() {
  while [[ ! -s build/behind-$1.status ]]; do
    kill -0 "$builder" 2>/dev/null || [[ -s build/behind-$1.status ]] || { say "what builds behind the tests is gone"; return 1; }
    sleep 0.2
  done
  if [[ $1 == "$last_behind" ]]; then
    wait "$builder" || true  # after that, its number may belong to another process
    builder=''
  fi
  cat "build/behind-$1.log" >&2
  return "$(<"build/behind-$1.status")"
}

# lint: counts as one test. Without a network its tools cannot be installed, and it is neither passed nor failed.
lint() {
  local status=0
  scripts/lint.sh || status=$?
  case $status in
    0) count 1 0 ;;
    77) say "lint is skipped" ;;
    *) return "$status" ;;
  esac
}

# with_unit_tests: true if the release build has the unit tests. The build with the address sanitizer always has them, so CI builds and runs them once.
with_unit_tests() { [[ $quick == yes || $every == yes ]]; }

# The collector's tests compile the bridge for the PyTorch at hand; the other builds have no PyTorch. A build for one run of all tests has larger
# units (cmake/ReadTogether.cmake) than one that is repeated after each edit.
build_release() {
  local joined unit_tests=ON unit_files=12 targets=(all)
  joined=$(IFS=:; printf '%s' "${more_pythons[*]-}")
  with_unit_tests || { unit_tests=OFF; unit_files=40; targets+=(collector_test); }
  configure release -DVRAMSCOPE_TEST_PYTHONS="$joined" -DVRAMSCOPE_UNIT_TESTS="$unit_tests" -DVRAMSCOPE_UNITY_FILES="$unit_files" &&
    build release --target "${targets[@]}"
}
# The builds behind the tests: one compiler for each core. Two builds run at the same time, and a compiler needs up to 1.4 GB.
build_asan() { configure asan && build asan --parallel "$(nproc)" --target unit_tests fuzzers; }
# Not optimized, so no test runs its programs: it only matters that they link.
build_odr() { configure odr && build odr --target vramscope; }
build_tsan() { configure tsan && build tsan --parallel "$(nproc)" --target $threaded_targets; }

# Rooms whose threads share memory. The viewer's model needs nearly all of the analysis built a third time, so only --all has it.
threaded=(injector_core collector)
[[ $every == no ]] || threaded+=(model viewer_model)
export threaded_targets="${threaded[*]/%/_test}"

# tensorflow_behind, with_tensorflow: installs TensorFlow in the background, and tells the tests where it is once it is complete.
tensorflow_behind() {
  scripts/tensorflow_venv.sh >build/tensorflow-venv.log 2>&1 &
  tensorflow=$!
}
with_tensorflow() {
  local python=$PWD/build/venv-tensorflow/bin/python
  wait "$tensorflow" || true
  cat build/tensorflow-venv.log
  [[ ! -x $python || -e build/venv-tensorflow/incomplete ]] || export VRAMSCOPE_TENSORFLOW_PYTHON=${VRAMSCOPE_TENSORFLOW_PYTHON:-$python}
}

if [[ $quick == no ]]; then
  scripts/setup.sh --tests --packages
  build_behind asan tsan
fi
scripts/setup.sh "${setup[@]}"
[[ $quick == yes ]] || tensorflow_behind
stage "lint" lint
stage "build release" build_release
[[ $quick == yes ]] || with_tensorflow
if [[ $quick == yes ]]; then
  stage "test release" run_tests release -L 'unit|scripts|quick'
else
  if with_unit_tests; then stage "test release" run_tests release; else stage "test release" run_tests release -L 'e2e|shim|scripts|samples|torch'; fi
  stage "build with the address and undefined-behavior sanitizers" built asan
  stage "test with the address and undefined-behavior sanitizers" run_tests asan -L unit
  stage "use the viewer with these sanitizers" viewer_with_sanitizers
  stage "fuzz" fuzz 15
  if [[ $every == yes ]]; then stage "compare the definitions of all types (-Wodr)" build_odr; fi
  stage "build with the thread sanitizer" built tsan
  # ThreadSanitizer needs fixed addresses, and dies at the start if the kernel randomizes more bits than it expects.
  if setarch -R true 2>/dev/null; then launcher=(setarch -R); fi
  stage "test with the thread sanitizer" run_tests tsan -R "^($(IFS='|'; printf '%s' "${threaded[*]}"))$"
fi

echo "$passed passed, $failed failed"
((failed == 0))
