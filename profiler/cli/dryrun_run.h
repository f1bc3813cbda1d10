// SPDX-License-Identifier: Apache-2.0
// One run of a command on the simulated device, recorded and judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/cli/command_output.h"
#include "profiler/cli/device_ledger.h"
#include "profiler/cli/dryrun_gpus.h"
#include "profiler/cli/dryrun_plan.h"
#include "profiler/collector/record.h"
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

struct DryrunResult {
  collector::SimulatedDevice device;
  std::string trace;
  int wait_status = 0;       // of the command
  bool used_device = false;  // false: nothing below is known
  bool fits = true;
  uint64_t shortfall_bytes = 0;  // at least so much more would be needed
  std::string refused_beside;    // device_ledger.h, when that ended the run; else empty
  DeviceLedger ledger;           // of the fullest device
  report::Answer answer;
  uint32_t stopped_after = 0;  // steps, when the run was ended early; else 0
  std::string waits_at;  // "train.py:41" when it was ended because it waited there for a value; else empty
  bool stopped_by_calm = false;      // because the peak did not grow any more
  std::vector<DataRead> data_reads;  // sizes first, then by count
  ConvolutionWorkspaces workspaces;
  UncountedWorkspaces uncounted;
  // With --gpu all, of a run that fits: what it says about others.
  Elsewhere elsewhere;
  std::optional<allocator::History> history;  // of the only process on the fullest device

  // The command neither succeeded nor ran out of the device's memory.
  [[nodiscard]] bool FailedOtherwise() const { return wait_status != 0 && fits; }
  // It fitted because PyTorch gave back what it kept free, and asked again.
  [[nodiscard]] bool Retried() const { return fits && ledger.refusals != 0; }
  // The most that the allocator held of the device that the answer is about; not always when most was
  // allocated.
  [[nodiscard]] uint64_t PeakReserved() const;
};

// What vramscope_dryrun/stop.py and waiting.py wrote down in `folder`.
void ReadStop(const std::string& folder, DryrunResult& result);

class DryrunRunner {
 public:
  DryrunRunner(const DryrunPlan& plan, std::string simulated_folder)
      : plan_(plan), simulated_folder_(std::move(simulated_folder)) {}

  // An error: the command was not started, or its trace cannot be read. With kToFile its output is in
  // `log_text` afterwards. `order`: of the data; 0 = the program's own, others are other shuffles.
  Result<DryrunResult> Run(const std::vector<std::string>& command, const collector::SimulatedDevice& device,
                           CommandOutput output, std::string* log_text = nullptr, uint64_t order = 0);

 private:
  [[nodiscard]] Result<collector::RecordOptions> OptionsFor(const std::vector<std::string>& command,
                                                            const collector::SimulatedDevice& device,
                                                            uint64_t order, const std::string& scratch) const;

  const DryrunPlan& plan_;
  std::string simulated_folder_;
};

}  // namespace vramscope::cli
