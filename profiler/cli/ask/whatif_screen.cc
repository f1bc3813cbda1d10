// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/whatif_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "profiler/cli/frame/device_request.h"
#include "profiler/fragmentation/answer.h"
#include "profiler/report/spoken_json.h"
#include "profiler/text/json_dump.h"
#include "profiler/whatif/answer/words.h"

namespace vramscope::cli {
namespace {

using Json = nlohmann::ordered_json;
using whatif::Prediction;
using whatif::Use;

constexpr int kWhatifSchema = 1;

// The category with the largest share of the peak.
const classify::CategoryInfo& LargestOf(const Use& use) {
  const auto largest = std::max_element(use.peak.categories.begin(), use.peak.categories.end());
  return classify::Info(static_cast<classify::Category>(largest - use.peak.categories.begin()));
}

std::string PlaceOf(const Use& use) {
  if (!use.place.empty()) return "at a moment outside this step: " + use.place;
  const uint64_t largest = *std::max_element(use.peak.categories.begin(), use.peak.categories.end());
  return fmt::format("in {}, {} are {} of it", use.peak.phase, LargestOf(use).plural,
                     FormatPercent(largest, use.peak.bytes));
}

double FragmentationOf(const Use& use) {
  return fragmentation::FragmentationOf(use.allocator.allocated_peak, use.allocator.reserved_peak);
}

// The error band from the published errors of these levers.
std::string BandText(const Prediction& prediction) {
  const whatif::ErrorBand& band = prediction.band;
  const whatif::Replayed& after = prediction.after.allocator;
  std::string text = fmt::format(
      "\n  In 99 of 100 runs at most {} allocated and {} reserved, "
      "according to the published errors of {}.\n",
      FormatBytes(band.AllocatedAtMost(after.allocated_peak)),
      FormatBytes(band.ReservedAtMost(after.reserved_peak)),
      prediction.levers.size() == 1 ? "this change" : "these changes");
  for (const std::string& lever : band.not_measured)
    text += fmt::format(
        "  No errors are published for {} alone: the largest error of all changes was used, at least 5 %.\n",
        lever);
  return text;
}

// "Re-run: PyTorch ran the recorded program with --amp bf16, on the simulated rtx-4090."
std::string KindText(const WhatifCase& one) {
  std::string text;
  if (!one.gpu.empty()) {
    std::string changes;
    for (size_t i = 0; i < one.rerun_levers; ++i) {
      const whatif::Asked& asked = one.prediction.levers[i].asked;
      changes += fmt::format("{} --{} {}", i == 0 ? " with" : "", asked.lever, Printable(asked.value));
    }
    text += fmt::format("\n  Re-run: PyTorch ran the recorded program{}, on the simulated {}{}.\n", changes,
                        one.gpu, one.was_kept ? "; kept from an earlier run" : "");
    if (one.kind == AnswerKind::kTransformed)
      text += "  The other changes were computed on the step of that re-run.\n";
  }
  for (const std::string& note : one.notes) text += fmt::format("  Note: {}.\n", Printable(note));
  return text;
}

std::string OneCase(const WhatifCase& one, std::optional<uint64_t> beside, const Terminal& terminal) {
  const Prediction& prediction = one.prediction;
  const Use& before = prediction.before;
  const Use& after = prediction.after;
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"", "before", "after", ""});
  table.AddRow({"peak allocated", FormatBytes(before.allocator.allocated_peak),
                FormatBytes(after.allocator.allocated_peak),
                FormatChange(before.allocator.allocated_peak, after.allocator.allocated_peak)});
  table.AddRow({"reserved then", FormatBytes(before.allocator.reserved_then),
                FormatBytes(after.allocator.reserved_then),
                FormatChange(before.allocator.reserved_then, after.allocator.reserved_then)});
  table.AddRow({"peak reserved", FormatBytes(before.allocator.reserved_peak),
                FormatBytes(after.allocator.reserved_peak),
                FormatChange(before.allocator.reserved_peak, after.allocator.reserved_peak)});
  if (beside) {
    const uint64_t used = before.allocator.reserved_peak + *beside;
    const uint64_t would = after.allocator.reserved_peak + *beside;
    table.AddRow({"device used", FormatBytes(used), FormatBytes(would), FormatChange(used, would)});
  }
  constexpr double kPercent = 100;
  table.AddRow({"fragmentation", fmt::format("{:.1f} %", kPercent * FragmentationOf(before)),
                fmt::format("{:.1f} %", kPercent * FragmentationOf(after)), ""});
  std::string text = table.ToString();
  text += KindText(one);
  if (prediction.levers.size() > one.rerun_levers) text += BandText(prediction);
  text += fmt::format("\n  The peak was {}.\n", PlaceOf(before));
  if (!prediction.levers.empty()) text += fmt::format("  It would be {}.\n", PlaceOf(after));
  for (const whatif::Applied& applied : prediction.levers) {
    text += fmt::format("\n  {} {}\n", terminal.Paint("--" + applied.asked.lever, Ink::Bold()),
                        Printable(applied.asked.value));
    text += whatif::LeverLines(applied);
  }
  return text;
}

