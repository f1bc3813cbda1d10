// SPDX-License-Identifier: Apache-2.0
// The shared memory between a target process and the collector: one file per process, one ring per thread.
//
// Why a file in a session folder and not an inherited descriptor: Python's subprocess closes descriptors, torchrun and DataLoader workers
// are exec'ed or forked at any depth, and what a killed process wrote must still be there for the collector to read. The collector
// makes the folder (mode 0700, in /dev/shm, else TMPDIR), names it in VRAMSCOPE_SESSION, watches it, and removes it at the end.
//
//   <session>/<pid>.<n>.ring       n counts process images and forks of the same pid
//   ┌ RingFileHeader (4 KiB) ┬ ring 0: RingHeader (4 KiB) + data (ring_bytes) ┬ ring 1 ┬ ...     sparse; a ring's pages are allocated and
//   └────────────────────────┴───────────────────────────────────────────────┴────────┴──       touched when a thread takes the ring
//
// One writer per ring (its thread), one reader (the collector). `head` and `tail` count bytes since the ring was made and never wrap;
// offset = counter % ring_bytes. A record becomes visible by one release store of head, so a reader never sees half a record,
// also when the writer is killed between two stores. Records do not wrap: kRawPadding fills the rest.
//
// Full ring: the writer waits (the run goes slower, nothing is lost) as long as the collector is alive and draining; when it is gone, or
// does not drain for kGiveUpNs, records are dropped and counted in `lost_*`, and the run goes on at full speed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace_format/raw_record.h"

namespace vramscope::trace {

inline constexpr uint64_t kRingMagic = 0x31474E4952535600;  // "\0VSRING1" read as little endian
inline constexpr uint32_t kRingVersion = 1;
inline constexpr size_t kRingHeaderBytes = 4096;
inline constexpr uint32_t kMaxRings = 512;
inline constexpr uint64_t kDefaultRingBytes = 1 << 20;
inline constexpr uint64_t kSmallestRingBytes = 1 << 16;
inline constexpr uint64_t kGiveUpNs = 2'000'000'000;

enum class ClockKind : uint32_t {
  kTsc = 1,        // invariant time stamp counter; the collector relates it to CLOCK_MONOTONIC
  kMonotonic = 2,  // CLOCK_MONOTONIC nanoseconds
};

enum class RingState : uint32_t {
  kFree = 0,  // may be taken by a new thread (compare-and-swap to kLive)
  kLive = 1,
  kClosed = 2,  // its thread ended; the collector drains the rest and sets kFree
};

struct RingHeader {
  alignas(64) std::atomic<uint32_t> state;  // RingState
  uint32_t os_thread;                       // gettid() of the owner
  uint32_t generation;                      // counts owners, so that the collector sees a change
  alignas(64) std::atomic<uint64_t> head;   // bytes published by the writer
  std::atomic<uint64_t> lost_count;         // records dropped since the ring was taken, and when
  std::atomic<uint64_t> lost_first_ticks;
  std::atomic<uint64_t> lost_last_ticks;
  alignas(64) std::atomic<uint64_t> tail;  // bytes consumed by the collector
};
static_assert(sizeof(RingHeader) <= kRingHeaderBytes);

// clang-format off
struct RingFileHeader {
  uint64_t magic;                  // kRingMagic, stored last: a reader that sees it sees the rest
  uint32_t version;
  uint32_t pid;
  uint32_t parent_pid;             // getppid() at creation
  ClockKind clock;
  uint64_t ring_bytes;             // data bytes of each ring, a power of two
  uint32_t ring_capacity;          // rings that fit in the file
  std::atomic<uint32_t> ring_count;  // rings ever taken: 0 ... ring_count - 1
  uint64_t created_ticks;
  uint64_t created_monotonic_ns;
  uint32_t forked_from;            // pid of the recorded process that forked this one (its strings up to first_own_string hold here); 0 = exec'ed
  uint32_t forked_from_image;      // n of that process's file
  uint32_t first_own_string;       // ids below it were defined by forked_from
  std::atomic<uint32_t> next_string;
  std::atomic<uint32_t> next_stack;
  std::atomic<uint64_t> lost_without_ring;  // records dropped because no ring could be had
  std::atomic<uint32_t> mode;      // what to record; written by the collector, read by the target (Mode below)
  std::atomic<uint32_t> deep;      // target: 1 while inside a deep window
  std::atomic<uint32_t> detached;  // collector: 1 = nobody drains any more, record nothing
  uint64_t pid_namespace;          // with pid: which process this is (process_identity.h); 0 = unknown
  uint64_t start_ticks;
};
// clang-format on
static_assert(sizeof(RingFileHeader) <= kRingHeaderBytes);

// <session>/room: how much of the file system rings may still take. A target takes the bytes of a ring before it makes one, the collector
// gives back those of a process that has ended. Nobody waits for room: a thread without a ring counts its records as lost.
struct RingRoom {
  std::atomic<int64_t> bytes_left;
  std::atomic<uint64_t> unrecorded;  // processes that could not begin for want of room
};
inline constexpr char kRoomName[] = "room";

// What a process notes of a training step lies beside its rings, as <pid>.<n>.program (injector/core/program_file.cc).
inline constexpr char kProgramSuffix[] = ".program";
inline constexpr uint64_t kMostProgramBytes = uint64_t{8} << 20;  // of text
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// RingFileHeader::mode
inline constexpr uint32_t kModeRecord = 1;

constexpr uint64_t RingOffset(uint32_t index, uint64_t ring_bytes) {
  return kRingHeaderBytes + index * (kRingHeaderBytes + ring_bytes);
}

// The environment of a target process, set by the collector.
// clang-format off
inline constexpr char kSessionVariable[] = "VRAMSCOPE_SESSION";    // the session folder; unset = the injector does nothing
inline constexpr char kOptionsVariable[] = "VRAMSCOPE_OPTIONS";    // "device=auto;depth=auto;deep_steps=2-4;stacks=none"
inline constexpr char kNvtxNextVariable[] = "VRAMSCOPE_NVTX_NEXT";  // what NVTX_INJECTION64_PATH was before
inline constexpr char kDormantVariable[] = "VRAMSCOPE";             // "dormant": record nothing until somebody asks for it
inline constexpr char kDoorName[] = "vramscope-door-";              // where: an abstract socket, with <pid namespace>-<pid> appended
inline constexpr char kCollectorVariable[] = "VRAMSCOPE_COLLECTOR";  // pid of the collector, to see whether it is alive
// clang-format on

}  // namespace vramscope::trace
