// SPDX-License-Identifier: Apache-2.0
// Colors blocks by category, age, size, stream, or by the line of code or step that allocated them.
//
// Streams, lines and steps have seven colors, because people cannot distinguish more. All further streams,
// lines or steps belong to one class, "others". Blocks without a recorded value have their own color. A class
// keeps its color while it is among the seven largest.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "viewer/model/document.h"

namespace vramscope::viewer {

enum class Coloring : uint8_t { kCategory, kAge, kSize, kStream, kStack, kStep };
inline constexpr size_t kColoringCount = 6;
struct ColoringInfo {
  const char* key;   // for scripts and links: "size"
  const char* name;  // for people: "size"
};
[[nodiscard]] const ColoringInfo& Info(Coloring coloring);
[[nodiscard]] std::optional<Coloring> ColoringFromKey(std::string_view key);
[[nodiscard]] Coloring NextColoring(Coloring coloring);
// The colors of streams, lines and steps (0 to 6), of "others", and of blocks without a recorded value.
[[nodiscard]] uint32_t DistinctRgb(size_t number);
inline constexpr uint32_t kOthersRgb = 0x8a93a3;
inline constexpr uint32_t kUnknownRgb = 0x5b6472;

// The facts about a block that its color may depend on.
struct ColoredBlock {
  model::BlockId block = model::kNone;  // kNone if the block is older than the file's first event
  uint64_t bytes = 0;
  classify::Category category = classify::Category::kUnattributed;
};

struct LegendEntry {
  uint32_t rgb = 0;
  std::string text;
  uint64_t bytes = 0;
  size_t blocks = 0;
};

class BlockColors {
 public:
  // Returns, for each block, its index in legend(). `moment`: the age of a block ends at this moment; nullopt
  // = at its free. Use one object per document.
  [[nodiscard]] std::vector<uint8_t> Paint(const Document& document, const timeline::Training& training,
                                           classify::Origins& origins, Coloring by,
                                           std::optional<model::EventIndex> moment,
                                           std::span<const ColoredBlock> blocks);

  // The classes that occur. Ages and sizes are in ascending order, all other classes by bytes. "Others" and
  // blocks without a recorded value are last.
  [[nodiscard]] const std::vector<LegendEntry>& legend() const { return legend_; }

 private:
  static constexpr size_t kDistinct = 7;
  [[nodiscard]] uint64_t KeyOf(const Document& document, const timeline::Training& training,
                               classify::Origins& origins, std::optional<model::EventIndex> moment,
                               const ColoredBlock& block);
  [[nodiscard]] uint64_t LineOf(const model::Run& run, uint32_t stack);
  [[nodiscard]] std::string TextOf(const model::Run& run, uint64_t key) const;
  [[nodiscard]] uint32_t RgbOf(uint64_t key) const;
  [[nodiscard]] bool HasOrder() const;
  void KeepColors(const std::vector<uint64_t>& largest);

  Coloring by_ = Coloring::kCategory;
  std::vector<LegendEntry> legend_;
  std::array<uint64_t, kDistinct> holders_ = {};  // for each color, the class that has it; 0 = none
  std::unordered_map<uint32_t, uint64_t> line_of_stack_;
  std::unordered_map<std::string_view, uint64_t> lines_;
  std::vector<std::string_view> line_texts_;
};

}  // namespace vramscope::viewer
