// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/deep_window.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "injector/core/api.h"
#include "injector/core/coverage.h"
#include "injector/core/native_stack.h"
#include "injector/core/options.h"
#include "injector/core/thread_ring.h"
#include "trace_format/event.h"

namespace vramscope::injector {

constinit std::atomic<uint32_t (*)()> python_stack_of_block = nullptr;

namespace {

constexpr char kBridgeName[] = "LibTorch bridge";
constexpr uint64_t kDefaultFirst = 2;
constexpr uint64_t kDefaultLast = 4;
constexpr uint32_t kMostRanges = 16;  // the command refuses more

struct StepRange {
  uint64_t first;
  uint64_t last;
};

struct DeepWindow {
  bool prepared;
  bool open;
  bool told;             // StepDone was called: StepDoneInCxx is then ignored
  uint32_t range_count;  // of deep steps; 0 = none is deep
  StepRange ranges[kMostRanges];
  void (*enable_bridge)(int);
  uint32_t (*block_stack)();
};
constinit DeepWindow window = {};
constinit pthread_mutex_t window_lock = PTHREAD_MUTEX_INITIALIZER;

const VramscopeHost kHost = {VRAMSCOPE_API_VERSION, vramscope_intern, vramscope_record,
                             vramscope_intern_stack, vramscope_option};

void AddRange(uint64_t first, uint64_t last) {
  if (window.range_count < kMostRanges) window.ranges[window.range_count++] = {first, last};
}

// deep_steps=A-B or deep_steps=A, or several of them with commas between.
void ReadSteps() {
  window.range_count = 0;
  if (OptionIs("depth", "light")) return;
  if (OptionIs("depth", "all")) return AddRange(1, UINT64_MAX);
  char text[512];
  if (Option("deep_steps", text, sizeof text) == 0) return AddRange(kDefaultFirst, kDefaultLast);
  for (char* next = text; *next != '\0'; next += *next == ',') {
    char* end = nullptr;
    const uint64_t first = strtoull(next, &end, 10);
    const uint64_t last = *end == '-' ? strtoull(end + 1, &end, 10) : first;
    if (end == next) return;
    AddRange(first, last);
    next = end;
  }
}

bool IsDeep(uint64_t step) {
  for (uint32_t i = 0; i < window.range_count; ++i) {
    if (step >= window.ranges[i].first && step <= window.ranges[i].last) return true;
  }
  return false;
}

void LoadBridge() {
  char path[4096];
  if (window.enable_bridge != nullptr) {  // by an earlier recording of this process
    RecordCoverage(kBridgeName, trace::CoverageState::kHooked, nullptr);
    return;
  }
  if (window.range_count == 0) {
    RecordCoverage(kBridgeName, trace::CoverageState::kDisabled, "no deep steps were asked for");
    return;
  }
  if (Option("bridge", path, sizeof path) == 0) {
    RecordCoverage(kBridgeName, trace::CoverageState::kMissing,
                   "none was built for this torch; deep steps have no operators");
    return;
  }
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    RecordCoverage(kBridgeName, trace::CoverageState::kMissing, dlerror());
    return;
  }
  const auto start =
      reinterpret_cast<int (*)(const VramscopeHost*)>(dlsym(library, "vramscope_bridge_start"));
  const auto enable = reinterpret_cast<void (*)(int)>(dlsym(library, "vramscope_bridge_enable"));
  if (start == nullptr || enable == nullptr || start(&kHost) != 0) {
    RecordCoverage(kBridgeName, trace::CoverageState::kMissing, "the bridge does not fit this torch");
    return;
  }
  window.enable_bridge = enable;
  window.block_stack = reinterpret_cast<uint32_t (*)()>(dlsym(library, "vramscope_bridge_block_stack"));
  RecordCoverage(kBridgeName, trace::CoverageState::kHooked, path);
}

void EnableBridge(bool on) {
  if (window.enable_bridge != nullptr) window.enable_bridge(on ? 1 : 0);
  python_stack_of_block.store(on ? window.block_stack : nullptr, std::memory_order_relaxed);
}

// The mark is the first record at the begin and the last at the end, so that every deep fact lies between the
// two.
void Open(trace::RingFileHeader* file, uint64_t step) {
  Record(trace::EventType::kMark, static_cast<uint16_t>(trace::MarkKind::kDeepBegin), 0, step, 0);
  file->deep.store(1, std::memory_order_relaxed);
  SwitchNativeStacks(true);
  EnableBridge(true);
}

void Close(trace::RingFileHeader* file, uint64_t step) {
  EnableBridge(false);
  SwitchNativeStacks(false);
  file->deep.store(0, std::memory_order_relaxed);
  Record(trace::EventType::kMark, static_cast<uint16_t>(trace::MarkKind::kDeepEnd), 0, step, 0);
}

void EnterStep(uint64_t step) {
  trace::RingFileHeader* const file = RecordingFile();
  const bool deep = IsDeep(step);
  if (file == nullptr || window.open == deep) return;
  window.open = deep;
  deep ? Open(file, step) : Close(file, step);
}

// A child begins outside the window; a thread that does not exist in it may have held the lock.
void ForgetWindow() {
  window_lock = PTHREAD_MUTEX_INITIALIZER;
  window.open = false;
  SwitchNativeStacks(false);
  python_stack_of_block.store(nullptr, std::memory_order_relaxed);
}

void PrepareLocked() {
  if (window.prepared || (RecordingFile() == nullptr && !StartSession())) return;
  window.prepared = true;
  AtForkInChild(ForgetWindow);
  ReadSteps();
  LoadBridge();
  EnterStep(1);
}

class WindowLock {
 public:
  WindowLock() { pthread_mutex_lock(&window_lock); }
  ~WindowLock() { pthread_mutex_unlock(&window_lock); }
  WindowLock(const WindowLock&) = delete;
  WindowLock& operator=(const WindowLock&) = delete;
};

}  // namespace

bool PrepareDeepWindows() {
  WindowLock lock;
  PrepareLocked();
  return window.enable_bridge != nullptr;
}

void CloseDeepWindow() {
  WindowLock lock;
  if (!window.open) return;
  window.open = false;
  EnableBridge(false);
  SwitchNativeStacks(false);
}

void ForgetDeepWindows() {
  WindowLock lock;
  window.prepared = window.open = window.told = false;
}

bool StepDone(uint64_t done) {
  WindowLock lock;
  window.told = true;
  PrepareLocked();
  if (window.prepared) EnterStep(done + 1);
  return window.open;
}

void StepDoneInCxx(uint64_t done) {
  WindowLock lock;
  if (window.told) return;
  PrepareLocked();
  if (window.prepared) EnterStep(done + 1);
}

}  // namespace vramscope::injector
