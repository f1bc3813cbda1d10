// SPDX-License-Identifier: Apache-2.0
// cuDNN's graph interface. Descriptors are stores of attributes. Finalizing heuristics, an engine or a plan
// also sets the attributes that cuDNN computes (cudnn_plans.h).
#include <algorithm>
#include <cstring>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"
#include "injector/simulated_cuda/libraries/cudnn_plans.h"

using namespace vramscope::simulated::cudnn;

namespace {

int GiveInt64(int type, void* elements, int64_t capacity, int64_t* count, int64_t value) {
  if (count != nullptr) *count = 1;
  if (elements != nullptr && capacity > 0) std::memcpy(elements, &value, BytesOf(type));
  return kOk;
}

int GiveNothing(int64_t* count) {
  if (count != nullptr) *count = 0;
  return kOk;
}

// Fills descriptors that the caller has created.
void Fill(void* elements, int64_t given, const std::vector<Descriptor*>& found) {
  auto* const to = static_cast<Descriptor**>(elements);
  for (size_t i = 0; i < static_cast<size_t>(given); ++i) {
    if (to[i] != nullptr && found[i] != nullptr) to[i]->CopyFrom(*found[i]);
  }
}

int GiveStored(const Descriptor& descriptor, int name, int type, int64_t capacity, int64_t* count,
               void* elements) {
  const Attribute* const stored = descriptor.Find(name);
  if (stored == nullptr) return GiveNothing(count);
  if (BytesOf(type) != BytesOf(stored->type)) return kBadParameter;
  const int64_t given = std::min(capacity, stored->count);
  // If only the number is requested, cuDNN returns that; otherwise the number of elements written.
  if (count != nullptr) *count = elements == nullptr || given <= 0 ? stored->count : given;
  if (elements == nullptr || given <= 0) return kOk;
  if (stored->type == kDescriptor) {
    Fill(elements, given, descriptor.Children(name));
  } else {
    std::memcpy(elements, stored->bytes.data(), static_cast<size_t>(given) * BytesOf(type));
  }
  return kOk;
}

}  // namespace

SIMULATED_EXPORT int cudnnBackendCreateDescriptor(int kind, Descriptor** descriptor) {
  *descriptor = new Descriptor(kind);
  return kOk;
}

SIMULATED_EXPORT int cudnnBackendDestroyDescriptor(Descriptor* descriptor) {
  if (descriptor != nullptr) descriptor->Release();
  return kOk;
}

SIMULATED_EXPORT int cudnnBackendFinalize(Descriptor* descriptor) { return Finalize(*descriptor); }
SIMULATED_EXPORT int cudnnBackendExecute(void*, Descriptor* plan, Descriptor*) { return Execute(*plan); }

SIMULATED_EXPORT int cudnnBackendSetAttribute(Descriptor* descriptor, int name, int type, int64_t count,
                                              const void* elements) {
  if (count < 0 || (count > 0 && elements == nullptr)) return kBadParameter;
  descriptor->Set(name, type, count, elements);
  return kOk;
}

SIMULATED_EXPORT int cudnnBackendGetAttribute(Descriptor* descriptor, int name, int type, int64_t capacity,
                                              int64_t* count, void* elements) {
  if (name == kPlanJson) DescribeAsJson(*descriptor);
  if (descriptor->Find(name) == nullptr) {
    switch (name) {
      case kConfigurationWorkspace:
      case kConfigurationSharedMemory:
      case kPlanWorkspace:
        return GiveInt64(type, elements, capacity, count, 0);
      case kGraphEngineCount:
        return GiveInt64(type, elements, capacity, count, 1);
      default:
        break;
    }
  }
  return GiveStored(*descriptor, name, type, capacity, count, elements);
}
