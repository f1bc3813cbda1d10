// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/rank_strips.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "profiler/fleet/spread.h"
#include "profiler/report/device_choice.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"

namespace vramscope::viewer {

namespace {

struct Gpu {
  size_t file = 0;
  const Document* document = nullptr;
  size_t view = 0;
  std::optional<uint32_t> rank;

  [[nodiscard]] const model::Device& device() const {
    return document->run->devices[document->devices[view]->index];
  }
};

struct WallClock {
  uint64_t begin_ns = 0;  // 0: not known
  uint64_t end_ns = 0;
};

WallClock WallClockOf(const Document& document) {
  const uint64_t begin = document.run->counts_events() ? 0 : document.run->source->clock().start_realtime_ns;
  return {begin, begin + document.run->times.last_ns()};
}

// True if one file is a copy of the other: a copy is not another part of the job.
bool IsCopy(const Document& a, const Document& b) {
  const model::Run& first = *a.run;
  const model::Run& second = *b.run;
  return WallClockOf(a).begin_ns == WallClockOf(b).begin_ns &&
         first.processes[0].info.pid == second.processes[0].info.pid &&
         report::RankOf(first, 0) == report::RankOf(second, 0);
}

}  // namespace

bool AtSameTime(const Document& a, const Document& b) {
  const WallClock first = WallClockOf(a);
  const WallClock second = WallClockOf(b);
  return first.begin_ns != 0 && second.begin_ns != 0 && first.begin_ns < second.end_ns &&
         second.begin_ns < first.end_ns && !a.devices.empty() && !b.devices.empty() && !IsCopy(a, b);
}

namespace {

std::vector<Gpu> GpusOf(const std::vector<const Document*>& files, size_t shown) {
  std::vector<Gpu> gpus;
  for (size_t file = 0; file < files.size(); ++file) {
    const Document* document = files[file];
    if (document == nullptr || (file != shown && !AtSameTime(*document, *files[shown]))) continue;
    for (size_t view = 0; view < document->devices.size(); ++view) {
      Gpu gpu{file, document, view, {}};
      if (trace::DeviceTypeOf(gpu.device().code) == 0) continue;
      gpu.rank = report::RankOf(*document->run, gpu.device().process);
      gpus.push_back(gpu);
    }
  }
  std::stable_sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) {
    return std::tuple(a.rank.value_or(~0u), a.file, a.device().process, a.device().code) <
           std::tuple(b.rank.value_or(~0u), b.file, b.device().process, b.device().code);
  });
  return gpus;
}

}  // namespace

std::vector<RankStrip> StripsOf(const std::vector<const Document*>& files, size_t shown) {
  const std::vector<Gpu> gpus = GpusOf(files, shown);
  if (gpus.size() < 2) return {};
  const bool several = gpus.front().file != gpus.back().file;
  std::map<uint32_t, size_t> gpus_of_rank;
  std::vector<uint64_t> peaks;
  for (const Gpu& gpu : gpus) {
    if (gpu.rank) ++gpus_of_rank[*gpu.rank];
    peaks.push_back(gpu.document->devices[gpu.view]->curve.peak().bytes);
  }
  const fleet::Spread spread = fleet::SpreadOf(peaks);
  const uint64_t clock = WallClockOf(*files[shown]).begin_ns;
  std::vector<RankStrip> strips;
  for (size_t i = 0; i < gpus.size(); ++i) {
    const Gpu& gpu = gpus[i];
    RankStrip strip;
    strip.document = gpu.document;
    strip.file = gpu.file;
    strip.device = gpu.view;
    strip.later_ns = static_cast<double>(static_cast<int64_t>(clock - WallClockOf(*gpu.document).begin_ns));
    strip.title = gpu.document->devices[gpu.view]->title;
    if (several) strip.title = text::OneLine(gpu.document->name()) + ", " + strip.title;
    strip.name = gpu.rank  ? fmt::format("rank {}", *gpu.rank)
                 : several ? text::OneLine(gpu.document->name())
                           : gpu.device().name;
    if (gpu.rank && gpus_of_rank[*gpu.rank] > 1) strip.name += " " + gpu.device().name;
    strip.peak = peaks[i];
    // With only two GPUs, neither stands out.
    if (gpus.size() > 2 && spread.StandsOut(peaks[i]))
      strip.stands_out = fmt::format("This rank stands out: the median of the peaks is {}.",
                                     text::FormatBytes(spread.median));
    strips.push_back(std::move(strip));
  }
  return strips;
}

std::vector<uint64_t> StripColumns(const RankStrip& strip, const TimeView& view, size_t columns) {
  const model::TimeIndex& times = strip.document->run->times;
  const DeviceView& device = *strip.document->devices[strip.device];
  const auto last_ns = static_cast<double>(times.last_ns());
  const auto event_at = [&](size_t edge) {
    const double at = view.TimeAt(static_cast<double>(edge) / static_cast<double>(columns)) + strip.later_ns;
    return at < 0 ? model::kNever : times.LastEventAt(static_cast<uint64_t>(at));
  };
  std::vector<uint64_t> highest(columns);
  model::EventIndex first = event_at(0);
  for (size_t i = 0; i < columns; ++i) {
    const model::EventIndex last = event_at(i + 1);
    const double begin = view.TimeAt(static_cast<double>(i) / static_cast<double>(columns)) + strip.later_ns;
    // A file shows no memory before its recording and after it.
    if (last != model::kNever && begin <= last_ns)
      highest[i] = device.curve.PeakWithin(first == model::kNever ? 0 : first, last + 1).bytes;
    first = last;
  }
  return highest;
}

void RankStripsView::Update(const std::vector<const Document*>& files, size_t shown) {
  if (files_ == files && shown_ == shown) return;
  files_ = files;
  shown_ = shown;
  strips_ = StripsOf(files, shown);
  cache_.assign(strips_.size(), {});
  top_ = 1;
  for (const RankStrip& strip : strips_) top_ = std::max(top_, strip.peak);
}

const std::vector<uint64_t>& RankStripsView::Columns(size_t strip, const TimeView& view, size_t columns) {
  Cached& cached = cache_[strip];
  if (cached.columns.size() != columns || !(cached.view == view)) {
    cached.view = view;
    cached.columns = StripColumns(strips_[strip], view, columns);
  }
  return cached.columns;
}

}  // namespace vramscope::viewer
