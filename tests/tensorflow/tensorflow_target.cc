// SPDX-License-Identifier: Apache-2.0
// Allocates as a TensorFlow program does, and prints the addresses that the recorder must have seen, one line
// each:
//
//   tensorflow_target            cpu ADDRESS BYTES OPERATOR, gpu ADDRESS BYTES OPERATOR, failed BYTES
#include <cstdio>
#include <string>

#include "stand_in_tsl.h"

namespace {

using tsl::profiler::ScopedMemoryDebugAnnotation;

void* Say(const char* what, void* block, size_t bytes, const char* op) {
  std::printf("%s %llu %zu %s\n", what, static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(block)),
              bytes, op);
  return block;
}

void* Allocate(tsl::BFCAllocator& allocator, const char* what, const char* op, const char* region,
               size_t bytes) {
  const ScopedMemoryDebugAnnotation annotation(op, -5, region, 1, {});
  return Say(what, allocator.AllocateRaw(64, bytes, {}), bytes, op);
}

}  // namespace

int main() {
  // A tensor of the CPU, an arena of the graph, and a large tensor of the CPU: its region is no block.
  {
    const ScopedMemoryDebugAnnotation annotation("mlp/fc1/BiasAdd", 7, "output", 1, {});
    void* const tensor =
        Say("cpu", tsl::port::AlignedMalloc(4096, std::align_val_t{64}), 4096, "mlp/fc1/BiasAdd");
    void* const arena = tsl::port::AlignedMalloc(8192, std::align_val_t{8});
    tsl::port::AlignedFree(tensor);
    (void)arena;  // kept: its free would look like a tensor's
  }
  tsl::BFCAllocator cpu("mklcpu", 2, 1 << 20);
  cpu.DeallocateRaw(Allocate(cpu, "cpu", "mlp/fc1/MatMul", "output", 300'000));
  // The host's pinned memory is no tensor memory.
  tsl::BFCAllocator host("gpu_host_bfc", 3, 1 << 20);
  host.DeallocateRaw(host.AllocateRaw(64, 1024, {}));
  // After the first block of a GPU, the recorder ignores blocks of the CPU.
  tsl::BFCAllocator gpu("GPU_1_bfc", 1, 1 << 20);
  void* const first = Allocate(gpu, "gpu", "gradient_tape/mlp/fc1/MatMul_1", "output", 1000);
  void* const scratch = Allocate(gpu, "gpu", "conv", "temp", 5000);
  gpu.DeallocateRaw(first);
  gpu.DeallocateRaw(scratch);
  tsl::port::AlignedFree(tsl::port::AlignedMalloc(64, std::align_val_t{64}));
  const ScopedMemoryDebugAnnotation annotation("mlp/fc2/MatMul", 7, "output", 1, {});
  gpu.AllocateRaw(64, 2 << 20, {.retry_on_failure = false});  // an algorithm that was only tried
  gpu.AllocateRaw(64, 3 << 20, {});
  std::printf("failed %d\n", 3 << 20);
}
