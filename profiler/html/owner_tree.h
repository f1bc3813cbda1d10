// SPDX-License-Identifier: Apache-2.0
// Who owns the bytes at a moment, as the trees behind the page's flame graphs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"

namespace vramscope::html {

// {"modules": tree, "stacks": tree}: by module path, autograd node and op, and by frames, outermost first. A
// tree is [name, bytes, index of the category with the most of them, [children, largest first]]. Children sum
// to at most their parent; the rest is its own. A tree is null if its owners are unknown. Small owners of one
// parent are merged into one child, so that a tree has at most some thousand nodes. `blocks`: those alive
// after event `at`.
[[nodiscard]] nlohmann::ordered_json OwnerTrees(const classify::Analysis& analysis,
                                                classify::Origins& origins,
                                                std::span<const model::BlockId> blocks, model::EventIndex at);

}  // namespace vramscope::html
