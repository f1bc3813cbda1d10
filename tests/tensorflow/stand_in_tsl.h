// SPDX-License-Identifier: Apache-2.0
// Replaces TensorFlow's libraries in tests: the functions that the recorder hooks or calls. Signatures and
// symbols are the same as in TensorFlow 2.21. So a test program of a few kilobytes is recorded like a
// TensorFlow program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace tsl {

struct AllocationAttributes {
  bool retry_on_failure = true;
};

class SubAllocator {
 public:
  void VisitAlloc(void* region, int index, size_t bytes);
  void VisitFree(void* region, int index, size_t bytes);
};

// Rounds requests to 256 bytes. Each block has its own region, which is freed with the block.
class BFCAllocator {
 public:
  explicit BFCAllocator(std::string name, int memory_type, size_t limit);
  virtual ~BFCAllocator();
  virtual std::string Name();
  virtual void* AllocateRaw(size_t alignment, size_t bytes, const AllocationAttributes& attributes);
  virtual void DeallocateRaw(void* block);
  [[nodiscard]] virtual size_t AllocatedSize(const void* block) const;
  [[nodiscard]] virtual int GetMemoryType() const;

 private:
  std::string name_;
  int memory_type_;
  size_t left_;
  SubAllocator regions_;
};

namespace port {
void* AlignedMalloc(size_t bytes, std::align_val_t alignment);
void AlignedFree(void* block);
}  // namespace port

namespace profiler {

struct MemoryDebugAnnotation {
#ifdef STAND_IN_OTHER_LAYOUT
  int64_t pending_step_id = 0;
  std::string_view pending_op_name;
#else
  std::string_view pending_op_name;
  int64_t pending_step_id = 0;
#endif
  std::string_view pending_region_type;
  int32_t pending_data_type = 0;
  std::function<std::string()> pending_shape_func;
};

class ScopedMemoryDebugAnnotation {
 public:
  ScopedMemoryDebugAnnotation(std::string_view op_name, int64_t step_id, std::string_view region_type,
                              int32_t data_type, std::function<std::string()>&& pending_shape_func);
  ~ScopedMemoryDebugAnnotation();
  static MemoryDebugAnnotation* ThreadMemoryDebugAnnotation();

 private:
  MemoryDebugAnnotation last_annotation_;
};

}  // namespace profiler
}  // namespace tsl
