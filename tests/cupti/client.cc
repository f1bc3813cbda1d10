// SPDX-License-Identifier: Apache-2.0
// A program that allocates through the stand-in driver, with or without a CUPTI client of its own.
//
//   cupti_client alone | subscribes | finalizes | buffers
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/cupti/stand_in_cupti.h"

namespace {

using namespace vramscope::injector::cupti;

unsigned own_callbacks = 0;
void Own(void*, int, uint32_t, const void*) { ++own_callbacks; }

struct Alloc {
  uint64_t* address;
  size_t bytes;
  uint64_t more[3];
};
struct Words {
  uint64_t word[5];
};

void Activity(int operation, int kind, uint64_t address, uint64_t bytes) {
  MemoryRecord record = {};
  record.kind = kMemoryActivity;
  record.operation = operation;
  record.memory_kind = kind;
  record.address = address;
  record.bytes = bytes;
  record.device = 3;
  stand_in_memory(&record);
}

void Take(uint64_t address, size_t bytes, int result = 0) {
  uint64_t out = address;
  const Alloc parameters = {&out, bytes, {}};
  stand_in_call(kMemAlloc, "cuMemAlloc_v2", &parameters, result);
  if (result == 0) Activity(kAllocated, kDevice, address, bytes);
}

void Give(uint64_t address, size_t bytes) {
  const Words parameters = {{address}};
  stand_in_call(kMemFree, "cuMemFree_v2", &parameters, 0);
  Activity(kReleased, kDevice, address, bytes);
}

void EveryShape() {
  uint64_t out = 0x1000;
  size_t pitch = 512;
  const Words pitched = {{reinterpret_cast<uint64_t>(&out), reinterpret_cast<uint64_t>(&pitch), 300, 7, 4}};
  stand_in_call(kMemAllocPitch, "cuMemAllocPitch_v2", &pitched, 0);
  out = 0x2000;
  const Words on_stream = {{reinterpret_cast<uint64_t>(&out), 4096, 77}};
  stand_in_call(kMemAllocAsync, "cuMemAllocAsync", &on_stream, 0);
  out = 0x3000;
  const Words from_pool = {{reinterpret_cast<uint64_t>(&out), 8192, 0x99, 78}};
  stand_in_call(kMemAllocFromPool, "cuMemAllocFromPoolAsync", &from_pool, 0);
  out = 0xabc;
  const Words physical = {{reinterpret_cast<uint64_t>(&out), 2 << 20, 0, 0}};
  stand_in_call(kMemCreate, "cuMemCreate", &physical, 0);
  const Words map = {{0x7000000, 2 << 20, 0, 0xabc, 0}};
  stand_in_call(kMemMap, "cuMemMap", &map, 0);
  stand_in_call(kMemUnmap, "cuMemUnmap", &map, 0);
  const Words release = {{0xabc}};
  stand_in_call(kMemRelease, "cuMemRelease", &release, 0);
  const Words registered = {{0x555000, 65536, 1}};
  stand_in_call(kMemHostRegister2, "cuMemHostRegister_v2", &registered, 0);
  stand_in_call(kMemHostUnregister, "cuMemHostUnregister", &registered, 0);
  const Words unknown = {{0xdead}};
  stand_in_call(kMemFree, "cuMemFree_v2", &unknown, 1);  // fails
  stand_in_call(5, "cuDeviceGet", &unknown, 0);          // not subscribed
}

void Alone() {
  stand_in_init();
  Take(0x10000, 1000);
  Take(0, 1ull << 40, 2);  // out of memory
  EveryShape();
  Activity(kAllocated, kDeviceStatic, 0x60000, 64);
  PoolRecord pool = {};
  pool.kind = kPoolActivity;
  pool.operation = kPoolTrimmed;
  pool.device = 3;
  pool.size = 32 << 20;
  stand_in_pool(&pool);
  Give(0x10000, 1000);
  stand_in_init();  // a second cuInit
}

void BesideAClient(bool finalizes) {
  stand_in_init();
  Take(0x10000, 1);
  Subscriber subscriber = nullptr;
  const Result result = cuptiSubscribe(&subscriber, Own, nullptr);
  cuptiEnableCallback(1, subscriber, kDriverApi, kMemAlloc);
  Take(0x20000, 2);
  std::printf("subscribe %d, second %d, callbacks %u\n", result, cuptiSubscribe(&subscriber, Own, nullptr),
              own_callbacks);
  std::printf("end %d\n", finalizes ? cuptiFinalize() : cuptiUnsubscribe(subscriber));
  Take(0x30000, 4);
  std::printf("callbacks %u\n", own_callbacks);
}

uint8_t own_buffer[1 << 16];
size_t own_bytes = 0;

void BesideBuffers() {
  stand_in_init();
  Take(0x10000, 1);
  cuptiActivityRegisterCallbacks(
      [](uint8_t** buffer, size_t* size, size_t* most) {
        *buffer = own_buffer;
        *size = sizeof own_buffer;
        *most = 0;
      },
      [](Context, uint32_t, uint8_t*, size_t, size_t valid) { own_bytes += valid; });
  cuptiActivityEnable(kMemoryActivity);
  Take(0x20000, 2);
  cuptiActivityFlushAll(0);
  std::printf("own record of %zu bytes\n", own_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "alone") == 0) Alone();
  if (strcmp(what, "subscribes") == 0) BesideAClient(false);
  if (strcmp(what, "finalizes") == 0) BesideAClient(true);
  if (strcmp(what, "buffers") == 0) BesideBuffers();
  return 0;
}
