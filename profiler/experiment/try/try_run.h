// SPDX-License-Identifier: Apache-2.0
// The runs of `vramscope try`: the command as it is, and the same command with the change applied from
// outside. Each is recorded on the real or the simulated device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/collector/output/scratch_folder.h"
#include "profiler/experiment/dryrun/dryrun_run.h"
#include "profiler/experiment/try/try_change.h"
#include "profiler/report/answer.h"

namespace vramscope::experiment {

// The figures of one run that are compared.
struct Measured {
  report::Answer answer;
  std::optional<uint64_t> requested_bytes;    // the most that live blocks requested at one moment
  std::optional<uint64_t> reserved_bytes;     // the highest reserved bytes of the framework's allocator
  std::optional<uint64_t> device_used_bytes;  // the highest used bytes of the device
  bool fits = true;                           // false: an allocation failed for good
  uint64_t shortfall_bytes = 0;               // lower bound of the missing bytes; 0 = it fits, or unknown
  int wait_status = 0;                        // of the command
  std::string trace;                          // path, for the unchanged command; exists while the runner does
  uint32_t stopped_after = 0;                 // number of steps, if it was stopped early; otherwise 0

  [[nodiscard]] bool FailedOtherwise() const { return wait_status != 0 && fits; }
  // True if runs are compared by requested bytes and not by allocated bytes. TensorFlow's allocator gives a
  // request up to twice its bytes, and how much differs between two runs of one program.
  [[nodiscard]] bool ComparedByRequests() const {
    return requested_bytes && answer.framework->allocator == model::AllocatorModel::kBfc;
  }
};

// The result of one part of the change in the process that was run.
struct Outcome {
  std::string lever;
  std::vector<std::string> applied;  // what was applied, and where
  std::vector<std::string> refused;  // what was not applied, and why
  // What to write in code instead, if the program's framework is not PyTorch; otherwise LinesToWrite.
  std::optional<std::vector<std::string>> lines = {};
};

struct TryPlan {
  Change change;
  DryrunPlan run;  // command and steps; with `dry` also the device
  bool dry = false;
  std::string simulated_folder;  // with `dry`
  std::string before;            // a trace to compare with instead of a run; empty = run
  std::string keep;              // a folder for the traces; empty = do not keep them
};

class TryRunner {
 public:
  explicit TryRunner(const TryPlan& plan) : plan_(plan) {}

  // Runs the unchanged command, or reads the trace of --before. Afterwards the command's output is in `log`.
  // The run is recorded deeply, so that the change can be predicted from it.
  Result<Measured> Before(std::string* log);
  // Runs with the change; `outcomes` gets one entry per lever, in order.
  Result<Measured> After(CommandOutput output, std::vector<Outcome>* outcomes);

 private:
  Result<Measured> Run(const DryrunPlan& run, CommandOutput output, std::string* log);
  Result<Measured> RunSimulated(const DryrunPlan& plan, CommandOutput output, std::string* log);
  Result<Measured> RunHere(const DryrunPlan& plan, CommandOutput output, std::string* log) const;

  const TryPlan& plan_;
  std::optional<AssumedValues> assumed_;  // on the simulated device, once a run has shown that it needs them
  collector::ScratchFolder scratch_;      // holds the trace without the change, unless it is kept
};

// Reads the notes that vramscope_try left in `folder`, for all processes together: one entry per lever.
std::vector<Outcome> ReadOutcomes(const std::string& folder, const Change& change);

}  // namespace vramscope::experiment
