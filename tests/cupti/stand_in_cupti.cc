// SPDX-License-Identifier: Apache-2.0
// Stands in for libcupti.so and for the driver below it: one subscriber (a second one gets error 39),
// callbacks around driver calls that a test program makes with stand_in_*, and their activity records in
// CUPTI's layout. scripts/check_cupti_layout.py compares the layout with CUPTI's own headers.
//
// STAND_IN_CUPTI_VERSION, STAND_IN_CUPTI_RESULT: the results of cuptiGetVersion and cuptiSubscribe.
#include "tests/cupti/stand_in_cupti.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <set>

namespace {

using namespace vramscope::injector::cupti;

char the_subscriber, the_context;
bool subscribed = false;
Callback callback = nullptr;
void* user_data = nullptr;
std::set<uint32_t> enabled;

BufferRequested buffer_requested = nullptr;
BufferCompleted buffer_completed = nullptr;
std::set<int> kinds;
uint8_t* buffer = nullptr;
size_t buffer_bytes = 0, buffer_used = 0;

// Records as long as those of CUDA 13, longer than what we declare of them.
constexpr size_t kMemoryRecordBytes = sizeof(MemoryRecord) + 8;
constexpr size_t kPoolRecordBytes = sizeof(PoolRecord) + 8;

size_t BytesOf(const uint8_t* record) {
  int kind = 0;
  memcpy(&kind, record, sizeof kind);
  return kind == kMemoryActivity ? kMemoryRecordBytes : kPoolRecordBytes;
}

void Deliver() {
  if (buffer == nullptr) return;
  uint8_t* const full = buffer;
  buffer = nullptr;
  buffer_completed(nullptr, 0, full, buffer_bytes, buffer_used);
}

void Append(int kind, const void* record, size_t bytes, size_t known_bytes) {
  if (kinds.count(kind) == 0) return;
  if (buffer != nullptr && buffer_used + bytes > buffer_bytes) Deliver();
  if (buffer == nullptr) {
    size_t most = 0;
    buffer_requested(&buffer, &buffer_bytes, &most);
    buffer_used = 0;
  }
  memset(buffer + buffer_used, 0xEE, bytes);
  memcpy(buffer + buffer_used, record, known_bytes);
  buffer_used += bytes;
}

}  // namespace

#define SHOWN extern "C" __attribute__((visibility("default")))

SHOWN Result cuptiGetVersion(uint32_t* version) {
  const char* const text = getenv("STAND_IN_CUPTI_VERSION");
  *version = text == nullptr ? 130001 : static_cast<uint32_t>(atoi(text));
  return kSuccess;
}

SHOWN Result cuptiSubscribe(Subscriber* subscriber, Callback wanted, void* data) {
  if (const char* const result = getenv("STAND_IN_CUPTI_RESULT")) return atoi(result);
  if (subscribed) return kMultipleSubscribers;
  subscribed = true;
  callback = wanted;
  user_data = data;
  enabled.clear();
  *subscriber = &the_subscriber;
  return kSuccess;
}
SHOWN Result cuptiSubscribe_v2(Subscriber* subscriber, Callback wanted, void* data, void*) {
  return cuptiSubscribe(subscriber, wanted, data);
}
SHOWN Result cuptiUnsubscribe(Subscriber subscriber) {
  if (!subscribed || subscriber != &the_subscriber) return 1;
  subscribed = false;
  return kSuccess;
}
SHOWN Result cuptiFinalize() {
  subscribed = false;
  kinds.clear();
  buffer_requested = nullptr;
  return kSuccess;
}
SHOWN Result cuptiEnableCallback(uint32_t enable, Subscriber subscriber, int domain, uint32_t function) {
  if (!subscribed || subscriber != &the_subscriber || domain != kDriverApi) return 1;
  if (enable != 0) enabled.insert(function);
  return kSuccess;
}
SHOWN Result cuptiGetDeviceId(Context context, uint32_t* device) {
  *device = 3;
  return context == &the_context ? kSuccess : 1;
}
SHOWN Result cuptiActivityRegisterCallbacks(BufferRequested requested, BufferCompleted completed) {
  buffer_requested = requested;
  buffer_completed = completed;
  return kSuccess;
}
SHOWN Result cuptiActivityEnable(int kind) {
  if (buffer_requested == nullptr) return 1;
  kinds.insert(kind);
  return kSuccess;
}
SHOWN Result cuptiActivityDisable(int kind) {
  kinds.erase(kind);
  return kSuccess;
}
SHOWN Result cuptiActivityGetNextRecord(uint8_t* begin, size_t valid, void** record) {
  uint8_t* const next =
      *record == nullptr ? begin : static_cast<uint8_t*>(*record) + BytesOf(static_cast<uint8_t*>(*record));
  if (next >= begin + valid) return 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
  *record = next;
  return kSuccess;
}
SHOWN Result cuptiActivityFlushAll(uint32_t) {
  Deliver();
  return kSuccess;
}
SHOWN Result cuptiActivityFlushPeriod(uint32_t) { return kSuccess; }

// Does what the driver does in cuInit.
SHOWN void stand_in_init() {
  const char* const path = getenv("CUDA_INJECTION64_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  auto* const initialize =
      library == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize != nullptr) initialize();
}

SHOWN void stand_in_call(uint32_t function, const char* name, const void* parameters, int result) {
  if (!subscribed || enabled.count(function) == 0) return;
  CallbackData data = {};
  data.function_name = name;
  data.parameters = parameters;
  data.return_value = &result;
  data.context = &the_context;
  data.site = kEnter;
  callback(user_data, kDriverApi, function, &data);
  data.site = kExit;
  callback(user_data, kDriverApi, function, &data);
}

SHOWN void stand_in_memory(const MemoryRecord* record) {
  Append(kMemoryActivity, record, kMemoryRecordBytes, sizeof *record);
}
SHOWN void stand_in_pool(const PoolRecord* record) {
  Append(kPoolActivity, record, kPoolRecordBytes, sizeof *record);
}
