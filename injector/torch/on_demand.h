// SPDX-License-Identifier: Apache-2.0
// Recording that begins and ends while the program runs: attach, and waking a dormant recorder.
//
//   BeginRecording ── thread "vramscope" ── session, slots patched, Python notified ── ...
//        │                                                                             │ collector detaches
//   returns at once     thread ends ◄── Python notified, slots restored, session stopped ◄─┘ or is gone
//
// Why a thread: the caller may be a program thread that was stopped in the middle of something. The thread
// blocks all signals, so it never handles one of the program's. It ends with the recording.
#pragma once

namespace vramscope::injector {

enum class BeginResult : int {
  kBegun = 0,
  kBusy = 1,      // this process is already being recorded
  kNoThread = 2,  // no further thread can be created
  kBadRequest = 3,
};

// Begins to record into `folder`, a session folder with a collector, with the options in `text`
// (injector/core/options.h). Returns at once; the collector sees whether it succeeded. Any thread, but not
// from inside the recorder or a signal handler.
BeginResult BeginRecording(const char* folder, const char* text, int collector);

// Ends the recording that BeginRecording began, as if the collector had detached. Returns at once.
void EndRecording();

}  // namespace vramscope::injector
