// SPDX-License-Identifier: Apache-2.0
// Records what autograd keeps for backward, which tensors are parameters, and the addresses of their
// gradients.
#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/hot.h"
#include "injector/core/thread_ring.h"
#include "injector/torch/hook_table.h"
#include "injector/torch/tensor_layout.h"
#include "trace_format/event.h"

namespace vramscope::injector {
namespace {

// torch/csrc/autograd/saved_variable.h: data_ is the first member, 1.13 to 2.15. It stays undefined if a pack
// hook took the tensor. This is verified on the first tensors. If data_ is not first, releases are not
// recorded.
enum class FirstMember : uint8_t { kUnverified, kIsData, kIsOther };
VRAMSCOPE_HOT constinit std::atomic<FirstMember> saved_first_member = FirstMember::kUnverified;

const void* UndefinedTensor() {
  static std::atomic<const void*> singleton = nullptr;
  const void* known = singleton.load(std::memory_order_relaxed);
  if (known == nullptr) {
    known = FindSymbol("_ZN3c1019UndefinedTensorImpl10_singletonE");
    singleton.store(known, std::memory_order_relaxed);
  }
  return known;
}

bool HoldsTensor(const void* saved) { return *static_cast<const void* const*>(saved) != UndefinedTensor(); }

void VerifyFirstMember(const void* saved, const StorageView& wanted) {
  StorageView held;
  const bool is_data = CanRead(*static_cast<const void* const*>(saved)) && ReadStorage(saved, held) &&
                       held.address == wanted.address && held.bytes == wanted.bytes;
  saved_first_member.store(is_data ? FirstMember::kIsData : FirstMember::kIsOther, std::memory_order_relaxed);
  if (!is_data) {
    RecordCoverage("torch::autograd::SavedVariable::data_", trace::CoverageState::kMissing,
                   "the end of an activation is its free, not its release by autograd");
  }
}

// How autograd saved the given tensor: trace::kSavedIsOutput, kSavedByHook.
uint16_t SavedFlags(const void* saved, bool is_output, const StorageView& tensor) {
  const uint64_t output = is_output ? trace::kSavedIsOutput : 0;
  if (!HoldsTensor(saved)) return static_cast<uint16_t>(output | trace::kSavedByHook);
  if (saved_first_member.load(std::memory_order_relaxed) == FirstMember::kUnverified)
    VerifyFirstMember(saved, tensor);
  return static_cast<uint16_t>(output);
}

}  // namespace

void SavedVariableConstruct(void* saved, const void* tensor, bool is_output, bool is_inplace_on_view) {
  auto* const real = RealSavedVariableConstruct();
  if (real == nullptr) return;
  StorageView view;
  const bool has_storage = ReadStorage(tensor, view);
  real(saved, tensor, is_output, is_inplace_on_view);
  if (!has_storage) return;
  Record(trace::EventType::kSaved, SavedFlags(saved, is_output, view), 0, view.address, view.bytes,
         view.tensor);
}

void SavedVariableReset(void* saved) {
  StorageView view;
  if (saved_first_member.load(std::memory_order_relaxed) == FirstMember::kIsData && HoldsTensor(saved) &&
      ReadStorage(saved, view)) {
    Record(trace::EventType::kSavedReleased, 0, 0, view.address, view.bytes);
  }
  if (auto* const real = RealSavedVariableReset()) real(saved);
}

// Every autograd node takes a number when it is constructed, except AccumulateGrad nodes.
uint64_t NextSequenceNumber() {
  const uint64_t number = RealNextSequenceNumber()();
  if (InDeepWindow()) Record(trace::EventType::kNodeCreated, 0, 0, number);
  return number;
}

}  // namespace vramscope::injector
