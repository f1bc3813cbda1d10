// SPDX-License-Identifier: Apache-2.0
// Calls the functions of CUDA's driver one after the other, as a program without the runtime does, and says
// after each what the simulated device has given out.
//
//   driver_calls dlsym|address        how the functions are found: dlsym, or one dlsym and cuGetProcAddress
//
// stdout: a line of JSON for each call: {"step": 1, "call": "cuMemAlloc", "result": 0, "ledger": {...}}. The
// recorder gets a mark with the number of the step, so that a test can tell which records were before it.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void* library = nullptr;
bool by_address = false;
int step = 0;

using GetProcAddress = int (*)(const char*, void**, int, uint64_t, int*);

void* Find(const char* base, const char* symbol) {
  if (!by_address) return dlsym(library, symbol);
  static const auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  void* found = nullptr;
  get(base, &found, 12030, 0, nullptr);
  return found;
}

void Mark(int number) {
  using MarkFunction = void (*)(uint32_t, uint64_t, uint32_t, uint64_t);
  static const auto mark = reinterpret_cast<MarkFunction>(dlsym(RTLD_DEFAULT, "vramscope_mark"));
  constexpr uint32_t kUser = 9;
  if (mark != nullptr) mark(kUser, static_cast<uint64_t>(number), 0, 0);
}

std::string Ledger() {
  static const auto ask = reinterpret_cast<size_t (*)(char*, size_t)>(dlsym(library, "vramscope_simulated_ledger"));
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
  std::printf("{\"step\": %d, \"call\": \"%s\", \"result\": %d, \"ledger\": %s}\n", step, base, result, Ledger().c_str());
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
  size_t pitch = 0;
  CALL_V2(cuMemAlloc, &first, 4 * kMib);
  CALL_V2(cuMemAlloc, &odd, size_t{4097});
  CALL(cuMemAllocManaged, &managed, 6 * kMib, 1u);
  CALL_V2(cuMemAllocPitch, &pitched, &pitch, size_t{1000}, size_t{5000}, 4u);
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
  CALL(cuMemRelease, first);  // stays, for it is mapped
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

}  // namespace

int main(int count, char** arguments) {
  by_address = count > 1 && std::strcmp(arguments[1], "address") == 0;
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
}
