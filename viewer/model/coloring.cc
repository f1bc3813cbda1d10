// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/coloring.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/classify/category_words.h"
#include "profiler/report/owners.h"
#include "profiler/text/harmless.h"

namespace vramscope::viewer {
namespace {

using model::EventIndex;

constexpr std::array<ColoringInfo, kColoringCount> kInfos = {{{"category", "category"},
                                                              {"age", "age"},
                                                              {"size", "size"},
                                                              {"stream", "stream"},
                                                              {"stack", "line of code"},
                                                              {"step", "allocation step"}}};

// Okabe and Ito's colors, which are also distinct for color-blind people.
constexpr std::array<uint32_t, 7> kDistinctRgb = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7,
                                                  0x56b4e9, 0xd55e00, 0xf0e442};
// Light to dark, perceptually uniform (viridis without its darkest end).
constexpr std::array<uint32_t, 7> kRampRgb = {0xfde725, 0xa0da39, 0x4ac16d, 0x1fa187,
                                              0x277f8e, 0x365c8d, 0x46327e};

// Keys of classes. 0 is unused.
constexpr uint64_t kUnknown = ~uint64_t{0};
constexpr uint64_t kOthers = kUnknown - 1;

struct Bound {
  uint64_t below;
  const char* text;
};
constexpr std::array<Bound, 7> kAges = {{{1'000'000, "under 1 ms"},
                                         {10'000'000, "under 10 ms"},
                                         {100'000'000, "under 100 ms"},
                                         {1'000'000'000, "under 1 s"},
                                         {10'000'000'000, "under 10 s"},
                                         {60'000'000'000, "under 1 min"},
                                         {~uint64_t{0}, "older"}}};
constexpr uint64_t kKib = 1024;
constexpr uint64_t kMib = kKib * kKib;
constexpr std::array<Bound, 7> kSizes = {{{4 * kKib + 1, "up to 4 KiB"},
                                          {64 * kKib + 1, "up to 64 KiB"},
                                          {kMib + 1, "up to 1 MiB"},
                                          {8 * kMib + 1, "up to 8 MiB"},
                                          {64 * kMib + 1, "up to 64 MiB"},
                                          {512 * kMib + 1, "up to 512 MiB"},
                                          {~uint64_t{0}, "larger"}}};

uint64_t ClassOf(const std::array<Bound, 7>& bounds, uint64_t value) {
  uint64_t i = 0;
  while (i + 1 < bounds.size() && value >= bounds[i].below) ++i;
  return i + 1;
}

// The time from a block's birth to `moment`, or to its end if that is earlier.
uint64_t AgeOf(const model::Run& run, const model::Block& block, std::optional<EventIndex> moment) {
  const EventIndex last = run.event_count() - 1;
  const EventIndex end = std::min({block.free_event, moment.value_or(last), last});
  return run.times.TimeOf(std::max(end, block.alloc_event)) - run.times.TimeOf(block.alloc_event);
}

}  // namespace

const ColoringInfo& Info(Coloring coloring) { return kInfos[static_cast<size_t>(coloring)]; }

std::optional<Coloring> ColoringFromKey(std::string_view key) {
  for (size_t i = 0; i < kColoringCount; ++i) {
    if (key == kInfos[i].key) return static_cast<Coloring>(i);
  }
  return std::nullopt;
}

Coloring NextColoring(Coloring coloring) {
  return static_cast<Coloring>((static_cast<size_t>(coloring) + 1) % kColoringCount);
}

uint32_t DistinctRgb(size_t number) { return kDistinctRgb[number % kDistinctRgb.size()]; }

bool BlockColors::HasOrder() const { return by_ == Coloring::kAge || by_ == Coloring::kSize; }

// The program's innermost line: many stacks share it, and users recognize it.
uint64_t BlockColors::LineOf(const model::Run& run, uint32_t stack) {
  if (stack == 0) return kUnknown;
  const auto [known, is_new] = line_of_stack_.try_emplace(stack, kUnknown);
  if (!is_new) return known->second;
  const std::string_view text = report::FrameToShow(run, stack);
  if (text.empty()) return kUnknown;
  const auto [line, added] = lines_.try_emplace(text, line_texts_.size() + 1);
  if (added) line_texts_.push_back(text);
  return known->second = line->second;
}

uint64_t BlockColors::KeyOf(const Document& document, const timeline::Training& training,
                            classify::Origins& origins, std::optional<EventIndex> moment,
                            const ColoredBlock& shown) {
  const model::Run& run = *document.run;
  if (by_ == Coloring::kCategory) return static_cast<uint64_t>(shown.category) + 1;
  if (by_ == Coloring::kSize) return ClassOf(kSizes, shown.bytes);
  if (shown.block == model::kNone) return kUnknown;
  const model::Block& block = run.blocks[shown.block];
  if (by_ == Coloring::kAge) return ClassOf(kAges, AgeOf(run, block, moment));
  if (by_ == Coloring::kStream) return uint64_t{block.stream} + 1;
  if (by_ == Coloring::kStep) {
    const timeline::Step* step = training.StepAt(block.alloc_event);
    return step == nullptr ? kUnknown : uint64_t{step->number} + 1;
  }
  return LineOf(run, block.stack != 0 ? block.stack : origins.Of(shown.block).stack);
}

std::string BlockColors::TextOf(const model::Run& run, uint64_t key) const {
  if (key == kOthers) return "others";
  if (key == kUnknown) return by_ == Coloring::kStep ? "outside of all steps" : "not recorded";
  switch (by_) {
    case Coloring::kCategory:
      return classify::WordsOf(static_cast<classify::Category>(key - 1), model::FrameworkOf(*run.source))
          .name;
    case Coloring::kAge:
      return kAges[key - 1].text;
    case Coloring::kSize:
      return kSizes[key - 1].text;
    case Coloring::kStream:
      return key == 1 ? "default stream" : fmt::format("stream {:#x}", run.streams[key - 1]);
    case Coloring::kStep:
      return fmt::format("step {}", key - 1);
    case Coloring::kStack:
      break;
  }
  // "forward (/src/model.py:7)" or "/src/model.py:7 forward": without the folders.
  const std::string_view line = line_texts_[key - 1];
  const size_t slash = line.rfind('/');
  if (slash == std::string_view::npos) return text::OneLine(line);
  const size_t open = line.rfind('(', slash);
  const std::string_view before = open == std::string_view::npos ? "" : line.substr(0, open + 1);
  return text::OneLine(std::string(before) + std::string(line.substr(slash + 1)));
}

uint32_t BlockColors::RgbOf(uint64_t key) const {
  if (key == kOthers) return kOthersRgb;
  if (key == kUnknown) return kUnknownRgb;
  if (by_ == Coloring::kCategory) return classify::Info(static_cast<classify::Category>(key - 1)).rgb;
  if (HasOrder()) return kRampRgb[key - 1];
  const auto holder = std::find(holders_.begin(), holders_.end(), key);
  return holder == holders_.end() ? kOthersRgb : kDistinctRgb[static_cast<size_t>(holder - holders_.begin())];
}

// A class that is no longer among the largest gives up its color; a new one takes a free color.
void BlockColors::KeepColors(const std::vector<uint64_t>& largest) {
  const auto has = [](const auto& where, uint64_t key) {
    return std::find(where.begin(), where.end(), key) != where.end();
  };
  for (uint64_t& holder : holders_) {
    if (!has(largest, holder)) holder = 0;
  }
  for (const uint64_t key : largest) {
    if (!has(holders_, key)) *std::find(holders_.begin(), holders_.end(), uint64_t{0}) = key;
  }
}

std::vector<uint8_t> BlockColors::Paint(const Document& document, const timeline::Training& training,
                                        classify::Origins& origins, Coloring by,
                                        std::optional<EventIndex> moment,
                                        std::span<const ColoredBlock> blocks) {
  if (by != by_) holders_ = {};
  by_ = by;
  struct Sum {
    uint64_t key = 0;
    uint64_t bytes = 0;
    size_t blocks = 0;
    uint8_t entry = 0;
  };
  std::unordered_map<uint64_t, Sum> sums;
  std::vector<uint64_t> keys;
  keys.reserve(blocks.size());
  for (const ColoredBlock& block : blocks) {
    keys.push_back(KeyOf(document, training, origins, moment, block));
    Sum& sum = sums[keys.back()];
    sum.key = keys.back();
    sum.bytes += block.bytes;
    ++sum.blocks;
  }
  std::vector<Sum*> order;
  for (auto& [key, sum] : sums) order.push_back(&sum);
  std::sort(order.begin(), order.end(), [&](const Sum* a, const Sum* b) {
    if ((a->key == kUnknown) != (b->key == kUnknown)) return b->key == kUnknown;
    if (HasOrder() || a->bytes == b->bytes) return a->key < b->key;
    return a->bytes > b->bytes;
  });
  std::vector<uint64_t> largest;
  for (const Sum* sum : order) {
    if (sum->key != kUnknown && largest.size() < kDistinct) largest.push_back(sum->key);
  }
  const bool limited = !HasOrder() && by != Coloring::kCategory;
  if (limited) KeepColors(largest);
  legend_.clear();
  std::optional<size_t> others;
  for (Sum* sum : order) {
    const bool other = limited && sum->key != kUnknown &&
                       std::find(largest.begin(), largest.end(), sum->key) == largest.end();
    if (!other || !others) {
      const uint64_t key = other ? kOthers : sum->key;
      if (other) others = legend_.size();
      legend_.push_back({RgbOf(key), TextOf(*document.run, key), 0, 0});
    }
    sum->entry = static_cast<uint8_t>(other ? *others : legend_.size() - 1);
    legend_[sum->entry].bytes += sum->bytes;
    legend_[sum->entry].blocks += sum->blocks;
  }
  std::vector<uint8_t> entries;
  entries.reserve(keys.size());
  for (const uint64_t key : keys) entries.push_back(sums[key].entry);
  return entries;
}

}  // namespace vramscope::viewer
