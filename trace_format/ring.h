// SPDX-License-Identifier: Apache-2.0
// The shared memory between a target process and the collector: one file per process, one ring per thread.
//
// A file works across exec, fork and subprocess, where inherited descriptors are closed. The data of a killed
// process stay readable. The collector creates the folder (mode 0700, in /dev/shm, else TMPDIR) and names it
// in VRAMSCOPE_SESSION. The collector removes it at the end.
//
//   <session>/<pid>.<n>.ring       n counts process images and forks of the same pid
//   ┌ RingFileHeader (4 KiB) ┬ ring 0: RingHeader (4 KiB) + data (ring_bytes) ┬ ring 1 ┬ ...
//   └────────────────────────┴───────────────────────────────────────────────┴────────┴──
//   sparse; a ring's pages are allocated and touched when a thread takes the ring; on aarch64 each header has
//   64 KiB (kLargestPageBytes)
//
// Each ring has one writer (its thread) and one reader (the collector). `head` and `tail` count bytes and
// never wrap; offset = counter % ring_bytes. A record becomes visible by one release store of head, so a
// reader never sees half a record. Records do not wrap: kRawPadding fills the rest.
//
//   A ring of 1 MiB, head = 1,048,544 (32 bytes before the end), and a record of 64 bytes:
//   32 bytes of padding, then the record at offset 0; head = 1,048,640.
//
// Full ring: the writer waits while the collector drains. If nothing is drained for kGiveUpNs, or the
// collector is gone, records are dropped and counted in `lost_*`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace_format/raw_record.h"

namespace vramscope::trace {

inline constexpr uint64_t kRingMagic = 0x31474E4952535600;  // "\0VSRING1" read as little endian
inline constexpr uint32_t kRingVersion = 1;
// Ring offsets must be multiples of the kernel's page: 64 KiB on some aarch64 kernels (NVIDIA Grace).
#if defined(__aarch64__)
inline constexpr size_t kLargestPageBytes = 65536;
#else
inline constexpr size_t kLargestPageBytes = 4096;
#endif
inline constexpr size_t kRingHeaderBytes = kLargestPageBytes;
inline constexpr uint32_t kMaxRings = 512;
inline constexpr uint64_t kDefaultRingBytes = 1 << 20;
inline constexpr uint64_t kSmallestRingBytes = 1 << 16;
inline constexpr uint64_t kGiveUpNs = 2'000'000'000;

enum class ClockKind : uint32_t {
  kTsc = 1,        // invariant time stamp counter; the collector relates it to CLOCK_MONOTONIC
  kMonotonic = 2,  // CLOCK_MONOTONIC nanoseconds
};

enum class RingState : uint32_t {
  kFree = 0,  // a new thread may take it (compare-and-swap to kLive)
  kLive = 1,
  kClosed = 2,  // its thread ended; the collector drains it and sets kFree
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
  uint64_t magic;  // kRingMagic, stored last
  uint32_t version;
  uint32_t pid;
  uint32_t parent_pid;  // getppid() at creation
  ClockKind clock;
  uint64_t ring_bytes;               // data bytes of each ring, a power of two
  uint32_t ring_capacity;            // rings that fit in the file
  std::atomic<uint32_t> ring_count;  // rings ever taken: 0 ... ring_count - 1
  uint64_t created_ticks;
  uint64_t created_monotonic_ns;
  // pid of the recorded process that forked this one (its strings below first_own_string are valid here); 0 =
  // exec'ed
  uint32_t forked_from;
  uint32_t forked_from_image;  // the n of that process's <pid>.<n>.ring
  uint32_t first_own_string;   // ids below it were defined by forked_from
  std::atomic<uint32_t> next_string;
  std::atomic<uint32_t> next_stack;
  std::atomic<uint64_t> lost_without_ring;  // records dropped because no ring was available
  std::atomic<uint32_t>
      mode;  // what to record; written by the collector (kMode... below)
  std::atomic<uint32_t> deep;      // set by the target: 1 while inside a deep window
  std::atomic<uint32_t> detached;  // set by the collector: 1 = rings are not drained, record nothing
  uint64_t pid_namespace;          // with pid: identifies the process (process_identity.h); 0 = unknown
  uint64_t start_ticks;
};
// clang-format on
static_assert(sizeof(RingFileHeader) <= kRingHeaderBytes);

// <session>/room: the bytes of the file system that rings may still take. A target subtracts a ring's bytes
// before creating it. The collector returns them after the process ended. A thread without a ring counts its
// records as lost.
struct RingRoom {
  std::atomic<int64_t> bytes_left;
  std::atomic<uint64_t> unrecorded;  // processes that could not record for lack of room
};
inline constexpr char kRoomName[] = "room";

// The program of one training step of a process is <pid>.<n>.program (injector/core/program_file.cc).
inline constexpr char kProgramSuffix[] = ".program";
inline constexpr uint64_t kMostProgramBytes = uint64_t{8} << 20;  // of text
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// RingFileHeader::mode
inline constexpr uint32_t kModeRecord = 1;

constexpr uint64_t RingOffset(uint32_t index, uint64_t ring_bytes) {
  return kRingHeaderBytes + index * (kRingHeaderBytes + ring_bytes);
}

// The environment of a target process, set by the collector:

// The session folder; unset = the injector does nothing.
inline constexpr char kSessionVariable[] = "VRAMSCOPE_SESSION";
// "device=auto;depth=auto;deep_steps=2-4;stacks=none"
inline constexpr char kOptionsVariable[] = "VRAMSCOPE_OPTIONS";
// The earlier value of NVTX_INJECTION64_PATH.
inline constexpr char kNvtxNextVariable[] = "VRAMSCOPE_NVTX_NEXT";
// "dormant": record nothing until requested.
inline constexpr char kDormantVariable[] = "VRAMSCOPE";
// Requests arrive at an abstract socket of this name plus <pid namespace>-<pid>.
inline constexpr char kDoorName[] = "vramscope-door-";
// pid of the collector, to check that it is alive.
inline constexpr char kCollectorVariable[] = "VRAMSCOPE_COLLECTOR";

}  // namespace vramscope::trace
