// SPDX-License-Identifier: Apache-2.0
// Assigns ids to the texts and stacks of a trace that is being written. Equal texts have the same id, and so
// have equal stacks.
//
// Stacks are stored as paths in a prefix tree:
//
//   1 main ── 2 train ── 3 forward ── 4 linear        stack 4 = main, train, forward, linear
//                     └─ 5 backward                   stack 5 = main, train, backward
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vramscope::trace {

using StringId = uint32_t;  // 0 = no text
using StackId = uint32_t;   // 0 = no stack

// Longer texts are truncated.
inline constexpr size_t kMaxTextBytes = 1 << 20;

struct StackNode {
  StackId parent = 0;  // id of the parent node, smaller than the own id; 0 = outermost frame
  StringId frame = 0;
};

class StringInterner {
 public:
  StringId Intern(std::string_view text);
  // The number of texts. Their ids are 1 to count().
  uint32_t count() const { return static_cast<uint32_t>(texts_.size()); }
  std::string_view at(StringId id) const { return texts_[id - 1]; }

 private:
  std::deque<std::string> texts_;  // a deque, because the map's keys point to the texts
  std::unordered_map<std::string_view, StringId> ids_;
};

class StackInterner {
 public:
  StackId Intern(StackNode node);
  uint32_t count() const { return static_cast<uint32_t>(nodes_.size()); }
  StackNode at(StackId id) const { return nodes_[id - 1]; }

 private:
  std::vector<StackNode> nodes_;
  std::unordered_map<uint64_t, StackId> ids_;  // parent << 32 | frame
};

}  // namespace vramscope::trace
