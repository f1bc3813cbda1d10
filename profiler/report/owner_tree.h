// SPDX-License-Identifier: Apache-2.0
// The owners of the bytes at a moment, as a tree for flame graphs and treemaps.
//
//   module      layers ─ 3 ─ mlp ─ AddmmBackward0 ─ aten::addmm   parts of the path, autograd node, operator
//   operator    aten::addmm ─ layers ─ 3 ─ mlp
//   stack       <module> ─ main ─ train_step ─ forward            frames, outermost first
//   category    Activation ─ layers ─ 3 ─ mlp
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"

namespace vramscope::report {

enum class OwnersBy : uint8_t { kModule, kOperator, kStack, kCategory };

struct OwnerNode {
  std::string name;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  classify::CategoryBytes categories = {};  // of `bytes`
  std::vector<OwnerNode> children;          // largest first; `bytes` minus their sum is the node's own

  // The category with the most bytes.
  [[nodiscard]] classify::Category Mostly() const;
};

// `blocks`: those alive after event `at`. The root is named "all", unknown owners are named "not known".
[[nodiscard]] OwnerNode MakeOwnerTree(const classify::Analysis& analysis, classify::Origins& origins,
                                      std::span<const model::BlockId> blocks, model::EventIndex at,
                                      OwnersBy by);
// True if any owner is known.
[[nodiscard]] bool IsKnown(const OwnerNode& root);
// For each parent, merges children below `least` bytes, and those after the first `most_children`, into a
// last child "7 smaller".
[[nodiscard]] OwnerNode Abridged(const OwnerNode& tree, uint64_t least, size_t most_children);

}  // namespace vramscope::report
