// SPDX-License-Identifier: Apache-2.0
// The workspaces that PyTorch allocates for cuBLAS, from its own allocator: 32 MiB on Hopper, 8.1 elsewhere.
//
// Up to PyTorch 2.11 the workspace is created together with the handle, once for each handle and stream,
// inside getCurrentCUDABlasHandle: a block that this thread allocates inside it is a workspace. In 2.15 each
// call allocates its workspace, through a function of its own.
#include "injector/core/intern.h"
#include "injector/torch/block_records.h"

namespace vramscope::injector {
namespace {

constexpr char kName[] = "cuBLAS workspace";

template <typename Call>
void* MakingHandle(Call real) {
  expected_blocks = ExpectedBlocks::kWorkspace;
  void* const handle = real();
  expected_blocks = ExpectedBlocks::kAny;  // after an exception, RecordNoBlock resets it
  return handle;
}

}  // namespace

constinit thread_local ExpectedBlocks expected_blocks __attribute__((tls_model("initial-exec"))) =
    ExpectedBlocks::kAny;

void LabelWorkspace(const void* block, uint64_t bytes) {
  if (block == nullptr || bytes == 0) return;
  static std::atomic<uint32_t> name = 0;
  uint32_t known = name.load(std::memory_order_relaxed);
  if (known == 0) name.store(known = InternString(kName, sizeof(kName) - 1), std::memory_order_relaxed);
  Record(trace::EventType::kLabel, static_cast<uint16_t>(trace::Role::kWorkspace), known,
         reinterpret_cast<uint64_t>(block), bytes, 0, static_cast<uint64_t>(trace::LabelSource::kWorkspace));
}

void* BlasHandle() { return MakingHandle(RealBlasHandle()); }

DataPointer AllocateBlasWorkspace(size_t bytes) {
  DataPointer workspace = RealAllocateBlasWorkspace()(bytes);
  const void* block = nullptr;
  __builtin_memcpy(&block, workspace.bytes, sizeof(block));  // c10::DataPtr begins with it
  LabelWorkspace(block, bytes);
  return workspace;
}

}  // namespace vramscope::injector
