// SPDX-License-Identifier: Apache-2.0
// What `vramscope dryrun` was asked: which GPUs, how long, which rank, which batch sizes, how many orders of
// the data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/record/usual_variants.h"
#include "profiler/collector/launch/simulated_device.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// The word in the command that stands for the batch size: python train.py --batch-size {batch}.
inline constexpr char kBatchWord[] = "{batch}";
inline constexpr uint64_t kLargestBatch = 1 << 24;  // that can be asked for

struct BatchRange {
  uint64_t first = 1;
  uint64_t last = 1;
};

struct LoneRank {
  uint64_t world = 1;
  uint64_t rank = 0;
};

// What a run takes for values that no kernel computes; integers that follow from them are computed
// (vramscope_dryrun/integers.py).
struct AssumedValues {
  double masks = 1;              // the share of elements for which a comparison of computed values holds
  bool balanced_routing = true;  // experts get as many tokens each; false: one gets all
};

struct DryrunPlan {
  std::vector<std::string> command;
  collector::SimulatedDevice device;       // with --gpu all the largest model
  std::vector<collector::GpuModel> table;  // --gpu all: every model; else empty
  std::string steps = "stable";            // "stable", "all" or a number
  bool keep_init = false;
  std::optional<LoneRank> lone_rank;
  std::optional<BatchRange> batches;
  uint64_t shuffles = 0;        // orders of the data to try, the program's own first; 0 = not asked for
  std::optional<double> masks;  // --masks; nullopt = both bounds, where it matters
  std::optional<bool> balanced_routing;  // --routing; nullopt = balanced, where it matters
  std::string output;                    // of the trace; empty = not kept
  std::string depth;                     // empty = the recorder's own choice
  std::string stacks;                    // the same
  bool embed_source = false;
  std::string deep_steps;                          // the same
  bool program = false;                            // a step is noted, to be run again
  UsualVariants variants = UsualVariants::kNone;   // and is run again with the usual changes
  std::map<std::string, std::string> environment;  // more variables for the command
  std::string tried;                               // what `try` changed, for the trace's metadata
};

// `models` are those of gpus.def and of --gpu-file. An error is bad usage.
Result<DryrunPlan> PlanFrom(const Arguments& arguments, const std::vector<collector::GpuModel>& models);

// The command with kBatchWord replaced.
std::vector<std::string> WithBatch(const std::vector<std::string>& command, uint64_t batch);

}  // namespace vramscope::cli
