// SPDX-License-Identifier: Apache-2.0
#include "trace_format/interner.h"

namespace vramscope::trace {

StringId StringInterner::Intern(std::string_view text) {
  text = text.substr(0, kMaxTextBytes);
  if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
  texts_.emplace_back(text);
  ids_.emplace(texts_.back(), count());
  return count();
}

StackId StackInterner::Intern(StackNode node) {
  const auto [known, is_new] = ids_.try_emplace(uint64_t{node.parent} << 32 | node.frame, count() + 1);
  if (is_new) nodes_.push_back(node);
  return known->second;
}

}  // namespace vramscope::trace
