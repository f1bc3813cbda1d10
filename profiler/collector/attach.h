// SPDX-License-Identifier: Apache-2.0
// Records a process that is running already, for a while, and lets it go again.
//
//   CheckTarget ── output ── session folder ── Inject ── Recorder, until enough ── pause ─┐
//    (all of the process's user, in its own mount namespace)    close ── has it let go? ──┘
//
// The process is not our child: it has its own terminal and signals, and Ctrl-C here is for us alone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "profiler/collector/record.h"
#include "trace_format/result.h"

namespace vramscope::collector {

struct AttachOptions {
  pid_t pid = 0;
  // Of these: output, device, depth, deep_steps, stacks, bridge, more_options, max_bytes, version, metadata
  // and installation, which must be there. Not the command and its environment.
  RecordOptions recording;
  uint64_t steps = 0;                                // whole training steps to record; 0 = no limit
  std::optional<std::chrono::nanoseconds> duration;  // from when the first events come
  const std::atomic<bool>* interrupted = nullptr;    // set: enough
  bool through_door =
      false;  // a recorder sleeps there (injector/core/dormant.h): it is asked, ptrace is not used
};

struct AttachOutcome {
  RecordOutcome recording;
  uint64_t steps = 0;
  uint64_t stopped_ns = 0;     // how long a thread of the process stood still
  bool process_ended = false;  // by itself, while it was recorded
  bool let_go = true;          // false: it was busy, and takes the recorder out when it next can
};

// An error means that the process was not entered, and no trace was made.
Result<AttachOutcome> RecordAttached(const AttachOptions& options);

}  // namespace vramscope::collector
