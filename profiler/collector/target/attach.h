// SPDX-License-Identifier: Apache-2.0
// Records a process that is already running, for a while, and then leaves it.
//
//   CheckTarget ── output ── session folder ── Inject ── Recorder, until enough ── pause ─┐
//                                                      close ── has the process let go? ──┘
//
// The process must be in our mount and PID namespaces. The process is not our child: Ctrl-C reaches only us.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "profiler/collector/launch/record.h"
#include "trace_format/result.h"

namespace vramscope::collector {

struct AttachOptions {
  pid_t pid = 0;
  // Used: output, device, depth, deep_steps, stacks, bridge, more_options, max_bytes, version, metadata, and
  // installation, which must be set.
  RecordOptions recording;
  uint64_t steps = 0;                                // training steps to record; 0 = no limit
  std::optional<std::chrono::nanoseconds> duration;  // from the first events on
  const std::atomic<bool>* interrupted = nullptr;    // becomes true to stop recording
  // The process has a dormant recorder (injector/core/dormant.h). No ptrace is used.
  bool through_door = false;
};

struct AttachOutcome {
  RecordOutcome recording;
  uint64_t steps = 0;
  uint64_t stopped_ns = 0;     // time for which a thread of the process was stopped
  bool process_ended = false;  // during the recording
  bool let_go = true;          // false: the process was busy and removes the recorder later
};

// An error means that nothing was injected and no trace was written.
Result<AttachOutcome> RecordAttached(const AttachOptions& options);

}  // namespace vramscope::collector
