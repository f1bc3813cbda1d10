// SPDX-License-Identifier: Apache-2.0
// Which module calls of a step are meant by "all", "every:2" or "layers.*,head", and which there are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Indices into Step::modules, in order, none inside another. "all": the blocks of the model, which are the
// outermost modules that have a number for a name, have siblings that do too, and consist of other modules.
// "every:K": of these the first of every K. Else patterns of paths with commas between them, in which *
// stands for one name. Fails with a sentence when there is none, also for one of several patterns.
[[nodiscard]] Result<std::vector<uint32_t>> ChooseSegments(const Step& step, std::string_view value);
// The same with those inside others that a pattern names too: "stages.*,stages.*.layers.*" are both.
[[nodiscard]] Result<std::vector<uint32_t>> ChooseNestedSegments(const Step& step, std::string_view value);

// Every member of the lists that the blocks are in, also those that are no blocks themselves, as the stem of
// a network in an nn.Sequential; none inside another. Empty without blocks.
[[nodiscard]] std::vector<uint32_t> ListMembers(const Step& step);
// "model.layers" of its block "model.layers.3".
[[nodiscard]] std::string_view ParentPath(std::string_view path);

// What can be asked for as a family, the fewest modules first: "every:4" ... "all", and where the model has
// several lists of blocks "encoder.*" of each. Empty without blocks.
[[nodiscard]] std::vector<std::string> CheckpointFamilies(const Step& step);

// Paths of single modules that a search may choose from, in the order of their calls, none inside another:
// the blocks; in a model without, the parts of the outermost module.
[[nodiscard]] std::vector<std::string> CheckpointUnits(const Step& step);

// "layers.*.mlp" against "layers.3.mlp".
[[nodiscard]] bool PathMatches(std::string_view pattern, std::string_view path);

// Whether a module or parameter is one of the patterns "embed,layers.*", or lies in a module that is.
[[nodiscard]] bool BelongsToOne(std::string_view name, std::string_view patterns);

// The innermost call that was open then; kNone when there was none.
[[nodiscard]] uint32_t CallAt(const Step& step, Position at);

// A module that ran in forward, or a name in the paths of such modules: a list of layers does not run itself.
struct ModuleNode {
  std::string path;
  uint32_t parent = model::kNone;  // into the same list, which has every node behind its parent
  uint32_t depth = 0;
  uint32_t calls = 0;  // 0: only a name
  uint64_t kept = 0;   // bytes that autograd keeps of what it and the modules below it made
};
// In the order of their first calls, each followed by those below it.
[[nodiscard]] std::vector<ModuleNode> ModuleTree(const Step& step);

}  // namespace vramscope::whatif
