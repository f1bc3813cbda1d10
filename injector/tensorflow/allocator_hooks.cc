// SPDX-License-Identifier: Apache-2.0
// Allocations, frees, regions and out-of-memory reports of TensorFlow.
//
//   GPU tensors, CPU tensors from 256 KiB     BFCAllocator::AllocateRaw ─ Extend ─ SubAllocator::VisitAlloc
//   smaller CPU tensors                       port::AlignedMalloc
//
// AlignedMalloc has two other users, whose memory is not recorded as blocks. Arenas of TensorFlow's graph
// objects have an alignment of 8; tensors have 64 or more (tsl::Allocator::kAllocatorAlignment). The CPU's
// sub-allocator gets its regions there, inside a call of BFCAllocator. VisitAlloc and VisitFree report such a
// region when it is added or given back. It is recorded as a segment.
#include <atomic>

#include "injector/core/block_filter.h"
#include "injector/core/elf_image.h"
#include "injector/core/native_stack.h"
#include "injector/core/thread_ring.h"
#include "injector/tensorflow/allocators.h"
#include "injector/tensorflow/annotation.h"
#include "injector/tensorflow/gradient_ops.h"
#include "injector/tensorflow/hook_table.h"
#include "injector/tensorflow/phases.h"
#include "injector/tensorflow/variable_buffers.h"
#include "trace_format/event.h"

