// SPDX-License-Identifier: Apache-2.0
// Records a process that is already running, for a while, and then leaves it.
//
//   CheckTarget ── output ── session folder ── Inject ── Recorder, until enough ── pause ─┐
//                                                               close ── has it let go? ──┘
//
// The process must be in our mount and PID namespaces. The session folder is given to its user. The process
// is not our child: it has its own terminal and signals, and Ctrl-C here reaches only us.
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
  // These fields are used: output, device, depth, deep_steps, stacks, bridge, more_options, max_bytes,
  // version, metadata, and installation, which must be set. The command and its environment are ignored.
  RecordOptions recording;
  uint64_t steps = 0;                                // whole training steps to record; 0 = no limit
  std::optional<std::chrono::nanoseconds> duration;  // from the arrival of the first events
  const std::atomic<bool>* interrupted = nullptr;    // becomes true to stop recording
  // The process has a dormant recorder (injector/core/dormant.h). It is woken, without ptrace.
  bool through_door = false;
};

struct AttachOutcome {
  RecordOutcome recording;
  uint64_t steps = 0;
  uint64_t stopped_ns = 0;     // how long a thread of the process was stopped
  bool process_ended = false;  // by itself, while it was recorded
  bool let_go = true;          // false: the process was busy and removes the recorder when it next can
};

// An error means that nothing was injected into the process and no trace was written.
Result<AttachOutcome> RecordAttached(const AttachOptions& options);

}  // namespace vramscope::collector
