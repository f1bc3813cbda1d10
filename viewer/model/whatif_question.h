// SPDX-License-Identifier: Apache-2.0
// The settings of the what-if panel, and their conversion to changes (levers): a stored re-run, and
// transformations.
//
// The panel's switches and sliders describe the changed program, but a lever takes a text as on the command
// line. The conversion must be correct for every combination of settings.
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

// The settings of the panel. A field without a value means "as recorded".
struct WhatIfQuestion {
  std::string rerun;                  // the key of a variant (experiment/question.h)
  std::string shard;                  // "ddp", "zero1", "zero2", "zero3", "fsdp"
  int64_t ranks = 8;                  // number of ranks, for `shard`
  std::set<std::string> checkpoints;  // module paths
  std::string optimizer;              // "sgd", "momentum", "adam", "adamw"
  std::string optimizer_way = "foreach";
  bool offload_optimizer = false;
  bool keep_gradients = false;
  std::optional<std::string> settings;  // allocator settings
  std::string empty_cache;              // "before-backward", "before-optimizer", "after-step"
  friend bool operator==(const WhatIfQuestion&, const WhatIfQuestion&) = default;
};

// Returns the changes: first those of the re-run, then the others in the order of whatif::LeverTable().
// `blocks` are the module paths that "--checkpoint all" selects.
[[nodiscard]] std::vector<whatif::Asked> AskedBy(const WhatIfQuestion& question,
                                                 const std::set<std::string>& blocks);
// The inverse of AskedBy. Works for all changes that a search may choose.
[[nodiscard]] WhatIfQuestion QuestionOf(const std::vector<whatif::Asked>& asked, const whatif::Step& step);
// Returns the module paths that a value of the checkpoint lever selects; empty if no module matches.
[[nodiscard]] std::set<std::string> PathsOf(const whatif::Step& step, std::string_view value);
// Returns the command line for these changes: "vramscope whatif run.vms --batch 8". `gpu` is the GPU of a
// re-run; "" = the recorded GPU.
[[nodiscard]] std::string CommandFor(const std::string& path, const std::vector<whatif::Asked>& asked,
                                     const std::string& gpu = "");

// The modules of a step that can be checkpointed.
struct ModuleChoices {
  std::vector<whatif::ModuleNode> tree;
  std::set<std::string> blocks;       // module paths that "all" selects; may be empty
  std::set<std::string> every_other;  // module paths that "every:2" selects
};
[[nodiscard]] ModuleChoices ModulesOf(const whatif::Step& step);

// The state of a node's check box. A node that is not a module itself shows the state of the nodes below it.
enum class Tick : uint8_t { kOff, kOn, kSome };
[[nodiscard]] Tick TickOf(const std::vector<whatif::ModuleNode>& tree, size_t node,
                          const std::set<std::string>& ticked);
// Selects or deselects a node. If `on`, selects the node, or the nearest modules below it if the node is not
// a module itself. Otherwise deselects the node and all nodes below it.
void SetTick(const std::vector<whatif::ModuleNode>& tree, size_t node, bool on,
             std::set<std::string>& ticked);
// True if a module that contains the node is selected. The node is then recomputed together with that module.
[[nodiscard]] bool TickedAbove(const std::vector<whatif::ModuleNode>& tree, size_t node,
                               const std::set<std::string>& ticked);

}  // namespace vramscope::viewer
