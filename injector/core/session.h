// SPDX-License-Identifier: Apache-2.0
// This process's file in the session folder: created at the first event, given to threads ring by ring, left
// behind at exit.
//
// Why lazily: LD_PRELOAD puts the library into every shell and helper that the command starts. One that never
// touches a tensor creates no file and pays for three getenv calls.
//
//   no session ── Initialize ──► idle ── first event ──► recording ── collector gone ──► detached
//
//   StartSessionIn               no session             ──► recording
//   StopSession                  idle or recording      ──► no session
//   fork, in the child           recording              ──► idle
//
// On demand (attach, dormant), a session may start and stop any number of times in one process. The hot path
// has no lock for this. Each session has a number, and every thread's ring carries the number of its session.
// A session's memory is released only when no thread is inside the recorder.
//
// Failure (no space, no permission, file size limit) is final for the process: it runs on unrecorded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace_format/ring.h"

namespace vramscope::injector {

inline constexpr size_t kPageBytes = trace::kLargestPageBytes;

// The state that every record reads. The kernel wipes its page in a forked child (MADV_WIPEONFORK). So a
// child made by a bare clone system call, which runs no pthread_atfork handler, cannot write into its
// parent's rings either.
struct alignas(kPageBytes) ProcessPage {
  std::atomic<trace::RingFileHeader*> file;  // nullptr: not recording, or not yet
  std::atomic<uint32_t> session;             // the number of the session that `file` belongs to
};
extern ProcessPage process_page;

// The file if this process is being recorded, otherwise nullptr. Costs two loads; for the hot path.
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

// Reads the environment and chooses the clock, once. Called first by the library's constructor or by the
// first event, if constructors of the program's own libraries allocate tensors before it.
void Initialize();

// Creates the file if needed; false if this process is not recorded. Any thread; keeps errno; not from signal
// handlers.
bool StartSession();

// Starts a session in `folder` now, regardless of the environment. `text` has the form of VRAMSCOPE_OPTIONS;
// `collector` 0 = unknown. Names from earlier sessions keep their ids and are defined again. False if a
// session is already running or cannot be created.
bool StartSessionIn(const char* folder, const char* text, int collector);
// Ends the session of this process, if it has one. From here on nothing is recorded, not even in later
// children, and its mappings are released. Waits some milliseconds until no thread is inside the recorder. If
// a thread does not leave it within two seconds, the addresses of its ring stay mapped, empty. Do not call it
// from inside the recorder, and do not call this function or StartSessionIn from two threads at once.
void StopSession();

// n of <pid>.<n>.ring of the recorded process.
uint32_t SessionImage();

// A ring for the calling thread: all pages present and warm, its header filled in, stored in thread_ring with
// its size and session. nullptr if there is none (no space, 512 in use). Only from inside the recorder.
trace::RingHeader* TakeRing();
inline std::byte* RingData(trace::RingHeader* ring) {
  return reinterpret_cast<std::byte*>(ring) + trace::kRingHeaderBytes;
}

// True if the collector is known to be gone; then marks the session detached.
bool CollectorGone();

// Calls `handler` in a forked child before it records anything. At most 8, each once; further handlers are
// ignored.
void AtForkInChild(void (*handler)());

}  // namespace vramscope::injector
