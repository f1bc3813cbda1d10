// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/page.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/classify/usage.h"
#include "profiler/fragmentation/answer.h"
#include "profiler/fragmentation/cause.h"
#include "profiler/fragmentation/json.h"
#include "profiler/html/address_map.h"
#include "profiler/html/assets.h"
#include "profiler/html/document.h"
#include "profiler/html/fit.h"
#include "profiler/html/memory_columns.h"
#include "profiler/html/owner_tree.h"
#include "profiler/report/json.h"
#include "profiler/report/savings_json.h"
#include "profiler/timeline/curve.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;
using model::DeviceIndex;
using model::EventIndex;

constexpr size_t kReportBudget = 600'000;
constexpr size_t kFragmentationBudget = 100'000;
constexpr size_t kSegmentsShown = 8;
constexpr size_t kPinsShown = 4;

// Adds the names and colors that all views share.
void AddLegends(const model::Framework& framework, Json& picture) {
  picture["categories"] = CategoryLegend(framework);
  Json rows = Json::array();
  for (size_t i = 0; i < report::kDeviceRowCount; ++i) {
    const auto row = static_cast<report::DeviceRow>(i);
    const report::DeviceRowInfo& info = report::Info(row);
    rows.push_back({{"key", info.key},
                    {"name", WordsOf(row, framework).name},
                    {"color", HexColor(classify::Info(info.color_like).rgb)}});
  }
  picture["device_rows"] = std::move(rows);
  Json causes = Json::array();
  for (const fragmentation::Cause& cause : fragmentation::kCauses) {
    causes.push_back({{"key", cause.key},
                      {"name", cause.name},
                      {"meaning", cause.MeaningFor(framework.allocator)},
                      {"color", HexColor(cause.rgb)}});
  }
  picture["causes"] = std::move(causes);
  Json phases = Json::array();
  for (size_t i = 0; i < timeline::kPhaseCount; ++i)
    phases.push_back(timeline::PhaseName(static_cast<timeline::Phase>(i)));
  picture["phases"] = std::move(phases);
}

// The event of the answer's peak: of the whole run, or of the chosen steps.
EventIndex PeakEvent(const Content& content, const timeline::DeviceCurve& curve) {
  if (!content.answer.step_range.has_value()) return curve.peak().event;
  const timeline::Training& training = content.analysis.training()[curve.device().process];
  return curve
      .PeakWithin(training.StepNumber(content.answer.step_range->first)->begin,
                  training.StepNumber(content.answer.step_range->second)->end)
      .event;
}

void AddLayout(const Content& content, classify::Origins& origins, EventIndex peak, Json& picture) {
  const fragmentation::Subject& subject = *content.subject;
  const fragmentation::LayoutWalk walk(subject.history, subject.rules);
  const fragmentation::Moment moment = subject.MomentAfter(peak);
  const fragmentation::Layout layout = walk.At(moment);
  if (layout.segments().empty()) return;
  picture["map"] = AddressMap(content.analysis, origins, subject, layout, moment, peak);
  Json fragmentation = fragmentation::MomentJson(subject, AnswerFor(subject, layout, moment, "peak"));
  fragmentation["segments"] =
      fragmentation::SegmentsJson(subject, SegmentsOf(subject, layout, moment, kSegmentsShown, kPinsShown));
  Fit(fragmentation, kFragmentationBudget);
  picture["fragmentation"] = std::move(fragmentation);
}

void AddPictures(const Content& content, DeviceIndex device, Json& picture) {
  const model::Run& run = content.analysis.run();
  const timeline::DeviceCurve curve(run, device);
  const EventIndex peak = PeakEvent(content, curve);
  classify::Origins origins(run, content.analysis.training());
  const EventIndex at[] = {peak};
  const auto live = classify::LiveAt(run, curve.device(), at);
  picture["columns"] = MemoryColumns(content.analysis, device, peak);
  picture["owners"] = OwnerTrees(content.analysis, origins, live[0], peak);
  if (content.subject != nullptr) AddLayout(content, origins, peak, picture);
  picture["whatif"] = report::SavingsJson(content.answer.savings);
}

Json PictureOf(const Content& content, const Json& left_out) {
  Json picture = {
      {"file", CutText(content.title, 200)}, {"version", content.version}, {"left_out", left_out}};
  const auto& driver = content.answer.peak.driver;
  picture["capacity_bytes"] =
      driver.has_value() && driver->capacity.value_or(0) != 0 ? Json(*driver->capacity) : Json(nullptr);
  AddLegends(*content.answer.framework, picture);
  const DeviceIndex device = report::DeviceOf(content.analysis.run(), content.answer);
  if (device != model::kNone) AddPictures(content, device, picture);
  return picture;
}

}  // namespace

std::string MakePage(const Content& content) {
  Json report = Json::parse(report::ToJson(content.answer, -1));
  const Json left_out = Fit(report, kReportBudget);
  return MakeDocument({.title = content.title,
                       .version = content.version,
                       .noscript = "This report is drawn by its own script, which is turned off here. The "
                                   "numbers are in this file as JSON.",
                       .script = kScript,
                       .script_hash = kScriptHash},
                      report, PictureOf(content, left_out));
}

}  // namespace vramscope::html
