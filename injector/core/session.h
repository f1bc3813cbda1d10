// SPDX-License-Identifier: Apache-2.0
// This process's file in the session folder. It is created at the first event, given to threads ring by ring,
// and left behind at exit.
//
// A process that never touches a tensor creates no file.
//
//   no session ── Initialize ──► idle ── first event ──► recording ── collector gone ──► detached
//
//   StartSessionIn               no session             ──► recording
//   StopSession                  idle or recording      ──► no session
//   fork, in the child           recording              ──► idle
//
// On demand (attach, dormant), sessions may start and stop any number of times. Each session has a number,
// which each thread's ring carries. A session's memory is released when no thread is inside the recorder.
//
// After a failure (no space, no permission, file size limit), the process runs on unrecorded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace_format/ring.h"

namespace vramscope::injector {

inline constexpr size_t kPageBytes = trace::kLargestPageBytes;

// The state that every record reads. The kernel wipes it in a forked child (MADV_WIPEONFORK). So a child of a
// bare clone system call cannot write into its parent's rings.
struct alignas(kPageBytes) ProcessPage {
  std::atomic<trace::RingFileHeader*> file;  // nullptr: not recording, or not yet
  std::atomic<uint32_t> session;             // number of the session of `file`
};
extern ProcessPage process_page;

// The file if this process is being recorded, else nullptr. Three loads, for the hot path.
inline trace::RingFileHeader* RecordingFile() {
  trace::RingFileHeader* const file = process_page.file.load(std::memory_order_acquire);
  if (__builtin_expect(file == nullptr, 0)) return nullptr;
  const bool wanted = (file->mode.load(std::memory_order_relaxed) & trace::kModeRecord) != 0 &&
                      file->detached.load(std::memory_order_relaxed) == 0;
  return __builtin_expect(wanted, 1) ? file : nullptr;
}

// True in a deep window of a recorded process.
inline bool InDeepWindow() {
  const trace::RingFileHeader* const file = process_page.file.load(std::memory_order_acquire);
  return file != nullptr && file->deep.load(std::memory_order_relaxed) != 0;
}

// Reads the environment and chooses the clock, once. Called by the library's constructor or an earlier event.
void Initialize();

// Creates the file if needed; false if not recorded. Any thread; keeps errno; not from signal handlers.
bool StartSession();

// Starts a session in `folder`, whatever the environment says. `text`: as VRAMSCOPE_OPTIONS; `collector`: 0 =
// unknown. Earlier names keep their ids and are defined again. False if a session is running or cannot be
// created.
bool StartSessionIn(const char* folder, const char* text, int collector);
// Ends the session, if any. Nothing is recorded from here on, not even in later children. Mappings are
// released. Waits some milliseconds until no thread is inside the recorder. A thread that stays inside for
// more than two seconds keeps its ring mapped, as empty memory. Not from inside the recorder, and never concurrently with
// itself or StartSessionIn.
void StopSession();

// The n in the name of this process's file, <pid>.<n>.ring.
uint32_t SessionImage();

// Gives the calling thread a warm ring, also stored in thread_ring. nullptr if there is none (no space, 512
// in use). Only from inside the recorder.
trace::RingHeader* TakeRing();
inline std::byte* RingData(trace::RingHeader* ring) {
  return reinterpret_cast<std::byte*>(ring) + trace::kRingHeaderBytes;
}

// True if the collector is gone; then marks the session detached.
bool CollectorGone();

// From now on, a forked child calls `handler` before it records. At most 8 handlers, each once.
void AtForkInChild(void (*handler)());

}  // namespace vramscope::injector
