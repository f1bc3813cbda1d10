// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/timeline_picture.h"

#include <algorithm>

namespace vramscope::viewer {
namespace {

using timeline::Training;

void AddBands(const Training& training, TimelinePicture& picture) {
  for (size_t i = 0; i < picture.columns.size(); ++i) {
    const model::EventIndex at = picture.columns[i].last;
    const timeline::Phase phase = timeline::PhaseOf(training.SpanAt(at).part);
    if (!picture.phases.empty() && picture.phases.back().last == i && picture.phases.back().phase == phase) {
      ++picture.phases.back().last;
    } else if (phase != timeline::Phase::kOther) {
      picture.phases.push_back({i, i + 1, phase});
    }
    const timeline::Step* step = training.StepAt(at);
    if (step == nullptr) continue;
    if (!picture.steps.empty() && picture.steps.back().last == i &&
        picture.steps.back().step == step->number) {
      ++picture.steps.back().last;
    } else {
      picture.steps.push_back({i, i + 1, step->number, step->deep});
    }
  }
}

std::vector<Extremes> Columns(const StepLine& line, const std::vector<EventColumn>& columns) {
  std::vector<Extremes> result;
  if (line.empty()) return result;
  result.reserve(columns.size());
  for (const EventColumn& column : columns) result.push_back(line.Over(column.first, column.last));
  return result;
}

}  // namespace

TimelinePicture DrawTimeline(const Document& document, const DeviceView& device, const TimeView& view,
                             size_t columns) {
  TimelinePicture picture;
  picture.columns = ColumnsOf(document.run->times, view, columns);
  picture.memory.reserve(columns);
  MemorySeries::Walk walk(device.series);
  for (const EventColumn& column : picture.columns) {
    picture.memory.push_back(walk.Over(column.first, column.last));
  }
  picture.reserved = Columns(device.reserved, picture.columns);
  picture.used = Columns(device.used, picture.columns);
  AddBands(document.training(device), picture);
  return picture;
}

}  // namespace vramscope::viewer
