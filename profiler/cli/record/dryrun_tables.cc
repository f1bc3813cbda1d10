// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/dryrun_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/cli/record/dryrun_screen.h"
#include "profiler/text/json_dump.h"

namespace vramscope::cli {

using experiment::AnsweredBy;

namespace {

using Json = nlohmann::ordered_json;

std::string GpuVerdict(const GpuRow& row, const Terminal& terminal) {
  const std::string run = row.answered_by == AnsweredBy::kRun ? ", run" : "";
  if (!row.fits) return terminal.Paint("does not fit", Ink::Bad()) + run;
  return terminal.Paint("fits", Ink::Good()) + (row.retries ? ", by emptying PyTorch's cache" : "") + run;
}

const char* NameOf(AnsweredBy answered_by) {
  switch (answered_by) {
    case AnsweredBy::kRun:
      return "run";
    case AnsweredBy::kReplay:
      return "replay";
    case AnsweredBy::kConclusion:
      break;
  }
  return "conclusion";
}

}  // namespace

std::string GpuTableText(const std::vector<GpuRow>& rows, const DryrunResult& measured,
                         const Terminal& terminal) {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"GPU", "memory", "used", "left", ""});
  for (const GpuRow& row : rows) {
    const double share = 100.0 * static_cast<double>(std::min(row.used_bytes, row.gpu.capacity_bytes)) /
                         static_cast<double>(row.gpu.capacity_bytes);
    table.AddRow({row.gpu.name, FormatBytes(row.gpu.capacity_bytes),
                  row.fits ? fmt::format("{} ({:.0f} %)", FormatBytes(row.used_bytes), share) : "-",
                  row.fits ? FormatBytes(BytesLeft(row.gpu.capacity_bytes, row.used_bytes)) : "-",
                  GpuVerdict(row, terminal)});
  }
  const auto fitting = std::ranges::count_if(rows, &GpuRow::fits);
  const auto runs = std::ranges::count(rows, AnsweredBy::kRun, &GpuRow::answered_by);
  return fmt::format(
      "Fits on {} of {} GPUs.\n{}{}{}{}\n", fitting, rows.size(), table.ToString(),
      runs == 1 ? fmt::format(
                      "The command ran on {}; the results for the other models are derived from this run.\n",
                      measured.device.gpu.name)
                : "The command ran on the models marked 'run'; the results for the other models are derived "
                  "from these runs.\n",
      StopSentence(measured), SimulatedSentence(measured));
}

std::string GpuTableJson(const std::vector<GpuRow>& rows, const DryrunResult& measured) {
  auto document = Json::parse(VerdictJson(measured));
  document["gpus"] = Json::array();
  for (const GpuRow& row : rows) {
    document["gpus"].push_back(
        {{"gpu", row.gpu.name},
         {"capacity_bytes", row.gpu.capacity_bytes},
         {"fits", row.fits},
         {"device_used_bytes", row.fits ? Json(row.used_bytes) : Json(nullptr)},
         {"headroom_bytes",
          row.fits ? Json(BytesLeft(row.gpu.capacity_bytes, row.used_bytes)) : Json(nullptr)},
         {"retries", row.retries},
         {"answered_by", NameOf(row.answered_by)}});
  }
  return text::Dump(document);
}

uint64_t LargestThatFits(const std::vector<BatchRow>& rows) {
  uint64_t largest = 0;
  for (const BatchRow& row : rows)
    if (row.result.fits) largest = std::max(largest, row.batch);
  return largest;
}

std::string BatchTableText(const std::vector<BatchRow>& rows, const Terminal& terminal) {
  const collector::SimulatedDevice& device = rows.front().result.device;
  const uint64_t largest = LargestThatFits(rows);
  const std::string gpu =
      fmt::format("{} ({})", device.gpu.name, FormatBytes(rows.front().result.ledger.capacity_bytes));
  Table table({Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"batch", "allocated", "reserved", "used", ""});
  for (const BatchRow& row : rows) {
    const report::Peak& peak = row.result.answer.peak;
    table.AddRow(
        {std::to_string(row.batch), FormatBytes(peak.allocated_bytes), FormatBytes(row.result.PeakReserved()),
         FormatBytes(row.result.ledger.peak_bytes),
         row.result.fits ? terminal.Paint("fits", Ink::Good()) : terminal.Paint("does not fit", Ink::Bad())});
  }
  const std::string sentence =
      largest != 0
          ? terminal.Paint(fmt::format("Batch {} is the largest that fits on {}.", largest, gpu), Ink::Good())
          : terminal.Paint(fmt::format("None of these batches fits on {}.", gpu), Ink::Bad());
  return fmt::format("{}\n{}{}\n", sentence, table.ToString(), SimulatedSentence(rows.back().result));
}

