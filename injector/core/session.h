// SPDX-License-Identifier: Apache-2.0
// This process's file in the session folder: made at the first event, handed out ring by ring to threads,
// left behind at exit.
//
// Why lazily: LD_PRELOAD puts the library into every shell and helper that the command starts; one that never
// touches a tensor makes no file and pays for three getenv calls.
//
//   no session ── Initialize ──► idle ── first event ──► recording ── collector gone ──► detached
//      │  ▲                       ▲                          │
//      │  └──── StopSession ──────┼──────────────────────────┤
//      └─ StartSessionIn ─────────┼────────────────────────► │
//                                 └────── fork (child) ──────┘
//
// On demand (attach, dormant) a session may be started and stopped any number of times in one process. What
// makes that safe without a lock in the hot path: each session has a number, every thread's ring carries the
// number of its session, and a session's memory is given back only when no thread is inside the recorder.
//
// Trouble (no space, no permission, file size limit) is final for the process: it runs on unrecorded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace_format/ring.h"

namespace vramscope::injector {

inline constexpr size_t kPageBytes = 4096;

// What every record looks at. A page of its own that the kernel wipes in a forked child (MADV_WIPEONFORK), so
// that a child made by a bare clone system call, which runs no pthread_atfork handler, cannot write into its
// parent's rings either.
struct alignas(kPageBytes) ProcessPage {
  std::atomic<trace::RingFileHeader*> file;  // nullptr: not recording, or not yet
  std::atomic<uint32_t> session;             // the number of the session that `file` belongs to
};
extern ProcessPage process_page;

// The file when this process is recorded right now, else nullptr. Two loads more than nothing; for the hot
// path.
inline trace::RingFileHeader* RecordingFile() {
  trace::RingFileHeader* const file = process_page.file.load(std::memory_order_acquire);
  if (__builtin_expect(file == nullptr, 0)) return nullptr;
  const bool wanted = (file->mode.load(std::memory_order_relaxed) & trace::kModeRecord) != 0 &&
                      file->detached.load(std::memory_order_relaxed) == 0;
  return __builtin_expect(wanted, 1) ? file : nullptr;
}

// True in a deep window of a process that is recorded.
inline bool InDeepWindow() {
  const trace::RingFileHeader* const file = process_page.file.load(std::memory_order_acquire);
  return file != nullptr && file->deep.load(std::memory_order_relaxed) != 0;
}

// Reads the environment and chooses the clock; once, whoever comes first: the library's constructor or, when
// the constructors of a program's own libraries allocate tensors before it, the first event.
void Initialize();

// Makes the file if that was not done; false when this process is not recorded. Any thread; keeps errno; not
// from signal handlers.
bool StartSession();

// Starts a session now, in `folder`, whatever the environment said. `text` is what VRAMSCOPE_OPTIONS would
// be; `collector` 0 = unknown. Names that earlier sessions gave keep their ids and are defined anew. False
// when a session runs already or none can be had.
bool StartSessionIn(const char* folder, const char* text, int collector);
// Ends the session of this process, if it has one: nothing is recorded from here on, also not in its later
// children, and what was mapped is given back. Waits until no thread is inside the recorder, some
// milliseconds; when one does not leave it within two seconds, the addresses of its ring stay mapped, empty.
// Not from inside the recorder. Neither of the two may be called by two threads at once.
void StopSession();

// n of <pid>.<n>.ring, of the process that is recorded.
uint32_t SessionImage();

// A ring for the calling thread, all pages present and warm, its header filled in, and in thread_ring with
// its size and session; nullptr when none can be had (no space, 512 in use). From inside the recorder only.
trace::RingHeader* TakeRing();
inline std::byte* RingData(trace::RingHeader* ring) {
  return reinterpret_cast<std::byte*>(ring) + trace::kRingHeaderBytes;
}

// True when the collector is known to have gone; then marks the session detached.
bool CollectorGone();

// Calls `handler` in a forked child before it records anything. At most 8, each once; any further one is
// ignored.
void AtForkInChild(void (*handler)());

}  // namespace vramscope::injector
