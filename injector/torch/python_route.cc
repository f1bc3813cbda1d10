// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/python_route.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/hot.h"
#include "injector/core/options.h"
#include "injector/torch/readiness.h"

namespace vramscope::injector {

VRAMSCOPE_HOT constinit std::atomic<bool> shim_undecided = true;

namespace {

constexpr char kRouteName[] = "Python shim by pending call";
constexpr int kFileInput = 257;  // Py_file_input
constexpr int kTries = 100;      // a queue of pending calls that is full is empty again a moment later
constexpr timespec kNap = {0, 1'000'000};

// The functions of the C API that are used here; the same from Python 3.8 on, all exported.
struct Python {
  int (*add_pending_call)(int (*function)(void*), void* argument);
  void* (*new_dictionary)();
  void* (*run)(const char* source, int start, void* globals, void* locals);
  void (*drop)(void* object);
  void* (*item)(void* dictionary, const char* key);
};
constinit Python python = {};

// Recording on demand. kIn: asked to start. kAsked: asked to stop. kLater: it could not stop at that moment.
enum class ShimState : uint8_t { kOut, kIn, kAsked, kLater };
constinit std::atomic<ShimState> shim_state = ShimState::kOut;
constinit std::atomic<bool> shim_wants_later = false;  // asked to start, but it could not at that moment

template <typename Function>
bool Bind(Function& function, const char* name) {
  function = reinterpret_cast<Function>(FindSymbol(name));
  return function != nullptr;
}

bool BindPython() {
  return Bind(python.new_dictionary, "PyDict_New") && Bind(python.run, "PyRun_String") &&
         Bind(python.drop, "Py_DecRef") && Bind(python.item, "PyDict_GetItemString") &&
         Bind(python.add_pending_call, "Py_AddPendingCall");
}

// Writes the source that imports the shim and does `what` with it. Its folder is passed as hexadecimal
// digits, so that no path needs quoting. False if it does not fit.
bool WriteSource(char* source, size_t capacity, const char* what) {
  char folder[2048];
  char digits[2 * sizeof folder];
  const size_t length = Option("shim", folder, sizeof folder);
  for (size_t i = 0; i < length; ++i)
    snprintf(digits + 2 * i, 3, "%02x", static_cast<unsigned char>(folder[i]));
  digits[2 * length] = 0;
  const int written = snprintf(source, capacity,
                               "import sys\n"
                               "folder = bytes.fromhex('%s').decode('utf-8', 'surrogateescape')\n"
                               "sys.path.insert(0, folder)\n"
                               "try:\n"
                               "    import vramscope_shim\n"
                               "    %s\n"
                               "except Exception:\n"
                               "    pass\n"
                               "finally:\n"
                               "    sys.path.remove(folder)\n",
                               digits, what);
  return length > 0 && written > 0 && static_cast<size_t>(written) < capacity;
}

// The result of running a source in the interpreter's main thread.
enum class Ran { kDone, kLater, kRaised };

// kRaised: an exception for the program (KeyboardInterrupt) was raised here; the caller passes it on. kLater:
// the source must not run now, and has set the variable `later`.
Ran RunSource(const char* source) {
  void* const globals = python.new_dictionary();
  if (globals == nullptr) return Ran::kRaised;
  void* const result = python.run(source, kFileInput, globals, globals);
  const bool later = result != nullptr && python.item(globals, "later") != nullptr;
  python.drop(globals);
  if (result == nullptr) return Ran::kRaised;
  python.drop(result);
  return later ? Ran::kLater : Ran::kDone;
}

int StartShimWith(const char* what) {
  char source[8192];
  if (!WriteSource(source, sizeof source, what)) return 0;
  const Ran ran = RunSource(source);
  if (ran == Ran::kRaised) return -1;
  shim_wants_later.store(ran == Ran::kLater, std::memory_order_release);
  if (ran == Ran::kDone) RecordCoverage(kRouteName, trace::CoverageState::kProven, nullptr);
  return 0;
}

int StartShim(void*) { return StartShimWith("vramscope_shim.start()"); }

// First removes what an earlier recording could not remove in time.
int StartShimInRunningProgram(void*) {
  return StartShimWith(
      "if vramscope_shim.is_safe(): vramscope_shim.stop(), vramscope_shim.start(attached=True)\n"
      "    else: later = True");
}

// Does not read the option "shim": the session may have ended when this finally runs.
int StopShim(void*) {
  const Ran ran = RunSource(
      "import sys\n"
      "shim = sys.modules.get('vramscope_shim')\n"
      "if shim is not None:\n"
      "    if shim.is_safe(): shim.stop()\n"
      "    else: later = True\n");
  ShimState asked = ShimState::kAsked;  // if not, the next recording has asked it to start
  shim_state.compare_exchange_strong(asked, ran == Ran::kLater ? ShimState::kLater : ShimState::kOut,
                                     std::memory_order_release);
  return ran == Ran::kRaised ? -1 : 0;
}

}  // namespace

void ShimIsDecided() { shim_undecided.store(false, std::memory_order_relaxed); }

void AskPythonForShim() {
  char folder[2];
  const bool wanted = Option("shim", folder, sizeof folder) > 0 && PythonRuns() && BindPython();
  if (!shim_undecided.exchange(false, std::memory_order_relaxed) || !wanted) return;
  // A full queue of pending calls: try again at the next block.
  if (python.add_pending_call(StartShim, nullptr) != 0) shim_undecided.store(true, std::memory_order_relaxed);
}

void StartShimInPython() {
  char folder[2];
  ShimIsDecided();
  if (Option("shim", folder, sizeof folder) == 0 || !BindPython()) return;
  shim_state.store(ShimState::kIn, std::memory_order_relaxed);
  for (int tries = 0; tries < kTries && python.add_pending_call(StartShimInRunningProgram, nullptr) != 0;
       ++tries)
    nanosleep(&kNap, nullptr);
}

void StartShimInPythonIfItWasNoMoment() {
  if (shim_wants_later.exchange(false, std::memory_order_acq_rel)) StartShimInPython();
}

bool StopShimInPython(int patience_ms) {
  shim_wants_later.store(false, std::memory_order_relaxed);
  for (int waited = 0;; ++waited) {
    const ShimState state = shim_state.load(std::memory_order_acquire);
    if (state == ShimState::kOut || !PythonRuns()) return true;
    if (state != ShimState::kAsked) {
      shim_state.store(ShimState::kAsked, std::memory_order_relaxed);
      if (python.add_pending_call(StopShim, nullptr) != 0)
        shim_state.store(ShimState::kLater, std::memory_order_relaxed);
    }
    if (waited == patience_ms) return false;
    nanosleep(&kNap, nullptr);
  }
}

}  // namespace vramscope::injector
