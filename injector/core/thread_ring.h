// SPDX-License-Identifier: Apache-2.0
// The calling thread's end of its ring (trace_format/ring.h), and the only way into it.
//
//   if (RecordScope scope; RawRecord* record = scope.Place(1)) { fill in *record; scope.Publish(1); }
//
// A record becomes visible by one release store: nobody ever sees half of one. A signal handler may interrupt
// the filling and cause an event itself. `inside` rejects that event, which counts as lost.
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
  uint64_t head = 0;      // as published
  uint64_t room_end = 0;  // head may grow to here without MakeRoom; 0 without a ring
  trace::RingHeader* header = nullptr;
  uint32_t inside = 0;   // 1 while this thread is in the recorder
  bool stalled = false;  // not drained for kGiveUpNs: records are dropped until there is room
  uint32_t session = 0;  // ProcessPage::session of the ring's file
};

// Forgets the ring; `inside` stays. The thread that ends a session reads `header` and `inside`.
inline void ForgetRing(ThreadRing& ring) {
  ring.data = nullptr;
  ring.mask = ring.head = ring.room_end = 0;
  std::atomic_ref(ring.header).store(nullptr, std::memory_order_release);
  ring.stalled = false;
  ring.session = 0;
}

// Initial-exec TLS: fast, without allocation, safe in signal handlers.
extern constinit thread_local ThreadRing thread_ring __attribute__((tls_model("initial-exec")));

// Makes room for `bytes` in one piece at ring.head. May start the session, take a ring, or wait for the
// collector. nullptr: drop the record (counted here). Keeps errno.
trace::RawRecord* MakeRoom(ThreadRing& ring, size_t bytes);
// Gives the ring back; the collector drains what is in it.
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

  // The place for the next record of `units`; nullptr: drop it. Take ticks after this call: it may wait.
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

// Records one event of at most two words (one unit). Not inline: one copy serves all hooks.
bool RecordUnit(uint8_t type, uint16_t small, uint32_t id, uint64_t first, uint64_t second);
// For a block that was just handed out: see TicksAfterAll.
bool RecordUnitAfterAll(uint8_t type, uint16_t small, uint32_t id, uint64_t first, uint64_t second);
// Records one event of at most kMaxEventFields words.
bool RecordWords(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t count);
bool RecordWordsAfterAll(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t count);

// Records one event, laid out by kRawLayout. False if it was dropped.
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
