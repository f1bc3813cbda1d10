// SPDX-License-Identifier: Apache-2.0
// Parameters and their gradients, from the graph nodes that accumulate gradients into leaf tensors.
//
// apply, not only the constructor: if a program keeps its loss and so the nodes, the constructor runs once
// per run. The member `variable` is found once, as the word that equals the constructor's tensor. Offset
// 0x1d0 in 2.15, 0x1d8 in 2.6, 0x188 in 1.13.
#include "injector/core/api.h"
#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/thread_ring.h"
#include "injector/torch/hook_table.h"
#include "injector/torch/tensor_layout.h"
#include "trace_format/event.h"

namespace vramscope::injector {
namespace {

constexpr uint32_t kFirstMember = 0x80;
constexpr uint32_t kLastMember = 0x2F8;
constexpr uint32_t kNotFound = 1;  // no member is at an odd offset

constinit std::atomic<uint32_t> variable_offset = 0;  // 0 = not searched for yet

// kNotFound if it is not a member of the node.
uint32_t OffsetOfVariable(const std::byte* node, const void* impl) {
  for (uint32_t offset = kFirstMember; offset <= kLastMember; offset += 8) {
    const std::byte* const member = node + offset;
    if (!CanRead(member)) break;
    if (*reinterpret_cast<const void* const*>(member) == impl) return offset;
  }
  return kNotFound;
}

uint32_t SearchVariable(const std::byte* node, const void* impl) {
  if (const uint32_t offset = OffsetOfVariable(node, impl); offset != kNotFound) return offset;
  RecordCoverage("torch::autograd::AccumulateGrad::variable", trace::CoverageState::kMissing,
                 "parameters are known from their first use only, gradients from the Python shim only");
  return kNotFound;
}

// The node's variable as a const at::Tensor*, or nullptr.
const void* VariableOf(const void* node) {
  const uint32_t offset = variable_offset.load(std::memory_order_relaxed);
  return offset == 0 || offset == kNotFound ? nullptr : static_cast<const std::byte*>(node) + offset;
}

void LabelStorage(const void* tensor, trace::Role role) {
  StorageView view;
  if (!ReadStorage(tensor, view)) return;
  Record(trace::EventType::kLabel, static_cast<uint16_t>(role), 0, view.address, view.bytes, view.tensor,
         static_cast<uint64_t>(trace::LabelSource::kAccumulateGrad));
}

// `const at::Tensor& c10::TensorImpl::grad() const`: the exact .grad, without a lock and without side
// effects. nullptr when it is not exported.
const void* GradientOf(const void* variable) {
  using Grad = const void* (*)(const void*);
  static std::atomic<void*> function = nullptr;
  void* grad = function.load(std::memory_order_relaxed);
  if (grad == nullptr) {
    grad = FindSymbol("_ZNK3c1010TensorImpl4gradEv");
    if (grad == nullptr) return nullptr;
    function.store(grad, std::memory_order_relaxed);
  }
  return reinterpret_cast<Grad>(grad)(*static_cast<const void* const*>(variable));
}

}  // namespace

void AccumulateGradConstruct(void* node, void* tensor) {
  auto* const real = RealAccumulateGradConstruct();
  if (real == nullptr) return;
  LabelStorage(tensor, trace::Role::kParameter);
  const void* const impl = *static_cast<const void* const*>(tensor);  // the constructor moves it away
  real(node, tensor);
  if (variable_offset.load(std::memory_order_relaxed) == 0) {
    variable_offset.store(SearchVariable(static_cast<const std::byte*>(node), impl),
                          std::memory_order_relaxed);
  }
}

TensorVector AccumulateGradApply(void* node, void* gradients) {
  auto* const real = RealAccumulateGradApply();
  const void* const variable = VariableOf(node);
  if (variable != nullptr) LabelStorage(variable, trace::Role::kParameter);
  TensorVector result = real(node, gradients);
  const void* const gradient = variable == nullptr ? nullptr : GradientOf(variable);
  if (gradient != nullptr) LabelStorage(gradient, trace::Role::kGradient);
  return result;
}

}  // namespace vramscope::injector

// Attach: nodes from before the attach may still exist, and we may never see a constructor.
extern "C" __attribute__((visibility("default"))) void vramscope_held_leaf(uint64_t object, uint64_t tensor) {
  using namespace vramscope::injector;
  constexpr uint64_t kNodeInWrapper =
      16;  // torch/csrc/autograd/python_cpp_function.h: after the object's header
  const auto* const place = reinterpret_cast<const std::byte* const*>(object + kNodeInWrapper);
  if (variable_offset.load(std::memory_order_relaxed) != 0 || !CanRead(place)) return;
  const uint32_t offset = OffsetOfVariable(*place, reinterpret_cast<const void*>(tensor));
  if (offset != kNotFound) variable_offset.store(offset, std::memory_order_relaxed);
}
