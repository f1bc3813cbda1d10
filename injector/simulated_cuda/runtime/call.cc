// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/call.h"

#include <dlfcn.h>

namespace vramscope::simulated {
namespace {

using GetProcAddress = int (*)(const char*, void**, int, uint64_t, int*);

// CUDA 12.3 is the oldest release that has all functions in the forms of driver_functions.def.
constexpr int kFormsOf = 12030;

Driver table;

bool Fill() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr) return false;
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) return false;
  bool all = true;
#define DRIVER(name, parameters) \
  all = get(#name, reinterpret_cast<void**>(&table.name), kFormsOf, 0, nullptr) == kSuccess && all;
#include "injector/simulated_cuda/runtime/driver_functions.def"
#undef DRIVER
  return all && table.cuInit(0) == kSuccess;
}

thread_local int last_error = kSuccess;
thread_local int chosen_device = 0;

}  // namespace

const Driver* TheDriver() {
  static const bool filled = Fill();
  return filled ? &table : nullptr;
}

int Keep(int error) {
  if (error != kSuccess) last_error = error;
  return error;
}

int LastError() { return last_error; }
void ForgetLastError() { last_error = kSuccess; }

int RuntimeDevice() {
  int device = 0;
  const Driver* const driver = TheDriver();
  return driver != nullptr && driver->cuCtxGetDevice(&device) == kSuccess ? device : chosen_device;
}

int ChooseDevice(int device) {
  const Driver* const driver = TheDriver();
  if (driver == nullptr) return kNoDevice;
  void* context = nullptr;
  if (const int error = driver->cuDevicePrimaryCtxRetain(&context, device)) return error;
  chosen_device = device;
  return driver->cuCtxSetCurrent(context);
}

int UseDevice() {
  const Driver* const driver = TheDriver();
  if (driver == nullptr) return kNoDevice;
  void* context = nullptr;
  driver->cuCtxGetCurrent(&context);
  return context != nullptr ? static_cast<int>(kSuccess) : ChooseDevice(chosen_device);
}

}  // namespace vramscope::simulated
