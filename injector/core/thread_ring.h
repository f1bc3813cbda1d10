// SPDX-License-Identifier: Apache-2.0
// The calling thread's end of its ring, and the only way into it. trace_format/ring.h draws the ring.
//
//   if (RecordScope scope; RawRecord* record = scope.Place(1)) { fill in *record; scope.Publish(1); }
//
// Why reserve, fill, publish: a record becomes visible by one release store, so neither a kill nor a reader
// ever sees half of one. A signal handler may interrupt the filling and cause an event itself. `inside`
// rejects that event, which is counted as lost: it would have to be published before the outer record is
// complete.
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
  uint64_t room_end = 0;  // head may grow to here before MakeRoom has to look; 0 without a ring
  trace::RingHeader* header = nullptr;
  uint32_t inside = 0;   // 1 while this thread is in the recorder
  bool stalled = false;  // the collector did not drain for kGiveUpNs: drop until it does
  uint32_t session = 0;  // ProcessPage::session of the file that the ring lies in
};

// Forgets the ring; `inside` stays as it is. The thread that ends a session reads `header` and `inside`.
inline void ForgetRing(ThreadRing& ring) {
  ring.data = nullptr;
  ring.mask = ring.head = ring.room_end = 0;
  std::atomic_ref(ring.header).store(nullptr, std::memory_order_release);
  ring.stalled = false;
  ring.session = 0;
}

// Initial-exec TLS: one instruction to access, no allocation at a thread's first use, safe in signal
// handlers.
extern constinit thread_local ThreadRing thread_ring __attribute__((tls_model("initial-exec")));

// Makes room for `bytes` in one piece at ring.head: starts the session, takes a ring, or waits for the
// collector. nullptr: the record must be dropped (counted here). Keeps errno.
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

  // False in a signal handler that interrupted the recorder on this thread.
  bool entered() const { return entered_; }

  // Where to put the next record of `units`; nullptr when it must be dropped. Take its ticks after this call,
  // not before: it may wait.
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
    // The collector on another core has read this part of the ring: request its cache lines ahead of the
    // stores.
    __builtin_prefetch(ring_.data + ((ring_.head + kPrefetchBytes) & ring_.mask), 1);
  }

 private:
  ThreadRing& ring_;
  bool entered_;
};

// Records one event of at most two words, which is one unit. Not inline: one copy in the instruction cache
// serves all hooks.
bool RecordUnit(uint8_t type, uint16_t small, uint32_t id, uint64_t first, uint64_t second);
// Like RecordUnit, for a block that was just handed out: see TicksAfterAll.
bool RecordUnitAfterAll(uint8_t type, uint16_t small, uint32_t id, uint64_t first, uint64_t second);
// Records one event of at most kMaxEventFields words.
bool RecordWords(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t count);
bool RecordWordsAfterAll(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t count);

// Records one event, with its fields laid out by kRawLayout. False if it was dropped.
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
