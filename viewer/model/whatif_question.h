// SPDX-License-Identifier: Apache-2.0
// The settings of the what-if panel, and the levers that they request: a kept re-run, and transformations.
//
// Switches and sliders describe the changed program; a lever takes a text as on the command line. Both must
// agree for every combination.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/step/segments.h"

namespace vramscope::viewer {

// Unset fields mean: as recorded.
struct WhatIfQuestion {
  std::string rerun;  // the key of a variant (experiment/question.h)
  std::string shard;  // "ddp", "zero1", "zero2", "zero3", "fsdp"; "" = as recorded, also below
  int64_t ranks = 8;  // number of ranks, for `shard`
  std::set<std::string> checkpoints;  // paths of modules
  std::string optimizer;              // "sgd", "momentum", "adam", "adamw"
  std::string optimizer_way = "foreach";
  bool offload_optimizer = false;
  bool keep_gradients = false;
  std::optional<std::string> settings;  // of the allocator
  std::string empty_cache;              // "before-backward", "before-optimizer", "after-step"
  friend bool operator==(const WhatIfQuestion&, const WhatIfQuestion&) = default;
};

// The re-run's changes, then others in the order of whatif::LeverTable(). `blocks`: the paths of
// "--checkpoint all".
[[nodiscard]] std::vector<whatif::Asked> AskedBy(const WhatIfQuestion& question,
                                                 const std::set<std::string>& blocks);
// The inverse of AskedBy, for changes that a search may choose.
[[nodiscard]] WhatIfQuestion QuestionOf(const std::vector<whatif::Asked>& asked, const whatif::Step& step);
// The paths for a value of the checkpoint lever; empty if none match.
[[nodiscard]] std::set<std::string> PathsOf(const whatif::Step& step, std::string_view value);
// The question on the command line: "vramscope whatif run.vms --batch 8". `gpu`: of a re-run; "" = the
// recorded one.
[[nodiscard]] std::string CommandFor(const std::string& path, const std::vector<whatif::Asked>& asked,
                                     const std::string& gpu = "");

// The modules of a step that can be checkpointed.
struct ModuleChoices {
  std::vector<whatif::ModuleNode> tree;
  std::set<std::string> blocks;       // paths that "all" means; may be empty
  std::set<std::string> every_other;  // "every:2"
};
[[nodiscard]] ModuleChoices ModulesOf(const whatif::Step& step);

// How a node is drawn. A node that is not a module shows the ticks of the nodes below it.
enum class Tick : uint8_t { kOff, kOn, kSome };
[[nodiscard]] Tick TickOf(const std::vector<whatif::ModuleNode>& tree, size_t node,
                          const std::set<std::string>& ticked);
// `on`: ticks the node or, if it is no module, the nearest modules below. Otherwise unticks the node and all
// below.
void SetTick(const std::vector<whatif::ModuleNode>& tree, size_t node, bool on,
             std::set<std::string>& ticked);
// True if a module around the node is ticked: both are recomputed together.
[[nodiscard]] bool TickedAbove(const std::vector<whatif::ModuleNode>& tree, size_t node,
                               const std::set<std::string>& ticked);

}  // namespace vramscope::viewer
