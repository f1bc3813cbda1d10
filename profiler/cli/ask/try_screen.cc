// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/try_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "profiler/text/json_dump.h"

namespace vramscope::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string VariesText(const Measured& run) {
  return fmt::format(
      "{}'s allocator may give a request up to twice its bytes. So the allocated peak varies from run to\n"
      "run, and the requested peak hardly does.\n",
      run.answer.framework->name);
}

std::string Difference(std::optional<uint64_t> before, std::optional<uint64_t> after) {
  if (!before || !after) return "";
  if (*before == *after) return "no change";
  const auto difference = static_cast<int64_t>(*after) - static_cast<int64_t>(*before);
  if (*before == 0) return FormatSignedBytes(difference);
  return fmt::format("{} ({})", FormatSignedBytes(difference), FormatChange(*before, *after));
}

std::string BytesOrDash(std::optional<uint64_t> bytes) { return bytes ? FormatBytes(*bytes) : "-"; }

std::string When(const report::Peak& peak) {
  if (peak.step == 0) return timeline::PhaseName(peak.phase);
  return fmt::format("step {}, {}", peak.step, timeline::PhaseName(peak.phase));
}

std::string Where(const TryPlan& plan, const Measured& after) {
  if (plan.dry) return fmt::format("{} (simulated)", plan.run.device.gpu.name);
  return after.answer.device.empty() ? "this machine" : after.answer.device;
}

std::string Ran(const Measured& run) {
  return run.fits ? FormatCount(run.answer.steps.size(), "step") : "out of memory";
}

// ", at least 20.0 MiB missing": for a run that did not fit.
std::string Missing(const Measured& run) {
  if (run.shortfall_bytes == 0) return "";
  return fmt::format(", at least {} missing", FormatBytes(run.shortfall_bytes));
}

// The peak that runs are compared by, and its name.
struct Compared {
  bool by_requests;
  const char* name;
  uint64_t before;
  uint64_t after;
};

Compared ComparedPeak(const Measured& before, const Measured& after) {
  if (before.ComparedByRequests() && after.ComparedByRequests())
    return {true, "requested", *before.requested_bytes, *after.requested_bytes};
  return {false, "allocated", before.answer.peak.allocated_bytes, after.answer.peak.allocated_bytes};
}

std::string VerdictText(const Measured& before, const Measured& after, const Compared& peak,
                        const std::vector<Outcome>& outcomes) {
  if (std::ranges::all_of(outcomes, [](const Outcome& outcome) { return outcome.applied.empty(); }))
    return "No part of the change was applied: the command ran unchanged.";
  if (!after.fits)
    return fmt::format("The command runs out of memory with the change{}{}.",
                       before.fits ? ", but not without the change" : " too", Missing(after));
  if (!before.fits)
    return fmt::format("The command fits with the change. Without the change, it ran out of memory{}.",
                       Missing(before));
  if (peak.before == peak.after)
    return fmt::format("The change does not change the peak of {} memory.", peak.name);
  const bool falls = peak.after < peak.before;
  const uint64_t difference = falls ? peak.before - peak.after : peak.after - peak.before;
  return fmt::format(
      "The peak of {} memory {} from {} to {}, {:.1f} % {}.", peak.name, falls ? "falls" : "rises",
      FormatBytes(peak.before), FormatBytes(peak.after),
      100.0 * static_cast<double>(difference) / static_cast<double>(std::max<uint64_t>(peak.before, 1)),
      falls ? "less" : "more");
}

std::string AppliedText(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& outcome : outcomes)
    for (const std::string& what : outcome.applied)
      text += fmt::format("  {:<18}{}\n", outcome.lever, Printable(what));
  return text.empty() ? "" : "Applied:\n" + text;
}

// Printed before the changed run. If a part was not applied, the prediction is for a different change.
std::string PredictedText(const Predicted& predicted, const std::vector<Outcome>& outcomes) {
  if (!predicted.known()) return "";
  return fmt::format(
      "Predicted from the unchanged run: {} allocated, {} reserved; at most {} and {} in 99 of 100 runs{}.\n",
      FormatBytes(predicted.allocated_bytes), FormatBytes(predicted.reserved_bytes),
      FormatBytes(predicted.allocated_at_most_bytes), FormatBytes(predicted.reserved_at_most_bytes),
      AllApplied(outcomes) ? "" : ", for the whole change");
}

