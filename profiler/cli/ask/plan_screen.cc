// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/plan_screen.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profiler/cli/ask/whatif_screen.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/plan/words.h"
#include "profiler/report/spoken_json.h"
#include "profiler/text/json_dump.h"
#include "profiler/whatif/answer/words.h"

namespace vramscope::cli {
namespace {

using Json = nlohmann::ordered_json;
using plan::Plan;

constexpr int kPlanSchema = 1;

uint64_t Reserved(const plan::Verdict& verdict) { return verdict.prediction.after.allocator.reserved_peak; }
uint64_t Allocated(const plan::Verdict& verdict) { return verdict.prediction.after.allocator.allocated_peak; }

std::string HeadText(const PlanSubject& subject, const Terminal& terminal) {
  const RecordedStep& recorded = *subject.recorded;
  const whatif::Replayed& before = recorded.baseline.use.allocator;
  const std::string what = recorded.baseline.use.place.empty()
                               ? fmt::format("step {}", recorded.step.number)
                               : fmt::format("the run ({})", recorded.baseline.use.place);
  const std::string failed = recorded.failed.empty() ? "" : recorded.failed + "\n";
  return fmt::format("{}{}: {} on {} takes {} allocated and {} reserved.\n", failed,
                     terminal.Paint(Printable(subject.path), Ink::Bold()), what,
                     AboutText(recorded.spoken.text, recorded.spoken.others),
                     FormatBytes(before.allocated_peak), FormatBytes(before.reserved_peak));
}

std::string SearchText(const plan::Answer& answer) {
  if (!answer.plans.empty())
    return answer.complete ? "" : "  The search ended here. There may be more plans, but they cost more.\n";
  return answer.complete ? ""
                         : "The search ended before all plans were ruled out. To shorten the search, "
                           "name fewer changes with --allow.\n";
}

std::string VerifiedText(const Verified& verified, bool rerun) {
  if (!verified.why_not.empty())
    return fmt::format("   Not {}: {}.\n", rerun ? "re-run" : "verified", Printable(verified.why_not));
  return fmt::format("   {}: {} allocated, {} reserved; it fits.\n", rerun ? "Re-run" : "Measured",
                     FormatBytes(verified.allocated_bytes), FormatBytes(verified.reserved_bytes));
}

std::string LeftOutText(const PlanAnswer& answer) {
  std::string text;
  for (const auto& [changes, verified] : answer.left_out)
    text += fmt::format("  {}: {}.\n", plan::PlanOptions(changes),
                        verified.why_not.empty() ? fmt::format("{} reserved, at most {}: too much",
                                                               FormatBytes(verified.reserved_bytes),
                                                               FormatBytes(verified.at_most_bytes))
                                                 : Printable(verified.why_not));
  return text.empty() ? ""
                      : "\n"
                        "These plans were run and left out:\n" +
                            text;
}

std::string OnePlan(size_t number, const Plan& plan, const Terminal& terminal) {
  std::string text =
      fmt::format("\n{}. {}\n", number, terminal.Paint(plan::PlanOptions(plan.verdict.changes), Ink::Bold()));
  for (const whatif::Applied& lever : plan.verdict.prediction.levers) text += whatif::LeverLines(lever);
  if (!plan.exact && plan.least_ns == 0)
    text += "    Subsets of these modules were not tried; fewer may be enough.\n";
  else if (!plan.exact)
    text += fmt::format(
        "    Another choice of modules could cost less time, but would cost at least {} a step.\n",
        FormatDuration(static_cast<uint64_t>(plan.least_ns)));
  return text;
}

std::string PlanTable(const PlanSubject& subject, const plan::Answer& answer) {
  const whatif::Replayed& before = subject.recorded->baseline.use.allocator;
  Table table({Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
               Align::kRight});
  table.AddRow({"", "allocated", "", "reserved", "", "at most", "more time"});
  table.AddRow({"recorded", FormatBytes(before.allocated_peak), "", FormatBytes(before.reserved_peak)});
  for (size_t i = 0; i < answer.plans.size(); ++i) {
    const plan::Verdict& verdict = answer.plans[i].verdict;
    table.AddRow({fmt::format("{}.", i + 1), FormatBytes(Allocated(verdict)),
                  FormatChange(before.allocated_peak, Allocated(verdict)), FormatBytes(Reserved(verdict)),
                  FormatChange(before.reserved_peak, Reserved(verdict)), FormatBytes(verdict.needed),
                  plan::PlanTime(verdict)});
  }
  return table.ToString();
}

std::string NothingFits(const PlanSubject& subject, const plan::Answer& answer, const Terminal& terminal) {
  const plan::Verdict& floor = answer.floor;
  const uint64_t missing = floor.needed - std::min(floor.needed, subject.reserved_limit);
  return fmt::format("{}\n{}The smallest result is {} reserved, at most {} in 99 of 100 runs, with\n    {}\n",
                     terminal.Paint(fmt::format("No allowed change makes the run fit: {} are missing.",
                                                FormatBytes(missing)),
                                    Ink::Bad()),
                     SearchText(answer), FormatBytes(Reserved(floor)), FormatBytes(floor.needed),
                     plan::PlanOptions(floor.changes));
}

Json ChangesJson(const plan::Changes& changes) {
  Json all = Json::array();
  for (const whatif::Asked& change : changes)
    all.push_back({{"lever", change.lever}, {"value", change.value}});
  return all;
}

Json VerifiedJson(const Verified& verified) {
  if (!verified.why_not.empty()) return {{"why_not", verified.why_not}};
  return {{"allocated_bytes", verified.allocated_bytes},
          {"reserved_bytes", verified.reserved_bytes},
          {"device_used_bytes", verified.device_used_bytes},
          {"fits", !verified.refuted}};
}

Json PlanVerdictJson(const plan::Verdict& verdict, std::optional<uint64_t> beside_bytes) {
  return {{"changes", ChangesJson(verdict.changes)},
          {"after", UseJson(verdict.prediction.after, beside_bytes)},
          {"error_band", BandJson(verdict.prediction)},
          {"reserved_at_most_bytes", verdict.needed},
          {"extra_ns",
           plan::IsTimed(verdict) ? Json(static_cast<uint64_t>(verdict.rank.extra_ns)) : Json(nullptr)},
          {"open_time", verdict.rank.open},
          {"levers", LeversJson(verdict.prediction)}};
}

// Bytes used outside PyTorch, on the device that the program must fit on; nothing if they were not recorded.
std::optional<uint64_t> BesideOn(const PlanSubject& subject) {
  return subject.beside ? std::optional(subject.beside_bytes) : std::nullopt;
}

Json HeadJson(const PlanSubject& subject) {
  const RecordedStep& recorded = *subject.recorded;
  Json head = {{"schema_version", kPlanSchema}};
  report::AddSpoken(recorded.spoken, head);
  head["failed"] = recorded.failed.empty() ? Json(nullptr) : Json(recorded.failed);
  head["step"] = recorded.step.number;
  head["before"] = UseJson(recorded.baseline.use, BesideOn(subject));
  head["fit_bytes"] = subject.fit_bytes == 0 ? Json(nullptr) : Json(subject.fit_bytes);
  head["beside_bytes"] = subject.beside ? Json(subject.beside_bytes) : Json(nullptr);
  return head;
}

std::string Dumped(const Json& document) { return text::Dump(document) + "\n"; }

}  // namespace

const Verified* PlanAnswer::VerifiedOf(const plan::Plan& plan) const {
  const auto found = verified.find(plan::TextOf(plan.verdict.changes));
  return found == verified.end() ? nullptr : &found->second;
}

std::string PlanText(const PlanSubject& subject, const PlanAnswer& answer, const Terminal& terminal) {
  std::string text = HeadText(subject, terminal);
  text += fmt::format("The run must fit in {}. ", subject.limit_name) + plan::BesideText(subject) + "\n\n";
  if (answer.plans.fits_already)
    return text + terminal.Paint("The run fits without any change.", Ink::Good()) + "\n";
  if (answer.plans.plans.empty())
    return text + NothingFits(subject, answer.plans, terminal) + LeftOutText(answer);
  text += PlanTable(subject, answer.plans);
  text += "\n  Cheapest first: by time, then by how much of the program changes.";
  text += answer.verified_on.empty() ? " 99 of 100 runs stay within \"at most\".\n"
                                     : " \"At most\" was measured.\n";
  text += SearchText(answer.plans);
  for (size_t i = 0; i < answer.plans.plans.size(); ++i) {
    text += OnePlan(i + 1, answer.plans.plans[i], terminal);
    if (const Verified* verified = answer.VerifiedOf(answer.plans.plans[i]))
      text += VerifiedText(*verified, answer.rerun);
  }
  text += LeftOutText(answer);
  if (!answer.why_not_rerun.empty())
    text += fmt::format("\nPredicted, not re-run: {}.\n", Printable(answer.why_not_rerun));
  if (!answer.verified_on.empty()) text += fmt::format("\nMeasured on {} (simulated).\n", answer.verified_on);
  return text;
}

std::string PlanJson(const PlanSubject& subject, const PlanAnswer& answer) {
  Json document = HeadJson(subject);
  document["reserved_limit_bytes"] = subject.reserved_limit;
  document["fits_as_recorded"] = answer.plans.fits_already;
  document["plans"] = Json::array();
  for (size_t i = 0; i < answer.plans.plans.size(); ++i) {
    const Plan& plan = answer.plans.plans[i];
    Json one = PlanVerdictJson(plan.verdict, BesideOn(subject));
    one["exact"] = plan.exact;
    one["least_extra_ns"] = plan.exact ? Json(nullptr) : Json(static_cast<uint64_t>(plan.least_ns));
    if (const Verified* verified = answer.VerifiedOf(plan))
      one[answer.rerun ? "rerun" : "measured"] = VerifiedJson(*verified);
    document["plans"].push_back(std::move(one));
  }
  const bool none = answer.plans.plans.empty();
  document["floor"] = none ? PlanVerdictJson(answer.plans.floor, BesideOn(subject)) : Json(nullptr);
  document["shortfall_bytes"] =
      none ? answer.plans.floor.needed - std::min(answer.plans.floor.needed, subject.reserved_limit) : 0;
  document["complete"] = answer.plans.complete;
  document["replays"] = answer.plans.replays;
  if (!answer.verified_on.empty()) document["measured_on"] = answer.verified_on;
  if (!answer.verified_on.empty() || answer.rerun) {
    document["left_out"] = Json::array();
    for (const auto& [changes, verified] : answer.left_out)
      document["left_out"].push_back(
          {{"changes", ChangesJson(changes)}, {answer.rerun ? "rerun" : "measured", VerifiedJson(verified)}});
  }
  if (!answer.why_not_rerun.empty()) document["why_not_rerun"] = answer.why_not_rerun;
  return Dumped(document);
}

std::string LargestBatchText(const PlanSubject& subject, const plan::LargestBatches& answer,
                             const Terminal& terminal) {
  std::string text = HeadText(subject, terminal);
  text += fmt::format("The recorded batch has {}. A batch must fit in {}. ",
                      FormatCount(answer.recorded, "sample"), subject.limit_name) +
          plan::BesideText(subject) + "\n\n";
  Table table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"batch", "reserved", "at most", "with"});
  for (const plan::LargestBatch& row : answer.rows) {
    if (row.size == 0)
      table.AddRow({"none", "", "", plan::PlanOptions(row.others)});
    else
      table.AddRow({FormatCount(row.size), FormatBytes(Reserved(row.verdict)),
                    FormatBytes(row.verdict.needed), plan::PlanOptions(row.others)});
  }
  return text + table.ToString() +
         "\n  Each row costs more than the one above it. 99 of 100 runs stay within \"at most\".\n";
}

