// SPDX-License-Identifier: Apache-2.0
// Begins and ends a recording while the program runs. `vramscope attach` uses it, and so does a recorder that
// was loaded at the start but waits for a request.
//
//   BeginRecording ── thread "vramscope" ── session, hooks installed, Python notified ─ ...
//        │                                                                             │ collector detaches
//   returns at once     thread ends ◄── Python notified, hooks removed, session stopped ◄──┘ or has ended
//
// The thread "vramscope" does the work, because the calling thread may be a stopped thread of the program.
// The thread blocks all signals, and ends with the recording.
#pragma once

namespace vramscope::injector {

enum class BeginResult : int {
  kBegun = 0,
  kBusy = 1,      // this process is already being recorded
  kNoThread = 2,  // no further thread can be created
  kBadRequest = 3,
};

// Starts to record into `folder`, a session folder with a running collector. `text`: options
// (injector/core/options.h). `collector`: pid of the collector. Returns at once; the collector detects
// whether the recording has started. Any thread may call this, but not inside the recorder or a signal
// handler.
BeginResult BeginRecording(const char* folder, const char* text, int collector);

// Ends the recording that BeginRecording began, as if the collector had detached. Returns at once.
void EndRecording();

}  // namespace vramscope::injector
