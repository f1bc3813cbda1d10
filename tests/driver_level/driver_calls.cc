// SPDX-License-Identifier: Apache-2.0
// Calls the functions of CUDA's driver one after the other, as a program without the runtime does. After each
// call it prints what the simulated device has given out.
//
//   driver_calls dlsym|address|per-thread    how the functions are found: dlsym; one dlsym and
//                                            cuGetProcAddress; the same for the forms whose default stream
//                                            is the thread's own
//
// stdout: a line of JSON for each call: {"step": 1, "call": "cuMemAlloc", "result": 0, "ledger": {...}}. The
// recorder gets a mark with the number of the step, to separate its records.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void* library = nullptr;
bool by_address = false;
uint64_t stream_flags = 0;
int step = 0;

using GetProcAddress = int (*)(const char*, void**, int, uint64_t, int*);

void* Find(const char* base, const char* symbol) {
  if (!by_address) return dlsym(library, symbol);
  static const auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  void* found = nullptr;
  get(base, &found, 12040, stream_flags, nullptr);
  return found;
}

void Mark(int number) {
  using MarkFunction = void (*)(uint32_t, uint64_t, uint32_t, uint64_t);
  static const auto mark = reinterpret_cast<MarkFunction>(dlsym(RTLD_DEFAULT, "vramscope_mark"));
  constexpr uint32_t kUser = 9;
  if (mark != nullptr) mark(kUser, static_cast<uint64_t>(number), 0, 0);
}

