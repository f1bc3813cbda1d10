// SPDX-License-Identifier: Apache-2.0
// Selects module calls of a step by "all", "every:2" or "layers.*,head", and lists the selections (values of
// --checkpoint) that are possible for a step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Calls in order, none inside another. "all": what the model's own switch checkpoints; if that is not known,
// its blocks. Blocks are the outermost modules that have a number as their name, have siblings with numbers,
// and consist of other modules. "every:K": the first of every K blocks. Otherwise: patterns for paths,
// separated by commas; * stands for one name. Fails with a sentence if any of the patterns matches nothing.
[[nodiscard]] Result<std::vector<CallIndex>> ChooseSegments(const Step& step, std::string_view value);
// Like ChooseSegments, including matching modules inside others: "stages.*,stages.*.layers.*" selects both.
[[nodiscard]] Result<std::vector<CallIndex>> ChooseNestedSegments(const Step& step, std::string_view value);

// All members of the lists that contain the blocks, including members that are not blocks, such as the stem
// of a network in an nn.Sequential. None is inside another. Empty if there are no blocks.
[[nodiscard]] std::vector<CallIndex> ListMembers(const Step& step);
// "model.layers" for block "model.layers.3".
[[nodiscard]] std::string_view ParentPath(std::string_view path);

// Values of --checkpoint that select a family of modules, the fewest modules first: "every:4" ... "all". If
// the model has several lists of blocks, also "encoder.*" for each list. Empty if there are no blocks.
[[nodiscard]] std::vector<std::string> CheckpointFamilies(const Step& step);

// Paths of single modules that a search may choose from, in the order of their calls, none inside another.
// They are the blocks, or, if there are none, the direct submodules of the outermost module.
[[nodiscard]] std::vector<std::string> CheckpointUnits(const Step& step);

// Matches "layers.3.mlp" against "layers.*.mlp".
[[nodiscard]] bool PathMatches(std::string_view pattern, std::string_view path);

// True if a module or parameter matches one of the patterns "embed,layers.*", or is in a module that does.
[[nodiscard]] bool BelongsToOne(std::string_view name, std::string_view patterns);

// The innermost call that is open at `at`; kNone if there is none.
[[nodiscard]] CallIndex CallAt(const Step& step, Position at);

// A module that ran in forward, or only a name in the paths of such modules: a list of layers does not run
// itself.
struct ModuleNode {
  std::string path;
  uint32_t parent = model::kNone;  // into the same list; parents come before their children
  uint32_t depth = 0;
  uint32_t calls = 0;  // 0: only a name
  uint64_t kept = 0;   // bytes that autograd saves of what it and its submodules computed
};
// The modules in the order of their first calls; each one is followed by its submodules.
[[nodiscard]] std::vector<ModuleNode> ModuleTree(const Step& step);

}  // namespace vramscope::whatif
