// SPDX-License-Identifier: Apache-2.0
// The settings of a dry run: command, GPUs, number of steps, rank, batch sizes, and how many orders of the
// data are tried. cli/record/dryrun_options.h reads them from a command line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/collector/launch/simulated_device.h"

namespace vramscope::experiment {

// Who runs the usual variants (question.h) after a dry run, and when.
enum class VariantRuns {
  kNone,
  kBehind,  // a separate process, which continues after the command has ended
  kNow,     // the command, before it ends
};

// The word in the command that is replaced by the batch size: python train.py --batch-size {batch}.
inline constexpr char kBatchWord[] = "{batch}";
inline constexpr uint64_t kLargestBatch = 1 << 24;  // the largest size that can be requested

struct BatchRange {
  uint64_t first = 1;
  uint64_t last = 1;
};

struct LoneRank {
  uint64_t world = 1;
  uint64_t rank = 0;
};

// Values that a run assumes because no kernel computes them. Integers that follow from them are computed
// (vramscope_dryrun/integers.py).
struct AssumedValues {
  double masks = 1;              // the share of true elements in comparisons of computed values
  bool balanced_routing = true;  // all experts get the same number of tokens; false: one gets all
};

struct DryrunPlan {
  std::vector<std::string> command;
  collector::SimulatedDevice device;       // with --gpu all, the largest model
  std::vector<collector::GpuModel> table;  // --gpu all: every model; otherwise empty
  std::string steps = "stable";            // "stable", "all" or a number
  bool keep_init = false;
  bool xla = true;  // --xla; false: Keras' jit_compile="auto" does not compile
  std::optional<LoneRank> lone_rank;
  std::optional<BatchRange> batches;
  uint64_t shuffles = 0;        // number of data orders to try, the program's own first; 0 = not requested
  std::optional<double> masks;  // --masks; nullopt = both bounds, if it matters
  std::optional<bool> balanced_routing;  // --routing; nullopt = balanced, if it matters
  std::string output;                    // path of the trace; empty = not kept
  std::string depth;                     // empty = the recorder's default
  std::string stacks;                    // empty = the recorder's default
  bool embed_source = false;
  std::string deep_steps;                          // empty = the recorder's default
  bool program = false;                            // record a step so that it can be run again
  VariantRuns variants = VariantRuns::kNone;       // run that step again with the usual changes
  std::map<std::string, std::string> environment;  // additional variables for the command
  std::string tried;                               // the changes of `try`, for the trace's metadata
  std::function<void(const std::string&)> say;     // shows a message to the user now; may be empty
};

// The command with kBatchWord replaced.
std::vector<std::string> WithBatch(const std::vector<std::string>& command, uint64_t batch);

}  // namespace vramscope::experiment
