// SPDX-License-Identifier: Apache-2.0
// Implements the part of api.h that belongs to torch, and tests whether torch's calls reach the hooks.
#include "injector/torch/readiness.h"

#include <string.h>

#include "injector/core/api.h"
#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/session.h"
#include "injector/core/slot_patcher.h"
#include "injector/cupti/client.h"
#include "injector/nvtx/describe_blocks.h"
#include "injector/torch/async_allocator_hooks.h"
#include "injector/torch/cuda_allocator_hooks.h"
#include "injector/torch/deep_window.h"
#include "injector/torch/hook_table.h"
#include "injector/torch/python_route.h"
#include "injector/torch/range_hooks.h"

#define VRAMSCOPE_API extern "C" __attribute__((visibility("default")))

namespace vramscope::injector {
namespace {

constexpr uint32_t kMemoryReached = 1;
constexpr uint32_t kAutogradReached = 2;
constexpr uint32_t kBridgeLoaded = 4;
constexpr const char* kCudaPrefixes[] = {"_ZN2at4cuda", "nccl"};  // at::cuda, mangled

// A vtable entry is filled when its library is loaded, from the same scope that later binds the library's
// calls. So it shows, before any call, whether torch reaches us.
bool VtableReachesUs() {
  size_t bytes = 0;
  auto* const vtable = static_cast<void* const*>(FindSymbol("_ZTVN5torch8autograd14AccumulateGradE", &bytes));
  if (vtable == nullptr) return false;
  for (size_t i = 0; i < bytes / sizeof(void*); ++i) {
    if (vtable[i] == HookOf(HookId::kAccumulateGradApply).ours) return true;
  }
  return false;
}

bool CudaIsHere() {
  bool here = false;
  ForEachImage(
      [](const ElfImage& image, void* found) {
        *static_cast<bool*>(found) = strstr(image.name(), "libtorch_cuda.so") != nullptr;
        return !*static_cast<bool*>(found);
      },
      &here);
  return here;
}

bool IsOfCuda(const Hook& hook) {
  for (const char* prefix : kCudaPrefixes) {
    if (strncmp(hook.symbol, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

// Proven hooks have already reported themselves.
void RecordHookCoverage() {
  const bool cuda_is_here = CudaIsHere();
  const char* previous = "";
  for (const Hook& hook : torch_hooks) {
    if (strcmp(hook.name, previous) == 0) continue;
    previous = hook.name;
    const trace::CoverageState state = StateOfHook(torch_hooks, kHookCount, hook.name);
    if (state == trace::CoverageState::kProven) continue;
    const bool missing = state == trace::CoverageState::kMissing;
    if (missing && IsOfCuda(hook) && !cuda_is_here) continue;  // there is nothing that could be missed
    RecordCoverage(hook.name, state, missing ? "no such function in this release of torch" : nullptr);
  }
}

constinit std::atomic<bool> cxx_considered = false;

}  // namespace

uint32_t TorchReady() {
  ShimIsDecided();
  if (!StartSession()) return 0;
  FindRealFunctions(torch_hooks, kHookCount);
  const bool torch_is_here =
      HookOf(HookId::kAccumulateGradApply).found.load(std::memory_order_relaxed) != nullptr;
  if (torch_is_here && !VtableReachesUs()) {
    PatchSlots(torch_hooks, kHookCount);
    RecordCoverage("slot patching", trace::CoverageState::kHooked,
                   "torch was loaded past the preloaded library");
  }
  RecordHookCoverage();
  WatchAsyncAllocator();
  WatchCudaAllocator();
  cupti::ConsiderCupti();
  nvtx::StartDescribingBlocks();
  uint32_t reached = PrepareDeepWindows() ? kBridgeLoaded : 0;
  if (VtableReachesUs()) reached |= kMemoryReached | kAutogradReached;
  return reached;
}

bool PythonRuns() {
  const auto is_initialized = reinterpret_cast<int (*)()>(FindSymbol("Py_IsInitialized"));
  return is_initialized != nullptr && is_initialized() != 0;
}

void CxxProgramReady() {
  if (cxx_considered.load(std::memory_order_relaxed) || cxx_considered.exchange(true)) return;
  if (!PythonRuns()) TorchReady();
}

}  // namespace vramscope::injector

VRAMSCOPE_API uint32_t vramscope_torch_ready(const char*, const char*) {
  return vramscope::injector::TorchReady();
}

VRAMSCOPE_API int vramscope_step_done(uint64_t done) {
  vramscope::injector::cupti::ConsiderCupti();
  return vramscope::injector::StepDone(done) ? 1 : 0;
}

VRAMSCOPE_API uint64_t vramscope_backward_passes(void) { return vramscope::injector::BackwardPasses(); }

VRAMSCOPE_API int vramscope_memory_seen(void) {
  using namespace vramscope::injector;
  for (const HookId id : {HookId::kCpuNew, HookId::kReportMemory, HookId::kReportMemorySigned}) {
    if (HookOf(id).proven.load(std::memory_order_relaxed)) return 1;
  }
  return 0;
}
