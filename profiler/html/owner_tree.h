// SPDX-License-Identifier: Apache-2.0
// The owners of the bytes at one moment, as trees for the page's flame graphs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"

namespace vramscope::html {

// {"modules": tree, "stacks": tree}. The levels of `modules` are module path, autograd node and op; those of
// `stacks` are frames, outermost first. A tree is [name, bytes, index of its largest category, [children,
// largest first]], or null if its owners are unknown. Bytes not in children belong to the parent itself.
// Small owners are merged: a tree has at most a few thousand nodes. `blocks`: alive after event `at`.
[[nodiscard]] nlohmann::ordered_json OwnerTrees(const classify::Analysis& analysis,
                                                classify::Origins& origins,
                                                std::span<const model::BlockId> blocks, model::EventIndex at);

}  // namespace vramscope::html
