// SPDX-License-Identifier: Apache-2.0
// The runs of `vramscope try`. First the unchanged command runs, then the command with the change. The change
// is applied without editing the program. Both runs are recorded on the real or the simulated device.
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

struct Measured {
  report::Answer answer;
  std::optional<uint64_t> requested_bytes;    // peak of the requested bytes of live blocks
  std::optional<uint64_t> reserved_bytes;     // peak of the reserved bytes
  std::optional<uint64_t> device_used_bytes;  // peak of the device's used bytes
  bool fits = true;
  uint64_t shortfall_bytes = 0;  // at least so many bytes are missing; 0 = fits, or unknown
  int wait_status = 0;           // status of the command, as from waitpid()
  std::string trace;             // path of the trace, valid while the runner exists
  uint32_t stopped_after = 0;    // number of steps before an early stop; otherwise 0

  [[nodiscard]] bool FailedOtherwise() const { return wait_status != 0 && fits; }
  // True if the two runs must be compared by requested bytes instead of allocated bytes. TensorFlow's
  // allocator allocates up to twice the requested bytes, and the difference varies between two runs of the
  // same program. JAX has the same allocator, but its trace contains the sizes of arrays, so that both peaks
  // are equal.
  [[nodiscard]] bool ComparedByRequests() const {
    return requested_bytes.value_or(answer.peak.allocated_bytes) != answer.peak.allocated_bytes &&
           answer.framework->allocator == model::AllocatorModel::kBfc;
  }
};

// The result of one part of the change.
struct Outcome {
  std::string lever;
  std::vector<std::string> applied;  // parts of the change that were applied, and where
  std::vector<std::string> refused;  // parts that were not applied, and why
  // The lines of code that make the change. Empty for PyTorch programs: see LinesToWrite.
  std::optional<std::vector<std::string>> lines = {};
};

struct TryPlan {
  Change change;
  DryrunPlan run;  // command and steps; if `dry` is true, also the device
  bool dry = false;
  std::string simulated_folder;  // folder of the simulated libraries, if `dry` is true
  std::string before;            // trace to compare with; empty = run the command
  std::string keep;              // folder for the traces; empty = do not keep them
};

class TryRunner {
 public:
  explicit TryRunner(const TryPlan& plan) : plan_(plan) {}

  // Runs the unchanged command, or reads the trace of --before. Sets `log` to the output of the command. The
  // recording includes operators, because the prediction needs them.
  Result<Measured> Before(std::string* log);
  // Runs the command with the change. Adds one entry per lever (change) to `outcomes`.
  Result<Measured> After(CommandOutput output, std::vector<Outcome>* outcomes);

 private:
  Result<Measured> Run(const DryrunPlan& run, CommandOutput output, std::string* log);
  Result<Measured> RunSimulated(const DryrunPlan& plan, CommandOutput output, std::string* log);
  Result<Measured> RunHere(const DryrunPlan& plan, CommandOutput output, std::string* log) const;

  const TryPlan& plan_;
  std::optional<AssumedValues> assumed_;  // only on the simulated device: set when a run needs them
  collector::ScratchFolder scratch_;      // for the trace without the change
};

// Reads the reports that vramscope_try wrote into `folder`, and merges the reports of all processes. Returns
// one entry per lever.
std::vector<Outcome> ReadOutcomes(const std::string& folder, const Change& change);

}  // namespace vramscope::experiment
