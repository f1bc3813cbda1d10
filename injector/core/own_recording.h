// SPDX-License-Identifier: Apache-2.0
// Lets a dormant process (dormant.h) start and stop its own recording, as the commands `vramscope start PID`
// and `vramscope stop PID` do from outside.
//
// A separate process writes the trace, so the trace is complete even if the program is killed.
//
//   program ── fork ──► child ── fork ──► vramscope start PID -o FILE ──► door (dormant.h) ──► recording
//                         └ exits at once, so the program's own wait() does not see an unknown child
#pragma once

namespace vramscope::injector {

// Starts a recording into `file`. Returns true if the recording has begun, or if this process is already
// being recorded. Returns false if `file` is nullptr or empty, or if the process is not dormant. Also returns
// false if no vramscope command lies next to this library, or if the command failed. Do not call this from a
// signal handler.
bool StartOwnRecording(const char* file);

// Ends the recording, even if another process started it. Returns true when the trace is complete. Returns
// false if there is no recording, or if the trace is still incomplete after 30 seconds.
bool StopOwnRecording();

}  // namespace vramscope::injector
