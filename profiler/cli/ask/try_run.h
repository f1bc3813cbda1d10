// SPDX-License-Identifier: Apache-2.0
// The runs of `vramscope try`: the command as it is, and the same command with the change applied from
// outside, each recorded on the device at hand or on the simulated one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/ask/try_change.h"
#include "profiler/cli/record/dryrun_run.h"
#include "profiler/collector/output/scratch_folder.h"
#include "profiler/report/answer.h"

namespace vramscope::cli {

// One run, as far as it is compared.
struct Measured {
  report::Answer answer;
  std::optional<uint64_t> reserved_bytes;     // the most that PyTorch's allocator held
  std::optional<uint64_t> device_used_bytes;  // the most that was taken from the device
  bool fits = true;                           // no allocation failed for good
  uint64_t shortfall_bytes = 0;               // at least so much is missing; 0 = it fits, or is not known
  int wait_status = 0;                        // of the command
  std::string trace;                          // of the unchanged command, while its runner lives
  uint32_t stopped_after = 0;                 // steps, when it was ended early; else 0

  [[nodiscard]] bool FailedOtherwise() const { return wait_status != 0 && fits; }
};

// What a part of the change came to in the process that was run.
struct Outcome {
  std::string lever;
  std::vector<std::string> applied;  // what was done, and where
  std::vector<std::string> refused;  // what was not, and why
};

struct TryPlan {
  Change change;
  DryrunPlan run;  // command, steps; with `dry` the device
  bool dry = false;
  std::string simulated_folder;  // with `dry`
  std::string before;            // a trace to compare with, in the place of a run; empty = run
  std::string keep;              // a folder for the traces; empty = none
};

class TryRunner {
 public:
  explicit TryRunner(const TryPlan& plan) : plan_(plan) {}

  // The command as it is, or what the trace of --before says. Its output is in `log` afterwards.
  // It is recorded deeply, so that the change can be predicted from it.
  Result<Measured> Before(std::string* log);
  // With the change; `outcomes` has an entry for each of its levers, in their order.
  Result<Measured> After(CommandOutput output, std::vector<Outcome>* outcomes);

 private:
  Result<Measured> Run(const DryrunPlan& run, CommandOutput output, std::string* log);
  Result<Measured> RunSimulated(const DryrunPlan& plan, CommandOutput output, std::string* log);
  Result<Measured> RunHere(const DryrunPlan& plan, CommandOutput output, std::string* log) const;

  const TryPlan& plan_;
  std::optional<AssumedValues> assumed_;  // on the simulated device, once a run has shown that it needs them
  collector::ScratchFolder scratch_;      // of the trace without the change, unless it is kept
};

// What vramscope_try has left in `folder`, of all processes together: an entry for each lever of the change.
std::vector<Outcome> ReadOutcomes(const std::string& folder, const Change& change);

}  // namespace vramscope::cli
