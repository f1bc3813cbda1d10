// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_real.h"

#include <dlfcn.h>

#include <cstring>

namespace vramscope::simulated::cudnn {
namespace {

// cudnnBackendAttributeType_t of what is read.
constexpr int kKnobTypeType = 9;
constexpr int kNumericalNoteType = 11;
constexpr int kBehaviorNoteType = 19;
constexpr int64_t kMostNotes = 32;
constexpr int64_t kMostKnobs = 64;
constexpr int64_t kLongestJson = 1 << 20;

template <typename Function>
void Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
}

// The attribute of a descriptor of that kind that holds the device; 0 = there is none.
int DeviceAttributeOf(int kind) {
  return kind == kEngine             ? kEngineDevice
         : kind == kEngineHeuristics ? kHeuristicsDevice
         : kind == kExecutionPlan    ? kPlanDevice
                                     : 0;
}

}  // namespace

RealCudnn::RealCudnn(const char* library, const char* device_json, size_t* version) {
  *version = 0;
  void* const handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) return;
  size_t (*version_of)() = nullptr;
  Find(handle, "cudnnGetVersion", &version_of);
  Find(handle, "cudnnBackendCreateDescriptor", &create_);
  Find(handle, "cudnnBackendDestroyDescriptor", &destroy_);
  Find(handle, "cudnnBackendFinalize", &finalize_);
  Find(handle, "cudnnBackendSetAttribute", &set_);
  Find(handle, "cudnnBackendGetAttribute", &get_);
  if (!version_of || !create_ || !destroy_ || !finalize_ || !set_ || !get_) return;
  *version = version_of();
  if (*version < kFirstDeviceless) return;
  device_ = Make(kDeviceProperties);
  made_.clear();  // device_ outlives the questions
  const auto length = static_cast<int64_t>(std::strlen(device_json));
  if (device_ == nullptr || set_(device_, kDeviceJson, kCharacter, length, device_json) != 0 ||
      finalize_(device_) != 0)
    *version = 0;
}

int RealCudnn::Finalize(const Descriptor& question, Descriptor& answer) {
  status_ = 0;
  Backend const root = Rebuild(question);
  if (status_ == 0) {
    if (question.kind() == kEngineHeuristics) DescribeHeuristics(root, answer);
    if (question.kind() == kEngine) DescribeEngine(root, answer);
    if (question.kind() == kExecutionPlan) {
      CopyAttribute(root, kPlanWorkspace, kInt64, 1, answer);
      CopyAttribute(root, kPlanJson, kCharacter, kLongestJson, answer);
    }
  }
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) destroy_(*made);
  made_.clear();
  rebuilt_.clear();
  return status_;
}

RealCudnn::Backend RealCudnn::Make(int kind) {
  Backend made = nullptr;
  const int status = create_(kind, &made);
  if (status != 0) {
    if (status_ == 0) status_ = status;
    return nullptr;
  }
  made_.push_back(made);
  return made;
}

RealCudnn::Backend RealCudnn::Rebuild(const Descriptor& descriptor) {
  if (const auto known = rebuilt_.find(&descriptor); known != rebuilt_.end()) return known->second;
  Backend const backend = Make(descriptor.kind());
  if (backend == nullptr) return nullptr;
  SetAttributes(backend, descriptor);
  if (const int name = DeviceAttributeOf(descriptor.kind()); name != 0 && status_ == 0)
    status_ = set_(backend, name, kDescriptor, 1, &device_);
  if (status_ == 0) status_ = finalize_(backend);
  rebuilt_[&descriptor] = backend;
  return backend;
}

void RealCudnn::SetAttributes(Backend backend, const Descriptor& descriptor) {
  for (const auto& [name, attribute] : descriptor.attributes()) {
    if (status_ != 0) return;
    if (attribute.type != kDescriptor) {
      status_ = set_(backend, name, attribute.type, attribute.count, attribute.bytes.data());
      continue;
    }
    std::vector<Backend> children;
    for (const Descriptor* const child : descriptor.Children(name)) children.push_back(Rebuild(*child));
    if (status_ == 0) status_ = set_(backend, name, kDescriptor, attribute.count, children.data());
  }
}

