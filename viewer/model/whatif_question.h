// SPDX-License-Identifier: Apache-2.0
// What is set in the what-if panel, and the levers that it asks for by that: a re-run that was kept, and
// transformations, which are answered while a slider moves.
//
// Why apart from the panel: switches and sliders say what the program would be, a lever takes a text as on
// the command line; the two must agree however the switches are combined.
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

// As it was recorded where nothing else is said.
struct WhatIfQuestion {
  std::string rerun;  // the key of a variant (experiment/question.h)
  std::string shard;  // "ddp", "zero1", "zero2", "zero3", "fsdp"; "" = as recorded, also below
  int64_t ranks = 8;  // of these
  std::set<std::string> checkpoints;  // paths of modules
  std::string optimizer;              // "sgd", "momentum", "adam", "adamw"
  std::string optimizer_way = "foreach";
  bool offload_optimizer = false;
  bool keep_gradients = false;
  std::optional<std::string> settings;  // of the allocator
  std::string empty_cache;              // "before-backward", "before-optimizer", "after-step"
  friend bool operator==(const WhatIfQuestion&, const WhatIfQuestion&) = default;
};

// The re-run's changes, then the others in the order of whatif::LeverTable(). `blocks`: the paths that
// "--checkpoint all" stands for.
[[nodiscard]] std::vector<whatif::Asked> AskedBy(const WhatIfQuestion& question,
                                                 const std::set<std::string>& blocks);
// The other way round, for changes that a search may choose: what is set so that they are asked for.
[[nodiscard]] WhatIfQuestion QuestionOf(const std::vector<whatif::Asked>& asked, const whatif::Step& step);
// Of a value of the lever for checkpoints; empty where it stands for no module.
[[nodiscard]] std::set<std::string> PathsOf(const whatif::Step& step, std::string_view value);
// The same on the command line: "vramscope whatif run.vms --batch 8". `gpu`: of a re-run; "" = the
// recording's own.
[[nodiscard]] std::string CommandFor(const std::string& path, const std::vector<whatif::Asked>& asked,
                                     const std::string& gpu = "");

// What can be checkpointed in a step.
struct ModuleChoices {
  std::vector<whatif::ModuleNode> tree;
  std::set<std::string> blocks;       // paths that "all" stands for; may be none
  std::set<std::string> every_other;  // "every:2"
};
[[nodiscard]] ModuleChoices ModulesOf(const whatif::Step& step);

// How a node of the tree is drawn: of a name that is no module of its own, by those below it.
enum class Tick : uint8_t { kOff, kOn, kSome };
[[nodiscard]] Tick TickOf(const std::vector<whatif::ModuleNode>& tree, size_t node,
                          const std::set<std::string>& ticked);
// Ticks a module, or those next below a name, or takes the ticks of it and of all below it away.
void SetTick(const std::vector<whatif::ModuleNode>& tree, size_t node, bool on,
             std::set<std::string>& ticked);
// Whether a module around it is ticked, so that it is computed again with that.
[[nodiscard]] bool TickedAbove(const std::vector<whatif::ModuleNode>& tree, size_t node,
                               const std::set<std::string>& ticked);

}  // namespace vramscope::viewer
