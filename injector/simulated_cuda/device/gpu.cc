// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/gpu.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "injector/simulated_cuda/abi.h"

namespace vramscope::simulated {
namespace {

constexpr Gpu kGpus[] = {
#define GPU(...) {__VA_ARGS__},
#include "injector/simulated_cuda/gpus.def"
#undef GPU
};

constexpr int kKib = 1024;
constexpr int kReservedSharedKib = 1;  // per block, since compute capability 8.0
constexpr int kMaxBlock = 1024;
constexpr int kRegisters = 65536;

// The most that one block may request: all of the multiprocessor's memory except the part that each block
// reserves. 7.5 reserves none, and 7.0 has 96.
int SharedPerBlockOptin(const Gpu& gpu) {
  return (gpu.major >= 8 ? gpu.shared_kib - kReservedSharedKib : gpu.shared_kib) * kKib;
}

bool IsDataCenter(const Gpu& gpu) { return gpu.minor == 0 && gpu.major != 12; }

}  // namespace

const Gpu* FindGpu(const char* name) {
  for (const Gpu& gpu : kGpus) {
    if (std::strcmp(gpu.name, name) == 0) return &gpu;
  }
  return nullptr;
}

bool ParseGpu(const char* text, Gpu* gpu) {
  char* name = nullptr;
  char* product = nullptr;
  unsigned long long total = 0, context = 0;
  const int fields =
      std::sscanf(text, "%m[^;];%m[^;];%d;%d;%d;%llu;%d;%d;%d;%d;%d;%d;%d;%llu", &name, &product, &gpu->major,
                  &gpu->minor, &gpu->multiprocessors, &total, &gpu->l2_mib, &gpu->shared_kib,
                  &gpu->threads_per_multiprocessor, &gpu->blocks_per_multiprocessor, &gpu->clock_mhz,
                  &gpu->memory_clock_mhz, &gpu->bus_bits, &context);
  gpu->name = name;
  gpu->product = product;
  gpu->total_mib = total;
  gpu->context_mib = context;
  gpu->context_basis = kGiven;
  gpu->memory_basis = kReported;
  gpu->memory_source = nullptr;
  constexpr int kFields = 14;
  if (fields == kFields) return true;
  std::free(name);
  std::free(product);
  return false;
}

int AttributeOf(const Gpu& gpu, int device, int attribute) {
  if (attribute >= kMaxBlockDimX && attribute < kMaxBlockDimZ) return kMaxBlock;
  switch (attribute) {
    case kMaxThreadsPerBlock:
      return kMaxBlock;
    case kMaxBlockDimZ:
      return 64;
    case kMaxGridDimX:
      return 0x7fffffff;
    case kMaxGridDimX + 1:
    case kMaxGridDimX + 2:
      return 65535;
    case kMaxSharedMemoryPerBlock:
      return 48 * kKib;
    case kTotalConstantMemory:
      return 64 * kKib;
    case kWarpSize:
    case kTexturePitchAlignment:
      return 32;
    case kMaxPitch:
      return 0x7fffffff;
    case kMaxRegistersPerBlock:
    case kMaxRegistersPerMultiprocessor:
      return kRegisters;
    case kClockRate:
      return gpu.clock_mhz * 1000;
    case kTextureAlignment:
      return 512;
    case kMultiprocessorCount:
      return gpu.multiprocessors;
    case kPciBusId:
      return device + 1;
    case kMemoryClockRate:
      return gpu.memory_clock_mhz * 1000;
    case kGlobalMemoryBusWidth:
      return gpu.bus_bits;
    case kL2CacheSize:
      return gpu.l2_mib * kKib * kKib;
    case kMaxThreadsPerMultiprocessor:
      return gpu.threads_per_multiprocessor;
    case kAsyncEngineCount:
      return 3;
    case kComputeCapabilityMajor:
      return gpu.major;
    case kComputeCapabilityMinor:
      return gpu.minor;
    case kMaxSharedMemoryPerMultiprocessor:
      return gpu.shared_kib * kKib;
    case kSingleToDoublePrecisionRatio:
      return IsDataCenter(gpu) ? 2 : 32;
    case kMaxSharedMemoryPerBlockOptin:
      return SharedPerBlockOptin(gpu);
    case kMaxBlocksPerMultiprocessor:
      return gpu.blocks_per_multiprocessor;
    case kReservedSharedMemoryPerBlock:
      return gpu.major >= 8 ? kReservedSharedKib * kKib : 0;
    case kClusterLaunch:
      return gpu.major >= 9 ? 1 : 0;
    case kCanMapHostMemory:
    case kConcurrentKernels:
    case kUnifiedAddressing:
    case kStreamPrioritiesSupported:
    case kGlobalL1CacheSupported:
    case kLocalL1CacheSupported:
    case kManagedMemory:
    case kConcurrentManagedAccess:
    case kComputePreemption:
    case kCanUseHostPointerForRegisteredMemory:
    case kCooperativeLaunch:
    case kHostRegisterSupported:
    case kVirtualMemoryManagement:
    case kPosixFileDescriptorHandle:
    case kMemoryPoolsSupported:
      return 1;
    // All others, including multicast, fabric handles and GPUDirect RDMA: not supported, so that PyTorch's
    // symmetric memory stays off.
    default:
      return 0;
  }
}

int ResidentBlocks(const Gpu& gpu, int block_size, uint64_t shared_bytes) {
  const int warps_size = block_size <= 0 ? 32 : (block_size + 31) / 32 * 32;
  int blocks = gpu.threads_per_multiprocessor / warps_size;
  if (blocks > gpu.blocks_per_multiprocessor) blocks = gpu.blocks_per_multiprocessor;
  if (shared_bytes != 0) {
    const auto by_shared = static_cast<int>(static_cast<uint64_t>(gpu.shared_kib) * kKib / shared_bytes);
    if (blocks > by_shared) blocks = by_shared;
  }
  return blocks < 1 ? 1 : blocks;
}

}  // namespace vramscope::simulated
