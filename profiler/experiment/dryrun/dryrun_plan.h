// SPDX-License-Identifier: Apache-2.0
// The settings of a dry run. cli/record/dryrun_options.h reads them from a command line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/collector/launch/simulated_device.h"

namespace vramscope::experiment {

// When the usual variants (question.h) run after a dry run.
enum class VariantRuns {
  kNone,
  kBehind,  // in a separate process, which may outlive the command
  kNow,     // before the command ends
};

// Replaced by the batch size: python train.py --batch-size {batch}.
inline constexpr char kBatchWord[] = "{batch}";
inline constexpr uint64_t kLargestBatch = 1 << 24;

struct BatchRange {
  uint64_t first = 1;
  uint64_t last = 1;
};

struct LoneRank {
  uint64_t world = 1;
  uint64_t rank = 0;
};

// Values that a run assumes because no kernel computes them. Integers that follow from these values are
// computed (vramscope_dryrun/integers.py).
struct AssumedValues {
  double masks = 1;              // share of true elements in comparisons of computed values
  bool balanced_routing = true;  // all experts get equally many tokens; false: one gets all
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
  uint64_t shuffles = 0;                 // number of data orders, the program's own first; 0 = not requested
  std::optional<double> masks;           // --masks; nullopt = both bounds, if relevant
  std::optional<bool> balanced_routing;  // --routing; nullopt = balanced, if relevant
  std::string output;                    // path of the trace; empty = not kept
  std::string depth;                     // empty = the recorder's default
  std::string stacks;                    // empty = the recorder's default
  bool embed_source = false;
  std::string deep_steps;                          // empty = the recorder's default
  bool program = false;                            // record a step as a program
  VariantRuns variants = VariantRuns::kNone;       // run the program with the usual changes
  std::map<std::string, std::string> environment;  // for the command
  std::string tried;                               // changes of `try`, for the metadata
  std::function<void(const std::string&)> say;     // shows a message at once; may be empty
};

// The command with kBatchWord replaced.
std::vector<std::string> WithBatch(const std::vector<std::string>& command, uint64_t batch);

}  // namespace vramscope::experiment