bool RealCudnn::Read(Backend from, int name, int type, int64_t capacity,
                     std::vector<unsigned char>* elements) {
  elements->resize(static_cast<size_t>(capacity) * BytesOf(type));
  int64_t count = 0;
  if (get_(from, name, type, capacity, &count, elements->data()) != 0) return false;
  elements->resize(static_cast<size_t>(count < capacity ? count : capacity) * BytesOf(type));
  return true;
}

// cuDNN fills descriptors that the caller has made.
std::vector<RealCudnn::Backend> RealCudnn::ReadDescriptors(Backend from, int name, int kind,
                                                           int64_t capacity) {
  std::vector<Backend> found(static_cast<size_t>(capacity));
  for (Backend& made : found) made = Make(kind);
  int64_t count = 0;
  if (status_ != 0 || get_(from, name, kDescriptor, capacity, &count, found.data()) != 0) return {};
  found.resize(static_cast<size_t>(count < capacity ? count : capacity));
  return found;
}

void RealCudnn::CopyAttribute(Backend from, int name, int type, int64_t capacity, Descriptor& to) {
  std::vector<unsigned char> elements;
  if (Read(from, name, type, capacity, &elements))
    to.Set(name, type, static_cast<int64_t>(elements.size() / BytesOf(type)), elements.data());
}

void RealCudnn::DescribeEngine(Backend engine, Descriptor& answer) {
  CopyAttribute(engine, kEngineIndex, kInt64, 1, answer);
  CopyAttribute(engine, kEngineNumericalNotes, kNumericalNoteType, kMostNotes, answer);
  CopyAttribute(engine, kEngineBehaviorNotes, kBehaviorNoteType, kMostNotes, answer);
}

void RealCudnn::DescribeConfiguration(Backend configuration, Descriptor& answer) {
  for (Backend const engine : ReadDescriptors(configuration, kConfigurationEngine, kEngine, 1)) {
    const OwnDescriptor described(new Descriptor(kEngine));
    DescribeEngine(engine, *described);
    Descriptor* const child = described.get();
    answer.Set(kConfigurationEngine, kDescriptor, 1, &child);
  }
  std::vector<OwnDescriptor> owned;
  std::vector<Descriptor*> knobs;
  for (Backend const knob : ReadDescriptors(configuration, kConfigurationKnobs, kKnobChoice, kMostKnobs)) {
    owned.emplace_back(new Descriptor(kKnobChoice));
    CopyAttribute(knob, kKnobType, kKnobTypeType, 1, *owned.back());
    CopyAttribute(knob, kKnobValue, kInt64, 1, *owned.back());
    knobs.push_back(owned.back().get());
  }
  if (!knobs.empty())
    answer.Set(kConfigurationKnobs, kDescriptor, static_cast<int64_t>(knobs.size()), knobs.data());
  CopyAttribute(configuration, kConfigurationWorkspace, kInt64, 1, answer);
  CopyAttribute(configuration, kConfigurationSharedMemory, kInt32, 1, answer);
}

void RealCudnn::DescribeHeuristics(Backend heuristics, Descriptor& answer) {
  int64_t count = 0;
  if (get_(heuristics, kHeuristicsResults, kDescriptor, 0, &count, nullptr) != 0) return;
  std::vector<OwnDescriptor> owned;
  std::vector<Descriptor*> results;
  for (Backend const found : ReadDescriptors(heuristics, kHeuristicsResults, kEngineConfiguration, count)) {
    owned.emplace_back(new Descriptor(kEngineConfiguration));
    DescribeConfiguration(found, *owned.back());
    results.push_back(owned.back().get());
  }
  answer.Set(kHeuristicsResults, kDescriptor, static_cast<int64_t>(results.size()), results.data());
}

}  // namespace vramscope::simulated::cudnn
