// SPDX-License-Identifier: Apache-2.0
#include "injector/core/intern.h"

#include <pthread.h>
#include <string.h>

#include "injector/core/id_table.h"
#include "injector/core/thread_ring.h"

namespace vramscope::injector {
namespace {

constexpr char kTooMany[] = "(more names than vramscope keeps)";

constinit pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
constinit IdTable strings(kMostStrings, kMostStringBytes);
constinit IdTable stacks(kMostStacks, kMostFrames * sizeof(uint32_t));

class NamesLock {
 public:
  NamesLock() { LockNames(); }
  ~NamesLock() { UnlockNames(); }
  NamesLock(const NamesLock&) = delete;
  NamesLock& operator=(const NamesLock&) = delete;
};

// Writes word[0] = count and the payload from word[1] on. The payload fills whole words.
bool Define(RecordScope& scope, uint8_t type, uint32_t id, uint64_t count, const void* payload,
            size_t bytes) {
  const size_t words = 1 + (bytes + 7) / 8;
  const uint8_t units = trace::RawUnitsForWords(words);
  trace::RawRecord* const record = scope.Place(units);
  if (record == nullptr) return false;
  record->type = type;
  record->units = units;
  record->small = 0;
  record->id = id;
  record->ticks = Ticks();
  auto* const end = reinterpret_cast<std::byte*>(record) + units * trace::kRawUnitBytes;
  auto* const body = reinterpret_cast<std::byte*>(&record->word[1]);
  record->word[0] = count;
  memcpy(body, payload, bytes);
  memset(body + bytes, 0, static_cast<size_t>(end - body) - bytes);
  scope.Publish(units);
  return true;
}

// One id and its bytes are reserved for kTooMany.
bool HasRoom(size_t length) {
  return strings.next_id() + 1 < kMostStrings && strings.Next(length + sizeof kTooMany) != 0;
}

uint32_t InternLocked(RecordScope& scope, const char* text, size_t length) {
  if (const uint32_t known = strings.Find(text, length)) return known;
  if (!HasRoom(length) && text != kTooMany) return InternLocked(scope, kTooMany, sizeof kTooMany - 1);
  const uint32_t id = strings.Next(length);
  if (id == 0) return 0;
  if (!Define(scope, trace::kRawDefineString, id, length, text, length)) return 0;
  strings.Add(text, length);
  if (trace::RingFileHeader* const file = RecordingFile()) {
    file->next_string.store(strings.next_id(), std::memory_order_relaxed);
  }
  return id;
}

}  // namespace

uint32_t InternString(const char* text, size_t length) {
  if (text == nullptr || (RecordingFile() == nullptr && !StartSession())) return 0;
  if (length > trace::kRawMaxStringBytes) length = trace::kRawMaxStringBytes;
  RecordScope scope;
  if (!scope.entered()) return 0;
  NamesLock lock;
  return InternLocked(scope, text, length);
}

uint32_t InternString(const char* text) { return InternString(text, strlen(text)); }

uint32_t InternStack(const uint32_t* frames, size_t count) {
  if (frames == nullptr || count == 0 || (RecordingFile() == nullptr && !StartSession())) return 0;
  if (count > trace::kRawMaxFrames) {
    frames += count - trace::kRawMaxFrames;
    count = trace::kRawMaxFrames;
  }
  RecordScope scope;
  if (!scope.entered()) return 0;
  NamesLock lock;
  const size_t bytes = count * sizeof(uint32_t);
  if (const uint32_t known = stacks.Find(frames, bytes)) return known;
  const uint32_t id = stacks.Next(bytes);
  if (id == 0) return 0;
  uint64_t words[trace::kRawMaxFrames];
  for (size_t i = 0; i < count; ++i) words[i] = frames[i];
  if (!Define(scope, trace::kRawDefineStack, id, count, words, count * sizeof(uint64_t))) return 0;
  stacks.Add(frames, bytes);
  if (trace::RingFileHeader* const file = RecordingFile()) {
    file->next_stack.store(stacks.next_id(), std::memory_order_relaxed);
  }
  return id;
}

void DefineNamesAgain() {
  stacks.Clear();
  RecordScope scope;
  if (!scope.entered()) return;
  for (uint32_t id = 1; id < strings.next_id(); ++id) {
    size_t length = 0;
    const void* const text = strings.At(id, length);
    Define(scope, trace::kRawDefineString, id, length, text, length);
  }
}

uint32_t NextStringId() { return strings.next_id(); }
uint32_t NextStackId() { return stacks.next_id(); }

void LockNames() { pthread_mutex_lock(&names_lock); }
void UnlockNames() { pthread_mutex_unlock(&names_lock); }
void ResetNamesLock() { names_lock = PTHREAD_MUTEX_INITIALIZER; }
void ForgetStacks() { stacks.Clear(); }

}  // namespace vramscope::injector