std::string LargestBatchJson(const PlanSubject& subject, const plan::LargestBatches& answer) {
  Json document = HeadJson(subject);
  document["reserved_limit_bytes"] = subject.reserved_limit;
  document["recorded_batch"] = answer.recorded;
  document["batches"] = Json::array();
  for (const plan::LargestBatch& row : answer.rows) {
    Json one = {{"batch", row.size}, {"with", ChangesJson(row.others)}};
    if (row.size != 0) one.update(PlanVerdictJson(row.verdict, BesideOn(subject)));
    document["batches"].push_back(std::move(one));
  }
  return Dumped(document);
}

std::string SmallestGpuText(const PlanSubject& subject, const std::vector<GpuAnswer>& answers,
                            const Terminal& terminal) {
  std::string text = HeadText(subject, terminal) + "\n";
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"GPU", "memory", "reserved", "more time", "with"});
  for (const GpuAnswer& answer : answers) {
    if (answer.plans.plans.empty()) {
      table.AddRow({answer.gpu.name, FormatBytes(answer.gpu.capacity_bytes), "", "", "no allowed change"});
      continue;
    }
    const plan::Verdict& verdict = answer.plans.plans.front().verdict;
    table.AddRow({answer.gpu.name, FormatBytes(answer.gpu.capacity_bytes), FormatBytes(Reserved(verdict)),
                  plan::PlanTime(verdict), plan::PlanOptions(verdict.changes)});
  }
  text += table.ToString();
  if (!subject.beside)
    text +=
        "\n"
        "  Memory outside PyTorch's allocator is not in the trace; the CUDA context of each GPU model is "
        "counted.\n";
  return text;
}

std::string SmallestGpuJson(const PlanSubject& subject, const std::vector<GpuAnswer>& answers) {
  Json document = HeadJson(subject);
  document["gpus"] = Json::array();
  for (const GpuAnswer& answer : answers) {
    Json one = {{"gpu", answer.gpu.name},
                {"capacity_bytes", answer.gpu.capacity_bytes},
                {"fits_as_recorded", answer.plans.fits_already},
                {"plan", nullptr}};
    std::optional<uint64_t> beside;
    if (subject.beside) beside = subject.beside->On(answer.gpu);
    if (!answer.plans.plans.empty())
      one["plan"] = PlanVerdictJson(answer.plans.plans.front().verdict, beside);
    document["gpus"].push_back(std::move(one));
  }
  return Dumped(document);
}

}  // namespace vramscope::cli
