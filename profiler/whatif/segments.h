// SPDX-License-Identifier: Apache-2.0
// Which module calls of a step are meant by "all", "every:2" or "layers.*".
#pragma once

#include <string_view>
#include <vector>

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// Indices into Step::modules, in order, none inside another. "all": the blocks of the model, which are the
// outermost modules that have a number for a name, have siblings that do too, and consist of other modules.
// "every:K": of these the first of every K. Else a pattern of paths, in which * stands for one name. Fails
// with a sentence when there is none.
[[nodiscard]] Result<std::vector<uint32_t>> ChooseSegments(const Step& step, std::string_view value);

// "layers.*.mlp" against "layers.3.mlp".
[[nodiscard]] bool PathMatches(std::string_view pattern, std::string_view path);

}  // namespace vramscope::whatif
