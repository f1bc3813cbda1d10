// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/dryrun_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/report/json.h"

namespace vramscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kSimulated[] =
    "Simulated: memory is PyTorch's own, results are not computed, data-dependent sizes are lower bounds.";

uint64_t Left(uint64_t capacity, uint64_t used) { return capacity - std::min(capacity, used); }

std::string BySeveral(const DeviceLedger& ledger) {
  if (ledger.processes.size() < 2) return "";
  return fmt::format(" by {} processes together", ledger.processes.size());
}

// What the upper ends of all ranges come to, above what the device took.
uint64_t Uncertain(const DeviceLedger& ledger) {
  uint64_t bytes = 0;
  for (const LedgerEntry& entry : ledger.entries)
    bytes += entry.high_bytes - std::min(entry.high_bytes, entry.peak_bytes);
  return bytes;
}

std::string Sentence(const DryrunResult& result, const Terminal& terminal) {
  const uint64_t capacity = result.ledger.capacity_bytes;
  const std::string gpu = fmt::format("{} ({})", result.device.gpu.name, FormatBytes(capacity));
  if (result.fits) {
    return terminal.Paint(
        fmt::format("Fits on {}: {} used at most{}, {} left{}.", gpu, FormatBytes(result.ledger.peak_bytes),
                    BySeveral(result.ledger), FormatBytes(Left(capacity, result.ledger.peak_bytes)),
                    Uncertain(result.ledger) > Left(capacity, result.ledger.peak_bytes)
                        ? ", but the ranges below reach beyond it"
                        : ""),
        Ink::Good());
  }
  if (!result.refused_beside.empty())
    return terminal.Paint(fmt::format("Does not fit on {}: no room for {}, at least {} missing.", gpu,
                                      Printable(result.refused_beside), FormatBytes(result.shortfall_bytes)),
                          Ink::Bad());
  const report::OutOfMemory& failed = result.answer.out_of_memory.back();
  const std::string step = failed.step != 0 ? fmt::format(" in step {}", failed.step) : "";
  return terminal.Paint(
      fmt::format("Does not fit on {}: out of memory{}, at least {} missing for a request of {}.", gpu, step,
                  FormatBytes(result.shortfall_bytes), FormatBytes(failed.requested_bytes)),
      Ink::Bad());
}

// "derived: 166.5 to 203.5 MiB"; nothing for what is exact.
std::string Range(const LedgerEntry& entry) {
  if (entry.basis == "exact" || entry.basis == "given") return entry.basis == "exact" ? "" : "given";
  return fmt::format("{}: {} to {}", Printable(entry.basis), FormatBytes(entry.low_bytes),
                     FormatBytes(entry.high_bytes));
}

Json EntriesOf(const DeviceLedger& ledger) {
  Json rows = Json::array();
  for (const LedgerEntry& entry : ledger.entries)
    rows.push_back({{"library", entry.library.empty() ? Json(nullptr) : Json(entry.library)},
                    {"call", entry.call},
                    {"peak_bytes", entry.peak_bytes},
                    {"basis", entry.basis},
                    {"low_bytes", entry.low_bytes},
                    {"high_bytes", entry.high_bytes}});
  return rows;
}

std::string StopSentence(const DryrunResult& result) {
  if (!result.waits_at.empty())
    return fmt::format(
        "Ended at {}, a loop that waits for a value: it read 100,000 of them and took no step. No kernel "
        "computes here, so give the loop a limit.\n",
        Printable(result.waits_at));
  if (result.stopped_after == 0) return "";
  if (result.stopped_by_calm)
    return fmt::format("Ended after step {}: the peak had not grown for two steps. --steps all runs on.\n",
                       result.stopped_after);
  return fmt::format("Ended after step {}, as asked.\n", result.stopped_after);
}

std::string RetrySentence(const DryrunResult& result) {
  return result.Retried() ? "The device was full at times; PyTorch gave back memory that it kept free, and "
                            "went on, slower.\n"
                          : "";
}

constexpr size_t kPlacesShown = 8;

std::string Places(const char* heading, const std::vector<DataRead>& reads, bool sizes) {
  std::string text;
  size_t found = 0;
  for (const DataRead& read : reads) {
    if (read.sizes != sizes || ++found > kPlacesShown) continue;
    text += fmt::format("  {}:{}  {}\n", Printable(read.file), read.line, FormatCount(read.count, "time"));
  }
  if (found > kPlacesShown) text += fmt::format("  and {} more\n", found - kPlacesShown);
  return found == 0 ? "" : heading + text;
}

std::string DataSentence(const DryrunResult& result) {
  return Places("The run's memory depends on data here, taken as empty:\n", result.data_reads, true) +
         Places("Values read here are zeros; the run's memory depends on data if it decides by them:\n",
                result.data_reads, false);
}

