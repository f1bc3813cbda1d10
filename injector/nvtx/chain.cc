// SPDX-License-Identifier: Apache-2.0
#include "injector/nvtx/chain.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "injector/core/coverage.h"
#include "trace_format/ring.h"

namespace vramscope::injector::nvtx {
namespace {

constinit std::atomic<void*> library = nullptr;
constinit std::atomic<bool> failed = false;

void* Library() {
  void* handle = library.load(std::memory_order_acquire);
  if (handle != nullptr || failed.load(std::memory_order_relaxed)) return handle;
  // Like the NVTX headers load an injection.
  handle = dlopen(NextPath(), RTLD_LAZY);
  if (handle == nullptr) failed.store(true, std::memory_order_relaxed);
  library.store(handle, std::memory_order_release);
  return handle;
}

}  // namespace

const char* NextPath() {
  const char* const path = secure_getenv(trace::kNvtxNextVariable);
  return path == nullptr ? "" : path;
}

void* FindInNext(const char* function) {
  if (NextPath()[0] == 0) return nullptr;
  void* const handle = Library();
  return handle == nullptr ? nullptr : dlsym(handle, function);
}

void RecordNvtxCoverage(const char* hook, bool chained) {
  const char* const path = NextPath();
  if (path[0] == 0) return RecordCoverage(hook, trace::CoverageState::kProven, nullptr);
  char detail[512];
  const char* const text = chained ? "calls through to %s"
                           : failed.load(std::memory_order_relaxed)
                               ? "%s, which was set before, could not be loaded"
                               : "%s, which was set before, does not listen to this";
  snprintf(detail, sizeof detail, text, path);
  RecordCoverage(hook, trace::CoverageState::kProven, detail);
}

AnyFunction Installed(Slot& slot, AnyFunction before, AnyFunction now) {
  const AnyFunction next = now == before ? nullptr : now;
  if (slot.installed && slot.next.load(std::memory_order_relaxed) != next) return now;
  slot.installed = true;
  slot.next.store(next, std::memory_order_relaxed);
  return slot.ours;
}

}  // namespace vramscope::injector::nvtx