std::string Ledger() {
  static const auto ask =
      reinterpret_cast<size_t (*)(char*, size_t)>(dlsym(library, "vramscope_simulated_ledger"));
  std::string text(ask(nullptr, 0), '\0');
  ask(text.data(), text.size());
  text.resize(std::strlen(text.c_str()));
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

// Calls `base`, whose newest form is `symbol`, with these arguments.
template <typename... Parameters>
int Call(const char* base, const char* symbol, Parameters... parameters) {
  auto* const function = reinterpret_cast<int (*)(Parameters...)>(Find(base, symbol));
  if (function == nullptr) {
    std::fprintf(stderr, "the driver has no %s\n", symbol);
    std::exit(1);
  }
  const int result = function(parameters...);
  Mark(++step);
  std::printf("{\"step\": %d, \"call\": \"%s\", \"result\": %d, \"ledger\": %s}\n", step, base, result,
              Ledger().c_str());
  return result;
}
#define CALL(base, ...) Call(#base, #base, __VA_ARGS__)
#define CALL_V2(base, ...) Call(#base, #base "_v2", __VA_ARGS__)

using DevicePtr = uint64_t;
constexpr size_t kMib = size_t{1} << 20;

struct Location {
  int type, id;
};
struct AllocationProperties {
  int type, handle_types;
  Location location;
  void* security;
  unsigned char flags[8];
};

void Device() {
  DevicePtr first = 0, odd = 0, managed = 0, pitched = 0, none = 0;
  size_t pitch = 0, free_bytes = 0, total = 0;
  CALL_V2(cuMemAlloc, &first, 4 * kMib);
  CALL_V2(cuMemAlloc, &odd, size_t{4097});
  CALL(cuMemAllocManaged, &managed, 6 * kMib, 1u);
  CALL_V2(cuMemAllocPitch, &pitched, &pitch, size_t{1000}, size_t{5000}, 4u);
  CALL_V2(cuMemGetInfo, &free_bytes, &total);
  CALL_V2(cuMemAlloc, &none, size_t{1} << 50);  // more than there is
  for (const DevicePtr pointer : {odd, first, pitched, managed}) CALL_V2(cuMemFree, pointer);
  CALL_V2(cuMemFree, DevicePtr{12345});  // not ours
}

void VirtualMemory() {
  const AllocationProperties on_device = {1, 0, {1, 0}, nullptr, {}};
  DevicePtr range = 0;
  uint64_t first = 0, second = 0, again = 0;
  CALL(cuMemAddressReserve, &range, 16 * kMib, size_t{0}, DevicePtr{0}, 0ull);
  CALL(cuMemCreate, &first, 2 * kMib, &on_device, 0ull);
  CALL(cuMemCreate, &second, 4 * kMib, &on_device, 0ull);
  CALL(cuMemMap, range, 2 * kMib, size_t{0}, first, 0ull);
  CALL(cuMemMap, range + 2 * kMib, 4 * kMib, size_t{0}, second, 0ull);
  CALL(cuMemRelease, first);  // stays, because it is mapped
  CALL(cuMemRetainAllocationHandle, &again, reinterpret_cast<void*>(range + 2 * kMib));
  CALL(cuMemUnmap, range, 6 * kMib);
  CALL(cuMemRelease, second);
  CALL(cuMemRelease, again);
  CALL(cuMemAddressFree, range, 16 * kMib);
}

void Host() {
  void* pinned = nullptr;
  alignas(4096) static char page[4096];
  CALL(cuMemHostAlloc, &pinned, 3 * kMib, 0u);
  CALL_V2(cuMemHostRegister, static_cast<void*>(page), sizeof page, 0u);
  CALL(cuMemHostUnregister, static_cast<void*>(page));
  CALL(cuMemFreeHost, pinned);
  CALL_V2(cuMemAllocHost, &pinned, 1 * kMib);
  CALL(cuMemFreeHost, pinned);
}

void Pools() {
  struct {
    int type, handle_types;
    Location location;
    unsigned char rest[72];
  } properties = {1, 0, {1, 0}, {}};
  void* pool = nullptr;
  DevicePtr current = 0, first = 0, second = 0;
  CALL(cuMemAllocAsync, &current, 5 * kMib, static_cast<void*>(nullptr));
  CALL(cuMemPoolCreate, &pool, static_cast<const void*>(&properties));
  uint64_t keep = 64 * kMib;
  CALL(cuMemPoolSetAttribute, pool, 4, static_cast<void*>(&keep));
  CALL(cuMemAllocFromPoolAsync, &first, 40 * kMib, pool, static_cast<void*>(nullptr));
  CALL(cuMemAllocFromPoolAsync, &second, 1 * kMib, pool, static_cast<void*>(nullptr));
  CALL(cuMemFreeAsync, first, static_cast<void*>(nullptr));
  CALL(cuMemFreeAsync, second, static_cast<void*>(nullptr));
  CALL(cuMemPoolTrimTo, pool, size_t{0});
  CALL(cuMemPoolDestroy, pool);
  CALL_V2(cuMemFree, current);
}

void Arrays() {
  struct {
    size_t width, height;
    int format;
    unsigned channels;
  } flat = {1000, 3000, 0x20, 1};  // float
  struct {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
  } deep = {256, 256, 64, 0x02, 4, 0};  // uint16_t
  void *first = nullptr, *second = nullptr, *levels = nullptr;
  CALL_V2(cuArrayCreate, &first, static_cast<const void*>(&flat));
  CALL_V2(cuArray3DCreate, &second, static_cast<const void*>(&deep));
  CALL(cuMipmappedArrayCreate, &levels, static_cast<const void*>(&deep), 5u);
  CALL(cuArrayDestroy, first);
  CALL(cuMipmappedArrayDestroy, levels);
  CALL(cuArrayDestroy, second);
}

void OtherOwners() {
  struct {
    int type;
    void* handle[2];
    unsigned long long bytes;
    unsigned flags[17];
  } external = {1, {}, 8 * kMib, {}};
  struct {
    unsigned long long offset, bytes;
    unsigned flags[17];
  } buffer = {0, 4 * kMib, {}};
  void* memory = nullptr;
  DevicePtr mapped = 0;
  CALL(cuImportExternalMemory, &memory, static_cast<const void*>(&external));
  CALL(cuExternalMemoryGetMappedBuffer, &mapped, memory, static_cast<const void*>(&buffer));
  CALL_V2(cuMemFree, mapped);
  CALL(cuDestroyExternalMemory, memory);

  struct Ipc {
    char bytes[64];
  } shared = {}, nonsense = {};
  DevicePtr own = 0, foreign = 0;
  CALL_V2(cuMemAlloc, &own, 2 * kMib);
  CALL(cuIpcGetMemHandle, &shared, own);
  CALL_V2(cuIpcOpenMemHandle, &foreign, nonsense, 1u);
  CALL(cuIpcCloseMemHandle, DevicePtr{12345});
  CALL_V2(cuMemFree, own);
  void* pool = nullptr;
  CALL(cuMemPoolImportPointer, &foreign, pool, static_cast<void*>(&nonsense));

  const AllocationProperties shareable = {1, 1, {1, 0}, nullptr, {}};
  uint64_t made = 0, imported = 0, multicast = 0;
  int file = -1;
  CALL(cuMemCreate, &made, 2 * kMib, &shareable, 0ull);
  CALL(cuMemExportToShareableHandle, static_cast<void*>(&file), made, 1, 0ull);
  CALL(cuMemImportFromShareableHandle, &imported, reinterpret_cast<void*>(static_cast<intptr_t>(file)), 1);
  CALL(cuMemRelease, imported);
  CALL(cuMemRelease, made);
  const size_t team[4] = {2, 2 * kMib, 0, 0};
  CALL(cuMulticastCreate, &multicast, static_cast<const void*>(team));  // the simulated device has none
}

struct AllocationNode {
  int type, handle_types;
  Location location;
  unsigned char rest[72];
  const void* access;
  size_t access_count, bytes;
  DevicePtr pointer;
};

void Graphs() {
  struct {
    int type, reserved[3];
    AllocationNode allocation;
    long long rest[40];
  } parameters = {10, {}, {1, 0, {1, 0}, {}, nullptr, 0, 3 * kMib, 0}, {}};
  AllocationNode large = {1, 0, {1, 0}, {}, nullptr, 0, 20 * kMib, 0};
  void *graph = nullptr, *node = nullptr, *executable = nullptr;
  void* const none = nullptr;
  const void* const* const no_nodes = nullptr;
  CALL(cuGraphCreate, &graph, 0u);
  CALL(cuGraphAddMemAllocNode, &node, graph, no_nodes, size_t{0}, &large);
  CALL_V2(cuGraphAddNode, &node, graph, no_nodes, static_cast<const void*>(nullptr), size_t{0},
          static_cast<void*>(&parameters));
  CALL(cuGraphAddMemFreeNode, &node, graph, no_nodes, size_t{0}, large.pointer);
  CALL(cuGraphInstantiateWithFlags, &executable, graph, 0ull);
  CALL(cuGraphLaunch, executable, none);
  CALL(cuDeviceGraphMemTrim, 0);
  CALL(cuGraphLaunch, executable, none);
  parameters.type = 11;
  std::memcpy(&parameters.allocation, &parameters.allocation.pointer, sizeof(DevicePtr));
  Call("cuGraphAddNode", "cuGraphAddNode_v2", &node, graph, no_nodes, static_cast<const void*>(nullptr),
       size_t{0}, static_cast<void*>(&parameters));
  CALL(cuGraphInstantiateWithFlags, &executable, graph, 0ull);
  CALL(cuGraphLaunch, executable, none);
  CALL(cuDeviceGraphMemTrim, 0);
}

void Code() {
  void *modules[4] = {}, *libraries[2] = {};
  const char image[] = "code";
  void* const none = nullptr;
  DevicePtr variable = 0;
  size_t bytes = 0;
  CALL(cuModuleLoad, &modules[0], image);
  CALL(cuModuleLoadData, &modules[1], static_cast<const void*>(image));
  CALL(cuModuleLoadDataEx, &modules[2], static_cast<const void*>(image), 0u, none, none);
  CALL(cuModuleLoadFatBinary, &modules[3], static_cast<const void*>(image));
  CALL_V2(cuModuleGetGlobal, &variable, &bytes, modules[0], image);
  CALL(cuLibraryLoadData, &libraries[0], static_cast<const void*>(image), none, none, 0u, none, none, 0u);
  CALL(cuLibraryLoadFromFile, &libraries[1], image, none, none, 0u, none, none, 0u);
  CALL(cuLibraryGetGlobal, &variable, &bytes, libraries[0], image);
  for (void* const module : modules) CALL(cuModuleUnload, module);
  for (void* const library_of_code : libraries) CALL(cuLibraryUnload, library_of_code);
}

// Code that is loaded when it is first used: by a launch, a query, or cuFuncLoad. Later uses load nothing.
void Kernels() {
  using Announce = void (*)(const void*, const char*, size_t, const void*);
  const auto announce = reinterpret_cast<Announce>(dlsym(library, "vramscope_simulated_code"));
  static char kernels[16] = {};
  for (char& kernel : kernels)
    announce(&kernel, nullptr, 3 * kMib / 2, reinterpret_cast<const void*>(&Kernels));
  const auto kernel = [](int number) { return static_cast<void*>(&kernels[number]); };
  struct {
    unsigned grid[3], block[3], shared_bytes;
    void* stream;
    void* attributes;
    unsigned attribute_count;
  } configuration = {{1, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr, 0};
  const auto* const launch = static_cast<const void*>(&configuration);
  void* const none = nullptr;
  void** const no_arguments = nullptr;
  void* found = nullptr;
  int value = 0;
  for (int again = 0; again < 2; ++again) {
    CALL(cuLaunchKernel, kernel(0), 1u, 1u, 1u, 32u, 1u, 1u, 0u, none, no_arguments, no_arguments);
    CALL(cuLaunchKernelEx, launch, kernel(1), no_arguments, no_arguments);
    CALL(cuLaunchCooperativeKernel, kernel(2), 1u, 1u, 1u, 32u, 1u, 1u, 0u, none, no_arguments);
    CALL(cuFuncGetAttribute, &value, 0, kernel(3));
    CALL(cuFuncSetAttribute, kernel(4), 8, 65536);
    CALL(cuFuncLoad, kernel(5));
    CALL(cuKernelGetAttribute, &value, 0, kernel(6), 0);
    CALL(cuKernelSetAttribute, 8, 65536, kernel(7), 0);
    CALL(cuKernelGetFunction, &found, kernel(8));
    CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, &value, kernel(9), 32, size_t{0});
    CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &value, kernel(10), 32, size_t{0}, 0u);
    CALL(cuOccupancyMaxActiveClusters, &value, kernel(11), launch);
  }
  CALL(cuModuleGetFunction, &found, none, "kernel");
  CALL(cuLibraryGetKernel, &found, none, "kernel");
  CALL(cuLibraryGetModule, &found, none);
  CALL(cuCtxSetLimit, 0, size_t{4096});
  CALL(cuLaunchKernel, kernel(12), 1u, 1u, 1u, 32u, 1u, 1u, 0u, none, no_arguments, no_arguments);
  CALL(cuCtxSetLimit, 0, size_t{1024});
  CALL(cuCtxSetLimit, 99, size_t{0});
}

void Contexts() {
  void* context = nullptr;
  void* const none = nullptr;
  Call("cuCtxCreate", by_address ? "" : "cuCtxCreate_v3", &context, none, 0, 0u, 0);
  Call("cuCtxDestroy", "cuCtxDestroy_v2", context);
  CALL(cuGreenCtxCreate, &context, none, 0, 0u);
  CALL(cuGreenCtxDestroy, none);
  CALL_V2(cuDevicePrimaryCtxRelease, 0);
  CALL_V2(cuDevicePrimaryCtxReset, 0);
}

}  // namespace

int main(int count, char** arguments) {
  by_address = count > 1 && std::strcmp(arguments[1], "dlsym") != 0;
  stream_flags = count > 1 && std::strcmp(arguments[1], "per-thread") == 0 ? 2 : 0;
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void* context = nullptr;
  CALL(cuInit, 0u);
  CALL(cuDevicePrimaryCtxRetain, &context, 0);
  CALL(cuDevicePrimaryCtxRetain, &context, 0);  // the same one again
  CALL(cuCtxSetCurrent, context);
  Device();
  VirtualMemory();
  Host();
  Pools();
  Arrays();
  OtherOwners();
  Graphs();
  Code();
  Kernels();
  Contexts();
}
