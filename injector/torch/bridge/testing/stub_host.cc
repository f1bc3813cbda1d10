// SPDX-License-Identifier: Apache-2.0
// A host for tests of the bridge: keeps every event in memory, decoded by kRawLayout. A Python test reads
// them through ctypes.
//
// Preloaded (LD_PRELOAD), it also records the CPU allocations of libc10 in the same sequence. So a test can
// see which op allocated what, and that a recorded step allocates exactly what an unrecorded one does.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "injector/core/api.h"
#include "trace_format/event.h"
#include "trace_format/raw_record.h"

namespace {

using namespace vramscope;

struct StubEvent {
  uint32_t type;
  uint32_t thread;  // counted from 1 in the order of their first event
  uint64_t time_ns;
  uint64_t field[trace::kMaxEventFields];
};

constexpr size_t kMaxEvents = 4'000'000;  // about 320 MB of address space, touched as it fills

struct Stub {
  StubEvent* events =
      static_cast<StubEvent*>(mmap(nullptr, kMaxEvents * sizeof(StubEvent), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  std::atomic<size_t> count{0};
  std::atomic<uint32_t> threads{0};
  std::atomic<bool> memory{false};
  std::mutex mutex;  // the tables below
  std::map<std::string, uint32_t> ids;
  std::vector<std::string> strings{""};
  std::map<std::vector<uint32_t>, uint32_t> stack_ids;
  std::vector<std::vector<uint32_t>> stacks{{}};
  std::map<std::string, std::string> options;
};

Stub& TheStub() {
  static Stub* const stub = new Stub;
  return *stub;
}

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void Append(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t word_count) {
  thread_local const uint32_t thread = TheStub().threads.fetch_add(1) + 1;
  const size_t index = TheStub().count.fetch_add(1);
  if (index >= kMaxEvents) return;
  StubEvent& event = TheStub().events[index];
  event = {type, thread, NowNs(), {}};
  const trace::RawLayout& layout = trace::kRawLayout[type];
  if (layout.small_field != trace::kNoField) event.field[layout.small_field] = small;
  if (layout.id_field != trace::kNoField) event.field[layout.id_field] = id;
  for (size_t i = 0; i < word_count && i < layout.word_count; ++i)
    event.field[layout.word_field[i]] = words[i];
}

uint32_t Intern(const char* text, size_t length) {
  const std::lock_guard<std::mutex> lock(TheStub().mutex);
  const auto [entry, added] =
      TheStub().ids.try_emplace(std::string(text, length), static_cast<uint32_t>(TheStub().strings.size()));
  if (added) TheStub().strings.push_back(entry->first);
  return entry->second;
}

uint32_t InternStack(const uint32_t* frames, size_t count) {
  const std::lock_guard<std::mutex> lock(TheStub().mutex);
  const auto [entry, added] = TheStub().stack_ids.try_emplace(std::vector<uint32_t>(frames, frames + count),
                                                              static_cast<uint32_t>(TheStub().stacks.size()));
  if (added) TheStub().stacks.push_back(entry->first);
  return entry->second;
}

size_t Option(const char* key, char* buffer, size_t capacity) {
  const std::lock_guard<std::mutex> lock(TheStub().mutex);
  const auto option = TheStub().options.find(key);
  if (option == TheStub().options.end() || capacity == 0) return 0;
  const size_t length = std::min(option->second.size(), capacity - 1);
  std::memcpy(buffer, option->second.data(), length);
  buffer[length] = '\0';
  return length;
}

}  // namespace

extern "C" {

const VramscopeHost* stub_host() {
  static const VramscopeHost host = {VRAMSCOPE_API_VERSION, Intern, Append, InternStack, Option};
  return &host;
}
void stub_reset() { TheStub().count = 0; }
size_t stub_count() { return TheStub().count; }
const StubEvent* stub_events() { return TheStub().events; }
const char* stub_string(uint32_t id) { return TheStub().strings[id].c_str(); }
size_t stub_stack(uint32_t id, const uint32_t** frames) {
  *frames = TheStub().stacks[id].data();
  return TheStub().stacks[id].size();
}
void stub_option(const char* key, const char* value) { TheStub().options[key] = value; }
void stub_memory(int on) { TheStub().memory = on != 0; }

// c10::ProfiledCPUMemoryReporter::New and Delete, called by libc10 for every CPU block.
void _ZN3c1025ProfiledCPUMemoryReporter3NewEPvm(void*, void* address, size_t bytes) {
  if (!TheStub().memory) return;
  const uint64_t words[] = {reinterpret_cast<uint64_t>(address), bytes};
  Append(static_cast<uint8_t>(trace::EventType::kAlloc), 0, 0, words, 2);
}
void _ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv(void*, void* address) {
  if (!TheStub().memory) return;
  const uint64_t words[] = {reinterpret_cast<uint64_t>(address)};
  Append(static_cast<uint8_t>(trace::EventType::kFree), 0, 0, words, 1);
}

}  // extern "C"
