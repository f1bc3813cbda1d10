// SPDX-License-Identifier: Apache-2.0
// Creates the JSON for the flame graphs of the HTML page: the owners of the bytes at one moment, as trees.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"

namespace vramscope::html {

// Returns {"modules": tree, "stacks": tree}. The levels of `modules` are module path, autograd node and
// operator. The levels of `stacks` are frames, outermost first. A tree is [name, bytes, index of its largest
// category, [children, largest first]]; it is null if the owners are unknown. Bytes that are not in a child
// belong to the parent itself. Small owners are merged, so a tree has at most a few thousand nodes. `blocks`:
// the blocks that are alive after the event `at`.
[[nodiscard]] nlohmann::ordered_json OwnerTrees(const classify::Analysis& analysis,
                                                classify::Origins& origins,
                                                std::span<const model::BlockId> blocks, model::EventIndex at);

}  // namespace vramscope::html
