// SPDX-License-Identifier: Apache-2.0
// Records a process that is already running. The process continues when the recording has ended.
//
//   CheckTarget ── open the trace ── session folder ── Inject ── record until the limit ─┐
//                          close the trace ── wait until the process unmaps the rings ───┘
//
// The process must be in the mount and PID namespaces of vramscope. The process is not a child of vramscope.
// Therefore Ctrl-C reaches only vramscope.
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
  // RecordAttached() uses these members: output, device, depth, deep_steps, stacks, bridge, more_options,
  // max_bytes, version, metadata, and installation. `installation` must be set.
  RecordOptions recording;
  uint64_t steps = 0;                                // training steps to record; 0 = no limit
  std::optional<std::chrono::nanoseconds> duration;  // time limit, from the first events; empty = no limit
  const std::atomic<bool>* interrupted = nullptr;    // set to true to stop recording
  // True if the process has a dormant recorder (injector/core/dormant.h). Then the recorder starts without
  // ptrace.
  bool through_door = false;
};

struct AttachOutcome {
  RecordOutcome recording;
  uint64_t steps = 0;          // recorded training steps
  uint64_t stopped_ns = 0;     // time for which a thread of the process was stopped
  bool process_ended = false;  // true: the process ended during the recording
  bool let_go = true;          // false: the process was busy and unmaps the rings later
};

// Records the process. Returns an error if nothing was injected; then no trace is written.
Result<AttachOutcome> RecordAttached(const AttachOptions& options);

}  // namespace vramscope::collector
