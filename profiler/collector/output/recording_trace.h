// SPDX-License-Identifier: Apache-2.0
// The trace file of a recording: its path, its metadata, and how it is closed. For started commands and for
// running processes.
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
  std::string path;                 // empty: a black box, which has no name yet
  std::optional<TraceClaim> claim;  // of `path`
  ClockAnchor start;                // time 0 of the trace
  std::unique_ptr<TraceOutput> output;

  // Removes the file if it was created for this recording.
  void Discard() const;
};

// Creates the file that `options` names, or run.vms, run-2.vms, ... (trace_claim.h).
Result<RecordingTrace> OpenTrace(const RecordOptions& options);

// VRAMSCOPE_OPTIONS for a process recorded with these options.
std::string OptionsText(const RecordOptions& options);

// Writes the machine and the options, without the command line.
void WriteStartFacts(const RecordOptions& options, trace::TraceWriter& writer);

// Writes the final facts, closes the trace, and fills in `outcome`. `main_process` gets the role "main" and
// `wait_status` (as waitpid reports it).
void CloseTrace(pid_t main_process, std::optional<int> wait_status, Recorder& recorder,
                const RingFolderWatch& folder, TraceOutput& output, RecordOutcome& outcome);

}  // namespace vramscope::collector
