// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

#include <cstring>
#include <utility>

namespace vramscope::simulated::cudnn {
namespace {

std::vector<Descriptor*> DescriptorsIn(const Attribute& attribute) {
  if (attribute.type != kDescriptor) return {};
  std::vector<Descriptor*> found(attribute.bytes.size() / sizeof(Descriptor*));
  if (!found.empty()) std::memcpy(found.data(), attribute.bytes.data(), found.size() * sizeof(Descriptor*));
  return found;
}

void KeepAll(const Attribute& attribute) {
  for (Descriptor* const named : DescriptorsIn(attribute)) {
    if (named != nullptr) named->Keep();
  }
}

void ReleaseAll(const Attribute& attribute) {
  for (Descriptor* const named : DescriptorsIn(attribute)) {
    if (named != nullptr) named->Release();
  }
}

}  // namespace

size_t BytesOf(int type) {
  switch (type) {
    case kBoolean:
    case kCharacter:
      return 1;
    case kHandle:
    case kInt64:
    case kFloat64:
    case kPointer:
    case kDescriptor:
      return 8;
    case kFraction:
      return 16;  // two 64-bit integers
    default:
      return 4;
  }
}

void Descriptor::Set(int name, int type, int64_t count, const void* elements) {
  const auto* const bytes = static_cast<const unsigned char*>(elements);
  Attribute attribute{type, count, {bytes, bytes + static_cast<size_t>(count) * BytesOf(type)}};
  KeepAll(attribute);
  Attribute& stored = attributes_[name];
  std::swap(stored, attribute);
  ReleaseAll(attribute);
}

void Descriptor::CopyFrom(const Descriptor& other) {
  if (&other == this) return;
  for (const auto& [name, attribute] : other.attributes_)
    Set(name, attribute.type, attribute.count, attribute.bytes.data());
}

const Attribute* Descriptor::Find(int name) const {
  const auto found = attributes_.find(name);
  return found != attributes_.end() ? &found->second : nullptr;
}

std::vector<Descriptor*> Descriptor::Children(int name) const {
  const Attribute* const found = Find(name);
  return found != nullptr ? DescriptorsIn(*found) : std::vector<Descriptor*>();
}

Descriptor* Descriptor::Child(int name) const {
  const std::vector<Descriptor*> children = Children(name);
  return children.empty() ? nullptr : children.front();
}

std::vector<int64_t> Descriptor::Int64s(int name) const {
  const Attribute* const found = Find(name);
  if (found == nullptr || found->type != kInt64 || found->bytes.empty()) return {};
  std::vector<int64_t> values(static_cast<size_t>(found->count));
  std::memcpy(values.data(), found->bytes.data(), found->bytes.size());
  return values;
}

int64_t Descriptor::Int64(int name, int64_t otherwise) const {
  const std::vector<int64_t> values = Int64s(name);
  return values.empty() ? otherwise : values.front();
}

void Descriptor::Release() {
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

Descriptor::~Descriptor() {
  for (const auto& [name, attribute] : attributes_) ReleaseAll(attribute);
}

}  // namespace vramscope::simulated::cudnn
