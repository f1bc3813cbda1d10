// SPDX-License-Identifier: Apache-2.0
#include "injector/core/thread_ring.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

namespace vramscope::injector {

constinit thread_local ThreadRing thread_ring = {};

namespace {

constexpr int kYields = 32;
constexpr uint64_t kFirstNapNs = 20'000;
constexpr uint64_t kLongestNapNs = 1'000'000;
constexpr uint64_t kCollectorCheckNs = 10'000'000;

// One body for both clocks; each public function is one instance of it.
template <uint64_t (*clock)()>
bool Unit(uint8_t type, uint16_t small, uint32_t id, uint64_t first, uint64_t second) {
  RecordScope scope;
  trace::RawRecord* const record = scope.Place(1);
  if (__builtin_expect(record == nullptr, 0)) return false;
  *record = {.type = type, .units = 1, .small = small, .id = id, .ticks = clock(), .word = {first, second}};
  scope.Publish(1);
  return true;
}

// A ring is reused: old data must not show in the last unit of a short record.
template <uint64_t (*clock)()>
bool Words(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t count) {
  const uint8_t units = trace::RawUnitsForWords(count);
  RecordScope scope;
  trace::RawRecord* const record = scope.Place(units);
  if (__builtin_expect(record == nullptr, 0)) return false;
  record->type = type;
  record->units = units;
  record->small = small;
  record->id = id;
  record->ticks = clock();
  uint64_t* const word = record->word;  // continues beyond the first unit
  const size_t capacity = 2 + size_t{units - 1u} * 4;
  size_t i = 0;
  for (; i < count; ++i) word[i] = words[i];
  for (; i < capacity; ++i) word[i] = 0;
  scope.Publish(units);
  return true;
}

bool AttachRing(ThreadRing& ring) {
  const trace::RingHeader* const header = TakeRing();
  if (header == nullptr) return false;
  if (ring.session != process_page.session.load(std::memory_order_acquire)) {
    ForgetRing(ring);  // the session has ended meanwhile
    return false;
  }
  ring.data = RingData(ring.header);
  ring.head = header->head.load(std::memory_order_relaxed);
  ring.room_end = 0;
  ring.stalled = false;
  return true;
}

trace::RawRecord* At(const ThreadRing& ring) {
  return reinterpret_cast<trace::RawRecord*>(ring.data + (ring.head & ring.mask));
}

// Looks at the collector's progress once. A record never wraps, so room_end is the nearer of "ring full" and
// "end of the ring". Padding fills a piece at the end that is too short.
trace::RawRecord* RoomNow(ThreadRing& ring, size_t bytes) {
  const uint64_t size = ring.mask + 1;
  const uint64_t full = ring.header->tail.load(std::memory_order_acquire) + size;
  uint64_t to_wrap = size - (ring.head & ring.mask);
  if (to_wrap < bytes) {
    if (ring.head + to_wrap > full) return nullptr;
    trace::RawRecord* const padding = At(ring);
    padding->type = trace::kRawPadding;
    padding->units = static_cast<uint8_t>(to_wrap / trace::kRawUnitBytes);
    ring.head += to_wrap;
    ring.header->head.store(ring.head, std::memory_order_release);
    to_wrap = size;
  }
  const uint64_t wrap = ring.head + to_wrap;
  ring.room_end = full < wrap ? full : wrap;
  return ring.head + bytes <= ring.room_end ? At(ring) : nullptr;
}

void Nap(uint64_t ns) {
  const timespec time = {.tv_sec = 0, .tv_nsec = static_cast<long>(ns)};
  nanosleep(&time, nullptr);
}

// The ring is full: waits as long as the collector drains it.
trace::RawRecord* WaitForRoom(ThreadRing& ring, size_t bytes) {
  uint64_t tail = ring.header->tail.load(std::memory_order_relaxed);
  uint64_t progress = MonotonicNs();
  uint64_t checked = 0;
  uint64_t nap = kFirstNapNs;
  for (int turn = 0; RecordingFile() != nullptr; ++turn) {
    if (turn < kYields) {
      sched_yield();
    } else {
      Nap(nap);
      if (nap < kLongestNapNs) nap *= 2;
    }
    if (trace::RawRecord* const record = RoomNow(ring, bytes)) return record;
    const uint64_t now = MonotonicNs();
    const uint64_t tail_now = ring.header->tail.load(std::memory_order_relaxed);
    if (tail_now != tail) {
      tail = tail_now;
      progress = now;
    }
    if (now - progress > trace::kGiveUpNs) {
      ring.stalled = true;
      return nullptr;
    }
    if (now - checked > kCollectorCheckNs) {
      checked = now;
      if (CollectorGone()) return nullptr;
    }
  }
  return nullptr;
}

// The collector paused the recording, or the session has ended: unrecorded events do not count as lost.
bool Paused() {
  const trace::RingFileHeader* const file = process_page.file.load(std::memory_order_acquire);
  return file == nullptr || (file->mode.load(std::memory_order_relaxed) & trace::kModeRecord) == 0;
}

trace::RawRecord* FindRoom(ThreadRing& ring, size_t bytes) {
  if (process_page.file.load(std::memory_order_acquire) == nullptr) {
    ForgetRing(ring);  // this thread inherited its ring through a bare clone
    if (!StartSession()) return nullptr;
  }
  if (ring.session != process_page.session.load(std::memory_order_relaxed)) {
    ForgetRing(ring);  // it belonged to an earlier session
  }
  if (RecordingFile() == nullptr) return nullptr;
  if (ring.header == nullptr && !AttachRing(ring)) return nullptr;
  trace::RawRecord* record = RoomNow(ring, bytes);
  if (record == nullptr && !ring.stalled) record = WaitForRoom(ring, bytes);
  if (record != nullptr) ring.stalled = false;
  return record;
}

}  // namespace

trace::RawRecord* MakeRoom(ThreadRing& ring, size_t bytes) {
  const int error = errno;
  trace::RawRecord* const record = FindRoom(ring, bytes);
  if (record == nullptr && !Paused()) CountLost(ring);
  errno = error;
  return record;
}

bool RecordUnit(uint8_t type, uint16_t small, uint32_t id, uint64_t first, uint64_t second) {
  return Unit<Ticks>(type, small, id, first, second);
}

bool RecordUnitAfterAll(uint8_t type, uint16_t small, uint32_t id, uint64_t first, uint64_t second) {
  return Unit<TicksAfterAll>(type, small, id, first, second);
}

bool RecordWords(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t count) {
  return Words<Ticks>(type, small, id, words, count);
}

bool RecordWordsAfterAll(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t count) {
  return Words<TicksAfterAll>(type, small, id, words, count);
}

void CountLost(ThreadRing& ring) {
  if (ring.header != nullptr) {
    const uint64_t now = Ticks();
    if (ring.header->lost_count.fetch_add(1, std::memory_order_relaxed) == 0) {
      ring.header->lost_first_ticks.store(now, std::memory_order_relaxed);
    }
    ring.header->lost_last_ticks.store(now, std::memory_order_relaxed);
    return;
  }
  trace::RingFileHeader* const file = process_page.file.load(std::memory_order_acquire);
  if (file != nullptr) file->lost_without_ring.fetch_add(1, std::memory_order_relaxed);
}

void CloseRing(ThreadRing& ring) {
  trace::RingHeader* const header = ring.header;
  ForgetRing(ring);
  if (header != nullptr) {
    header->state.store(static_cast<uint32_t>(trace::RingState::kClosed), std::memory_order_release);
  }
}

}  // namespace vramscope::injector