std::string RefusedText(const Prediction& prediction) {
  std::string text;
  for (const whatif::Refused& refused : prediction.refused)
    text += fmt::format("\n  not applied: --{} {}: {}\n", refused.asked.lever, Printable(refused.asked.value),
                        refused.reason);
  return text;
}

const std::string& MomentOf(const Use& use) { return use.place.empty() ? use.peak.phase : use.place; }

std::string CaseTable(const WhatifAnswer& answer) {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"", "allocated", "", "reserved", "", "peak in"});
  const Use& before = answer.baseline->use;
  table.AddRow({"as recorded", FormatBytes(before.allocator.allocated_peak), "",
                FormatBytes(before.allocator.reserved_peak), "", MomentOf(before)});
  for (const WhatifCase& one : answer.cases) {
    const Use& after = one.prediction.after;
    if (!one.prediction.refused.empty()) {
      table.AddRow({Printable(one.title), "not applied"});
      continue;
    }
    table.AddRow({Printable(one.title), FormatBytes(after.allocator.allocated_peak),
                  FormatChange(before.allocator.allocated_peak, after.allocator.allocated_peak),
                  FormatBytes(after.allocator.reserved_peak),
                  FormatChange(before.allocator.reserved_peak, after.allocator.reserved_peak),
                  MomentOf(after)});
  }
  return table.ToString();
}

// Adds to the levers of LeversJson how each was answered.
Json LeversOf(const WhatifCase& one) {
  Json levers = LeversJson(one.prediction);
  for (size_t i = 0; i < levers.size(); ++i)
    levers[i]["kind"] =
        experiment::NameOf(i < one.rerun_levers ? AnswerKind::kRerun : AnswerKind::kTransformed);
  return levers;
}

Json RerunJson(const WhatifCase& one) {
  if (one.gpu.empty()) return nullptr;
  return {{"gpu", one.gpu}, {"was_kept", one.was_kept}};
}

Json RefusedJson(const Prediction& prediction) {
  Json all = Json::array();
  for (const whatif::Refused& refused : prediction.refused)
    all.push_back(
        {{"lever", refused.asked.lever}, {"value", refused.asked.value}, {"reason", refused.reason}});
  return all;
}

}  // namespace

Json UseJson(const Use& use, std::optional<uint64_t> beside_bytes) {
  Json categories = Json::object();
  for (size_t i = 0; i < classify::kCategoryCount; ++i) {
    if (use.peak.categories[i] != 0)
      categories[classify::Info(static_cast<classify::Category>(i)).key] = use.peak.categories[i];
  }
  return {{"peak",
           {{"allocated_bytes", use.allocator.allocated_peak},
            {"reserved_bytes", use.allocator.reserved_then},
            {"reserved_peak_bytes", use.allocator.reserved_peak},
            {"device_used_bytes",
             beside_bytes ? Json(use.allocator.reserved_peak + *beside_bytes) : Json(nullptr)},
            {"fragmentation", FragmentationOf(use)},
            {"requested_bytes", use.peak.bytes},
            {"decided_by", use.place.empty() ? Json(nullptr) : Json(use.place)},
            {"phase", use.peak.phase},
            {"category", LargestOf(use).key},
            {"categories", categories}}}};
}

