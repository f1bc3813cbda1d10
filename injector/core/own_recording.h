// SPDX-License-Identifier: Apache-2.0
// Recordings that a dormant process begins and ends itself: the same as `vramscope start PID` and `vramscope
// stop PID` from outside.
//
// Why a process of its own: the recording outlives the program if that is killed, and the trace is written by
// the code that writes every other trace.
//
//   program ── fork ──► child ── fork ──► vramscope start PID -o FILE ──► door (dormant.h) ──► recording
//                         └ ends at once: the program gets no child that its own wait() could return
#pragma once

namespace vramscope::injector {

// Returns when the recording has begun (true), or cannot (false): no file, not dormant, no vramscope
// command next to this library, or the command failed. True at once if this process is being recorded. Not
// from signal handlers.
bool StartOwnRecording(const char* file);

// Ends the recording of a dormant process, whoever began it, and returns when its trace is complete: true.
// False if there is none, or if it is not complete within 30 seconds.
bool StopOwnRecording();

}  // namespace vramscope::injector