// docs/dryrun.md says how the range was measured.
std::string WorkspaceSentence(const ConvolutionWorkspaces& workspaces) {
  constexpr double kLow = 0.4, kHigh = 4;
  if (!workspaces.estimated || workspaces.largest_bytes == 0) return "";
  const auto bytes = static_cast<double>(workspaces.largest_bytes);
  return fmt::format(
      "Convolution workspaces are estimated: {} for the largest,\n"
      "  in cuDNN {} to {}. Install the wheel's nvidia-cudnn to ask it.\n",
      FormatBytes(workspaces.largest_bytes), FormatBytes(static_cast<uint64_t>(kLow * bytes)),
      FormatBytes(static_cast<uint64_t>(kHigh * bytes)));
}

std::string UncountedSentence(const UncountedWorkspaces& uncounted) {
  if (!uncounted.attention && !uncounted.batch_norm) return "";
  return fmt::format("Workspaces of {} in cuDNN\n  are not known and count as 0.\n",
                     !uncounted.batch_norm ? "attention"
                     : uncounted.attention ? "attention and batch norm"
                                           : "batch norm");
}

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

Json PeakOf(const DryrunResult& result) {
  Json peak;
  peak["allocated_bytes"] = result.answer.peak.allocated_bytes;
  const std::optional<uint64_t>& then = result.answer.peak.reserved_bytes;
  peak["reserved_bytes"] = then.has_value() ? Json(*then) : Json(nullptr);
  peak["reserved_peak_bytes"] = result.PeakReserved();
  peak["device_used_bytes"] = result.ledger.peak_bytes;
  return peak;
}

}  // namespace

std::string VerdictText(const DryrunResult& result, const Terminal& terminal) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  table.AddRow({"Peak allocated", FormatBytes(result.answer.peak.allocated_bytes), ""});
  if (result.answer.peak.reserved_bytes.has_value())
    table.AddRow({"  reserved then", FormatBytes(*result.answer.peak.reserved_bytes), ""});
  if (const uint64_t reserved = result.PeakReserved(); reserved != 0)
    table.AddRow({"Peak reserved", FormatBytes(reserved), ""});
  table.AddRow({"Device used", FormatBytes(result.ledger.peak_bytes), ""});
  if (result.ledger.processes.size() > 1) {
    for (const ProcessShare& share : result.ledger.processes)
      table.AddRow({fmt::format("  of these process {}", share.pid), FormatBytes(share.bytes), ""});
  }
  for (const LedgerEntry& entry : result.ledger.entries) {
    const std::string by =
        entry.library.empty() ? entry.call : fmt::format("{} by {}", entry.call, entry.library);
    table.AddRow({"  of these " + Printable(by), FormatBytes(entry.peak_bytes), Range(entry)});
  }
  return fmt::format("{}\n{}{}{}{}{}{}{}\n\n", Sentence(result, terminal), table.ToString(),
                     StopSentence(result), RetrySentence(result), DataSentence(result),
                     WorkspaceSentence(result.workspaces), UncountedSentence(result.uncounted), kSimulated);
}

std::string VerdictJson(const DryrunResult& result) {
  auto document = Json::parse(report::ToJson(result.answer));
  document["fits"] = result.fits;
  document["gpu"] = result.device.gpu.name;
  document["capacity_bytes"] = result.ledger.capacity_bytes;
  document["shortfall_bytes"] = result.shortfall_bytes;
  document["retries"] = result.Retried();
  document["no_room_for"] = result.refused_beside.empty() ? Json(nullptr) : Json(result.refused_beside);
  document["stopped_after_step"] = result.stopped_after == 0 ? Json(nullptr) : Json(result.stopped_after);
  document["waits_at"] = result.waits_at.empty() ? Json(nullptr) : Json(result.waits_at);
  document["peak"].update(PeakOf(result));
  document["device_memory"] = EntriesOf(result.ledger);
  document["device_processes"] = Json::array();
  for (const ProcessShare& share : result.ledger.processes)
    document["device_processes"].push_back({{"pid", share.pid}, {"used_bytes", share.bytes}});
  const ConvolutionWorkspaces& workspaces = result.workspaces;
  document["convolution_workspaces"] = {{"answered_by", workspaces.estimated ? Json("model")
                                                        : workspaces.asked   ? Json("cudnn")
                                                                             : Json(nullptr)},
                                        {"largest_bytes", workspaces.largest_bytes}};
  document["uncounted_workspaces"] = {{"attention", result.uncounted.attention},
                                      {"batch_norm", result.uncounted.batch_norm}};
  document["data_reads"] = Json::array();
  for (const DataRead& read : result.data_reads) {
    document["data_reads"].push_back({{"decides", read.sizes ? "sizes" : "unknown"},
                                      {"file", read.file},
                                      {"line", read.line},
                                      {"count", read.count}});
  }
  return document.dump(2);
}

