// SPDX-License-Identifier: Apache-2.0
// The session of this process, and the file that contains its rings. A session is one recording, from its
// start to its stop.
//
// The file lies in the session folder. The file is created at the process's first event. Each recording
// thread gets one ring of the file. The file remains after the process exits. A process without events
// creates no file.
//
//   no session ── Initialize ──► idle ── first event ──► recording ── the collector ends ──► detached
//
//   StartSessionIn               no session             ──► recording
//   StopSession                  idle or recording      ──► no session
//   fork, in the child           recording              ──► idle
//
// In the state "idle", a recording is requested, but no event has occurred yet. In the state "detached", the
// collector has ended, so nothing is recorded.
//
// In a process that is recorded on demand (attached or dormant), sessions may start and stop any number of
// times. Each session has a number, and each thread's ring carries the number of its session. A session's
// memory is released when no thread is inside the recorder.
//
// If the file cannot be created (no space, no permission, file size limit), the process continues without
// being recorded. Creation is tried again after one second.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace_format/ring.h"

namespace vramscope::injector {

inline constexpr size_t kPageBytes = trace::kLargestPageBytes;

// The session state that is read for every record. In a forked child, the kernel clears it (MADV_WIPEONFORK).
// So a child made by a direct clone system call cannot write into its parent's rings.
struct alignas(kPageBytes) ProcessPage {
  std::atomic<trace::RingFileHeader*> file;  // nullptr if the process is not being recorded
  std::atomic<uint32_t> session;             // number of the session that `file` belongs to
};
extern ProcessPage process_page;

// Returns the file if this process is being recorded, else nullptr. The call costs three loads, so hooks can
// make it often.
inline trace::RingFileHeader* RecordingFile() {
  trace::RingFileHeader* const file = process_page.file.load(std::memory_order_acquire);
  if (__builtin_expect(file == nullptr, 0)) return nullptr;
  const bool wanted = (file->mode.load(std::memory_order_relaxed) & trace::kModeRecord) != 0 &&
                      file->detached.load(std::memory_order_relaxed) == 0;
  return __builtin_expect(wanted, 1) ? file : nullptr;
}

// True while a deep step (docs/glossary.md) of this process is being recorded.
inline bool InDeepWindow() {
  const trace::RingFileHeader* const file = process_page.file.load(std::memory_order_acquire);
  return file != nullptr && file->deep.load(std::memory_order_relaxed) != 0;
}

// Reads the environment and chooses the clock, on the first call only. The library's constructor or an
// earlier event makes this call.
void Initialize();

// Creates the file if it does not exist. Returns false if the process is not recorded. May be called from any
// thread, but not from signal handlers. Keeps errno.
bool StartSession();

// Starts a session in `folder`, even if the environment asks for no recording. `text` has the format of
// VRAMSCOPE_OPTIONS. `collector` is the collector's process id, 0 if unknown. Names that were interned in
// earlier sessions keep their ids, and are written into the new session again. Returns false if a session is
// running or cannot be created.
bool StartSessionIn(const char* folder, const char* text, int collector);
// Ends the session, if there is one. Afterwards nothing is recorded, not even in children forked later. Waits
// some milliseconds until no thread is inside the recorder, and then unmaps the rings. If a thread stays
// inside for more than two seconds, its ring stays mapped, as empty memory.
//
// Do not call StopSession from inside the recorder, or concurrently with itself or StartSessionIn.
void StopSession();

// Returns n of this process's file name, <pid>.<n>.ring.
uint32_t SessionImage();

// Gives the calling thread a ring whose memory pages are already present, stores it in thread_ring and
// returns it. Returns nullptr if there is no space, or if all 512 rings are in use. Call this only from
// inside the recorder.
trace::RingHeader* TakeRing();
inline std::byte* RingData(trace::RingHeader* ring) {
  return reinterpret_cast<std::byte*>(ring) + trace::kRingHeaderBytes;
}

// Returns true if the collector process has ended, and then marks the session as detached.
bool CollectorGone();

// Registers `handler`: every child forked later calls it before the child records anything. There may be at
// most 8 different handlers.
void AtForkInChild(void (*handler)());

}  // namespace vramscope::injector
