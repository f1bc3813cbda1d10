// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/library.h"

#include <dlfcn.h>

namespace vramscope::injector::cupti {
namespace {

// PyTorch's wheels and the toolkits bring one of these.
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so.11",
                                  "libcupti.so"};

constinit Functions functions = {};
constinit bool searched = false;
constinit bool found = false;

void* Open() {
  for (const char* name : kNames) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return library;
  }
  for (const char* name : kNames) {
    if (void* const library = dlopen(name, RTLD_NOW)) return library;
  }
  return nullptr;
}

template <typename Function>
bool Find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

const Functions* OpenCupti() {
  if (searched) return found ? &functions : nullptr;
  searched = true;
  void* const library = Open();
  if (library == nullptr) return nullptr;
  Find(library, "cuptiActivityFlushPeriod", functions.flush_period);  // from CUDA 11.1 on
  found = Find(library, "cuptiGetVersion", functions.get_version) &&
          Find(library, "cuptiSubscribe", functions.subscribe) &&
          Find(library, "cuptiUnsubscribe", functions.unsubscribe) &&
          Find(library, "cuptiEnableCallback", functions.enable_callback) &&
          Find(library, "cuptiGetDeviceId", functions.get_device_id) &&
          Find(library, "cuptiActivityRegisterCallbacks", functions.register_callbacks) &&
          Find(library, "cuptiActivityEnable", functions.activity_enable) &&
          Find(library, "cuptiActivityDisable", functions.activity_disable) &&
          Find(library, "cuptiActivityGetNextRecord", functions.next_record) &&
          Find(library, "cuptiActivityFlushAll", functions.flush_all);
  return found ? &functions : nullptr;
}

uint32_t CuptiVersion(const Functions& cupti) {
  uint32_t version = 0;
  return cupti.get_version(&version) == kSuccess ? version : 0;
}

}  // namespace vramscope::injector::cupti
