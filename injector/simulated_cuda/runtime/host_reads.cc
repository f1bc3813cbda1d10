// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/host_reads.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "injector/simulated_cuda/runtime/call.h"
#include "injector/simulated_cuda/runtime/comparisons.h"
#include "injector/simulated_cuda/runtime/registry.h"

namespace vramscope::simulated {
namespace {

// Counts of rows are 8 bytes, GradScaler and isfinite read 4 or 1, unique reads three numbers. Larger reads
// are data.
constexpr size_t kLargestValue = 64;
// Counts of tokens for each of many experts: 8 bytes each. They are reported without a place.
constexpr size_t kLargestVector = 64 << 10;
constexpr size_t kMostPlaces = 1000;
constexpr uint64_t kOften =
    100'000;  // reads by one line; a loop that reads this often without a step waits forever

thread_local const void* last_kernel = nullptr;
thread_local const void* kernel_before = nullptr;

bool Named(const char* kernel, const char* part) { return std::strstr(kernel, part) != nullptr; }

// Kernels of operators that compute the size of their result: nonzero, masked_select, unique, ... As in
// mangled names.
bool FindsSizes(const char* kernel) {
  for (const char* const part :
       {"NonZeroOp", "nonzero", "unique", "Unique", "DeviceSelect", "DeviceRunLength", "adjacent_difference",
        "repeat_interleave", "3rle6encode"}) {
    if (Named(kernel, part)) return true;
  }
  return false;
}

// The sum of the partial counts of the kernel before it: CUB counts large inputs in two steps.
bool SumsUpSizes(const char* kernel) {
  return kernel_before != nullptr && Named(kernel, "DeviceReduceSingleTile") &&
         FindsSizes(KernelName(kernel_before));
}

// Kernels of unique() and similar operators, which count runs of equal values. Values are zeros here, so
// there is one run. A count of 0 is impossible on a GPU, and PyTorch indexes by the count.
bool CountsRuns(const char* kernel) {
  return (Named(kernel, "DeviceSelect") && Named(kernel, "equal_to")) || Named(kernel, "3rle6encode");
}

// Kernels that check whether something holds for all elements: all(), and the product with which PyTorch
// checks for finite values (isfinite in aten/src/ATen/native/TensorCompare.cpp). For one value there is
// nothing to reduce after it.
bool AsksWhetherAll(const char* kernel) {
  return Named(kernel, "and_kernel") || Named(kernel, "10MulFunctorIbE");
}

// The part of Python's C API that we need, stable from 3.9 on. Empty in a program without Python.
struct Python {
  using Object = void*;
  int (*is_initialized)();
  Object (*this_thread)();
  int (*ensure)();
  void (*release)(int);
  Object (*frame)();
  Object (*back)(Object);
  Object (*code)(Object);
  int (*line)(Object);
  Object (*attribute)(Object, const char*);
  const char* (*utf8)(Object);
  void (*forget)(Object);
  void (*clear_error)();
  Object (*module)(const char*);
  Object (*call_method)(Object, const char*, const char*, ...);
  int (*call_later)(int (*)(void*), void*);
  bool complete = false;
};

template <typename Function>
bool Find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

Python FindPython() {
  Python python = {};
  python.complete =
      Find(python.is_initialized, "Py_IsInitialized") &&
      Find(python.this_thread, "PyGILState_GetThisThreadState") && Find(python.ensure, "PyGILState_Ensure") &&
      Find(python.release, "PyGILState_Release") && Find(python.frame, "PyEval_GetFrame") &&
      Find(python.back, "PyFrame_GetBack") && Find(python.code, "PyFrame_GetCode") &&
      Find(python.line, "PyFrame_GetLineNumber") && Find(python.attribute, "PyObject_GetAttrString") &&
      Find(python.utf8, "PyUnicode_AsUTF8") && Find(python.forget, "Py_DecRef") &&
      Find(python.clear_error, "PyErr_Clear") && Find(python.module, "PyImport_ImportModule") &&
      Find(python.call_method, "PyObject_CallMethod") && Find(python.call_later, "Py_AddPendingCall");
  return python;
}

const Python& ThePython() {
  static const Python python = FindPython();
  return python;
}

struct Place {
  std::string file;
  int line = 0;
  bool of_scaler = false;  // GradScaler looks whether gradients are finite: memory does not depend on it
};

// PyTorch, or a package of ours that calls it.
bool InTorch(const std::string& file) {
  for (const char* const folder : {"/torch/", "/vramscope_core/", "/vramscope_shim", "/vramscope_dryrun/",
                                   "/vramscope_program/", "/vramscope_try/"}) {
    if (file.find(folder) != std::string::npos) return true;
  }
  return file.rfind("<frozen", 0) == 0;
}

// The innermost frame of the program itself, outside of PyTorch. The thread holds the GIL.
Place PlaceInProgram(const Python& python) {
  Place place;
  Python::Object frame = python.frame();
  bool borrowed = true;
  while (frame != nullptr) {
    const Python::Object code = python.code(frame);
    const Python::Object name = code != nullptr ? python.attribute(code, "co_filename") : nullptr;
    const char* const text = name != nullptr ? python.utf8(name) : nullptr;
    const std::string file = text != nullptr ? text : "";
    if (text == nullptr) python.clear_error();
    if (name != nullptr) python.forget(name);
    if (code != nullptr) python.forget(code);
    if (file.find("grad_scaler.py") != std::string::npos) place.of_scaler = true;
    const bool found = !InTorch(file);
    if (found) {
      place.file = file;
      place.line = python.line(frame);
    }
    const Python::Object next = found ? nullptr : python.back(frame);
    if (!borrowed) python.forget(frame);
    borrowed = false;
    frame = next;
  }
  return place;
}

// Empty for threads that Python does not know, and while Python shuts down.
Place ProgramPlace() {
  const Python& python = ThePython();
  if (!python.complete || python.is_initialized() == 0 || python.this_thread() == nullptr) return {};
  const int state = python.ensure();
  const Place place = PlaceInProgram(python);
  python.release(state);
  return place;
}

// Reports to vramscope_dryrun, which may end the program with an exception in the main thread. Python calls
// this between two of its instructions; it takes ownership of `place`.
int TellOfReads(void* place) {
  const auto* const told = static_cast<Place*>(place);
  const Python& python = ThePython();
  bool raised = false;
  if (const Python::Object module = python.module("vramscope_dryrun.waiting"); module != nullptr) {
    const Python::Object answer =
        python.call_method(module, "read_often", "si", told->file.c_str(), told->line);
    raised = answer == nullptr;
    if (!raised) python.forget(answer);
    python.forget(module);
  } else {
    python.clear_error();  // this is not a dry run
  }
  delete told;
  return raised ? -1 : 0;
}

struct Reads {
  std::mutex mutex;
  std::map<std::tuple<bool, std::string, int>, uint64_t> counts;  // (sizes, file, line)
  bool of_vectors = false;
};

Reads& TheReads() {
  static auto* const reads = new Reads;
  return *reads;
}

// Writes how many elements were found, if vramscope_dryrun has computed that.
bool PutToldCount(void* value, size_t bytes) {
  int64_t count = 0;
  if (TheDriver() == nullptr || TheDriver()->vramscope_simulated_take_count(&count) != kSuccess) return false;
  std::memcpy(value, &count, bytes < sizeof(count) ? bytes : sizeof(count));
  return true;
}

bool AllZero(const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

bool Wanted() {
  static const bool wanted = std::getenv("VRAMSCOPE_SIMULATED_READS") != nullptr;
  return wanted;
}

__attribute__((destructor)) void LeaveReads() {
  const char* const pattern = std::getenv("VRAMSCOPE_SIMULATED_READS");
  Reads& reads = TheReads();
  const std::lock_guard<std::mutex> lock(reads.mutex);
  if (pattern == nullptr || (reads.counts.empty() && !reads.of_vectors)) return;
  std::string name = pattern;
  if (const size_t mark = name.find("%p"); mark != std::string::npos)
    name.replace(mark, 2, std::to_string(getpid()));
  std::FILE* const file = std::fopen(name.c_str(), "we");
  if (file == nullptr) return;
  if (reads.of_vectors) std::fprintf(file, "vector\t1\t-\t0\n");
  for (const auto& [place, count] : reads.counts) {
    std::fprintf(file, "%s\t%llu\t%s\t%d\n", std::get<0>(place) ? "sizes" : "value",
                 static_cast<unsigned long long>(count), std::get<1>(place).c_str(), std::get<2>(place));
  }
  std::fclose(file);
}

void NoteVector(const unsigned char* values, size_t bytes) {
  if (!Wanted() || bytes > kLargestVector || bytes % sizeof(int64_t) != 0 || last_kernel == nullptr ||
      !AllZero(values, bytes))
    return;
  Reads& reads = TheReads();
  const std::lock_guard<std::mutex> lock(reads.mutex);
  reads.of_vectors = true;
}

}  // namespace

void NoteLaunch(const void* kernel, void* const* arguments) {
  kernel_before = last_kernel;
  last_kernel = kernel;
  NoteComparison(kernel, arguments);
}

void NoteHostRead(void* to, size_t bytes) {
  auto* const value = static_cast<unsigned char*>(to);
  if (bytes > kLargestValue) NoteVector(value, bytes);
  // Uploaded values read as they are; only a value that no kernel has computed is zero.
  if (bytes == 0 || bytes > kLargestValue || last_kernel == nullptr) return;
  if (!AllZero(value, bytes) && !(bytes == 1 && LastLaunchComparedTrue())) return;
  if (bytes == 1 && LastLaunchFilledTrue()) *value = 1;
  const char* const kernel = KernelName(last_kernel);
  const bool sizes = FindsSizes(kernel) || SumsUpSizes(kernel);
  if (sizes && PutToldCount(value, bytes)) return;
  if (bytes == 1 ? AsksWhetherAll(kernel) : bytes == sizeof(int64_t) && CountsRuns(kernel)) *value = 1;
  if (!Wanted()) return;
  const Place place = ProgramPlace();
  if (place.file.empty() || place.of_scaler) return;
  Reads& reads = TheReads();
  const std::lock_guard<std::mutex> lock(reads.mutex);
  if (reads.counts.size() >= kMostPlaces) return;
  const uint64_t count = ++reads.counts[{sizes, place.file, place.line}];
  if (count % kOften != 0) return;
  auto* const told = new Place(place);
  if (ThePython().call_later(TellOfReads, told) != 0) delete told;  // Python's list is full
}

}  // namespace vramscope::simulated