std::string GpuTableText(const std::vector<GpuRow>& rows, const DryrunResult& measured,
                         const Terminal& terminal) {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"GPU", "memory", "used", "left", ""});
  for (const GpuRow& row : rows) {
    const double share = 100.0 * static_cast<double>(std::min(row.used_bytes, row.gpu.capacity_bytes)) /
                         static_cast<double>(row.gpu.capacity_bytes);
    table.AddRow({row.gpu.name, FormatBytes(row.gpu.capacity_bytes),
                  row.fits ? fmt::format("{} ({:.0f} %)", FormatBytes(row.used_bytes), share) : "-",
                  row.fits ? FormatBytes(Left(row.gpu.capacity_bytes, row.used_bytes)) : "-",
                  GpuVerdict(row, terminal)});
  }
  const auto fitting = std::ranges::count_if(rows, &GpuRow::fits);
  const auto runs = std::ranges::count(rows, AnsweredBy::kRun, &GpuRow::answered_by);
  return fmt::format("Fits on {} of {} GPUs.\n{}{}{}{}\n", fitting, rows.size(), table.ToString(),
                     runs == 1
                         ? fmt::format("Run on {}; the others follow from it.\n", measured.device.gpu.name)
                         : "Those marked 'run' had a run of their own; the others follow from one of them.\n",
                     StopSentence(measured), kSimulated);
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
         {"headroom_bytes", row.fits ? Json(Left(row.gpu.capacity_bytes, row.used_bytes)) : Json(nullptr)},
         {"retries", row.retries},
         {"answered_by", NameOf(row.answered_by)}});
  }
  return document.dump(2);
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
          : terminal.Paint(fmt::format("No batch of these fits on {}.", gpu), Ink::Bad());
  return fmt::format("{}\n{}{}\n", sentence, table.ToString(), kSimulated);
}

std::string BatchTableJson(const std::vector<BatchRow>& rows) {
  Json document = {{"schema_version", 1},
                   {"gpu", rows.front().result.device.gpu.name},
                   {"capacity_bytes", rows.front().result.ledger.capacity_bytes},
                   {"fits", LargestThatFits(rows) != 0},
                   {"largest_batch", LargestThatFits(rows)},
                   {"batches", Json::array()}};
  for (const BatchRow& row : rows) {
    document["batches"].push_back({{"batch", row.batch},
                                   {"fits", row.result.fits},
                                   {"shortfall_bytes", row.result.shortfall_bytes},
                                   {"peak", PeakOf(row.result)}});
  }
  return document.dump(2);
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
      fmt::format("{} of {} orders of the data fit on {} ({}); they use {}.",
                  fitting == runs.size() ? "All" : std::to_string(fitting), runs.size(),
                  runs.front().device.gpu.name, FormatBytes(runs.front().ledger.capacity_bytes),
                  least.ledger.peak_bytes == most.ledger.peak_bytes
                      ? FormatBytes(most.ledger.peak_bytes) + " each"
                      : fmt::format("{} to {}", FormatBytes(least.ledger.peak_bytes),
                                    FormatBytes(most.ledger.peak_bytes)));
  const char* const same =
      "No order moved the peak: the shapes do not vary, or the program orders its data otherwise than "
      "by the ways that docs/dryrun.md names.\n";
  const bool moved = std::ranges::any_of(runs, [&](const DryrunResult& run) {
    return run.answer.peak.allocated_bytes != runs.front().answer.peak.allocated_bytes ||
           run.ledger.peak_bytes != runs.front().ledger.peak_bytes;
  });
  return fmt::format("{}\n{}{}{}\n",
                     terminal.Paint(sentence, fitting == runs.size() ? Ink::Good() : Ink::Bad()),
                     table.ToString(), moved ? "" : same, kSimulated);
}

std::string ShuffleTableJson(const std::vector<DryrunResult>& runs) {
  Json document = {{"schema_version", 1},
                   {"gpu", runs.front().device.gpu.name},
                   {"capacity_bytes", runs.front().ledger.capacity_bytes},
                   {"fits", std::ranges::all_of(runs, &DryrunResult::fits)},
                   {"shuffles", Json::array()}};
  for (const DryrunResult& run : runs) {
    document["shuffles"].push_back({{"order", document["shuffles"].size()},
                                    {"fits", run.fits},
                                    {"shortfall_bytes", run.shortfall_bytes},
                                    {"peak", PeakOf(run)}});
  }
  return document.dump(2);
}

}  // namespace vramscope::cli
