// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/driver_questions.h"

#include <string.h>

#include <atomic>

#include "injector/core/elf_image.h"
#include "injector/cuda/driver_image.h"
#include "trace_format/event.h"

namespace vramscope::injector {
namespace {

using driver::DevicePtr;
using driver::Handle;
using driver::kSuccess;

constexpr uint8_t kCuda = 1;  // c10::DeviceType
constexpr uint8_t kNoDevice = 0xff;
constexpr int kCaptureRelaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
constexpr int kPoolOfPointer = 17;  // CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE

// clang-format off
#define VRAMSCOPE_QUESTIONS(row)                                         \
  row(cuCtxGetDevice, (int*))                                            \
  row(cuMemGetInfo_v2, (size_t*, size_t*))                               \
  row(cuCtxPushCurrent_v2, (Handle))                                     \
  row(cuCtxPopCurrent_v2, (Handle*))                                     \
  row(cuDeviceGetMemPool, (Handle*, int))                                \
  row(cuPointerGetAttribute, (void*, int, DevicePtr))                    \
  row(cuMemPoolGetAttribute, (Handle, int, void*))                       \
  row(cuDeviceGetGraphMemAttribute, (int, int, void*))                   \
  row(cuDevicePrimaryCtxGetState, (int, unsigned*, int*))                \
  row(cuThreadExchangeStreamCaptureMode, (int*))
// clang-format on

struct Questions {
#define VRAMSCOPE_QUESTION(name, parameters) int(*name) parameters;
  VRAMSCOPE_QUESTIONS(VRAMSCOPE_QUESTION)
#undef VRAMSCOPE_QUESTION
};
constinit Questions questions = {};
constinit std::atomic<bool> questions_found = false;

// Concurrent threads find the same.
const Questions& Driver() {
  if (__builtin_expect(questions_found.load(std::memory_order_acquire), 1)) return questions;
  ElfImage driver;
  if (!FindDriverImage(&driver)) return questions;
#define VRAMSCOPE_QUESTION(name, parameters)                                                 \
  __atomic_store_n(&questions.name, reinterpret_cast<int(*) parameters>(driver.Find(#name)), \
                   __ATOMIC_RELAXED);
  VRAMSCOPE_QUESTIONS(VRAMSCOPE_QUESTION)
#undef VRAMSCOPE_QUESTION
  questions_found.store(true, std::memory_order_release);
  return questions;
}

template <typename... Parameters, typename... Arguments>
bool Ask(int (*question)(Parameters...), Arguments... arguments) {
  return question != nullptr && question(arguments...) == kSuccess;
}

}  // namespace

int CurrentDevice() {
  int device = -1;
  return Ask(Driver().cuCtxGetDevice, &device) ? device : -1;
}

uint64_t CodeOfDevice(int device) {
  return trace::DeviceCode(kCuda, device < 0 ? kNoDevice : static_cast<uint8_t>(device));
}

uint64_t CurrentDeviceCode() { return CodeOfDevice(CurrentDevice()); }

// A call that is not allowed during stream capture would end the capture, unless the thread is in relaxed
// mode during the call (CUDA Driver API, cuThreadExchangeStreamCaptureMode).
bool MemoryInUse(uint64_t* used, uint64_t* total) {
  size_t free_bytes = 0, all = 0;
  int mode = kCaptureRelaxed;
  const bool exchanged = Ask(Driver().cuThreadExchangeStreamCaptureMode, &mode);
  const bool known = Ask(Driver().cuMemGetInfo_v2, &free_bytes, &all);
  if (exchanged) Ask(Driver().cuThreadExchangeStreamCaptureMode, &mode);
  if (!known) return false;
  *used = all - free_bytes;
  *total = all;
  return true;
}

bool MemoryInUseOf(Handle context, uint64_t* used, uint64_t* total) {
  if (!Ask(Driver().cuCtxPushCurrent_v2, context)) return false;
  const bool known = MemoryInUse(used, total);
  Handle popped = nullptr;
  Ask(Driver().cuCtxPopCurrent_v2, &popped);
  return known;
}

Handle CurrentPoolOf(int device) {
  Handle pool = nullptr;
  return Ask(Driver().cuDeviceGetMemPool, &pool, device) ? pool : nullptr;
}

Handle PoolOfPointer(DevicePtr pointer) {
  Handle pool = nullptr;
  return Ask(Driver().cuPointerGetAttribute, static_cast<void*>(&pool), kPoolOfPointer, pointer) ? pool
                                                                                                 : nullptr;
}

bool PoolAttribute(Handle pool, int attribute, uint64_t* value) {
  return Ask(Driver().cuMemPoolGetAttribute, pool, attribute, static_cast<void*>(value));
}

bool GraphAttribute(int device, int attribute, uint64_t* value) {
  return Ask(Driver().cuDeviceGetGraphMemAttribute, device, attribute, static_cast<void*>(value));
}

bool IsPrimaryContextActive(int device) {
  unsigned flags = 0;
  int active = 0;
  return Ask(Driver().cuDevicePrimaryCtxGetState, device, &flags, &active) && active != 0;
}

}  // namespace vramscope::injector
