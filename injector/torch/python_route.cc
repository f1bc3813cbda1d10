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
};
constinit Python python = {};

constinit std::atomic<bool> shim_is_out = true;

template <typename Function>
bool Bind(Function& function, const char* name) {
  function = reinterpret_cast<Function>(FindSymbol(name));
  return function != nullptr;
}

bool BindPython() {
  return Bind(python.new_dictionary, "PyDict_New") && Bind(python.run, "PyRun_String") &&
         Bind(python.drop, "Py_DecRef") && Bind(python.add_pending_call, "Py_AddPendingCall");
}

// Writes the source that imports the shim and does `what` with it; its folder travels as hexadecimal digits,
// so that no path needs quoting. False when it does not fit.
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
                               "    vramscope_shim.%s\n"
                               "except Exception:\n"
                               "    pass\n"
                               "finally:\n"
                               "    sys.path.remove(folder)\n",
                               digits, what);
  return length > 0 && written > 0 && static_cast<size_t>(written) < capacity;
}

// Runs in the interpreter's main thread. What is raised here for the program (KeyboardInterrupt) goes on to
// it: false says that there is an error.
bool RunSource(const char* source) {
  void* const globals = python.new_dictionary();
  if (globals == nullptr) return false;
  void* const result = python.run(source, kFileInput, globals, globals);
  python.drop(globals);
  if (result == nullptr) return false;
  python.drop(result);
  return true;
}

int StartShim(void*) {
  char source[8192];
  if (!WriteSource(source, sizeof source, "start()")) return 0;
  if (!RunSource(source)) return -1;
  RecordCoverage(kRouteName, trace::CoverageState::kProven, nullptr);
  return 0;
}

int StartShimInRunningProgram(void*) {
  char source[8192];
  if (!WriteSource(source, sizeof source, "start(attached=True)")) return 0;
  if (!RunSource(source)) return -1;
  RecordCoverage(kRouteName, trace::CoverageState::kProven, nullptr);
  return 0;
}

// Not by the option: the session may have ended when this runs at last.
int StopShim(void*) {
  const bool done = RunSource(
      "import sys\n"
      "shim = sys.modules.get('vramscope_shim')\n"
      "if shim is not None: shim.stop()\n");
  shim_is_out.store(true, std::memory_order_release);
  return done ? 0 : -1;
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
  for (int tries = 0; tries < kTries && python.add_pending_call(StartShimInRunningProgram, nullptr) != 0;
       ++tries)
    nanosleep(&kNap, nullptr);
}

void StopShimInPython(int patience_ms) {
  if (python.add_pending_call == nullptr || !PythonRuns()) return;
  shim_is_out.store(false, std::memory_order_relaxed);
  if (python.add_pending_call(StopShim, nullptr) != 0) return;
  for (int waited = 0; waited < patience_ms && !shim_is_out.load(std::memory_order_acquire); ++waited)
    nanosleep(&kNap, nullptr);
}

}  // namespace vramscope::injector
