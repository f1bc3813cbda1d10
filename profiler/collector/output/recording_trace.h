// SPDX-License-Identifier: Apache-2.0
// The trace file of a recording, of a command or of a running process: where it lies, what its metadata say,
// how it is closed.
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
  std::string path;                 // empty: a black box, which is named when it is written
  std::optional<TraceClaim> claim;  // of that file
  ClockAnchor start;                // its time 0
  std::unique_ptr<TraceOutput> output;

  // Removes the file when it was made for this recording: nothing will be recorded.
  void Discard() const;
};

// Makes the file that the options name, or run.vms, run-2.vms, ... (trace_claim.h).
Result<RecordingTrace> OpenTrace(const RecordOptions& options);

// What VRAMSCOPE_OPTIONS is for a process recorded with these.
std::string OptionsText(const RecordOptions& options);

// The machine, the options; not the command line.
void WriteStartFacts(const RecordOptions& options, trace::TraceWriter& writer);

// Writes what is known at the end, closes the trace, and says in `outcome` what became of it. `main_process`
// gets the role "main" and, when it is known how it ended, that status (as waitpid gives it).
void CloseTrace(pid_t main_process, std::optional<int> wait_status, Recorder& recorder,
                const RingFolderWatch& folder, TraceOutput& output, RecordOutcome& outcome);

}  // namespace vramscope::collector
