// SPDX-License-Identifier: Apache-2.0
// The runs of `vramscope try`: the unchanged command, and the command with the change applied from outside.
// Both are recorded on the real or the simulated device.
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
  std::optional<uint64_t> requested_bytes;    // the most that live blocks requested at one moment
  std::optional<uint64_t> reserved_bytes;     // the highest reserved bytes of the framework's allocator
  std::optional<uint64_t> device_used_bytes;  // the highest used bytes of the device
  bool fits = true;
  uint64_t shortfall_bytes = 0;  // missing bytes, at least; 0 = it fits, or unknown
  int wait_status = 0;           // of the command
  std::string trace;             // path, valid while the runner exists
  uint32_t stopped_after = 0;    // number of steps before an early stop; otherwise 0

  [[nodiscard]] bool FailedOtherwise() const { return wait_status != 0 && fits; }
  // True if runs are compared by requested bytes and not by allocated bytes. TensorFlow's allocator gives a
  // request up to twice its bytes, and how much differs between two runs of one program. (JAX has the same
  // allocator, but reports sizes of arrays: both peaks are equal.)
  [[nodiscard]] bool ComparedByRequests() const {
    return requested_bytes.value_or(answer.peak.allocated_bytes) != answer.peak.allocated_bytes &&
           answer.framework->allocator == model::AllocatorModel::kBfc;
  }
};

// The result of one part of the change.
struct Outcome {
  std::string lever;
  std::vector<std::string> applied;  // applied parts, with places
  std::vector<std::string> refused;  // parts that were not applied, with reasons
  // Lines of code, if the program's framework is not PyTorch. Otherwise see LinesToWrite.
  std::optional<std::vector<std::string>> lines = {};
};

struct TryPlan {
  Change change;
  DryrunPlan run;  // command and steps; with `dry` also the device
  bool dry = false;
  std::string simulated_folder;  // with `dry`
  std::string before;            // trace to compare with; empty = run the command
  std::string keep;              // folder for the traces; empty = do not keep them
};

class TryRunner {
 public:
  explicit TryRunner(const TryPlan& plan) : plan_(plan) {}

  // Runs the unchanged command, or reads the trace of --before. `log`: the command's output. The recording
  // includes operators for the prediction.
  Result<Measured> Before(std::string* log);
  // Runs with the change. `outcomes` gets one entry per lever.
  Result<Measured> After(CommandOutput output, std::vector<Outcome>* outcomes);

 private:
  Result<Measured> Run(const DryrunPlan& run, CommandOutput output, std::string* log);
  Result<Measured> RunSimulated(const DryrunPlan& plan, CommandOutput output, std::string* log);
  Result<Measured> RunHere(const DryrunPlan& plan, CommandOutput output, std::string* log) const;

  const TryPlan& plan_;
  std::optional<AssumedValues> assumed_;  // on the simulated device, once a run has needed them
  collector::ScratchFolder scratch_;      // for the trace without the change
};

// Reads the reports of vramscope_try in `folder`, for all processes together: one entry per lever.
std::vector<Outcome> ReadOutcomes(const std::string& folder, const Change& change);

}  // namespace vramscope::experiment
