// SPDX-License-Identifier: Apache-2.0
// Constants and struct layouts of CUDA's binary interface, as the simulated GPU and its callers use them.
//
// With these declarations, the simulated GPU compiles without CUDA headers, for CUDA 12 and CUDA 13. The
// driver and the runtime share error numbers and device attributes since CUDA 10.1.
#pragma once

#include <cstddef>
#include <cstdint>

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))

namespace vramscope::simulated {

using DevicePointer = uint64_t;  // CUdeviceptr

// CUresult and cudaError_t.
enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kNoKernelImage = 209,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureUnmatched = 903,
  kCaptureImplicit = 906,
};

// CUdevice_attribute: the attributes that AttributeOf (device/gpu.h) answers.
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockDimX = 2,
  kMaxBlockDimZ = 4,
  kMaxGridDimX = 5,
  kMaxSharedMemoryPerBlock = 8,
  kTotalConstantMemory = 9,
  kWarpSize = 10,
  kMaxPitch = 11,
  kMaxRegistersPerBlock = 12,
  kClockRate = 13,
  kTextureAlignment = 14,
  kMultiprocessorCount = 16,
  kCanMapHostMemory = 19,
  kConcurrentKernels = 31,
  kPciBusId = 33,
  kPciDeviceId = 34,
  kMemoryClockRate = 36,
  kGlobalMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kAsyncEngineCount = 40,
  kUnifiedAddressing = 41,
  kPciDomainId = 50,
  kTexturePitchAlignment = 51,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kStreamPrioritiesSupported = 78,
  kGlobalL1CacheSupported = 79,
  kLocalL1CacheSupported = 80,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kManagedMemory = 83,
  kSingleToDoublePrecisionRatio = 87,
  kPageableMemoryAccess = 88,
  kConcurrentManagedAccess = 89,
  kComputePreemption = 90,
  kCanUseHostPointerForRegisteredMemory = 91,
  kCooperativeLaunch = 95,
  kMaxSharedMemoryPerBlockOptin = 97,
  kHostRegisterSupported = 99,
  kVirtualMemoryManagement = 102,
  kPosixFileDescriptorHandle = 103,
  kMaxBlocksPerMultiprocessor = 106,
  kReservedSharedMemoryPerBlock = 111,
  kMemoryPoolsSupported = 115,
  kClusterLaunch = 120,
};

// CUmemorytype and cudaMemoryType.
enum class MemoryType : int { kUnregistered = 0, kHost = 1, kDevice = 2, kManaged = 3 };

// CUmemLocation, CUmemAllocationProp, CUmemAccessDesc.
struct MemoryLocation {
  int type;  // 1 = device, 2 = host
  int id;
};

struct AllocationProperties {
  int type;  // 1 = pinned
  int requested_handle_types;
  MemoryLocation location;
  void* win32_handle_meta_data;
  uint8_t flags[8];
};
static_assert(sizeof(AllocationProperties) == 32);

struct AccessDescription {
  MemoryLocation location;
  int flags;
};
static_assert(sizeof(AccessDescription) == 12);

struct Uuid {
  unsigned char bytes[16];
};

// CUipcMemHandle, CUipcEventHandle: passed by value.
struct IpcHandle {
  char bytes[64];
};

// Stream handles that are not pointers: the default stream of the process (also 0), and the default stream of
// the calling thread.
inline constexpr uintptr_t kLegacyStream = 1;
inline constexpr uintptr_t kPerThreadStream = 2;

}  // namespace vramscope::simulated
