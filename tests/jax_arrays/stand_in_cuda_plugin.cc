// SPDX-License-Identifier: Apache-2.0
// A plug-in for two devices, as JAX loads one: it has no device, and computes nothing. Its allocator rounds up
// to 256 bytes and holds 4096 bytes on each device for itself.
//
//   device 0, 1        hardware numbers 0 and 1; memory "device", and "pinned_host" for memory object 2
//   program "jit_step" 3 arguments: 0 donated, result 0 lies in its memory; 1 donated and freed; 2 kept
//                      2 results, 1000 bytes of temporaries; compiling it allocates 8192 bytes for a moment
//   argument 2 of 13 bytes: the execution fails for lack of memory
#include <cstdlib>
#include <cstring>

#include "injector/jax/pjrt_abi.h"

#ifndef STAND_IN_MINOR_VERSION
#define STAND_IN_MINOR_VERSION 112
#endif

namespace vramscope::injector::jax {

struct Error {
  int code;
};
struct Memory {
  const char* kind;
};
struct Device {
  int number;
  Memory memory;
  int64_t in_use;
  int64_t peak;
};
struct Client {
  Device* devices[2];
};
struct Executable {
  int unused;
};
struct LoadedExecutable {
  Device* device;
};
struct Buffer {
  Device* device;
  Memory* memory;
  uint64_t address;
  size_t bytes;
  bool deleted;
  bool owned;
};

namespace {

constexpr size_t kTempBytes = 1000;
constexpr int64_t kTriedBytes = 8192;
constexpr size_t kRefusedBytes = 13;

Device first = {0, {"device"}, 4096, 4096};
Device second = {1, {"device"}, 4096, 4096};
Client client = {{&first, &second}};
Memory pinned = {"pinned_host"};
Executable executable;
uint64_t next_address = 0x700000000000;

int64_t InUse(size_t bytes) { return static_cast<int64_t>((bytes + 255) & ~size_t{255}); }

void Use(Device* device, int64_t bytes) {
  device->in_use += bytes;
  if (device->in_use > device->peak) device->peak = device->in_use;
}

Buffer* Make(Device* device, Memory* memory, size_t bytes) {
  auto* const buffer = new Buffer{device, memory, next_address, bytes, false, true};
  next_address += static_cast<uint64_t>(InUse(bytes));
  if (memory != &pinned) Use(device, InUse(bytes));
  return buffer;
}

void GiveBack(Buffer* buffer) {
  if (!buffer->deleted && buffer->owned && buffer->memory != &pinned)
    Use(buffer->device, -InUse(buffer->bytes));
  buffer->deleted = true;
}

template <typename Arguments>
Arguments& As(void* arguments) {
  return *static_cast<Arguments*>(arguments);
}

Error* Unimplemented(void*) { return new Error{12}; }

Error* ErrorDestroy(void* given) {
  delete As<Question<Error, int>>(given).object;
  return nullptr;
}
Error* ErrorGetCode(void* given) {
  As<Question<const Error, int>>(given).answer = As<Question<const Error, int>>(given).object->code;
  return nullptr;
}
Error* AddressableDevices(void* given) {
  auto& question = As<ListQuestion<Client, Device*>>(given);
  question.items = question.object->devices;
  question.count = 2;
  return nullptr;
}
Error* Compile(void* given) {
  static LoadedExecutable loaded = {&second};
  Use(&second, kTriedBytes);
  Use(&second, -kTriedBytes);
  As<CompileArguments>(given).executable = &loaded;
  return nullptr;
}
Error* FromHost(void* given) {
  auto& arguments = As<FromHostBuffer>(given);
  arguments.buffer =
      Make(arguments.device, arguments.memory != nullptr ? arguments.memory : &arguments.device->memory,
           static_cast<size_t>(arguments.dimensions[0]));
  return nullptr;
}
Error* HardwareId(void* given) {
  As<Question<Device, int>>(given).answer = As<Question<Device, int>>(given).object->number;
  return nullptr;
}
Error* Kind(void* given) {
  auto& question = As<ListQuestion<Memory, const char>>(given);
  question.items = question.object->kind;
  question.count = std::strlen(question.items);
  return nullptr;
}
Error* DeviceMemoryStats(void* given) {
  auto& stats = As<DeviceStats>(given);
  stats.bytes_in_use = stats.device->in_use;
  stats.peak_bytes_in_use = stats.device->peak;
  stats.peak_is_set = true;
  return nullptr;
}
Error* Nothing(void*) { return nullptr; }
Error* Name(void* given) {
  auto& question = As<ListQuestion<Executable, const char>>(given);
  question.items = "jit_step";
  question.count = std::strlen(question.items);
  return nullptr;
}
Error* NumOutputs(void* given) {
  As<Question<Executable, size_t>>(given).answer = 2;
  return nullptr;
}
Error* GetExecutable(void* given) {
  As<Question<LoadedExecutable, Executable*>>(given).answer = &executable;
  return nullptr;
}
Error* DevicesOfProgram(void* given) {
  auto& question = As<ListQuestion<LoadedExecutable, Device*>>(given);
  question.items = &question.object->device;
  question.count = 1;
  return nullptr;
}
Error* ProgramStats(void* given) {
  As<MemoryStats>(given).temp_bytes = kTempBytes;
  return nullptr;
}
Error* RunStep(void* given) {
  auto& arguments = As<ExecuteArguments>(given);
  Buffer* const* const inputs = arguments.inputs[0];
  if (inputs[2]->bytes == kRefusedBytes) return new Error{kResourceExhausted};
  Device* const device = inputs[0]->device;
  Use(device, InUse(kTempBytes));
  auto* const renewed = new Buffer(*inputs[0]);
  inputs[0]->deleted = true;
  arguments.outputs[0][0] = renewed;
  arguments.outputs[0][1] = Make(device, &device->memory, 4);
  Use(device, -InUse(kTempBytes));
  GiveBack(inputs[1]);
  return nullptr;
}
Error* BufferDestroy(void* given) {
  Buffer* const buffer = As<Question<Buffer, int>>(given).object;
  GiveBack(buffer);
  delete buffer;
  return nullptr;
}
Error* BufferSize(void* given) {
  As<Question<Buffer, size_t>>(given).answer = As<Question<Buffer, size_t>>(given).object->bytes;
  return nullptr;
}
Error* BufferDevice(void* given) {
  As<Question<Buffer, Device*>>(given).answer = As<Question<Buffer, Device*>>(given).object->device;
  return nullptr;
}
Error* BufferMemory(void* given) {
  As<Question<Buffer, Memory*>>(given).answer = As<Question<Buffer, Memory*>>(given).object->memory;
  return nullptr;
}
Error* BufferDelete(void* given) {
  GiveBack(As<Question<Buffer, int>>(given).object);
  return nullptr;
}
Error* BufferIsDeleted(void* given) {
  As<Question<Buffer, bool>>(given).answer = As<Question<Buffer, bool>>(given).object->deleted;
  return nullptr;
}
Error* BufferPointer(void* given) {
  auto& question = As<Question<Buffer, uintptr_t>>(given);
  if (question.object->deleted) return new Error{3};
  question.answer = question.object->address;
  return nullptr;
}
Error* CopyToOther(void* given) {
  auto& arguments = As<CopyTo>(given);
  auto* const device = static_cast<Device*>(arguments.destination);
  arguments.copy = Make(device, &device->memory, arguments.buffer->bytes);
  return nullptr;
}
Error* View(void* given) {
  auto& arguments = As<ViewOfDeviceBuffer>(given);
  arguments.buffer = new Buffer{arguments.device,
                                &arguments.device->memory,
                                reinterpret_cast<uint64_t>(arguments.address),
                                512,
                                false,
                                false};
  return nullptr;
}

Table MakeTable() {
  Table table = {sizeof(Table) + 8, nullptr, 24, nullptr, 0, STAND_IN_MINOR_VERSION, {}};
  for (Function*& function : table.functions) function = Unimplemented;
  const auto set = [&table](Entry entry, Function* function) {
    table.functions[static_cast<size_t>(entry)] = function;
  };
  set(Entry::kErrorDestroy, ErrorDestroy);
  set(Entry::kErrorGetCode, ErrorGetCode);
  set(Entry::kClientAddressableDevices, AddressableDevices);
  set(Entry::kClientCompile, Compile);
  set(Entry::kBufferFromHostBuffer, FromHost);
  set(Entry::kDeviceLocalHardwareId, HardwareId);
  set(Entry::kDeviceMemoryStats, DeviceMemoryStats);
  set(Entry::kMemoryKind, Kind);
  set(Entry::kExecutableDestroy, Nothing);
  set(Entry::kExecutableName, Name);
  set(Entry::kExecutableNumOutputs, NumOutputs);
  set(Entry::kLoadedExecutableDestroy, Nothing);
  set(Entry::kLoadedExecutableGetExecutable, GetExecutable);
  set(Entry::kLoadedExecutableAddressableDevices, DevicesOfProgram);
  set(Entry::kLoadedExecutableExecute, RunStep);
  set(Entry::kBufferDestroy, BufferDestroy);
  set(Entry::kBufferOnDeviceSize, BufferSize);
  set(Entry::kBufferDevice, BufferDevice);
  set(Entry::kBufferMemory, BufferMemory);
  set(Entry::kBufferDelete, BufferDelete);
  set(Entry::kBufferIsDeleted, BufferIsDeleted);
  set(Entry::kBufferCopyToDevice, CopyToOther);
  set(Entry::kBufferUnsafePointer, BufferPointer);
  set(Entry::kCreateViewOfDeviceBuffer, View);
  set(Entry::kExecutableMemoryStats, ProgramStats);
  return table;
}

}  // namespace
}  // namespace vramscope::injector::jax

extern "C" __attribute__((visibility("default"))) vramscope::injector::jax::Table* GetPjrtApi() {
  static vramscope::injector::jax::Table table = vramscope::injector::jax::MakeTable();
  return &table;
}
// The objects that JAX gets from functions that no hook needs.
extern "C" __attribute__((visibility("default"))) void* StandInObject(int number) {
  using namespace vramscope::injector::jax;
  void* const objects[] = {&client, &first, &second, &pinned};
  return objects[number];
}
