// SPDX-License-Identifier: Apache-2.0
// The types, structs and constants of the CUDA driver API that the hooks read.
//
// The recorder is built without CUDA's headers and works with all CUDA releases from 11 on. Each struct ends
// after the last field that we read. scripts/check_driver_table.py compares the structs with a cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::injector::driver {

using DevicePtr = uint64_t;       // CUdeviceptr
using PhysicalHandle = uint64_t;  // CUmemGenericAllocationHandle
using Handle = void*;             // CUcontext, CUmodule, CUarray, CUstream, CUmemoryPool, ...

inline constexpr int kSuccess = 0;
inline constexpr int kOutOfMemory = 2;
inline constexpr int kSymbolNotFound = 302;  // CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND

// CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
inline constexpr uint64_t kPerThreadStream = 2;

struct Location {  // CUmemLocation
  int type;        // 1 = device
  int id;
};

struct AllocationProperties {  // CUmemAllocationProp
  int type;
  int handle_types;
  Location location;
};

struct PoolProperties {  // CUmemPoolProps
  int type;
  int handle_types;
  Location location;
  void* security;
  size_t most_bytes;
  unsigned char rest[56];
};

struct ArrayDescriptor {  // CUDA_ARRAY_DESCRIPTOR
  size_t width, height;
  int format;
  unsigned channels;
};

struct Array3dDescriptor {  // CUDA_ARRAY3D_DESCRIPTOR
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

struct MulticastProperties {  // CUmulticastObjectProp
  unsigned devices;
  size_t bytes;
};

struct ExternalMemory {  // CUDA_EXTERNAL_MEMORY_HANDLE_DESC
  int type;
  void* handle[2];
  unsigned long long bytes;
};

struct ExternalBuffer {  // CUDA_EXTERNAL_MEMORY_BUFFER_DESC
  unsigned long long offset, bytes;
};

struct AllocationNode {  // CUDA_MEM_ALLOC_NODE_PARAMS
  PoolProperties pool;
  const void* access;
  size_t access_count;
  size_t bytes;
  DevicePtr pointer;  // out
};

struct GraphNode {  // CUgraphNodeParams
  int type;
  int reserved[3];
  union {
    AllocationNode allocation;
    DevicePtr freed;
  };
};
inline constexpr int kAllocationNode = 10, kFreeNode = 11;  // CUgraphNodeType

struct LaunchConfiguration;  // CUlaunchConfig; the hooks only pass pointers to it on

struct IpcHandle {  // CUipcMemHandle, passed by value
  char bytes[64];
};

}  // namespace vramscope::injector::driver
