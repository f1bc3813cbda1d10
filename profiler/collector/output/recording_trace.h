// SPDX-License-Identifier: Apache-2.0
// The trace file of a recording: its path, its metadata, and how the file is closed. Used for commands that
// vramscope starts, and for processes that are already running.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "profiler/collector/launch/record.h"
#include "profiler/collector/launch/recorder.h"
#include "profiler/collector/output/trace_claim.h"
#include "trace_format/result.h"

namespace vramscope::collector {

struct RecordingTrace {
  std::string path;                 // empty for a black box, which has no file name yet
  std::optional<TraceClaim> claim;  // reservation of the file name `path`
  ClockAnchor start;                // the time at which the trace begins
  std::unique_ptr<TraceOutput> output;

  // Removes the file if it was created for this recording.
  void Discard() const;
};

// Creates the file that `options` names. Without a name, creates the first of run.vms, run-2.vms, ... that
// does not exist (trace_claim.h).
Result<RecordingTrace> OpenTrace(const RecordOptions& options);

// Returns the value of VRAMSCOPE_OPTIONS for a process that is recorded with these options.
std::string OptionsText(const RecordOptions& options);

// Writes facts about the machine and the options into the trace, but not the command line.
void WriteStartFacts(const RecordOptions& options, trace::TraceWriter& writer);

// Writes the final facts, closes the trace, and fills in `outcome`. In the trace, `main_process` gets the
// role "main" and the exit status `wait_status` (as waitpid reports it).
void CloseTrace(pid_t main_process, std::optional<int> wait_status, Recorder& recorder,
                const RingFolderWatch& folder, TraceOutput& output, RecordOutcome& outcome);

}  // namespace vramscope::collector