namespace vramscope::injector::tensorflow {
namespace {

using trace::EventType;

constexpr int8_t kCpu = 0;
constexpr auto kCpuCode = static_cast<uint16_t>(trace::DeviceCode(kCpu, 0xff));

// The BFC allocator whose function this thread is in; nullptr outside.
constinit thread_local Allocator* inside __attribute__((tls_model("initial-exec"))) = nullptr;
// True inside AlignedMalloc and AlignedFree: one form of each may call another.
constinit thread_local bool in_aligned __attribute__((tls_model("initial-exec"))) = false;

void RecordBlock(const void* block, uint64_t bytes, uint64_t requested, uint16_t device) {
  const Annotation* const annotation = CurrentAnnotation();
  const uint32_t native = NativeStackId();
  const uint32_t stack = native != 0 ? native : OperatorStackId(annotation);
  const auto address = reinterpret_cast<uint64_t>(block);
  FollowPhase(annotation);
  if (requested == bytes) {
    RecordAfterAll(EventType::kAlloc, device, stack, address, bytes);
  } else {
    RecordAfterAll(EventType::kAlloc, device, stack, address, bytes, 0, requested);
  }
  if (annotation != nullptr) LabelIfGradient(*annotation, block, bytes);
}

void RecordFree(const void* block, uint16_t device) {
  NoteFreed(block);
  Record(EventType::kFree, device, 0, reinterpret_cast<uint64_t>(block), 0);
}

// tsl::AllocationAttributes begins with retry_on_failure: false where a failure only costs speed.
bool Matters(const void* attributes) { return *static_cast<const bool*>(attributes); }

void RecordNoBlock(Allocator& allocator, void* object, uint64_t bytes) {
  const Annotation* const annotation = CurrentAnnotation();
  Record(EventType::kOutOfMemory, allocator.DeviceCode(), OperatorStackId(annotation), bytes,
         BytesInUse(object), allocator.region_bytes.load(std::memory_order_relaxed));
}

bool Wants(const Allocator* allocator) {
  return allocator != nullptr && allocator->is_tensor_memory && WantsBlocksOf(allocator->device_type);
}

constexpr size_t kTensorAlignment = 64;

template <typename Real>
void* Aligned(size_t bytes, size_t alignment, Real real) {
  if (in_aligned) return real();
  in_aligned = true;
  void* const block = real();
  in_aligned = false;
  if (block != nullptr && bytes != 0 && alignment >= kTensorAlignment && inside == nullptr &&
      WantsBlocksOf(kCpu))
    RecordBlock(block, bytes, bytes, kCpuCode);
  return block;
}

template <typename Real>
void FreeAligned(const void* block, size_t alignment, Real real) {
  if (in_aligned) return real();
  if (block != nullptr && alignment >= kTensorAlignment && inside == nullptr && WantsBlocksOf(kCpu))
    RecordFree(block, kCpuCode);
  in_aligned = true;
  real();
  in_aligned = false;
}

// On the simulated device no kernel writes a block before the host reads it. Leftovers of an earlier block
// could then decide a branch of the program. The simulated driver makes the block read as zeros
// (private_calls.h).
void ClearIfSimulated(const Allocator* allocator, void* block, size_t bytes) {
  using Clear = int(void* block, size_t bytes);
  static constinit std::atomic<Clear*> known = nullptr;
  static constinit std::atomic<bool> searched = false;
  if (allocator == nullptr || allocator->device_type == kCpu) return;
  if (__builtin_expect(!searched.load(std::memory_order_acquire), 0)) {
    known.store(reinterpret_cast<Clear*>(FindSymbol("vramscope_simulated_clear")), std::memory_order_relaxed);
    searched.store(true, std::memory_order_release);
  }
  if (auto* const clear = known.load(std::memory_order_relaxed)) clear(block, bytes);
}

void RecordRegion(const void* region, uint64_t bytes, uint64_t change) {
  if (!Wants(inside)) return;
  Record(EventType::kSegment, inside->DeviceCode(), 0, reinterpret_cast<uint64_t>(region), bytes, 0, change,
         0);
}

}  // namespace

void* AllocateRaw(void* object, size_t alignment, size_t bytes, const void* attributes) {
  auto* const real = RealAllocateRaw();
  if (real == nullptr) return nullptr;
  Allocator* const allocator = AllocatorOf(object);
  Allocator* const around = inside;
  inside = allocator;
  void* const block = real(object, alignment, bytes, attributes);
  inside = around;
  if (block != nullptr && bytes != 0) ClearIfSimulated(allocator, block, bytes);
  if (bytes == 0 || !Wants(allocator)) return block;
  if (block != nullptr) {
    RecordBlock(block, BlockBytes(object, block, bytes), bytes, allocator->DeviceCode());
  } else if (Matters(attributes)) {
    RecordNoBlock(*allocator, object, bytes);
  }
  return block;
}

void DeallocateRaw(void* object, void* block) {
  auto* const real = RealDeallocateRaw();
  if (real == nullptr) return;
  Allocator* const allocator = AllocatorOf(object);
  if (block != nullptr && Wants(allocator)) RecordFree(block, allocator->DeviceCode());
  Allocator* const around = inside;
  inside = allocator;
  real(object, block);
  inside = around;
}

void VisitAlloc(void* sub_allocator, void* region, int index, size_t bytes) {
  if (inside != nullptr && region != nullptr) {
    inside->region_bytes.fetch_add(bytes, std::memory_order_relaxed);
    RecordRegion(region, bytes, trace::segment::kCame);
  }
  if (auto* const real = RealVisitAlloc()) real(sub_allocator, region, index, bytes);
}

void VisitFree(void* sub_allocator, void* region, int index, size_t bytes) {
  if (inside != nullptr && region != nullptr) {
    inside->region_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    RecordRegion(region, bytes, 0);
  }
  if (auto* const real = RealVisitFree()) real(sub_allocator, region, index, bytes);
}

void* AlignedMalloc(size_t bytes, size_t alignment) {
  auto* const real = RealAlignedMalloc();
  return real == nullptr ? nullptr : Aligned(bytes, alignment, [=] { return real(bytes, alignment); });
}

void* AlignedMallocInt(size_t bytes, int alignment) {
  auto* const real = RealAlignedMallocInt();
  const auto at = static_cast<size_t>(alignment);
  return real == nullptr ? nullptr : Aligned(bytes, at, [=] { return real(bytes, alignment); });
}

void AlignedFree(void* block) {
  if (auto* const real = RealAlignedFree()) FreeAligned(block, kTensorAlignment, [=] { real(block); });
}

void AlignedSizedFree(void* block, size_t bytes, size_t alignment) {
  if (auto* const real = RealAlignedSizedFree())
    FreeAligned(block, alignment, [=] { real(block, bytes, alignment); });
}

}  // namespace vramscope::injector::tensorflow
