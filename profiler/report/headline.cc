// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/headline.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/classify/category_words.h"
#include "profiler/text/format.h"

namespace vramscope::report {

std::string PlaceInTime(const Moment& moment, const Answer& answer) {
  if (moment.step != 0) {
    const bool says_phase = moment.phase != timeline::Phase::kOther;
    return fmt::format("step {}{}{}", moment.step, says_phase ? ", " : "",
                       says_phase ? timeline::PhaseName(moment.phase) : "");
  }
  if (answer.steps.empty()) return text::FormatMoment(moment.time_ns, answer.counts_events);
  return moment.time_ns < answer.steps.front().begin_ns ? "the start, before the first step"
                                                        : "the end, after the last step";
}

std::string PeakClause(const Answer& answer) {
  const Peak& peak = answer.peak;
  const auto largest = std::max_element(peak.categories.begin(), peak.categories.end());
  const auto category = static_cast<classify::Category>(largest - peak.categories.begin());
  return fmt::format("at {}: {} {} ({}).", PlaceInTime(peak, answer),
                     WordsOf(category, *answer.framework).clause, text::FormatBytes(*largest),
                     text::FormatPercent(*largest, peak.allocated_bytes));
}

std::string OriginOfPeak(const Peak& peak) {
  std::string origin;
  for (const std::string& part : {peak.module, peak.node, peak.op == peak.node ? std::string() : peak.op}) {
    if (!part.empty()) origin += (origin.empty() ? "" : ", ") + part;
  }
  return origin;
}

}  // namespace vramscope::report
