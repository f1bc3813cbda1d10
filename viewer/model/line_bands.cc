// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/line_bands.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "profiler/report/owners.h"
#include "profiler/text/harmless.h"
#include "viewer/model/coloring.h"

namespace vramscope::viewer {

LineBands::LineBands(const Document& document, const DeviceView& device) : device_(&device) {
  const model::Run& run = *document.run;
  classify::Origins origins(run, document.analysis->training());
  report::FramesToShow frames(run);
  const auto line_of = [&](model::BlockId id) {
    const uint32_t own = run.blocks[id].stack;
    return frames.Of(own != 0 ? own : origins.Of(id).stack);
  };
  const auto& changes = run.devices[device.index].changes;
  struct Held {
    uint64_t now = 0;
    uint64_t most = 0;
  };
  std::map<std::string_view, Held> held;
  for (size_t i = 0; i < changes.size(); ++i) {
    const model::Change& change = changes[i];
    Held& of_line = held[line_of(change.block())];
    const uint64_t bytes = run.blocks[change.block()].size;
    of_line.now = change.freed() ? of_line.now - bytes : of_line.now + bytes;
    of_line.most = std::max(of_line.most, of_line.now);
  }
  held.erase("");
  std::vector<std::pair<uint64_t, std::string_view>> largest;
  for (const auto& [line, bytes] : held) largest.emplace_back(bytes.most, line);
  std::sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  largest.resize(std::min(largest.size(), kLines));
  std::map<std::string_view, size_t> band_of;
  for (size_t i = 0; i < largest.size(); ++i) {
    band_of[largest[i].second] = i;
    bands_[i] = {text::OneLine(largest[i].second), DistinctRgb(i)};
  }
  bands_[kLines] = {"other lines", kOthersRgb};
  bands_[kLines + 1] = {"no stack was recorded", kUnknownRgb};

  std::array<std::vector<model::Since>, kCount - 1> values;
  std::array<int64_t, kCount - 1> sums = {};
  for (size_t i = 0; i < changes.size(); ++i) {
    const model::Change& change = changes[i];
    const std::string_view line = line_of(change.block());
    if (line.empty()) continue;
    const auto known = band_of.find(line);
    const size_t band = known == band_of.end() ? kLines : known->second;
    const auto bytes = static_cast<int64_t>(run.blocks[change.block()].size);
    sums[band] += change.freed() ? -bytes : bytes;
    values[band].push_back({change.event, sums[band]});
  }
  for (size_t i = 0; i < values.size(); ++i) lines_[i] = StepLine(std::move(values[i]));
}

LineBands::Bytes LineBands::After(model::EventIndex event) const {
  Bytes bytes = {};
  uint64_t known = 0;
  for (size_t i = 0; i + 1 < kCount; ++i) known += bytes[i] = lines_[i].After(event).value_or(0);
  const uint64_t all = device_->curve.AllocatedAfter(event);
  bytes[kCount - 1] = all - std::min(known, all);
  return bytes;
}

bool LinesTellMore(const Document& document, const DeviceView& device) {
  const model::EventIndex peak = device.curve.peak().event;
  const classify::CategoryBytes bytes = device.series.After(peak);
  const uint64_t unknown = bytes[static_cast<size_t>(classify::Category::kUnattributed)];
  if (unknown * 2 <= classify::Sum(bytes)) return false;
  const auto live = device.live.At(peak);
  return std::any_of(live.begin(), live.end(),
                     [&](model::BlockId id) { return document.run->blocks[id].stack != 0; });
}

void LineBandsView::Update(const Document& document, const DeviceView& device) {
  if (device_ == &device) return;
  device_ = &device;
  bands_ = LineBands(document, device);
  columns_.clear();
}

const std::vector<LineBands::Bytes>& LineBandsView::Columns(const TimelinePicture& picture,
                                                            const TimeView& window) {
  if (columns_.size() == picture.memory.size() && window_ == window) return columns_;
  window_ = window;
  columns_.clear();
  for (const MemoryColumn& column : picture.memory) columns_.push_back(bands_.After(column.high_event));
  return columns_;
}

}  // namespace vramscope::viewer