std::string BatchTableJson(const std::vector<BatchRow>& rows) {
  Json document = {{"schema_version", 1},
                   {"gpu", rows.front().result.device.gpu.name},
                   {"capacity_bytes", rows.front().result.ledger.capacity_bytes},
                   {"fits", LargestThatFits(rows) != 0},
                   {"largest_batch", LargestThatFits(rows)},
                   {"assumed", AssumedJson(rows.back().result)},
                   {"batches", Json::array()}};
  for (const BatchRow& row : rows) {
    document["batches"].push_back({{"batch", row.batch},
                                   {"fits", row.result.fits},
                                   {"shortfall_bytes", row.result.shortfall_bytes},
                                   {"peak", PeakJson(row.result)}});
  }
  return text::Dump(document);
}

std::string ShuffleTableText(const std::vector<DryrunResult>& runs, const Terminal& terminal) {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"order", "allocated", "reserved", "used", ""});
  for (size_t order = 0; order < runs.size(); ++order) {
    const DryrunResult& run = runs[order];
    table.AddRow(
        {order == 0 ? "the program's" : fmt::format("shuffle {}", order),
         FormatBytes(run.answer.peak.allocated_bytes), FormatBytes(run.PeakReserved()),
         FormatBytes(run.ledger.peak_bytes),
         run.fits ? terminal.Paint("fits", Ink::Good()) : terminal.Paint("does not fit", Ink::Bad())});
  }
  const auto [least, most] =
      std::ranges::minmax(runs, {}, [](const DryrunResult& run) { return run.ledger.peak_bytes; });
  const auto fitting = static_cast<size_t>(std::ranges::count_if(runs, &DryrunResult::fits));
  const std::string sentence =
      fmt::format("{} of {} orders of the data fit on {} ({}); peaks: {}.",
                  fitting == runs.size() ? "All" : std::to_string(fitting), runs.size(),
                  runs.front().device.gpu.name, FormatBytes(runs.front().ledger.capacity_bytes),
                  least.ledger.peak_bytes == most.ledger.peak_bytes
                      ? FormatBytes(most.ledger.peak_bytes) + " each"
                      : fmt::format("{} to {}", FormatBytes(least.ledger.peak_bytes),
                                    FormatBytes(most.ledger.peak_bytes)));
  const char* const same =
      "No order changed the peak: the shapes do not vary, or the program orders its data in a way that "
      "docs/dryrun.md does not list.\n";
  const bool moved = std::ranges::any_of(runs, [&](const DryrunResult& run) {
    return run.answer.peak.allocated_bytes != runs.front().answer.peak.allocated_bytes ||
           run.ledger.peak_bytes != runs.front().ledger.peak_bytes;
  });
  return fmt::format("{}\n{}{}{}\n",
                     terminal.Paint(sentence, fitting == runs.size() ? Ink::Good() : Ink::Bad()),
                     table.ToString(), moved ? "" : same, SimulatedSentence(runs.back()));
}

std::string ShuffleTableJson(const std::vector<DryrunResult>& runs) {
  Json document = {{"schema_version", 1},
                   {"gpu", runs.front().device.gpu.name},
                   {"capacity_bytes", runs.front().ledger.capacity_bytes},
                   {"fits", std::ranges::all_of(runs, &DryrunResult::fits)},
                   {"assumed", AssumedJson(runs.back())},
                   {"shuffles", Json::array()}};
  for (const DryrunResult& run : runs) {
    document["shuffles"].push_back({{"order", document["shuffles"].size()},
                                    {"fits", run.fits},
                                    {"shortfall_bytes", run.shortfall_bytes},
                                    {"peak", PeakJson(run)}});
  }
  return text::Dump(document);
}

}  // namespace vramscope::cli
