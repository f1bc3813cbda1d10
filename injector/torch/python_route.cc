// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/python_route.h"

#include <stdio.h>
#include <string.h>

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

// The functions of the C API that are used here; the same from Python 3.8 on, all exported.
struct Python {
  int (*add_pending_call)(int (*function)(void*), void* argument);
  void* (*new_dictionary)();
  void* (*run)(const char* source, int start, void* globals, void* locals);
  void (*drop)(void* object);
};
constinit Python python = {};

template <typename Function>
bool Bind(Function& function, const char* name) {
  function = reinterpret_cast<Function>(FindSymbol(name));
  return function != nullptr;
}

bool BindPython() {
  return Bind(python.new_dictionary, "PyDict_New") && Bind(python.run, "PyRun_String") &&
         Bind(python.drop, "Py_DecRef") && Bind(python.add_pending_call, "Py_AddPendingCall");
}

// Writes the source that starts the shim; its folder travels as hexadecimal digits, so that no path needs
// quoting. False when it does not fit.
bool WriteSource(char* source, size_t capacity) {
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
                               "    vramscope_shim.start()\n"
                               "except Exception:\n"
                               "    pass\n"
                               "finally:\n"
                               "    sys.path.remove(folder)\n",
                               digits);
  return length > 0 && written > 0 && static_cast<size_t>(written) < capacity;
}

// Runs in the interpreter's main thread. What is raised here for the program (KeyboardInterrupt) goes on to
// it: -1 says that there is an error.
int StartShim(void*) {
  char source[8192];
  if (!WriteSource(source, sizeof source)) return 0;
  void* const globals = python.new_dictionary();
  if (globals == nullptr) return -1;
  void* const result = python.run(source, kFileInput, globals, globals);
  python.drop(globals);
  if (result == nullptr) return -1;
  python.drop(result);
  RecordCoverage(kRouteName, trace::CoverageState::kProven, nullptr);
  return 0;
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

}  // namespace vramscope::injector
