// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/range_change.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

namespace vramscope::viewer {

RangeChange ChangeBetween(const Document& document, const DeviceView& device, model::EventIndex first,
                          model::EventIndex last) {
  RangeChange change;
  const model::Run& run = *document.run;
  const classify::CategoryBytes before = device.series.After(first);
  const classify::CategoryBytes after = device.series.After(last);
  for (const classify::Category category : StackOrder()) {
    const auto i = static_cast<size_t>(category);
    const int64_t bytes = static_cast<int64_t>(after[i]) - static_cast<int64_t>(before[i]);
    if (bytes != 0) change.categories.emplace_back(category, bytes);
    change.bytes += bytes;
  }
  report::FramesToShow frames(run);
  std::map<std::string_view, ChangeOfLine> lines;
  const auto count = [&](model::BlockId id, int sign) {
    const model::Block& block = run.blocks[id];
    std::string_view name = frames.Of(block.stack);
    if (name.empty()) name = document.analysis->names().Of(id);
    if (name.empty()) name = "not known";
    ChangeOfLine& line = lines[name];
    line.bytes += sign * static_cast<int64_t>(block.size);
    line.blocks += sign;
  };
  for (const model::BlockId id : device.live.At(last)) {
    if (!run.blocks[id].AliveAfter(first)) count(id, 1);
  }
  for (const model::BlockId id : device.live.At(first)) {
    if (!run.blocks[id].AliveAfter(last)) count(id, -1);
  }
  for (auto& [name, line] : lines) {
    if (line.bytes == 0) continue;
    line.name = name;
    change.lines.push_back(line);
  }
  std::stable_sort(
      change.lines.begin(), change.lines.end(),
      [](const ChangeOfLine& a, const ChangeOfLine& b) { return std::abs(a.bytes) > std::abs(b.bytes); });
  return change;
}

const RangeChange& RangeChangeView::Of(const Document& document, const DeviceView& device,
                                       model::EventIndex first, model::EventIndex last) {
  if (device_ == &device && first_ == first && last_ == last) return change_;
  device_ = &device;
  first_ = first;
  last_ = last;
  change_ = ChangeBetween(document, device, first, last);
  return change_;
}

}  // namespace vramscope::viewer
