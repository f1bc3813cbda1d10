// SPDX-License-Identifier: Apache-2.0
// Recordings that a dormant process begins and ends itself, like `vramscope start PID` and `vramscope stop
// PID`.
//
// A separate process writes the trace, so that it survives a killed program.
//
//   program ── fork ──► child ── fork ──► vramscope start PID -o FILE ──► door (dormant.h) ──► recording
//                         └ ends at once: the program gets no child that its own wait() could return
#pragma once

namespace vramscope::injector {

// True when the recording has begun, or if this process is recorded already. False if it cannot begin: no
// file, not dormant, no vramscope command next to this library, or a failed command. Not from signal
// handlers.
bool StartOwnRecording(const char* file);

// Ends the recording, whoever began it. True when its trace is complete. False if there is no recording, or
// if its trace is not complete after 30 seconds.
bool StopOwnRecording();

}  // namespace vramscope::injector
