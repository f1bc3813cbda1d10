// SPDX-License-Identifier: Apache-2.0
// Recordings that a dormant process begins and ends itself: the same as `vramscope start PID` and `vramscope
// stop PID` from outside.
//
// Why a separate process: the recording survives if the program is killed, and its trace is written by the
// same code as every other trace.
//
//   program ── fork ──► child ── fork ──► vramscope start PID -o FILE ──► door (dormant.h) ──► recording
//                         └ ends at once: the program gets no child that its own wait() could return
#pragma once

namespace vramscope::injector {

// Returns true when the recording has begun, false if it cannot begin: no file, not dormant, no vramscope
// command next to this library, or the command failed. Returns true at once if this process is already being
// recorded. Not from signal handlers.
bool StartOwnRecording(const char* file);

// Ends the recording of a dormant process, whoever began it, and returns true when its trace is complete.
// False if there is none, or if it is not complete within 30 seconds.
bool StopOwnRecording();

}  // namespace vramscope::injector
