// SPDX-License-Identifier: Apache-2.0
// cuDNN's graph interface: descriptors are stores of attributes, and every graph of operations has one
// engine, which needs no workspace.
//
// A few attributes are answered and not stored. The frontend that PyTorch contains asks the heuristics for
// engine configurations, checks each for its shared memory and workspace, and takes the first plan that can
// be finalized.
#include <cstring>
#include <map>
#include <vector>

#include "injector/simulated_cuda/abi.h"

namespace {

// cudnnBackendAttributeType_t
constexpr int kInt64 = 3;
constexpr int kDescriptor = 15;

// cudnnBackendAttributeName_t
enum Name : int {
  kHeuristicResults = 202,
  kConfigurationEngine = 300,
  kConfigurationWorkspace = 303,
  kConfigurationSharedMemory = 304,
  kPlanWorkspace = 402,
  kGraphEngineCount = 802,
  kEngineKnobs = 1302,
  kEngineNumericalNotes = 1303,
  kEngineBehaviorNotes = 1305,
};

constexpr int kOk = 0;
constexpr int kBadParameter = 2000;

struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::vector<unsigned char> bytes;
};

struct Descriptor {
  int kind = 0;
  std::map<int, Attribute> attributes;
};

// cudnnBackendAttributeType_t -> bytes of one element. Enumerations are 4, descriptors and pointers 8.
size_t BytesOf(int type) {
  switch (type) {
    case 2:   // boolean
    case 24:  // char
      return 1;
    case 0:  // handle
    case kInt64:
    case 5:  // double
    case 6:  // void*
    case kDescriptor:
      return 8;
    default:
      return type == 26 ? 16 : 4;  // 26: fraction, two int64
  }
}

int GiveInt64(void* elements, int64_t capacity, int64_t* count, int64_t value) {
  if (count != nullptr) *count = 1;
  if (elements != nullptr && capacity > 0) std::memcpy(elements, &value, sizeof(value));
  return kOk;
}

int GiveNothing(int64_t* count) {
  if (count != nullptr) *count = 0;
  return kOk;
}

// The first of the descriptors that the caller has made to be filled.
Descriptor* FirstOf(void* elements) {
  return elements != nullptr ? *static_cast<Descriptor**>(elements) : nullptr;
}

// One configuration, which only says that it belongs to this heuristic.
int GiveConfigurations(void* elements, int64_t* count) {
  if (count != nullptr) *count = 1;
  if (Descriptor* const configuration = FirstOf(elements)) configuration->attributes.clear();
  return kOk;
}

int GiveEngine(const Descriptor& configuration, void* elements, int64_t* count) {
  if (count != nullptr) *count = 1;
  Descriptor* const to = FirstOf(elements);
  const auto stored = configuration.attributes.find(kConfigurationEngine);
  if (to == nullptr || stored == configuration.attributes.end()) return kOk;
  Descriptor* from = nullptr;
  std::memcpy(&from, stored->second.bytes.data(), sizeof(from));
  if (from != nullptr) to->attributes = from->attributes;
  return kOk;
}

int GiveStored(const Descriptor& descriptor, int name, int type, int64_t capacity, int64_t* count,
               void* elements) {
  const auto found = descriptor.attributes.find(name);
  if (found == descriptor.attributes.end()) return GiveNothing(count);
  const Attribute& stored = found->second;
  if (count != nullptr) *count = stored.count;
  const int64_t given = capacity < stored.count ? capacity : stored.count;
  if (elements != nullptr && given > 0)
    std::memcpy(elements, stored.bytes.data(), static_cast<size_t>(given) * BytesOf(type));
  return kOk;
}

}  // namespace

SIMULATED_EXPORT int cudnnBackendCreateDescriptor(int kind, Descriptor** descriptor) {
  *descriptor = new Descriptor;
  (*descriptor)->kind = kind;
  return kOk;
}

// Other descriptors may still point to it, and cuDNN keeps it alive for them; a few hundred bytes each stay
// until the process ends.
SIMULATED_EXPORT int cudnnBackendDestroyDescriptor(Descriptor*) { return kOk; }

SIMULATED_EXPORT int cudnnBackendFinalize(Descriptor*) { return kOk; }
SIMULATED_EXPORT int cudnnBackendExecute(void*, Descriptor*, Descriptor*) { return kOk; }

SIMULATED_EXPORT int cudnnBackendSetAttribute(Descriptor* descriptor, int name, int type, int64_t count,
                                              const void* elements) {
  if (count < 0 || (count > 0 && elements == nullptr)) return kBadParameter;
  const auto* const bytes = static_cast<const unsigned char*>(elements);
  Attribute& attribute = descriptor->attributes[name];
  attribute.type = type;
  attribute.count = count;
  attribute.bytes.assign(bytes, bytes + static_cast<size_t>(count) * BytesOf(type));
  return kOk;
}

SIMULATED_EXPORT int cudnnBackendGetAttribute(Descriptor* descriptor, int name, int type, int64_t capacity,
                                              int64_t* count, void* elements) {
  switch (name) {
    case kHeuristicResults:
      return GiveConfigurations(elements, count);
    case kConfigurationEngine:
      return GiveEngine(*descriptor, elements, count);
    case kConfigurationWorkspace:
    case kConfigurationSharedMemory:
    case kPlanWorkspace:
      return GiveInt64(elements, capacity, count, 0);
    case kGraphEngineCount:
      return GiveInt64(elements, capacity, count, 1);
    case kEngineKnobs:
    case kEngineNumericalNotes:
    case kEngineBehaviorNotes:
      return GiveNothing(count);
    default:
      return GiveStored(*descriptor, name, type, capacity, count, elements);
  }
}
