// SPDX-License-Identifier: Apache-2.0
// The owners of the allocated bytes at one moment, as a tree for flame graphs and treemaps. The tree has one
// of four forms (OwnersBy):
//
//   module      layers ─ 3 ─ mlp ─ AddmmBackward0 ─ aten::addmm   module path, autograd node, operator
//   operator    aten::addmm ─ layers ─ 3 ─ mlp
//   stack       <module> ─ main ─ train_step ─ forward            stack frames, outermost first
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
  classify::CategoryBytes categories = {};  // `bytes` by category
  std::vector<OwnerNode> children;          // largest first; their sum may be less than `bytes`

  // Returns the category with the most bytes.
  [[nodiscard]] classify::Category Mostly() const;
};

// `blocks` are the blocks that are alive after event `at`. The root is named "all". An unknown owner is named
// "not known".
[[nodiscard]] OwnerNode MakeOwnerTree(const classify::Analysis& analysis, classify::Origins& origins,
                                      std::span<const model::BlockId> blocks, model::EventIndex at,
                                      OwnersBy by);
// True if at least one owner below the root is known.
[[nodiscard]] bool IsKnown(const OwnerNode& root);
// Returns a shortened tree. In each node, children below `least` bytes, and children after the first
// `most_children`, are merged into one last child such as "7 smaller".
[[nodiscard]] OwnerNode Abridged(const OwnerNode& tree, uint64_t least, size_t most_children);

}  // namespace vramscope::report
