// SPDX-License-Identifier: Apache-2.0
// Selects module calls of a step by a value of --checkpoint, such as "all", "every:2" or "layers.*,head".
// Also lists the values that a search may try.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Returns the selected calls in order of time, none inside another:
//
//   "all"            the modules that the model's own checkpointing option covers; otherwise all blocks
//   "every:K"        the first of every K blocks
//   "layers.*,head"  modules whose path matches a pattern; * stands for one name
//
// A block is an outermost module that has a number as its name, at least one numbered sibling, and
// submodules. Fails if a pattern matches nothing.
[[nodiscard]] Result<std::vector<CallIndex>> ChooseSegments(const Step& step, std::string_view value);
// Like ChooseSegments, but also returns matching modules inside other selected modules:
// "stages.*,stages.*.layers.*".
[[nodiscard]] Result<std::vector<CallIndex>> ChooseNestedSegments(const Step& step, std::string_view value);

// Returns all members of the lists that contain blocks. Members that are not blocks are included, such as the
// first layer of an nn.Sequential. No member is inside another member. The result is empty if there are no
// blocks.
[[nodiscard]] std::vector<CallIndex> ListMembers(const Step& step);
// Returns the parent of a module path: "model.layers" for "model.layers.3".
[[nodiscard]] std::string_view ParentPath(std::string_view path);

// Returns the values of --checkpoint that select several modules, the fewest modules first: "every:4", ...,
// "all". If there are several lists of blocks, also "encoder.*" for each list. The result is empty if there
// are no blocks.
[[nodiscard]] std::vector<std::string> CheckpointFamilies(const Step& step);

// Returns the paths of single modules that a search may checkpoint, in the order of their calls, none inside
// another. These are the blocks. If there are no blocks, they are the direct submodules of the outermost
// module.
[[nodiscard]] std::vector<std::string> CheckpointUnits(const Step& step);

// True if `path` matches `pattern`, for example "layers.3.mlp" and "layers.*.mlp".
[[nodiscard]] bool PathMatches(std::string_view pattern, std::string_view path);

// True if the module or parameter `name` matches one of the patterns "embed,layers.*", or is inside a module
// that matches.
[[nodiscard]] bool BelongsToOne(std::string_view name, std::string_view patterns);

// Returns the innermost module call that is running at `at`; kNone if there is none.
[[nodiscard]] CallIndex CallAt(const Step& step, Position at);

// A module that ran in forward, or a parent of such modules that did not run itself, such as a ModuleList.
struct ModuleNode {
  std::string path;
  uint32_t parent = model::kNone;  // index in the same list; a parent precedes its submodules
  uint32_t depth = 0;
  uint32_t calls = 0;  // 0 if the module did not run
  uint64_t kept = 0;   // bytes that autograd saves in the module and its submodules
};
// Returns the modules in order of their first call, each followed by its submodules.
[[nodiscard]] std::vector<ModuleNode> ModuleTree(const Step& step);

}  // namespace vramscope::whatif
