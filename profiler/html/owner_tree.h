// SPDX-License-Identifier: Apache-2.0
// The owners of the bytes at one moment, as trees for the page's flame graphs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"

namespace vramscope::html {

// {"modules": tree, "stacks": tree}: by module path, autograd node and op, and by frames, outermost first. A
// tree is [name, bytes, index of the category with the most of these bytes, [children, largest first]].
// Children sum to at most their parent; the rest belongs to the parent itself. A tree is null if its owners
// are unknown. Small owners of one parent are merged into one child, so that a tree has at most a few
// thousand nodes. `blocks` are the blocks that are alive after event `at`.
[[nodiscard]] nlohmann::ordered_json OwnerTrees(const classify::Analysis& analysis,
                                                classify::Origins& origins,
                                                std::span<const model::BlockId> blocks, model::EventIndex at);

}  // namespace vramscope::html
