// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/kernel_code.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "injector/simulated_cuda/device/overheads.h"
#include "injector/simulated_cuda/elsewhere.h"
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

void NoteLoaded(int device, const void* kernel) {
  Loaded& loaded = The();
  const std::lock_guard<std::mutex> lock(loaded.mutex);
  loaded.kernels.insert({device, kernel});
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

void AnnounceCode(const void* function, uint64_t bytes, const void* owner) {
  TheDriver()->vramscope_simulated_code(function, nullptr, bytes, owner);
}

// Loads each module as one piece of code, for all its kernels.
int LoadModulesOn(int device) {
  static std::atomic<unsigned> loaded_on = 0;
  if ((loaded_on.load() >> device & 1) != 0) return kSuccess;
  const int architecture = Architecture(device);
  for (const void* const module : Modules()) {
    AnnounceCode(module, CodeOfKernel(module, architecture) * KernelsOf(module), module);
    int value = 0;
    if (const int error = TheDriver()->cuFuncGetAttribute(&value, 0, const_cast<void*>(module))) return error;
  }
  loaded_on.fetch_or(1u << device);
  NoteLoaded(device, nullptr);
  return kSuccess;
}

// Attention that PyTorch has only for some GPUs: its FlashAttention kernels need 8.0 or more, and so do the
// memory-efficient kernels for bfloat16. Other GPUs use other kernels, with other buffers.
bool AttendsAsNotEveryGpuCan(const char* kernel) {
  for (const char* const part : {"flash_fwd", "flash_bwd", "fmha_cutlassF_bf16", "fmha_cutlassB_bf16"}) {
    if (std::strstr(kernel, part) != nullptr) return true;
  }
  return false;
}

// The code on the fullest device, if it were of `architecture`.
uint64_t CodeOn(int architecture, const std::set<std::pair<int, const void*>>& kernels) {
  std::map<int, uint64_t> devices;
  for (const auto& [device, kernel] : kernels) {
    if (kernel != nullptr) {
      devices[device] += CodeOfKernel(ModuleOf(kernel), architecture);
      continue;
    }
    for (const void* const module : Modules())
      devices[device] += CodeOfKernel(module, architecture) * KernelsOf(module);
  }
  uint64_t most = 0;
  for (const auto& [device, bytes] : devices) most = std::max(most, bytes);
  return most;
}

__attribute__((destructor)) void TellOfOtherGpus() {
  if (std::getenv("VRAMSCOPE_SIMULATED_ELSEWHERE") == nullptr) return;
  constexpr int kArchitectures[] = {70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
  Loaded& loaded = The();
  const std::lock_guard<std::mutex> lock(loaded.mutex);
  std::string lines;
  for (const int architecture : kArchitectures)
    lines += "kernels\t" + std::to_string(architecture) + "\t" +
             std::to_string(CodeOn(architecture, loaded.kernels)) + "\n";
  const bool fused = std::any_of(loaded.kernels.begin(), loaded.kernels.end(), [](const auto& of) {
    return of.second != nullptr && AttendsAsNotEveryGpuCan(KernelName(of.second));
  });
  TellElsewhere(fused ? lines + "attention\tfused\t1\n" : lines);
}

}  // namespace

int AnnounceKernel(const void* kernel) {
  struct Known {
    const void* kernel;
    int device;
  };
  static const bool eager = IsEager();
  constexpr size_t kKnown = 512;
  thread_local Known known[kKnown] = {};
  if (const int error = UseDevice()) return error;
  const int device = RuntimeDevice();
  if (eager) return LoadModulesOn(device);
  Known& entry = known[reinterpret_cast<uintptr_t>(kernel) / 16 % kKnown];
  if (entry.kernel == kernel && entry.device == device) return kSuccess;
  AnnounceCode(kernel, CodeOfKernel(ModuleOf(kernel), Architecture(device)), kernel);
  NoteLoaded(device, kernel);
  entry = {kernel, device};
  return kSuccess;
}

}  // namespace vramscope::simulated
