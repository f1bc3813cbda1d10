// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/text_table.h"

#include <functional>

namespace vramscope::snapshot {

TextTable::TextTable() : ends_{0}, slots_(256) { Add(""); }

uint32_t TextTable::Add(std::string_view text) {
  if ((words_.size() + 1) * 2 > slots_.size()) Grow();
  size_t slot = std::hash<std::string_view>{}(text) & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    if ((*this)[slots_[slot] - 1] == text) return slots_[slot] - 1;
  }
  const auto id = static_cast<uint32_t>(words_.size());
  bytes_.append(text);
  ends_.push_back(bytes_.size());
  words_.push_back(WordOf(text));
  slots_[slot] = id + 1;
  return id;
}

void TextTable::Grow() {
  std::vector<uint32_t> larger(slots_.size() * 2);
  for (uint32_t id = 0; id < words_.size(); ++id) {
    size_t slot = std::hash<std::string_view>{}((*this)[id]) & (larger.size() - 1);
    while (larger[slot] != 0) slot = (slot + 1) & (larger.size() - 1);
    larger[slot] = id + 1;
  }
  slots_ = std::move(larger);
}

}  // namespace vramscope::snapshot
