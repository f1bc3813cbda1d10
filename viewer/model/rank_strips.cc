// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/rank_strips.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "profiler/fleet/spread.h"
#include "profiler/report/device_choice.h"
#include "profiler/text/format.h"

namespace vramscope::viewer {

std::vector<RankStrip> StripsOf(const Document& document) {
  const model::Run& run = *document.run;
  struct Gpu {
    size_t device = 0;
    std::optional<uint32_t> rank;
  };
  std::vector<Gpu> gpus;
  std::map<uint32_t, size_t> gpus_of_rank;
  for (size_t i = 0; i < document.devices.size(); ++i) {
    const model::Device& of = run.devices[document.devices[i]->index];
    if (trace::DeviceTypeOf(of.code) == 0) continue;
    gpus.push_back({i, report::RankOf(run, of.process)});
    if (gpus.back().rank) ++gpus_of_rank[*gpus.back().rank];
  }
  if (gpus.size() < 2) return {};
  const auto device_of = [&](const Gpu& place) -> const model::Device& {
    return run.devices[document.devices[place.device]->index];
  };
  std::stable_sort(gpus.begin(), gpus.end(), [&](const Gpu& a, const Gpu& b) {
    return std::tuple(a.rank.value_or(~0u), device_of(a).process, device_of(a).code) <
           std::tuple(b.rank.value_or(~0u), device_of(b).process, device_of(b).code);
  });
  std::vector<uint64_t> peaks;
  for (const Gpu& place : gpus) peaks.push_back(document.devices[place.device]->curve.peak().bytes);
  const fleet::Spread spread = fleet::SpreadOf(peaks);
  std::vector<RankStrip> strips;
  for (size_t i = 0; i < gpus.size(); ++i) {
    RankStrip strip;
    strip.device = gpus[i].device;
    strip.title = document.devices[gpus[i].device]->title;
    strip.name = gpus[i].rank ? fmt::format("rank {}", *gpus[i].rank) : device_of(gpus[i]).name;
    if (gpus[i].rank && gpus_of_rank[*gpus[i].rank] > 1) strip.name += " " + device_of(gpus[i]).name;
    strip.peak = peaks[i];
    // Of two that differ, neither is the odd one.
    if (gpus.size() > 2 && spread.StandsOut(peaks[i]))
      strip.stands_out =
          fmt::format("Stands out: the median of the peaks is {}.", text::FormatBytes(spread.median));
    strips.push_back(std::move(strip));
  }
  return strips;
}

std::vector<uint64_t> StripColumns(const Document& document, const DeviceView& device, const TimeView& view,
                                   size_t columns) {
  std::vector<uint64_t> highest;
  highest.reserve(columns);
  for (const EventColumn& column : ColumnsOf(document.run->times, view, columns))
    highest.push_back(device.curve.PeakWithin(column.first, column.last + 1).bytes);
  return highest;
}

void RankStripsView::Update(const Document& document) {
  if (document_ == &document) return;
  document_ = &document;
  strips_ = StripsOf(document);
  cache_.assign(strips_.size(), {});
  top_ = 1;
  for (const RankStrip& strip : strips_) top_ = std::max(top_, strip.peak);
}

const std::vector<uint64_t>& RankStripsView::Columns(size_t strip, const TimeView& view, size_t columns) {
  Cached& cached = cache_[strip];
  if (cached.columns.size() != columns || !(cached.view == view)) {
    cached.view = view;
    cached.columns = StripColumns(*document_, *document_->devices[strips_[strip].device], view, columns);
  }
  return cached.columns;
}

}  // namespace vramscope::viewer
