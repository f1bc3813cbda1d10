// SPDX-License-Identifier: Apache-2.0
// Records the names of parameters and buffers in C++ programs: "blocks.0.attention.qkv.weight".
//
// A tensor is registered under its local name ("weight") before its module is part of a tree. Every training
// program then calls parameters() of a root module, to pass them to an optimizer. At that moment the root is
// alive and the tree is complete. The walk from there gives each tensor its dotted name.
//
// torch/csrc/api/include/torch/nn/module.h and ordered_dict.h, the same from 2.2 to 2.15, with libstdc++'s
// layout of the members:
//
//   Module        ... │ parameters_ │ buffers_ │ children_ │ ...     three OrderedDicts side by side
//   OrderedDict   │ unordered_map index_ (56 bytes) │ vector items_ (24) │ string (32, old ABI 8) │
//   items_        ─► {string key, Tensor} {string key, Tensor} ...    of children_: {string, shared_ptr}
//
// The position of parameters_ is found from the reference into items_ that register_parameter returns.
// Nothing is read before that.
#include <string.h>

#include "injector/core/intern.h"
#include "injector/core/thread_ring.h"
#include "injector/torch/hook_table.h"
#include "injector/torch/readiness.h"
#include "injector/torch/tensor_layout.h"
#include "trace_format/event.h"

namespace vramscope::injector {
namespace {

constexpr size_t kIndexBytes = 56;
constexpr size_t kVectorBytes = 24;
constexpr size_t kFirstItems = 0x40;  // where a module's first items_ may lie
constexpr size_t kLastItems = 0x200;
constexpr size_t kMostItems = 1 << 20;
constexpr int kDeepest = 64;

// std::string of the program's ABI.
struct StringForm {
  size_t bytes;
  const char* (*text)(const std::byte* string);
  size_t (*length)(const std::byte* string);
};

template <typename T>
T Load(const std::byte* address) {
  T value;
  memcpy(&value, address, sizeof value);
  return value;
}

// {pointer, length, ...}
constexpr StringForm kNewString = {32, [](const std::byte* string) { return Load<const char*>(string); },
                                   [](const std::byte* string) { return Load<size_t>(string + 8); }};
// A pointer to the characters, which follow {length, capacity, references}.
constexpr StringForm kOldString = {
    8, [](const std::byte* string) { return Load<const char*>(string); },
    [](const std::byte* string) { return Load<size_t>(Load<const std::byte*>(string) - 24); }};

// Offset of parameters_.items_ in a Module; 0 = not known yet. The two string forms never occur in one
// process.
constinit std::atomic<size_t> parameter_items = 0;

size_t DictionaryBytes(const StringForm& form) { return kIndexBytes + kVectorBytes + form.bytes; }

void Label(const void* tensor, trace::Role role, trace::LabelSource source, const char* name, size_t length) {
  StorageView view;
  if (!ReadStorage(tensor, view)) return;
  Record(trace::EventType::kLabel, static_cast<uint16_t>(role), InternString(name, length), view.address,
         view.bytes, view.tensor, static_cast<uint64_t>(source));
}

// The offset of the items_ of this module that holds `tensor`, or 0.
size_t FindItems(const std::byte* module, const std::byte* tensor, const StringForm& form) {
  const auto item = reinterpret_cast<uintptr_t>(tensor - form.bytes);
  for (size_t offset = kFirstItems; offset <= kLastItems; offset += 8) {
    if (!CanRead(module + offset) || !CanRead(module + offset + 8)) return 0;
    const auto begin = Load<uintptr_t>(module + offset), end = Load<uintptr_t>(module + offset + 8);
    if (item >= begin && item < end && (item - begin) % (form.bytes + sizeof(void*)) == 0) return offset;
  }
  return 0;
}

void Learn(const void* module, const void* tensor, const StringForm& form, trace::Role role) {
  if (parameter_items.load(std::memory_order_relaxed) != 0) return;
  size_t offset =
      FindItems(static_cast<const std::byte*>(module), static_cast<const std::byte*>(tensor), form);
  if (role == trace::Role::kBuffer && offset > DictionaryBytes(form)) offset -= DictionaryBytes(form);
  parameter_items.store(offset, std::memory_order_relaxed);
}

// A dotted path that grows and shrinks during the walk.
class Path {
 public:
  // False when it does not fit; then nothing is appended.
  bool Push(const char* name, size_t length) {
    const size_t dot = length_ == 0 ? 0 : 1;
    if (length_ + dot + length > sizeof text_) return false;
    if (dot == 1) text_[length_] = '.';
    memcpy(text_ + length_ + dot, name, length);
    length_ += dot + length;
    return true;
  }
  void CutTo(size_t length) { length_ = length; }
  const char* text() const { return text_; }
  size_t length() const { return length_; }

