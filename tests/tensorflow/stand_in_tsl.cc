// SPDX-License-Identifier: Apache-2.0
#include "stand_in_tsl.h"

#include <cstdlib>
#include <utility>

namespace tsl {
namespace {

constexpr size_t kGranule = 256;
constexpr size_t kHeader = 256;  // before each block: its size

size_t& SizeOf(const void* block) {
  return *reinterpret_cast<size_t*>(reinterpret_cast<uintptr_t>(block) - kHeader);  // NOLINT
}

}  // namespace

void SubAllocator::VisitAlloc(void*, int, size_t) {}
void SubAllocator::VisitFree(void*, int, size_t) {}

BFCAllocator::BFCAllocator(std::string name, int memory_type, size_t limit)
    : name_(std::move(name)), memory_type_(memory_type), left_(limit) {}
BFCAllocator::~BFCAllocator() = default;
std::string BFCAllocator::Name() { return name_; }
int BFCAllocator::GetMemoryType() const { return memory_type_; }
size_t BFCAllocator::AllocatedSize(const void* block) const { return SizeOf(block); }

void* BFCAllocator::AllocateRaw(size_t, size_t bytes, const AllocationAttributes&) {
  const size_t rounded = (bytes + kGranule - 1) / kGranule * kGranule;
  if (bytes == 0 || rounded > left_) return nullptr;
  left_ -= rounded;
  void* const region = port::AlignedMalloc(kHeader + rounded, std::align_val_t{256});
  regions_.VisitAlloc(region, 0, kHeader + rounded);
  void* const block = static_cast<char*>(region) + kHeader;
  SizeOf(block) = rounded;
  return block;
}

void BFCAllocator::DeallocateRaw(void* block) {
  if (block == nullptr) return;
  left_ += SizeOf(block);
  void* const region = static_cast<char*>(block) - kHeader;
  regions_.VisitFree(region, 0, kHeader + SizeOf(block));
  port::AlignedFree(region);
}

namespace port {

void* AlignedMalloc(size_t bytes, std::align_val_t alignment) {
  void* block = nullptr;
  return posix_memalign(&block, static_cast<size_t>(alignment), bytes) == 0 ? block : nullptr;
}
void AlignedFree(void* block) { std::free(block); }

}  // namespace port

namespace profiler {

MemoryDebugAnnotation* ScopedMemoryDebugAnnotation::ThreadMemoryDebugAnnotation() {
  static thread_local MemoryDebugAnnotation annotation;
  return &annotation;
}

ScopedMemoryDebugAnnotation::ScopedMemoryDebugAnnotation(std::string_view op_name, int64_t step_id,
                                                         std::string_view region_type, int32_t data_type,
                                                         std::function<std::string()>&& pending_shape_func)
    : last_annotation_(*ThreadMemoryDebugAnnotation()) {
  MemoryDebugAnnotation& annotation = *ThreadMemoryDebugAnnotation();
  annotation.pending_op_name = op_name;
  annotation.pending_step_id = step_id;
  annotation.pending_region_type = region_type;
  annotation.pending_data_type = data_type;
  annotation.pending_shape_func = std::move(pending_shape_func);
}
ScopedMemoryDebugAnnotation::~ScopedMemoryDebugAnnotation() {
  *ThreadMemoryDebugAnnotation() = last_annotation_;
}

}  // namespace profiler
}  // namespace tsl