Json BandJson(const Prediction& prediction) {
  const whatif::ErrorBand& band = prediction.band;
  const whatif::Replayed& after = prediction.after.allocator;
  return {{"confidence", whatif::kBandConfidence},
          {"allocated_at_least_bytes", band.AllocatedAtLeast(after.allocated_peak)},
          {"allocated_at_most_bytes", band.AllocatedAtMost(after.allocated_peak)},
          {"reserved_at_least_bytes", band.ReservedAtLeast(after.reserved_peak)},
          {"reserved_at_most_bytes", band.ReservedAtMost(after.reserved_peak)},
          {"cells", band.cells},
          {"not_measured", band.not_measured}};
}

Json LeversJson(const Prediction& prediction) {
  Json all = Json::array();
  for (const whatif::Applied& applied : prediction.levers) {
    const bool timed = !applied.outcome.time_basis.empty();
    all.push_back(
        {{"lever", applied.asked.lever},
         {"value", applied.asked.value},
         {"code", applied.outcome.code},
         {"extra_ns", timed ? Json(static_cast<uint64_t>(applied.outcome.extra_ns)) : Json(nullptr)},
         {"time_basis", timed ? Json(applied.outcome.time_basis) : Json(nullptr)},
         {"notes", applied.outcome.notes}});
  }
  return all;
}

std::string WhatifText(const WhatifAnswer& answer, const Terminal& terminal) {
  std::string text =
      fmt::format("{}: step {} on {}.\n\n", terminal.Paint(Printable(answer.path), Ink::Bold()),
                  answer.step->number, AboutText(answer.spoken.text, answer.spoken.others));
  if (!answer.failed.empty()) text += terminal.Paint(answer.failed, Ink::Warning()) + "\n\n";
  if (answer.table) {
    text += CaseTable(answer);
  } else {
    text += OneCase(answer.cases.front(), answer.beside_bytes, terminal);
  }
  for (const WhatifCase& one : answer.cases) text += RefusedText(one.prediction);
  return text;
}

std::string WhatifJson(const WhatifAnswer& answer) {
  const whatif::Step& step = *answer.step;
  const Prediction& first = answer.cases.front().prediction;
  Json document = {{"schema_version", kWhatifSchema}};
  report::AddSpoken(answer.spoken, document);
  document["failed"] = answer.failed.empty() ? Json(nullptr) : Json(answer.failed);
  document["step"] = step.number;
  document["recorded_allocated_bytes"] = answer.baseline->recorded_allocated;
  document["before"] = UseJson(answer.baseline->use, answer.beside_bytes);
  if (!answer.table) {
    document["kind"] = experiment::NameOf(answer.cases.front().kind);
    document["program_run"] = RerunJson(answer.cases.front());
    document["notes"] = answer.cases.front().notes;
    document["after"] = UseJson(first.after, answer.beside_bytes);
    document["error_band"] = BandJson(first);
    document["levers"] = LeversOf(answer.cases.front());
    document["refused"] = RefusedJson(first);
  } else {
    Json cases = Json::array();
    for (const WhatifCase& one : answer.cases) {
      cases.push_back({{"title", one.title},
                       {"kind", experiment::NameOf(one.kind)},
                       {"program_run", RerunJson(one)},
                       {"notes", one.notes},
                       {"after", UseJson(one.prediction.after, answer.beside_bytes)},
                       {"error_band", BandJson(one.prediction)},
                       {"levers", LeversOf(one)},
                       {"refused", RefusedJson(one.prediction)}});
    }
    document["cases"] = cases;
  }
  return text::Dump(document) + "\n";
}

}  // namespace vramscope::cli