 private:
  char text_[1024];
  size_t length_ = 0;
};

// Calls visit(value) with the path extended by its key, for every item of the vector at `items`.
template <typename Visit>
void ForEachItem(const std::byte* items, const StringForm& form, size_t value_bytes, Path& path,
                 Visit visit) {
  const auto* item = Load<const std::byte*>(items);
  const auto* const end = Load<const std::byte*>(items + 8);
  const size_t item_bytes = form.bytes + value_bytes;
  if (item == nullptr || end < item || static_cast<size_t>(end - item) > kMostItems * item_bytes) return;
  for (; item + item_bytes <= end; item += item_bytes) {
    const size_t outer = path.length();
    if (path.Push(form.text(item), form.length(item))) visit(item + form.bytes);
    path.CutTo(outer);
  }
}

void LabelTree(const std::byte* module, const StringForm& form, Path& path, int depth) {
  const std::byte* const parameters = module + parameter_items.load(std::memory_order_relaxed);
  const std::byte* const buffers = parameters + DictionaryBytes(form);
  const std::byte* const children = buffers + DictionaryBytes(form);
  const auto label = [&](trace::Role role) {
    return [&path, role](const std::byte* tensor) {
      Label(tensor, role, trace::LabelSource::kModuleRegistry, path.text(), path.length());
    };
  };
  ForEachItem(parameters, form, sizeof(void*), path, label(trace::Role::kParameter));
  ForEachItem(buffers, form, sizeof(void*), path, label(trace::Role::kBuffer));
  if (depth == kDeepest) return;
  ForEachItem(children, form, 2 * sizeof(void*), path, [&](const std::byte* child) {
    const auto* const below = Load<const std::byte*>(child);
    if (below != nullptr) LabelTree(below, form, path, depth + 1);
  });
}

void Registered(const void* module, const char* name, size_t length, const void* tensor,
                const StringForm& form, trace::Role role) {
  if (tensor == nullptr) return;
  CxxProgramReady();
  Learn(module, tensor, form, role);
  Label(tensor, role, trace::LabelSource::kRegisterBuffer, name, length);
}

// Copies the name first, because the real function moves its characters out.
template <typename Call>
void* Register(const void* module, const void* name, const StringForm& form, trace::Role role, Call call) {
  char copy[256];
  const auto* const string = static_cast<const std::byte*>(name);
  const size_t whole = form.length(string);
  const size_t length = whole < sizeof copy ? whole : sizeof copy;
  memcpy(copy, form.text(string), length);
  void* const tensor = call();
  Registered(module, copy, length, tensor, form, role);
  return tensor;
}

void Named(const void* module, bool recurse, const StringForm& form) {
  if (!recurse || parameter_items.load(std::memory_order_relaxed) == 0 || RecordingFile() == nullptr) return;
  Path path;
  LabelTree(static_cast<const std::byte*>(module), form, path, 0);
}

}  // namespace

void* RegisterParameter(void* module, void* name, void* tensor, bool requires_grad) {
  return Register(module, name, kNewString, trace::Role::kParameter,
                  [&] { return RealRegisterParameter()(module, name, tensor, requires_grad); });
}

void* RegisterParameterOld(void* module, void* name, void* tensor, bool requires_grad) {
  return Register(module, name, kOldString, trace::Role::kParameter,
                  [&] { return RealRegisterParameterOld()(module, name, tensor, requires_grad); });
}

void* RegisterBuffer(void* module, void* name, void* tensor) {
  return Register(module, name, kNewString, trace::Role::kBuffer,
                  [&] { return RealRegisterBuffer()(module, name, tensor); });
}

void* RegisterBufferOld(void* module, void* name, void* tensor) {
  return Register(module, name, kOldString, trace::Role::kBuffer,
                  [&] { return RealRegisterBufferOld()(module, name, tensor); });
}

TensorDictionary NamedParameters(const void* module, bool recurse) {
  Named(module, recurse, kNewString);
  return RealNamedParameters()(module, recurse);
}

TensorDictionary NamedParametersOld(const void* module, bool recurse) {
  Named(module, recurse, kOldString);
  return RealNamedParametersOld()(module, recurse);
}

}  // namespace vramscope::injector
