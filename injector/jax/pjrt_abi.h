// SPDX-License-Identifier: Apache-2.0
// The part of PJRT's C interface that the hooks read: the function table, and arguments of functions.
//
// JAX calls a plug-in through one table of functions. Each function takes a pointer to a struct of arguments.
// It returns an error object or nullptr:
//
//   table   0  size of the table (1144 in jaxlib 0.10.2)     32  major version, always 0 so far
//           8  extensions                                    36  minor version
//          16  size and extensions of the version            40  function 0, function 1, ...
//
//   arguments   0  size of the struct    8  extensions    16  fields
//
// Source: openxla/xla, xla/pjrt/c/pjrt_c_api.h, minor versions 60 to 112. Within a major version, new
// functions and fields are added only at the end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::injector::jax {

struct Error;
struct Client;
struct Device;
struct Memory;
struct Executable;
struct LoadedExecutable;
struct Buffer;

inline constexpr int kMajorVersion = 0;
inline constexpr int kOldestMinorVersion = 54;  // first version whose table has `extensions` at byte 8

// Positions of functions in the table.
enum class Entry : size_t {
  kErrorDestroy = 0,
  kErrorGetCode = 2,
  kClientAddressableDevices = 16,
  kClientCompile = 20,
  kBufferFromHostBuffer = 22,
  kDeviceLocalHardwareId = 31,
  kDeviceMemoryStats = 34,
  kMemoryKind = 36,
  kExecutableDestroy = 40,
  kExecutableName = 41,
  kExecutableNumOutputs = 44,
  kLoadedExecutableDestroy = 50,
  kLoadedExecutableGetExecutable = 51,
  kLoadedExecutableAddressableDevices = 52,
  kLoadedExecutableExecute = 55,
  kBufferDestroy = 58,
  kBufferOnDeviceSize = 64,
  kBufferDevice = 65,
  kBufferMemory = 66,
  kBufferDelete = 67,
  kBufferIsDeleted = 68,
  kBufferCopyToDevice = 69,
  kBufferUnsafePointer = 73,
  kBufferCopyToMemory = 92,
  kCreateViewOfDeviceBuffer = 93,
  kExecutableMemoryStats = 96,
};
inline constexpr size_t kFunctionsNeeded = 97;

// The type of every function. The function's position in the table determines the type of the arguments.
using Function = Error*(void* arguments);

struct Table {
  size_t size;
  void* extensions;
  size_t version_size;
  void* version_extensions;
  int major_version;
  int minor_version;
  Function* functions[kFunctionsNeeded];
};
static_assert(offsetof(Table, functions) == 40);

struct Head {
  size_t size;
  void* extensions;
};

// Arguments of a function that takes one object and returns one value.
template <typename Object, typename Answer>
struct Question {
  Head head;
  Object* object;
  Answer answer;
};
// Arguments of a function that takes one object and returns a text or a list.
template <typename Object, typename Item>
struct ListQuestion {
  Head head;
  Object* object;
  Item* items;
  size_t count;
};

inline constexpr int kResourceExhausted = 8;  // error code from kErrorGetCode

struct FromHostBuffer {
  Head head;
  Client* client;
  const void* data;
  int type;
  const int64_t* dimensions;
  size_t dimension_count;
  const int64_t* strides;
  size_t stride_count;
  int semantics;
  Device* device;
  Memory* memory;
  void* layout;
  void* done;
  Buffer* buffer;  // out
};
static_assert(offsetof(FromHostBuffer, buffer) == 112);

// Arguments of kBufferCopyToDevice and kBufferCopyToMemory.
struct CopyTo {
  Head head;
  Buffer* buffer;
  void* destination;
  Buffer* copy;  // out
};

struct ViewOfDeviceBuffer {
  Head head;
  Client* client;
  void* address;
  const int64_t* dimensions;
  size_t dimension_count;
  int type;
  void* layout;
  Device* device;
  void (*on_delete)(void* address, void* argument);
  void* on_delete_argument;
  intptr_t stream;
  Buffer* buffer;  // out
};
static_assert(offsetof(ViewOfDeviceBuffer, buffer) == 96);

struct ExecuteArguments {
  Head head;
  LoadedExecutable* executable;
  void* options;
  Buffer* const* const* inputs;  // index: device, then argument
  size_t device_count;
  size_t input_count;
  Buffer** const* outputs;  // out; index: device, then result
  void** done;
  Device* device;
};
static_assert(offsetof(ExecuteArguments, device) == 72);

struct CompileArguments {
  Head head;
  Client* client;
  const void* program;
  const char* options;
  size_t option_bytes;
  LoadedExecutable* executable;  // out
};

struct DeviceStats {
  Head head;
  Device* device;
  int64_t bytes_in_use;
  int64_t peak_bytes_in_use;
  bool peak_is_set;
  int64_t more[32];  // later versions append fields
};
static_assert(offsetof(DeviceStats, more) == 48);

struct MemoryStats {
  Head head;
  Executable* executable;
  int64_t code_bytes;
  int64_t argument_bytes;
  int64_t output_bytes;
  int64_t alias_bytes;
  int64_t temp_bytes;
  int64_t more[16];  // the same sizes for host memory; later versions append fields
};
static_assert(offsetof(MemoryStats, temp_bytes) == 56);

}  // namespace vramscope::injector::jax
