// SPDX-License-Identifier: Apache-2.0
// The calling thread's access to its ring, the buffer in shared memory that takes the thread's events
// (trace_format/ring.h). All records are written through this file.
//
//   if (RecordScope scope; RawRecord* record = scope.Place(1)) { fill in *record; scope.Publish(1); }
//
// A record becomes visible to the collector by one release store, so the collector never reads half of a
// record. A signal handler may interrupt a thread that fills in a record, and may cause an event itself. The
// flag `inside` rejects the signal handler's event, which is counted as lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "injector/core/clock.h"
#include "injector/core/session.h"
#include "trace_format/ring.h"

namespace vramscope::injector {

struct alignas(64) ThreadRing {
  std::byte* data = nullptr;
  uint64_t mask = 0;
  uint64_t head = 0;      // bytes written since the ring was made, as published
  uint64_t room_end = 0;  // `head` may grow to this value without MakeRoom; 0 without a ring
  trace::RingHeader* header = nullptr;
  uint32_t inside = 0;   // 1 while this thread is in the recorder
  bool stalled = false;  // the collector has read nothing for kGiveUpNs: drop records
  uint32_t session = 0;  // number of the session that the ring belongs to
};

// Resets all fields but `inside`. `header` is stored atomically, because the thread that ends a session reads
// it.
inline void ForgetRing(ThreadRing& ring) {
  ring.data = nullptr;
  ring.mask = ring.head = ring.room_end = 0;
  std::atomic_ref(ring.header).store(nullptr, std::memory_order_release);
  ring.stalled = false;
  ring.session = 0;
}

// Thread-local storage of the initial-exec model: fast, without allocation, safe in signal handlers.
extern constinit thread_local ThreadRing thread_ring __attribute__((tls_model("initial-exec")));

// Makes room for `bytes` contiguous bytes at ring.head. May start the session, take a ring, or wait for the
// collector. Returns nullptr if the record must be dropped, and counts it as lost unless the recording is
// paused. Keeps errno.
trace::RawRecord* MakeRoom(ThreadRing& ring, size_t bytes);
// Gives the ring back. The collector still reads the records in it.
void CloseRing(ThreadRing& ring);
void CountLost(ThreadRing& ring);

class RecordScope {
  static constexpr uint64_t kPrefetchBytes = 256;

 public:
  RecordScope() : ring_(thread_ring), entered_(ring_.inside == 0) {
    if (__builtin_expect(entered_, 1)) std::atomic_ref(ring_.inside).store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~RecordScope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (__builtin_expect(entered_, 1)) std::atomic_ref(ring_.inside).store(0, std::memory_order_release);
  }
  RecordScope(const RecordScope&) = delete;
  RecordScope& operator=(const RecordScope&) = delete;

  // False in a signal handler that interrupted the recorder.
  bool entered() const { return entered_; }

  // Returns the place for the next record, which has `units` units of kRawUnitBytes. Returns nullptr if the
  // record must be dropped. Read the clock after this call, because the call may wait.
  trace::RawRecord* Place(size_t units) {
    const size_t bytes = units * trace::kRawUnitBytes;
    if (__builtin_expect(!entered_, 0)) {
      CountLost(ring_);
      return nullptr;
    }
    if (__builtin_expect(ring_.head + bytes <= ring_.room_end && RecordingFile() != nullptr &&
                             ring_.session == process_page.session.load(std::memory_order_relaxed),
                         1)) {
      return reinterpret_cast<trace::RawRecord*>(ring_.data + (ring_.head & ring_.mask));
    }
    return MakeRoom(ring_, bytes);
  }
  void Publish(size_t units) {
    ring_.head += units * trace::kRawUnitBytes;
    ring_.header->head.store(ring_.head, std::memory_order_release);
    // Prefetches cache lines that the collector has read on another core.
    __builtin_prefetch(ring_.data + ((ring_.head + kPrefetchBytes) & ring_.mask), 1);
  }

 private:
  ThreadRing& ring_;
  bool entered_;
};

// Records one event of at most two words (one unit). Returns false if the event was dropped. The function is
// not inline, so that all hooks share one copy.
bool RecordUnit(uint8_t type, uint16_t small, uint32_t id, uint64_t first, uint64_t second);
// Like RecordUnit, but with the time of TicksAfterAll (clock.h). Use it for allocations.
bool RecordUnitAfterAll(uint8_t type, uint16_t small, uint32_t id, uint64_t first, uint64_t second);
// Records one event of at most kMaxEventFields words. Returns false if the event was dropped.
bool RecordWords(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t count);
bool RecordWordsAfterAll(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t count);

// Records one event with the layout of kRawLayout. Returns false if the event was dropped.
template <typename... Words>
inline bool Record(trace::EventType type, uint16_t small, uint32_t id, Words... words) {
  const uint64_t word[sizeof...(Words) + 2] = {static_cast<uint64_t>(words)...};
  if constexpr (sizeof...(Words) <= 2)
    return RecordUnit(static_cast<uint8_t>(type), small, id, word[0], word[1]);
  return RecordWords(static_cast<uint8_t>(type), small, id, word, sizeof...(Words));
}

template <typename... Words>
inline bool RecordAfterAll(trace::EventType type, uint16_t small, uint32_t id, Words... words) {
  const uint64_t word[sizeof...(Words) + 2] = {static_cast<uint64_t>(words)...};
  if constexpr (sizeof...(Words) <= 2)
    return RecordUnitAfterAll(static_cast<uint8_t>(type), small, id, word[0], word[1]);
  return RecordWordsAfterAll(static_cast<uint8_t>(type), small, id, word, sizeof...(Words));
}

}  // namespace vramscope::injector
