// SPDX-License-Identifier: Apache-2.0
// One run of a command on the simulated device, recorded and judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/collector/launch/record.h"
#include "profiler/experiment/dryrun/command_output.h"
#include "profiler/experiment/dryrun/device_ledger.h"
#include "profiler/experiment/dryrun/dryrun_gpus.h"
#include "profiler/experiment/dryrun/dryrun_plan.h"
#include "profiler/report/answer.h"

namespace vramscope::experiment {

// A place where the program reads a value that no kernel computed
// (injector/simulated_cuda/runtime/host_reads.h).
struct DataRead {
  bool sizes = false;  // number of elements of a result: nonzero, masked_select, unique
  std::string file;
  uint64_t line = 0;
  uint64_t count = 0;
};

// The workspaces of convolutions (injector/simulated_cuda/libraries/cudnn_notes.h).
struct ConvolutionWorkspaces {
  bool asked = false;      // a process asked cuDNN
  bool estimated = false;  // a process estimated them
  uint64_t largest_bytes = 0;
};

// cuDNN operations with unknown workspaces, counted as 0 bytes.
struct UncountedWorkspaces {
  bool attention = false;
  bool batch_norm = false;
};

// The result of the command with other assumptions about its data.
struct OtherBound {
  AssumedValues assumed;
  std::optional<bool> fits;  // nullopt: the command fails with them
  uint64_t allocated_bytes = 0, reserved_bytes = 0, device_used_bytes = 0;  // at the peaks
};

struct RunVariant {
  uint64_t order = 0;                    // 0 = the program's own order of the data, above = shuffles
  std::optional<AssumedValues> assumed;  // nullopt: values that no kernel computes are 0
  bool keeps_trace = true;               // at the path in the plan
};

struct DryrunResult {
  collector::SimulatedDevice device;
  std::string trace;
  int wait_status = 0;           // of the command
  uint64_t job_processes = 0;    // size of the JAX job; otherwise 0
  bool used_device = false;      // false: all other fields are unknown
  bool fits = true;              // no device was full when the run ended
  uint64_t shortfall_bytes = 0;  // missing bytes, at least
  std::string refused_beside;    // see device_ledger.h, if such a call ended the run
  DeviceLedger ledger;           // of the fullest device
  report::Answer answer;
  uint32_t stopped_after = 0;        // number of steps before an early stop; otherwise 0
  std::string waits_at;              // "train.py:41" if it was stopped because it waited for a value
  std::string without_xla;           // why XLA did not compile, although Keras would on a GPU; "" = it did
  bool stopped_by_calm = false;      // stopped because the peak no longer grew
  std::vector<DataRead> data_reads;  // sizes first, then by count
  bool read_vectors = false;         // several values were read at once, at places that data_reads lacks
  ConvolutionWorkspaces workspaces;
  UncountedWorkspaces uncounted;
  uint64_t survived_errors = 0;                   // out-of-memory errors that the program survived
  std::optional<uint64_t> allocated_after_bytes;  // highest allocation after the last such error
  std::optional<AssumedValues> assumed;
  std::optional<OtherBound> upper;  // if memory depends on data
  // With --gpu all, if the run fits: the facts for other GPUs.
  Elsewhere elsewhere;
  std::optional<allocator::History> history;  // of the only process on the fullest device

  // True if the command failed, but not for lack of device memory.
  [[nodiscard]] bool FailedOtherwise() const { return wait_status != 0 && fits; }
  // True if the command may have failed because uncomputed integers were 0.
  [[nodiscard]] bool MayNeedIntegers() const {
    return FailedOtherwise() && !assumed && (!data_reads.empty() || read_vectors);
  }
  // nullopt: undecided, see WhyNotJudged.
  [[nodiscard]] std::optional<bool> Verdict() const;
  // "the command failed with exit code 3"; "" = it was judged.
  [[nodiscard]] std::string WhyNotJudged() const;
  // True if it fitted only because PyTorch freed cached memory.
  [[nodiscard]] bool Retried() const { return fits && ledger.refusals != 0 && survived_errors == 0; }
  // The highest reserved bytes on the answer's device, at any moment.
  [[nodiscard]] uint64_t PeakReserved() const;
};

// The upper bound: integers are computed, and masks select everything.
AssumedValues FullMasks(const DryrunPlan& plan);

// "exit code 3", "signal 9 (Killed)".
std::string EndingText(int wait_status);

// Reads the files of vramscope_dryrun/stop.py and waiting.py in `folder`.
void ReadStop(const std::string& folder, DryrunResult& result);

class DryrunRunner {
 public:
  DryrunRunner(const DryrunPlan& plan, std::string simulated_folder)
      : plan_(plan), simulated_folder_(std::move(simulated_folder)) {}

  // Fails if the command could not be started, or if its trace cannot be read. `log_text`: gets the command's
  // output, if `output` is kToFile.
  Result<DryrunResult> Run(const std::vector<std::string>& command, const collector::SimulatedDevice& device,
                           CommandOutput output, std::string* log_text = nullptr,
                           const RunVariant& variant = {});

 private:
  [[nodiscard]] Result<collector::RecordOptions> OptionsFor(const std::vector<std::string>& command,
                                                            const collector::SimulatedDevice& device,
                                                            const RunVariant& variant,
                                                            const std::optional<LoneRank>& lone_rank,
                                                            const std::string& scratch) const;

  const DryrunPlan& plan_;
  std::string simulated_folder_;
};

}  // namespace vramscope::experiment
