// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/device_use.h"

#include <dlfcn.h>

#include <atomic>

#include "injector/core/elf_image.h"
#include "injector/cuda/driver_image.h"

namespace vramscope::injector {
namespace {

constexpr int kBusIdBytes = 32;

struct Nvml {
  int (*start)();
  int (*find)(const char* bus_id, void** device);
  int (*memory)(void* device, unsigned long long (*total_free_used)[3]);
  int (*bus_id)(char* text, int capacity, int device);  // of the driver
};
constinit Nvml nvml = {};
enum class State : uint8_t { kUnknown, kAbsent, kReady };
constinit std::atomic<State> state = State::kUnknown;

template <typename Function>
bool Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

// Concurrent threads compute the same result.
bool Ready() {
  const State known = state.load(std::memory_order_acquire);
  if (known != State::kUnknown) return known == State::kReady;
  ElfImage driver;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  bool ready = library != nullptr && FindDriverImage(&driver) && Find(library, "nvmlInit_v2", &nvml.start) &&
               Find(library, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.find) &&
               Find(library, "nvmlDeviceGetMemoryInfo", &nvml.memory);
  if (ready) nvml.bus_id = reinterpret_cast<int (*)(char*, int, int)>(driver.Find("cuDeviceGetPCIBusId"));
  ready = ready && nvml.bus_id != nullptr && nvml.start() == 0;
  state.store(ready ? State::kReady : State::kAbsent, std::memory_order_release);
  return ready;
}

}  // namespace

bool DeviceUse(int device, uint64_t* used) {
  char bus_id[kBusIdBytes];
  void* found = nullptr;
  unsigned long long total_free_used[3] = {};
  if (!Ready() || nvml.bus_id(bus_id, sizeof bus_id, device) != 0) return false;
  if (nvml.find(bus_id, &found) != 0 || nvml.memory(found, &total_free_used) != 0) return false;
  *used = total_free_used[2];
  return true;
}

}  // namespace vramscope::injector
