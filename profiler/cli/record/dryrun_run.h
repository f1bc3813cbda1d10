// SPDX-License-Identifier: Apache-2.0
// One run of a command on the simulated device, recorded and judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/cli/frame/command_output.h"
#include "profiler/cli/record/device_ledger.h"
#include "profiler/cli/record/dryrun_gpus.h"
#include "profiler/cli/record/dryrun_plan.h"
#include "profiler/collector/launch/record.h"
#include "profiler/report/answer.h"

namespace vramscope::cli {

// Places where the program reads what a kernel would have computed
// (injector/simulated_cuda/runtime/host_reads.h).
struct DataRead {
  bool sizes = false;  // how many elements a result has: nonzero, masked_select, unique
  std::string file;
  uint64_t line = 0;
  uint64_t count = 0;
};

// The workspaces of convolutions (injector/simulated_cuda/libraries/cudnn_notes.h).
struct ConvolutionWorkspaces {
  bool asked = false;      // cuDNN, by one process at least
  bool estimated = false;  // by one process at least
  uint64_t largest_bytes = 0;
};

// Operations of cuDNN that ran and whose workspaces nobody knows; they count as nothing.
struct UncountedWorkspaces {
  bool attention = false;
  bool batch_norm = false;
};

// The same command under other assumptions about its data.
struct OtherBound {
  AssumedValues assumed;
  std::optional<bool> fits;  // nullopt: the command fails under them
  uint64_t allocated_bytes = 0, reserved_bytes = 0, device_used_bytes = 0;  // at the peaks
};

// What one run of a command is.
struct RunVariant {
  uint64_t order = 0;                    // of the data; 0 = the program's own, others are other shuffles
  std::optional<AssumedValues> assumed;  // nullopt: what no kernel computes is 0
  bool keeps_trace = true;               // where the plan says
};

struct DryrunResult {
  collector::SimulatedDevice device;
  std::string trace;
  int wait_status = 0;           // of the command
  bool used_device = false;      // false: nothing below is known
  bool fits = true;              // no device was full when the run ended, as far as it came
  uint64_t shortfall_bytes = 0;  // at least so much more would be needed
  std::string refused_beside;    // device_ledger.h, when that ended the run; else empty
  DeviceLedger ledger;           // of the fullest device
  report::Answer answer;
  uint32_t stopped_after = 0;  // steps, when the run was ended early; else 0
  std::string waits_at;  // "train.py:41" when it was ended because it waited there for a value; else empty
  bool stopped_by_calm = false;      // because the peak did not grow any more
  std::vector<DataRead> data_reads;  // sizes first, then by count
  bool read_vectors = false;         // that no kernel computed: more values at once than data_reads has
  ConvolutionWorkspaces workspaces;
  UncountedWorkspaces uncounted;
  uint64_t survived_errors = 0;  // of lack of memory, after which the program went on and succeeded
  std::optional<uint64_t> allocated_after_bytes;  // the most in steps that began after the last of them
  std::optional<AssumedValues> assumed;           // of this run
  std::optional<OtherBound> upper;                // where memory depends on data
  // With --gpu all, of a run that fits: what it says about others.
  Elsewhere elsewhere;
  std::optional<allocator::History> history;  // of the only process on the fullest device

  // The command neither succeeded nor ran out of the device's memory.
  [[nodiscard]] bool FailedOtherwise() const { return wait_status != 0 && fits; }
  // It failed, perhaps because counts that a kernel would have computed were zeros.
  [[nodiscard]] bool MayNeedIntegers() const {
    return FailedOtherwise() && !assumed && (!data_reads.empty() || read_vectors);
  }
  // Whether it fits; nullopt: the run does not tell, for WhyNotJudged.
  [[nodiscard]] std::optional<bool> Verdict() const;
  // "the command failed with exit code 3"; "" = it is judged.
  [[nodiscard]] std::string WhyNotJudged() const;
  // It fitted because PyTorch gave back what it kept free, and asked again.
  [[nodiscard]] bool Retried() const { return fits && ledger.refusals != 0 && survived_errors == 0; }
  // The most that the allocator held of the device that the answer is about; not always when most was
  // allocated.
  [[nodiscard]] uint64_t PeakReserved() const;
};

// With integers computed, and masks that select everything.
AssumedValues FullMasks(const DryrunPlan& plan);

// "exit code 3", "signal 9 (Killed)": how a command ended.
std::string EndingText(int wait_status);

// What vramscope_dryrun/stop.py and waiting.py wrote down in `folder`.
void ReadStop(const std::string& folder, DryrunResult& result);

class DryrunRunner {
 public:
  DryrunRunner(const DryrunPlan& plan, std::string simulated_folder)
      : plan_(plan), simulated_folder_(std::move(simulated_folder)) {}

  // An error: the command was not started, or its trace cannot be read. With kToFile its output is in
  // `log_text` afterwards.
  Result<DryrunResult> Run(const std::vector<std::string>& command, const collector::SimulatedDevice& device,
                           CommandOutput output, std::string* log_text = nullptr,
                           const RunVariant& variant = {});

 private:
  [[nodiscard]] Result<collector::RecordOptions> OptionsFor(const std::vector<std::string>& command,
                                                            const collector::SimulatedDevice& device,
                                                            const RunVariant& variant,
                                                            const std::string& scratch) const;

  const DryrunPlan& plan_;
  std::string simulated_folder_;
};

}  // namespace vramscope::cli
