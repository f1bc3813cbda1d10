// SPDX-License-Identifier: Apache-2.0
// The texts of a snapshot, each stored once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/snapshot/words.h"

namespace vramscope::snapshot {

class TextTable {
 public:
  TextTable();

  // Returns the number of a text; equal texts have the same number. 0 is "".
  uint32_t Add(std::string_view text);
  // Upper bound for the bytes that Add(text) takes.
  static uint64_t CostOf(std::string_view text) { return 2 * text.size() + 48; }

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(words_.size()); }
  [[nodiscard]] std::string_view operator[](uint32_t id) const {
    return std::string_view(bytes_).substr(ends_[id], ends_[id + 1] - ends_[id]);
  }
  [[nodiscard]] Word word(uint32_t id) const { return words_[id]; }

 private:
  void Grow();

  std::string bytes_;
  std::vector<uint64_t> ends_;  // ends_[i] is the begin of text i, ends_[i + 1] its end
  std::vector<Word> words_;
  std::vector<uint32_t> slots_;  // hash table of text numbers + 1; 0 = empty
};

}  // namespace vramscope::snapshot
