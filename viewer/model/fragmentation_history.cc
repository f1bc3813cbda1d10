// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/fragmentation_history.h"

#include <algorithm>
#include <utility>

#include "profiler/allocator/rerun.h"
#include "profiler/fragmentation/model_words.h"
#include "profiler/fragmentation/trial.h"

namespace vramscope::viewer {
namespace {

using fragmentation::SeriesPoint;

constexpr size_t kPoints = 1024;

SettingsOutcome Try(const allocator::History& history, const std::string& settings) {
  SettingsOutcome outcome;
  outcome.settings = settings;
  allocator::RerunRequest request;
  request.settings = settings;
  const auto run = allocator::Rerun(history, request);
  if (run.ok())
    outcome.peak_reserved = run->peak.reserved_bytes;
  else
    outcome.refused = run.error().sentence;
  return outcome;
}

}  // namespace

FragmentationOverTime MakeFragmentationOverTime(const LayoutView& layout) {
  FragmentationOverTime made;
  fragmentation::Question question;
  question.segments = 1;
  question.pins = 1;
  question.points = kPoints;
  auto answer = fragmentation::BuildAnswer(layout.subject, *layout.walk, question);
  if (answer.ok()) made.points = std::move(answer->series);
  const allocator::History& history = layout.subject.history;
  made.outcomes.push_back({history.settings, true, layout.walk->peak_reserved(), ""});
  made.outcomes.push_back(Try(history, history.settings));
  for (const char* setting : fragmentation::WordsOf(history.model).few_settings) {
    const std::string settings = fragmentation::WithSetting(history.settings, setting);
    if (settings != history.settings) made.outcomes.push_back(Try(history, settings));
  }
  return made;
}

std::vector<const SeriesPoint*> ColumnsOf(const std::vector<SeriesPoint>& points, const TimeView& view,
                                          size_t columns) {
  std::vector<const SeriesPoint*> drawn(columns, nullptr);
  const auto after = [](double time, const SeriesPoint& point) {
    return time < static_cast<double>(point.time_ns);
  };
  for (size_t i = 0; i < columns; ++i) {
    const double begin = view.TimeAt(static_cast<double>(i) / static_cast<double>(columns));
    const double end = view.TimeAt(static_cast<double>(i + 1) / static_cast<double>(columns));
    auto point = std::upper_bound(points.begin(), points.end(), begin, after);
    if (point != points.begin()) --point;  // it holds until the next one
    for (; point != points.end() && static_cast<double>(point->time_ns) < end; ++point) {
      if (drawn[i] == nullptr || point->causes.Sum() > drawn[i]->causes.Sum()) drawn[i] = &*point;
    }
  }
  return drawn;
}

void FragmentationHistory::Update(const LayoutView& layout, const std::function<void()>& wake) {
  over_time_.Update(&layout, wake, [&layout] { return MakeFragmentationOverTime(layout); });
}

}  // namespace vramscope::viewer
