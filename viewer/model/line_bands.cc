// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/line_bands.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "profiler/report/owners.h"
#include "profiler/text/harmless.h"
#include "viewer/model/coloring.h"

namespace vramscope::viewer {

namespace {

// Lines by number, 0 for none, and the number of each of the device's blocks.
struct NumberedLines {
  std::vector<std::string_view> texts;
  std::vector<uint32_t> of_block;
};

NumberedLines LinesOf(const Document& document, const DeviceView& device) {
  const model::Run& run = *document.run;
  classify::Origins origins(run, document.analysis->training());
  report::FramesToShow frames(run);
  NumberedLines lines = {{""}, std::vector<uint32_t>(run.blocks.size())};
  std::map<std::string_view, uint32_t> numbers = {{"", 0}};
  std::unordered_map<uint32_t, uint32_t> of_stack;
  for (const model::Change& change : run.devices[device.index].changes) {
    if (change.freed()) continue;
    const uint32_t own = run.blocks[change.block()].stack;
    const uint32_t stack = own != 0 ? own : origins.Of(change.block()).stack;
    const auto [known, is_new] = of_stack.try_emplace(stack, 0);
    if (is_new) {
      const auto [line, added] =
          numbers.try_emplace(frames.Of(stack), static_cast<uint32_t>(lines.texts.size()));
      if (added) lines.texts.push_back(line->first);
      known->second = line->second;
    }
    lines.of_block[change.block()] = known->second;
  }
  return lines;
}

}  // namespace

LineBands::LineBands(const Document& document, const DeviceView& device) {
  const model::Run& run = *document.run;
  const NumberedLines numbered = LinesOf(document, device);
  const auto& changes = run.devices[device.index].changes;
  struct Held {
    uint64_t now = 0;
    uint64_t most = 0;
  };
  std::vector<Held> held(numbered.texts.size());
  for (size_t i = 0; i < changes.size(); ++i) {
    const model::Change& change = changes[i];
    Held& of_line = held[numbered.of_block[change.block()]];
    const uint64_t bytes = run.blocks[change.block()].size;
    of_line.now = change.freed() ? of_line.now - bytes : of_line.now + bytes;
    of_line.most = std::max(of_line.most, of_line.now);
  }
  std::vector<uint32_t> largest;
  for (uint32_t line = 1; line < held.size(); ++line) largest.push_back(line);
  std::sort(largest.begin(), largest.end(), [&](uint32_t a, uint32_t b) {
    return held[a].most != held[b].most ? held[a].most > held[b].most : numbered.texts[a] < numbered.texts[b];
  });
  largest.resize(std::min(largest.size(), kLines));
  std::vector<size_t> band_of(held.size(), kLines);
  for (size_t i = 0; i < largest.size(); ++i) {
    band_of[largest[i]] = i;
    bands_[i] = {text::OneLine(numbered.texts[largest[i]]), DistinctRgb(i)};
  }
  bands_[kLines] = {"other lines", kOthersRgb};
  bands_[kLines + 1] = {"no stack was recorded", kUnknownRgb};

  std::array<std::vector<model::Since>, kCount - 1> values;
  std::array<int64_t, kCount - 1> sums = {};
  for (size_t i = 0; i < changes.size(); ++i) {
    const model::Change& change = changes[i];
    const uint32_t line = numbered.of_block[change.block()];
    if (line == 0) continue;
    const size_t band = band_of[line];
    const auto bytes = static_cast<int64_t>(run.blocks[change.block()].size);
    sums[band] += change.freed() ? -bytes : bytes;
    values[band].push_back({change.event, sums[band]});
  }
  for (size_t i = 0; i < values.size(); ++i) lines_[i] = StepLine(std::move(values[i]));
}

LineBands::Bytes LineBands::After(model::EventIndex event, uint64_t allocated) const {
  Bytes bytes = {};
  uint64_t known = 0;
  for (size_t i = 0; i + 1 < kCount; ++i) known += bytes[i] = lines_[i].After(event).value_or(0);
  bytes[kCount - 1] = allocated - std::min(known, allocated);
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

void LineBandsView::Update(const Document& document, const DeviceView& device,
                           const std::function<void()>& wake) {
  const auto compute = [&document, &device] { return LineBands(document, device); };
  if (bands_.Update(&device, wake, compute)) columns_.clear();
}

void LineBandsView::Forget() {
  bands_.Forget();
  columns_.clear();
}

void LineBandsView::Clear() {
  bands_.Clear();
  columns_.clear();
}

const std::vector<LineBands::Bytes>& LineBandsView::Columns(const TimelinePicture& picture,
                                                            const TimeView& window) {
  if (columns_.size() == picture.memory.size() && window_ == window) return columns_;
  window_ = window;
  columns_.clear();
  for (const MemoryColumn& column : picture.memory)
    columns_.push_back(bands()->After(column.high_event, column.high));
  return columns_;
}

}  // namespace vramscope::viewer
