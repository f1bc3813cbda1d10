// SPDX-License-Identifier: Apache-2.0
// The shared memory through which a recorded process (the target) passes its events to the collector. There
// is one file per process, and one ring per thread.
//
// Files are used because inherited descriptors may be closed by exec, fork and subprocess. The data of a
// killed process stay readable. The collector creates the session folder (mode 0700, in /dev/shm, otherwise
// in TMPDIR), and passes its name in VRAMSCOPE_SESSION. At the end, the collector removes the folder.
//
//   <session>/<pid>.<n>.ring       n = 0, 1, ... numbers the files of one pid, for example after exec
//   ┌ RingFileHeader (4 KiB) ┬ ring 0: RingHeader (4 KiB) + data (ring_bytes) ┬ ring 1 ┬ ...
//   └────────────────────────┴───────────────────────────────────────────────┴────────┴──
//   The file is sparse: the pages of a ring are allocated when a thread takes the ring. On aarch64, each
//   header has 64 KiB (kLargestPageBytes).
//
// Each ring has one writer, its thread, and one reader, the collector. `head` and `tail` are byte counts that
// never wrap; the offset in the ring is the count % ring_bytes. A record becomes visible by one release store
// of `head`, so the reader never sees half a record. A record never continues at the ring's begin: if it does
// not fit before the ring's end, kRawPadding fills the remaining bytes.
//
//   A ring of 1 MiB, head = 1,048,544 (32 bytes before the end), and a record of 64 bytes:
//   32 bytes of padding, then the record at offset 0; head = 1,048,640.
//
// If the ring is full, the writer waits while the collector reads records. If the collector reads nothing for
// kGiveUpNs, or has ended, the writer drops records and counts them in `lost_*`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace_format/raw_record.h"

namespace vramscope::trace {

inline constexpr uint64_t kRingMagic = 0x31474E4952535600;  // "\0VSRING1" read as little endian
inline constexpr uint32_t kRingVersion = 1;
// Offsets of rings must be multiples of the kernel's page size, which is 64 KiB on some aarch64 kernels
// (NVIDIA Grace).
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
  kFree = 0,  // a new thread may take the ring, by compare-and-swap to kLive
  kLive = 1,
  kClosed = 2,  // the thread ended; the collector reads the remaining records and sets kFree
};

struct RingHeader {
  alignas(64) std::atomic<uint32_t> state;  // RingState
  uint32_t os_thread;                       // gettid() of the owner
  uint32_t generation;                      // number of owners so far
  alignas(64) std::atomic<uint64_t> head;   // number of bytes published by the writer
  // Number of records dropped since the ring was taken, and the times of the first and the last of them.
  std::atomic<uint64_t> lost_count;
  std::atomic<uint64_t> lost_first_ticks;
  std::atomic<uint64_t> lost_last_ticks;
  alignas(64) std::atomic<uint64_t> tail;  // number of bytes consumed by the collector
};
static_assert(sizeof(RingHeader) <= kRingHeaderBytes);

// clang-format off
struct RingFileHeader {
  uint64_t magic;  // kRingMagic, stored after all other fields
  uint32_t version;
  uint32_t pid;
  uint32_t parent_pid;  // getppid() at creation
  ClockKind clock;
  uint64_t ring_bytes;               // data bytes of each ring, a power of two
  uint32_t ring_capacity;            // number of rings that fit into the file
  std::atomic<uint32_t> ring_count;  // number of rings that were ever taken: 0 to ring_count - 1
  uint64_t created_ticks;
  uint64_t created_monotonic_ns;
  // pid of the recorded process that forked this process; 0 = this process was started by exec. The forking
  // process's strings below first_own_string are valid here.
  uint32_t forked_from;
  uint32_t forked_from_image;  // n in the file name <pid>.<n>.ring of the forking process
  uint32_t first_own_string;   // string ids below this id were defined by the forking process
  std::atomic<uint32_t> next_string;
  std::atomic<uint32_t> next_stack;
  std::atomic<uint64_t> lost_without_ring;  // number of records dropped because no ring was available
  std::atomic<uint32_t>
      mode;  // what to record; written by the collector (kMode... below)
  std::atomic<uint32_t> deep;      // set by the target: 1 while a deep step is recorded
  std::atomic<uint32_t> detached;  // set by the collector: 1 = rings are not read, record nothing
  uint64_t pid_namespace;          // with pid, identifies the process (process_identity.h); 0 = unknown
  uint64_t start_ticks;
};
// clang-format on
static_assert(sizeof(RingFileHeader) <= kRingHeaderBytes);

// The file <session>/room: how many bytes of the file system rings may still take. Before a target creates a
// ring, it subtracts the ring's bytes. When the process has ended, the collector adds them again. If a thread
// gets no ring, its records count as lost.
struct RingRoom {
  std::atomic<int64_t> bytes_left;
  std::atomic<uint64_t> unrecorded;  // number of processes that could not record because there was no room
};
inline constexpr char kRoomName[] = "room";

// The program of one training step of a process is <pid>.<n>.program (injector/core/program_file.cc).
inline constexpr char kProgramSuffix[] = ".program";
inline constexpr uint64_t kMostProgramBytes = uint64_t{8} << 20;  // bytes of the program's text
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Bit of RingFileHeader::mode: events are recorded.
inline constexpr uint32_t kModeRecord = 1;

constexpr uint64_t RingOffset(uint32_t index, uint64_t ring_bytes) {
  return kRingHeaderBytes + index * (kRingHeaderBytes + ring_bytes);
}

// Environment variables of a target process, which the collector sets:

// The session folder; unset = the injector does nothing.
inline constexpr char kSessionVariable[] = "VRAMSCOPE_SESSION";
// Recording options, such as "device=auto;depth=auto;deep_steps=2-4;stacks=none".
inline constexpr char kOptionsVariable[] = "VRAMSCOPE_OPTIONS";
// The value that NVTX_INJECTION64_PATH had before the collector changed it.
inline constexpr char kNvtxNextVariable[] = "VRAMSCOPE_NVTX_NEXT";
// "dormant" = record nothing until a client requests it (injector/core/dormant.h).
inline constexpr char kDormantVariable[] = "VRAMSCOPE";
// Requests to a dormant process arrive at an abstract socket with this name followed by <pid
// namespace>-<pid>.
inline constexpr char kDoorName[] = "vramscope-door-";
// pid of the collector. The target uses it to check that the collector is alive.
inline constexpr char kCollectorVariable[] = "VRAMSCOPE_COLLECTOR";

}  // namespace vramscope::trace
