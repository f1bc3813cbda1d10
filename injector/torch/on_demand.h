// SPDX-License-Identifier: Apache-2.0
// Recording that begins and ends while the program runs: attach, and waking a dormant recorder.
//
//   BeginRecording ── thread "vramscope" ── session, slots patched, Python notified ── ...
//        │                                                                             │ collector detaches
//   returns at once     thread ends ◄── Python notified, slots restored, session stopped ◄─┘ or is gone
//
// The thread "vramscope" does the work, because the caller may be a stopped program thread. It blocks all
// signals, and ends with the recording.
#pragma once

namespace vramscope::injector {

enum class BeginResult : int {
  kBegun = 0,
  kBusy = 1,      // this process is already being recorded
  kNoThread = 2,  // no further thread can be created
  kBadRequest = 3,
};

// Records into `folder`, a session folder with a collector. `text`: options (injector/core/options.h).
// Returns at once. The collector sees whether it succeeded. Any thread, but not inside the recorder or a
// signal handler.
BeginResult BeginRecording(const char* folder, const char* text, int collector);

// Ends the recording that BeginRecording began, as if the collector had detached. Returns at once.
void EndRecording();

}  // namespace vramscope::injector
