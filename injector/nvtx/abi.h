// SPDX-License-Identifier: Apache-2.0
// The binary interface (ABI) of NVTX v3, between a program that calls NVTX and a library that listens to the
// calls.
//
// These declarations replace NVTX's headers, which the build machine need not have. The ABI is frozen since
// NVTX 3.0. Sources: nvtxDetail/nvtxTypes.h, nvtxDetail/nvtxExtTypes.h, nvToolsExt.h and nvToolsExtMem.h of
// CUDA 10.0 to 13.x, and libnvToolsExt.so.1 of CUDA 11 and 12. tests/nvtx/client.cc compares this file with
// the installed headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::injector::nvtx {

using Domain = const void*;  // a handle from the listener; nullptr = the default domain
// A handle of a registered string, a heap or a region. The listener creates it.
using Handle = const void*;
using RangeId = uint64_t;
using AnyFunction = void (*)();

inline constexpr int kNoTracking = -2;  // returned by push and pop if no library counts levels

enum MessageType : int32_t { kNoMessage = 0, kAscii = 1, kWide = 2, kRegistered = 3 };

enum PayloadType : int32_t {
  kNoPayload = 0,
  kUnsigned64 = 1,
  kSigned64 = 2,
  kDouble = 3,
  kUnsigned32 = 4,
  kSigned32 = 5,
  kFloat = 6,
};

union Message {
  const char* ascii;
  const wchar_t* wide;
  Handle registered;
};

struct EventAttributes {
  uint16_t version;
  uint16_t size;  // size of this struct in the program; may be smaller than here
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  union {
    uint64_t unsigned64;
    int64_t signed64;
    double real64;
    uint32_t unsigned32;
    int32_t signed32;
    float real32;
  } payload;
  int32_t message_type;
  Message message;
};
static_assert(sizeof(EventAttributes) == 48);

// A program calls NVTX through function pointers, which a listener replaces. Tables hold the addresses of
// these pointers. Each library that was compiled with NVTX has its own set of tables. It calls
// InitializeInjectionNvtx2 with this set.
enum ExportTable : uint32_t { kCallbacks = 1 };
enum Module : uint32_t { kCore = 1, kCore2 = 5 };
struct CallbackTables {
  size_t struct_size;
  int (*get_module_function_table)(uint32_t module, AnyFunction*** table, unsigned int* size);
};
using GetExportTable = const void* (*)(uint32_t table);
using InitializeInjection = int (*)(GetExportTable);

// Positions in the table of kCore.
enum CoreFunction : unsigned {
  kMarkEx = 1,
  kMarkA = 2,
  kMarkW = 3,
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
  kCoreSize = 16,
};

// Positions in the table of kCore2.
enum Core2Function : unsigned {
  kDomainMarkEx = 1,
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13,
  kDomainDestroy = 14,
  kCore2Size = 16,
};

// Each library calls InitializeInjectionNvtxExtension once for each NVTX extension that it uses. A slot holds
// a function, kFreshSlot (no listener has been loaded yet) or kDisabledSlot.
struct ExtensionSegment {
  size_t id;
  size_t slot_count;
  intptr_t* slots;
};
struct ExtensionModule {
  uint16_t nvtx_version;
  uint16_t struct_size;
  uint16_t module;  // kMemoryModule, or another extension
  uint16_t compatibility;
  size_t segment_count;
  ExtensionSegment* segments;
  intptr_t (*get_export_function)(uint32_t);
  const void* extension_info;
};
using InitializeExtension = int (*)(ExtensionModule*);
inline constexpr intptr_t kFreshSlot = 0;
inline constexpr intptr_t kDisabledSlot = 1;
inline constexpr intptr_t kLastStateOfSlot = 4;  // a slot with a larger value holds a function

// The memory extension: heaps, and regions in them.
inline constexpr uint16_t kMemoryModule = 1;
inline constexpr uint16_t kMemoryCompatibility = 0x0102;
inline constexpr size_t kMemorySlots = 63;
inline constexpr size_t kMemorySegment = 1;

enum MemoryFunction : unsigned {
  kHeapRegister = 0,
  kHeapUnregister = 1,
  kRegionsRegister = 3,
  kRegionsResize = 4,
  kRegionsUnregister = 5,
  kRegionsName = 6,
};

inline constexpr uint32_t kSubAllocator = 1;    // usage of a heap: an allocator hands out parts of it
inline constexpr uint32_t kVirtualAddress = 1;  // type of memory: an address range (VirtualRange)
inline constexpr uint32_t kByPointer = 1;       // a region is identified by its address
inline constexpr uint32_t kByHandle = 2;        // a region is identified by its handle
inline constexpr Handle kProcessWideHeap = nullptr;

struct VirtualRange {
  size_t size;
  const void* address;
};
struct HeapDescription {
  uint16_t compatibility;
  uint16_t struct_size;
  uint32_t reserved;
  uint32_t usage;
  uint32_t type;
  size_t type_specific_size;
  const void* type_specific;
  uint32_t category;
  uint32_t message_type;
  Message message;
};
struct RegionsRegister {
  uint16_t compatibility;
  uint16_t struct_size;
  uint32_t type;
  Handle heap;
  size_t count;
  size_t element_size;
  const void* elements;  // array of `count` VirtualRange, one every `element_size` bytes
  Handle* handles;       // output; may be nullptr
};
struct RegionsResize {
  uint16_t compatibility;
  uint16_t struct_size;
  uint32_t type;
  size_t count;
  size_t element_size;
  const void* elements;
};
struct RegionsUnregister {
  uint16_t compatibility;
  uint16_t struct_size;
  uint32_t reference_type;
  size_t count;
  size_t element_size;
  const Handle* elements;
};
struct RegionName {
  uint32_t reference_type;
  uint32_t message_type;
  Handle region;
  Message name;
  uint32_t category;
  uint32_t reserved;
};
struct RegionsName {
  uint16_t compatibility;
  uint16_t struct_size;
  uint32_t reserved0;
  size_t count;
  size_t element_size;
  const void* elements;  // array of `count` RegionName, one every `element_size` bytes
  size_t reserved1;
};

}  // namespace vramscope::injector::nvtx
