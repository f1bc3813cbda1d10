// SPDX-License-Identifier: Apache-2.0
// The part of CUPTI's interface that we use, in the layout of CUDA 11.8 to 13.5. Sources: cupti_callbacks.h,
// cupti_activity.h, cupti_driver_cbid.h and generated_cuda_meta.h.
//
// The recorder is not linked with CUPTI. scripts/check_cupti_layout.py compares these declarations with the
// headers of a CUDA release.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::injector::cupti {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kMultipleSubscribers = 39;  // another profiler has subscribed; CUPTI allows one
inline constexpr Result kUnknownError = 999;        // also returned if there is no driver

// Results of cuptiGetVersion: 18 is CUDA 11.8 and 12.0, 24 is CUDA 12.6, 130000 is CUDA 13.0. Activity
// records are read only from kFirstVersion to kLastVersion.
inline constexpr uint32_t kFirstVersion = 18;
inline constexpr uint32_t kLastVersion = 130599;

using Subscriber = void*;
using Context = void*;
using Callback = void (*)(void* user_data, int domain, uint32_t function, const void* data);

inline constexpr int kDriverApi = 1;  // CUPTI's domain of driver API callbacks

enum Site : int { kEnter = 0, kExit = 1 };

struct CallbackData {  // CUpti_CallbackData
  int site;
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol_name;
  Context context;
  uint32_t context_id;
  uint64_t* correlation_data;
  uint32_t correlation_id;
};

// CUPTI's numbers of the driver functions. NVIDIA never reuses a number for another function.
enum Function : uint32_t {
  kMemFreeHost = 38,
  kMemHostAlloc = 39,
  kMemAlloc = 243,
  kMemAllocPitch = 244,
  kMemFree = 245,
  kMemHostAlloc2 = 271,
  kMemAllocHost = 294,
  kMemHostRegister = 301,
  kMemHostUnregister = 302,
  kIpcCloseMemHandle = 330,
  kMemAllocManaged = 371,
  kMemHostRegister2 = 379,
  kMemAddressReserve = 547,
  kMemAddressFree = 548,
  kMemCreate = 549,
  kMemRelease = 550,
  kMemMap = 551,
  kMemUnmap = 552,
  kMemImport = 555,
  kMemRetain = 565,
  kIpcOpenMemHandle = 567,
  kMemAllocAsync = 598,
  kMemAllocAsyncPerThread = 599,
  kMemFreeAsync = 600,
  kMemFreeAsyncPerThread = 601,
  kMemAllocFromPool = 611,
  kMemAllocFromPoolPerThread = 612,
  kMulticastCreate = 706,
};

// Activity records.
inline constexpr int kMemoryActivity = 49;  // CUPTI_ACTIVITY_KIND_MEMORY2
inline constexpr int kPoolActivity = 50;    // CUPTI_ACTIVITY_KIND_MEMORY_POOL
inline constexpr uint32_t kFlushForced = 1;

enum MemoryOperation : int { kAllocated = 1, kReleased = 2 };
enum MemoryKind : int {
  kPageable = 1,
  kPinned = 2,
  kDevice = 3,
  kArray = 4,
  kManaged = 5,
  kDeviceStatic = 6,
  kManagedStatic = 7,
};
enum PoolOperation : int { kPoolCreated = 1, kPoolDestroyed = 2, kPoolTrimmed = 3 };

// The leading fields that CUpti_ActivityMemory3 (CUDA 11) and CUpti_ActivityMemory4 (12 and 13) share. Use
// `next_record`, not sizeof, to reach the next record.
struct MemoryRecord {
  int kind;
  int operation;
  int memory_kind;
  uint32_t correlation_id;
  uint64_t address;
  uint64_t bytes;
  uint64_t timestamp;
  uint64_t program_counter;
  uint32_t process;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  const char* name;
  uint32_t is_async;
  uint32_t padding1;
  int pool_type;
  uint32_t padding2;
  uint64_t pool;
  uint64_t release_threshold;
  uint64_t pool_size_or_process;
  uint64_t pool_used;
};

// The leading fields of CUpti_ActivityMemoryPool2 and 3.
struct PoolRecord {
  int kind;
  int operation;
  int pool_type;
  uint32_t correlation_id;
  uint32_t process;
  uint32_t device;
  size_t least_kept;
  uint64_t address;
  uint64_t size;
  uint64_t release_threshold;
  uint64_t timestamp;
  uint64_t used;
};

using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using BufferCompleted = void (*)(Context context, uint32_t stream, uint8_t* buffer, size_t size,
                                 size_t valid);

// The CUPTI functions that we call.
struct Functions {
  Result (*get_version)(uint32_t*);
  Result (*subscribe)(Subscriber*, Callback, void*);
  Result (*unsubscribe)(Subscriber);
  Result (*enable_callback)(uint32_t enable, Subscriber, int domain, uint32_t function);
  Result (*get_device_id)(Context, uint32_t*);
  Result (*register_callbacks)(BufferRequested, BufferCompleted);
  Result (*activity_enable)(int kind);
  Result (*activity_disable)(int kind);
  Result (*next_record)(uint8_t* buffer, size_t valid, void** record);
  Result (*flush_all)(uint32_t flag);
  Result (*flush_period)(uint32_t milliseconds);
};

}  // namespace vramscope::injector::cupti