// The lines of code to write. For a lever that is never applied from outside, they come from the prediction,
// which knows the program.
std::vector<std::string> LinesFor(const TryPlan& plan, const Outcome& outcome, const Predicted& predicted) {
  if (outcome.lines) return *outcome.lines;
  const auto code = predicted.code.find(outcome.lever);
  if (plan.change.WhyBeyond(outcome.lever) == nullptr || code == predicted.code.end())
    return LinesToWrite(plan.change, outcome.lever, plan.run.command);
  std::vector<std::string> lines;
  std::istringstream stream(code->second);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Json PredictedOf(const Predicted& predicted) {
  if (!predicted.known())
    return predicted.why_not.empty() ? Json(nullptr) : Json{{"why_not", predicted.why_not}};
  return {{"allocated_bytes", predicted.allocated_bytes},
          {"reserved_bytes", predicted.reserved_bytes},
          {"allocated_at_most_bytes", predicted.allocated_at_most_bytes},
          {"reserved_at_most_bytes", predicted.reserved_at_most_bytes}};
}

Json PeakOf(const Measured& run) {
  const report::Peak& peak = run.answer.peak;
  Json categories = Json::object();
  for (size_t index = 0; index < peak.categories.size(); ++index)
    categories[classify::Info(static_cast<classify::Category>(index)).key] = peak.categories[index];
  return {{"allocated_bytes", peak.allocated_bytes},
          {"requested_peak_bytes", run.requested_bytes ? Json(*run.requested_bytes) : Json(nullptr)},
          {"reserved_bytes", peak.reserved_bytes ? Json(*peak.reserved_bytes) : Json(nullptr)},
          {"reserved_peak_bytes", run.reserved_bytes ? Json(*run.reserved_bytes) : Json(nullptr)},
          {"device_used_bytes", run.device_used_bytes ? Json(*run.device_used_bytes) : Json(nullptr)},
          {"step", peak.step == 0 ? Json(nullptr) : Json(peak.step)},
          {"phase", timeline::PhaseName(peak.phase)},
          {"categories", categories}};
}

Json RunOf(const Measured& run) {
  return {{"fits", run.fits},
          {"shortfall_bytes", run.shortfall_bytes},
          {"steps", run.answer.steps.size()},
          {"stopped_after_step", run.stopped_after == 0 ? Json(nullptr) : Json(run.stopped_after)},
          {"peak", PeakOf(run)}};
}

}  // namespace

bool AllApplied(const std::vector<Outcome>& outcomes) {
  return std::ranges::none_of(outcomes, [](const Outcome& outcome) { return outcome.applied.empty(); });
}

std::string NotAppliedText(const TryPlan& plan, const std::vector<Outcome>& outcomes,
                           const Predicted& predicted) {
  std::string text;
  for (const Outcome& outcome : outcomes) {
    for (const std::string& why : outcome.refused)
      text += fmt::format("  {:<18}{}.\n", outcome.lever, Printable(why));
    const std::vector<std::string> lines =
        outcome.refused.empty() ? std::vector<std::string>{} : LinesFor(plan, outcome, predicted);
    if (lines.empty()) continue;
    text += "    In code:\n";
    for (const std::string& line : lines) text += fmt::format("      {}\n", Printable(line));
  }
  return text.empty() ? "" : "Not applied:\n" + text;
}

std::string TryText(const TryPlan& plan, const Measured& before, const Measured& after,
                    const std::vector<Outcome>& outcomes, const Predicted& predicted,
                    const Terminal& terminal) {
  const Compared peak = ComparedPeak(before, after);
  const bool good = AllApplied(outcomes) && after.fits && (!before.fits || peak.after <= peak.before);
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"", "before", "after", ""});
  // A run that ended for lack of memory is incomplete, so its peaks cannot be compared.
  const bool comparable = before.fits && after.fits;
  const auto add_known = [&](const char* name, std::optional<uint64_t> old_bytes,
                             std::optional<uint64_t> new_bytes) {
    if (!old_bytes && !new_bytes) return;
    table.AddRow({name, BytesOrDash(old_bytes), BytesOrDash(new_bytes),
                  comparable ? Difference(old_bytes, new_bytes) : ""});
  };
  if (peak.by_requests) add_known("Peak requested", before.requested_bytes, after.requested_bytes);
  add_known("Peak allocated", before.answer.peak.allocated_bytes, after.answer.peak.allocated_bytes);
  add_known("Peak reserved", before.reserved_bytes, after.reserved_bytes);
  add_known("Device used", before.device_used_bytes, after.device_used_bytes);
  table.AddRow({"Peak in", When(before.answer.peak), When(after.answer.peak), ""});
  table.AddRow({"Ran", Ran(before), Ran(after), ""});
  return fmt::format(
      "{}\nMeasured on {}: {}\n{}{}{}{}{}",
      terminal.Paint(VerdictText(before, after, peak, outcomes), good ? Ink::Good() : Ink::Bad()),
      Where(plan, after), Printable(plan.change.Text()), table.ToString(),
      peak.by_requests ? VariesText(after) : "", PredictedText(predicted, outcomes), AppliedText(outcomes),
      NotAppliedText(plan, outcomes, predicted));
}

std::string TryJson(const TryPlan& plan, const Measured& before, const Measured& after,
                    const std::vector<Outcome>& outcomes, const Predicted& predicted) {
  Json document = {{"schema_version", 1},
                   {"change", plan.change.Text()},
                   {"simulated", plan.dry},
                   {"gpu", plan.dry ? Json(plan.run.device.gpu.name) : Json(nullptr)},
                   {"device", after.answer.device.empty() ? Json(nullptr) : Json(after.answer.device)},
                   {"before", RunOf(before)},
                   {"after", RunOf(after)},
                   {"predicted", PredictedOf(predicted)},
                   {"applied", Json::array()},
                   {"not_applied", Json::array()}};
  for (const Outcome& outcome : outcomes) {
    for (const std::string& what : outcome.applied)
      document["applied"].push_back({{"option", outcome.lever}, {"what", what}});
    for (const std::string& why : outcome.refused)
      document["not_applied"].push_back(
          {{"option", outcome.lever}, {"why", why}, {"lines", LinesFor(plan, outcome, predicted)}});
  }
  return text::Dump(document);
}

}  // namespace vramscope::cli
