// SPDX-License-Identifier: Apache-2.0
// Recording that begins and ends while the program runs: attach, and a dormant recorder that is woken.
//
//   BeginRecording ── thread "vramscope" ── session, slots patched, Python notified ── ...
//        │                                                                             │ collector detaches
//   returns at once     thread ends ◄── Python notified, slots restored, session stopped ◄─┘ or is gone
//
// Why a thread: the caller may be a thread of the program that was stopped in the middle of something. The
// thread blocks all signals, so none of the program's is ever handled on it, and is gone when recording ends.
#pragma once

namespace vramscope::injector {

enum class BeginResult : int {
  kBegun = 0,
  kBusy = 1,      // this process is recorded already
  kNoThread = 2,  // the system gives it no further thread
  kBadRequest = 3,
};

// Begins to record into `folder`, a session folder with a collector, with the options of `text`
// (injector/core/options.h). Returns at once; whether all went well is seen by the collector. Any thread, but
// not from inside the recorder or a signal handler.
BeginResult BeginRecording(const char* folder, const char* text, int collector);

// Asks the recording that BeginRecording began to end; what the collector does by detaching. Returns at once.
void EndRecording();

}  // namespace vramscope::injector
