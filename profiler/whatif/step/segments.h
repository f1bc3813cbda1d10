// SPDX-License-Identifier: Apache-2.0
// Selects module calls of a step by "all", "every:2" or "layers.*,head" (values of --checkpoint), and lists
// possible selections.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Calls in order, none inside another. "all": what the model's own switch checkpoints, or else its blocks.
// Blocks are the outermost modules that have numbers as names, numbered siblings, and modules inside.
// "every:K": the first of every K blocks. Otherwise: path patterns, separated by commas; * stands for one
// name. Fails if a pattern matches nothing.
[[nodiscard]] Result<std::vector<CallIndex>> ChooseSegments(const Step& step, std::string_view value);
// Like ChooseSegments, plus matching modules inside others: "stages.*,stages.*.layers.*".
[[nodiscard]] Result<std::vector<CallIndex>> ChooseNestedSegments(const Step& step, std::string_view value);

// All members of the lists of blocks, also non-blocks, such as a stem in an nn.Sequential. None is inside
// another. Empty if there are no blocks.
[[nodiscard]] std::vector<CallIndex> ListMembers(const Step& step);
// "model.layers" for block "model.layers.3".
[[nodiscard]] std::string_view ParentPath(std::string_view path);

// Values of --checkpoint for a family of modules, the fewest modules first: "every:4" ... "all". With several
// lists of blocks, also "encoder.*" for each. Empty if there are no blocks.
[[nodiscard]] std::vector<std::string> CheckpointFamilies(const Step& step);

// Paths of single modules to choose from, in the order of their calls, none inside another. The blocks, or
// else the direct submodules of the outermost module.
[[nodiscard]] std::vector<std::string> CheckpointUnits(const Step& step);

// True for "layers.3.mlp" and "layers.*.mlp".
[[nodiscard]] bool PathMatches(std::string_view pattern, std::string_view path);

// True if a module or parameter matches one of the patterns "embed,layers.*", or is inside a match.
[[nodiscard]] bool BelongsToOne(std::string_view name, std::string_view patterns);

// The innermost call open at `at`; kNone if none.
[[nodiscard]] CallIndex CallAt(const Step& step, Position at);

// A module that ran in forward, or a parent that did not run itself, such as a list of layers.
struct ModuleNode {
  std::string path;
  uint32_t parent = model::kNone;  // into the same list; parents come first
  uint32_t depth = 0;
  uint32_t calls = 0;  // 0: it did not run
  uint64_t kept = 0;   // bytes that autograd saves from it and its submodules
};
// The modules by first call, each followed by its submodules.
[[nodiscard]] std::vector<ModuleNode> ModuleTree(const Step& step);

}  // namespace vramscope::whatif
