// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/kernel_code.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "injector/simulated_cuda/device/overheads.h"
#include "injector/simulated_cuda/runtime/call.h"
#include "injector/simulated_cuda/runtime/fat_binary.h"
#include "injector/simulated_cuda/runtime/registry.h"

namespace vramscope::simulated {
namespace {

struct Loaded {
  std::mutex mutex;
  std::set<std::pair<int, const void*>> kernels;  // by device; under EAGER nullptr stands for all
};

Loaded& The() {
  static auto* const loaded = new Loaded;
  return *loaded;
}

bool IsEager() {
  const char* const mode = std::getenv("CUDA_MODULE_LOADING");
  return mode != nullptr && std::strcmp(mode, "EAGER") == 0;
}

int Architecture(int device) {
  int major = 0, minor = 0;
  TheDriver()->cuDeviceGetAttribute(&major, kComputeCapabilityMajor, device);
  TheDriver()->cuDeviceGetAttribute(&minor, kComputeCapabilityMinor, device);
  return major * 10 + minor;
}

// The code of one kernel of the module, as the mean of all.
uint64_t CodeOfKernel(const void* module, int architecture) {
  return MachineCodeBytes(module, architecture) * kCodePercent / 100 / KernelsOf(module);
}

int LoadAll(int architecture) {
  for (const void* const module : Modules()) {
    const uint64_t bytes = CodeOfKernel(module, architecture) * KernelsOf(module);
    if (const int error = TheDriver()->vramscope_simulated_kernel(bytes, module)) return error;
  }
  return kSuccess;
}

int LoadOn(int device, const void* kernel) {
  static const bool eager = IsEager();
  Loaded& loaded = The();
  const std::lock_guard<std::mutex> lock(loaded.mutex);
  const std::pair<int, const void*> key = {device, eager ? nullptr : kernel};
  if (loaded.kernels.count(key) != 0) return kSuccess;
  const int architecture = Architecture(device);
  const int error =
      eager ? LoadAll(architecture)
            : TheDriver()->vramscope_simulated_kernel(CodeOfKernel(ModuleOf(kernel), architecture), kernel);
  if (error == kSuccess) loaded.kernels.insert(key);
  return error;
}

}  // namespace

int LoadKernel(const void* kernel) {
  struct Known {
    const void* kernel;
    int device;
  };
  constexpr size_t kKnown = 512;
  thread_local Known known[kKnown] = {};
  if (const int error = UseDevice()) return error;
  const int device = CurrentDevice();
  Known& entry = known[reinterpret_cast<uintptr_t>(kernel) / 16 % kKnown];
  if (entry.kernel == kernel && entry.device == device) return kSuccess;
  const int error = LoadOn(device, kernel);
  if (error == kSuccess) entry = {kernel, device};
  return error;
}

}  // namespace vramscope::simulated
