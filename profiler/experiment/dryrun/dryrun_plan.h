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

// When to run the usual variants after a dry run. A variant is a re-run with changes that is stored with the
// trace (question.h).
enum class VariantRuns {
  kNone,
  kBehind,  // in a separate process, which may outlive the command
  kNow,     // before the command ends
};

// This word in the command is replaced by the batch size: python train.py --batch-size {batch}.
inline constexpr char kBatchWord[] = "{batch}";
inline constexpr uint64_t kLargestBatch = 1 << 24;

struct BatchRange {
  uint64_t first = 1;
  uint64_t last = 1;
};

// --world-size N --rank R: runs only rank R of a job with N ranks.
struct LoneRank {
  uint64_t world = 1;
  uint64_t rank = 0;
};

// Values that a dry run assumes because no kernel computes them. Integers that follow from these values are
// computed (vramscope_dryrun/integers.py).
struct AssumedValues {
  double masks = 1;  // assumed share of true elements in comparisons of computed values
  // For mixture-of-experts models. True: all experts get the same number of tokens; false: one gets all.
  bool balanced_routing = true;
};

// The settings of one `vramscope dryrun`.
struct DryrunPlan {
  std::vector<std::string> command;
  collector::SimulatedDevice device;       // with --gpu all: the largest model
  std::vector<collector::GpuModel> table;  // with --gpu all: every model; otherwise empty
  std::string steps = "stable";            // "stable", "all" or a number
  bool keep_init = false;
  bool xla = true;  // --xla; false: Keras' jit_compile="auto" does not compile
  std::optional<LoneRank> lone_rank;
  std::optional<BatchRange> batches;
  // --shuffles: number of orders of the data, including the program's own; 0 = not given
  uint64_t shuffles = 0;
  std::optional<double> masks;           // --masks; nullopt = run with both bounds if masks matter
  std::optional<bool> balanced_routing;  // --routing; nullopt = balanced if routing matters
  std::string output;                    // path of the trace; empty = not kept
  std::string depth;                     // empty = the recorder's default
  std::string stacks;                    // empty = the recorder's default
  bool embed_source = false;
  std::string deep_steps;                          // empty = the recorder's default
  bool program = false;                            // record the program of a step, for re-runs
  VariantRuns variants = VariantRuns::kNone;       // run the program with the usual changes
  std::map<std::string, std::string> environment;  // variables that are set for the command
  std::string tried;  // the change of `vramscope try`, stored in the trace's metadata
  std::function<void(const std::string&)> say;  // prints a message at once; may be empty
};

// Returns the command with kBatchWord replaced by `batch`.
std::vector<std::string> WithBatch(const std::vector<std::string>& command, uint64_t batch);

}  // namespace vramscope::experiment
