// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/memory_axis.h"

#include <algorithm>
#include <bit>

namespace vramscope::viewer {
namespace {

constexpr std::array<MemoryLineInfo, kMemoryLineCount> kLineInfos = {
    {{"reserved", "Reserved"}, {"device_used", "Device used"}, {"capacity", "Capacity"}}};
// A line stretches the axis unasked if it is at most this many times as high as the highest allocated column.
constexpr double kNear = 1.5;
constexpr uint64_t kLeastTop = 1024;
constexpr double kLeastShare = 1e-6;

std::optional<uint64_t> HighestOf(const TimelinePicture& picture, std::optional<uint64_t> capacity,
                                  MemoryLine line) {
  if (line == MemoryLine::kCapacity) return capacity;
  std::optional<uint64_t> highest;
  for (const Extremes& column : line == MemoryLine::kReserved ? picture.reserved : picture.used) {
    if (!column.empty()) highest = std::max(highest.value_or(0), static_cast<uint64_t>(column.high));
  }
  return highest;
}

std::optional<uint64_t> LastOf(const TimelinePicture& picture, std::optional<uint64_t> capacity,
                               MemoryLine line) {
  if (line == MemoryLine::kCapacity) return capacity;
  const std::vector<Extremes>& columns = line == MemoryLine::kReserved ? picture.reserved : picture.used;
  if (columns.empty() || columns.back().empty()) return std::nullopt;
  return static_cast<uint64_t>(columns.back().high);
}

// Rounds up in few steps, so that the axis does not move with every pixel of a pan.
uint64_t RoundedUp(uint64_t bytes) {
  const uint64_t step = std::bit_floor(bytes) / 16;
  return step == 0 ? bytes : (bytes + step - 1) / step * step;
}

}  // namespace

const MemoryLineInfo& Info(MemoryLine line) { return kLineInfos[static_cast<size_t>(line)]; }

void MemoryZoom::Zoom(double factor, double at) {
  const double width = std::clamp((high - low) / factor, kLeastShare, 1.0);
  const double place = (at - low) / (high - low);
  low = std::clamp(at - place * width, 0.0, 1 - width);
  high = low + width > 1 - kLeastShare / 2 ? 1 : low + width;
}

void MemoryZoom::Pan(double shares) {
  const double width = high - low;
  low = std::clamp(low + shares, 0.0, 1 - width);
  high = low + width;
}

MemoryAxis AxisFor(const TimelinePicture& picture, std::optional<uint64_t> capacity,
                   const MemoryLineChoice& choice, bool lines, const MemoryZoom& zoom) {
  uint64_t allocated = 0;
  for (const MemoryColumn& column : picture.memory) allocated = std::max(allocated, column.high);
  uint64_t top = std::max(allocated, kLeastTop);
  for (size_t i = 0; i < kMemoryLineCount && lines; ++i) {
    const auto highest = HighestOf(picture, capacity, static_cast<MemoryLine>(i));
    if (!choice.shown[i] || !highest) continue;
    const bool near = static_cast<double>(*highest) <= kNear * static_cast<double>(allocated);
    if (near || choice.reached[i]) top = std::max(top, *highest);
  }
  const auto whole = static_cast<double>(RoundedUp(top + top / 16));
  return {whole * zoom.low, whole * zoom.high};
}

std::vector<MemoryLineLabel> LabelsOf(const TimelinePicture& picture, std::optional<uint64_t> capacity,
                                      const MemoryLineChoice& choice, const MemoryAxis& axis, double height) {
  std::vector<MemoryLineLabel> labels;
  for (size_t i = 0; i < kMemoryLineCount; ++i) {
    const auto line = static_cast<MemoryLine>(i);
    const auto bytes = LastOf(picture, capacity, line);
    if (!choice.shown[i] || !bytes) continue;
    const double share = axis.ShareOf(static_cast<double>(*bytes));
    if (share < 0) continue;  // below what is zoomed into
    labels.push_back({line, *bytes, share, 0});
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const MemoryLineLabel& a, const MemoryLineLabel& b) { return a.share > b.share; });
  double below = 1;  // the next label lies under this
  for (MemoryLineLabel& label : labels) {
    label.place = std::min(label.share + height / 2, below - height / 2);  // on its line
    below = label.place - height / 2;
  }
  return labels;
}

}  // namespace vramscope::viewer
