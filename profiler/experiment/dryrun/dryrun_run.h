// SPDX-License-Identifier: Apache-2.0
// Runs a command once on the simulated GPU, records it, and decides whether the command fits on the GPU.
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

// A line of the program that reads a value from the simulated GPU. No kernel has computed the value
// (injector/simulated_cuda/runtime/host_reads.h).
struct DataRead {
  bool sizes = false;  // true if the value is the size of a result: nonzero, masked_select, unique
  std::string file;
  uint64_t line = 0;
  uint64_t count = 0;  // number of reads
};

// The workspaces of convolutions (injector/simulated_cuda/libraries/cudnn_notes.h).
struct ConvolutionWorkspaces {
  bool asked = false;      // at least one process got workspaces from the real cuDNN
  bool estimated = false;  // at least one process estimated workspaces with the model
  uint64_t largest_bytes = 0;
};

// cuDNN operations that the program used and whose workspaces are unknown. The dry run counts 0 bytes for
// them.
struct UncountedWorkspaces {
  bool attention = false;
  bool batch_norm = false;
};

// The result of a second run with other assumptions about computed values.
struct OtherBound {
  AssumedValues assumed;
  std::optional<bool> fits;  // nullopt = the command fails with these assumptions
  uint64_t allocated_bytes = 0, reserved_bytes = 0, device_used_bytes = 0;  // at the peaks
};

// How one run differs from the plain run of the command.
struct RunVariant {
  uint64_t order = 0;                    // 0 = the program's own order of the data; 1, 2, ... = shuffles
  std::optional<AssumedValues> assumed;  // nullopt = values that no kernel computes are 0
  bool keeps_trace = true;               // true = store the trace at the path in the plan
};

struct DryrunResult {
  collector::SimulatedDevice device;
  std::string trace;
  int wait_status = 0;           // of the command
  uint64_t job_processes = 0;    // number of processes of a JAX job; 0 = not a JAX job
  bool used_device = false;      // false = the command used no device; all other fields are then unknown
  bool fits = true;              // true if no device was full when the run ended
  uint64_t shortfall_bytes = 0;  // bytes that are missing, at least
  std::string refused_beside;    // DeviceLedger::refused_beside, if that call ended the run
  DeviceLedger ledger;           // ledger of the fullest device
  report::Answer answer;
  uint32_t stopped_after = 0;        // number of steps before an early stop; otherwise 0
  std::string waits_at;              // "train.py:41" if the run was stopped in a loop that waits for a value
  std::string without_xla;           // why XLA, which Keras uses on a GPU, did not compile; "" = it did
  bool stopped_by_calm = false;      // true if the run was stopped because the peak no longer grew
  std::vector<DataRead> data_reads;  // sizes first, then by count
  bool read_vectors = false;         // true if the program read several values at once; not in data_reads
  ConvolutionWorkspaces workspaces;
  UncountedWorkspaces uncounted;
  uint64_t survived_errors = 0;                   // out-of-memory errors that the program survived
  std::optional<uint64_t> allocated_after_bytes;  // peak of allocated bytes after the last such error
  std::optional<AssumedValues> assumed;           // assumptions of this run
  std::optional<OtherBound> upper;                // the upper bound, if memory depends on computed values
  // What the prediction for other GPUs needs (--gpu all). Set only if the run fits.
  Elsewhere elsewhere;
  std::optional<allocator::History> history;  // set if only one process used the fullest device

  // True if the command failed for another reason than lack of device memory.
  [[nodiscard]] bool FailedOtherwise() const { return wait_status != 0 && fits; }
  // True if the command may have failed because integers that no kernel computed were 0.
  [[nodiscard]] bool MayNeedIntegers() const {
    return FailedOtherwise() && !assumed && (!data_reads.empty() || read_vectors);
  }
  // Returns whether the command fits; nullopt if that could not be decided.
  [[nodiscard]] std::optional<bool> Verdict() const;
  // Returns why Verdict() is nullopt: "the command failed with exit code 3"; "" if there is a verdict.
  [[nodiscard]] std::string WhyNotJudged() const;
  // True if the command fits only because PyTorch freed cached memory.
  [[nodiscard]] bool Retried() const { return fits && ledger.refusals != 0 && survived_errors == 0; }
  // The highest reserved bytes on the answer's device, at any moment.
  [[nodiscard]] uint64_t PeakReserved() const;
};

// Returns the assumptions for the upper bound: integers are computed, and masks select all elements.
AssumedValues FullMasks(const DryrunPlan& plan);

// Describes how a process ended: "exit code 3", "signal 9 (Killed)".
std::string EndingText(int wait_status);

// Reads from `folder` why the run was stopped early, and sets these fields of `result`.
// vramscope_dryrun/stop.py and waiting.py have written the files.
void ReadStop(const std::string& folder, DryrunResult& result);

class DryrunRunner {
 public:
  DryrunRunner(const DryrunPlan& plan, std::string simulated_folder)
      : plan_(plan), simulated_folder_(std::move(simulated_folder)) {}

  // Returns an error if the command could not be started, or if its trace cannot be read. If `output` is
  // kToFile and `log_text` is not nullptr, `*log_text` gets the command's output.
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
