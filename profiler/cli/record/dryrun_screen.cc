// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/dryrun_screen.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/report/json.h"
#include "profiler/text/json_dump.h"

namespace vramscope::cli {

using experiment::AssumedValues;
using experiment::ConvolutionWorkspaces;
using experiment::DataRead;
using experiment::DeviceLedger;
using experiment::LedgerEntry;
using experiment::OtherBound;
using experiment::ProcessShare;
using experiment::UncountedWorkspaces;

namespace {

using Json = nlohmann::ordered_json;

std::string BySeveral(const DeviceLedger& ledger) {
  if (ledger.processes.size() < 2) return "";
  return fmt::format(" by {} processes together", ledger.processes.size());
}

// The sum of the upper ends of all ranges, minus the device's use.
uint64_t Uncertain(const DeviceLedger& ledger) {
  uint64_t bytes = 0;
  for (const LedgerEntry& entry : ledger.entries)
    bytes += entry.high_bytes - std::min(entry.high_bytes, entry.peak_bytes);
  return bytes;
}

std::string FitsSentence(const DryrunResult& result, const std::string& gpu) {
  const uint64_t capacity = result.ledger.capacity_bytes, used = result.ledger.peak_bytes;
  const bool between = result.upper && result.upper->fits && result.upper->device_used_bytes > used;
  const uint64_t most = between ? result.upper->device_used_bytes : used;
  return fmt::format(
      "Fits on {}: {} used at most{}, {} left{}.", gpu,
      between ? fmt::format("{} to {}", FormatBytes(used), FormatBytes(most)) : FormatBytes(used),
      BySeveral(result.ledger), FormatBytes(BytesLeft(capacity, most)),
      Uncertain(result.ledger) > BytesLeft(capacity, most)
          ? "; the ranges below may add more than what is left"
          : "");
}

std::string NotJudgedSentence(const DryrunResult& result, const std::string& gpu) {
  const std::string used = FormatBytes(result.ledger.peak_bytes);
  if (result.wait_status == 0 && result.upper)
    return fmt::format(
        "Whether the command fits on {} depends on the data: {} used if its masks select nothing, out of "
        "memory if they select everything.",
        gpu, used);
  return fmt::format("No verdict for {}: {}. Peak device memory in this run: {}.", gpu, result.WhyNotJudged(),
                     used);
}

std::string Sentence(const DryrunResult& result, const Terminal& terminal) {
  const uint64_t capacity = result.ledger.capacity_bytes;
  const std::string gpu = fmt::format("{} ({})", result.device.gpu.name, FormatBytes(capacity));
  const std::optional<bool> verdict = result.Verdict();
  if (!verdict) return terminal.Paint(NotJudgedSentence(result, gpu), Ink::Bad());
  if (*verdict) return terminal.Paint(FitsSentence(result, gpu), Ink::Good());
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

// "derived: 166.5 to 203.5 MiB"; "" for exact figures.
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

std::string RetrySentence(const DryrunResult& result) {
  return result.Retried()
             ? "The device was full at times. PyTorch released cached memory and continued more slowly.\n"
             : "";
}

std::string SurvivedSentence(const DryrunResult& result) {
  if (result.survived_errors == 0) return "";
  const std::string after = result.allocated_after_bytes
                                ? fmt::format("; at most {} were allocated in the steps after that",
                                              FormatBytes(*result.allocated_after_bytes))
                                : "";
  return fmt::format("The command survived {}: the program caught {} and continued{}.\n",
                     FormatCount(result.survived_errors, "out-of-memory error"),
                     result.survived_errors == 1 ? "it" : "them", after);
}

std::string ShareText(double masks) {
  if (masks == 0) return "nothing";
  if (masks == 1) return "everything";
  return fmt::format("{:.4g} % of the elements", 100 * masks);
}

std::string RoutingText(const AssumedValues& assumed) {
  return assumed.balanced_routing ? "all experts get equally many tokens" : "one expert gets all tokens";
}

// The assumptions behind the figures, and their limits.
std::string AssumedSentence(const DryrunResult& result) {
  std::string text;
  if (result.assumed)
    text = fmt::format("Integers are computed. Assumptions: masks of computed values select {},\n  {}.\n",
                       ShareText(result.assumed->masks), RoutingText(*result.assumed));
  if (!result.upper) return text;
  const OtherBound& upper = *result.upper;
  const std::string where =
      fmt::format("if masks of computed values select\n  {}", ShareText(upper.assumed.masks));
  if (!upper.fits)
    return text + fmt::format(
                      "Memory depends on data: these figures are the lower bound. The upper bound is not\n"
                      "  known, because the command fails {}.\n",
                      where);
  if (!*upper.fits)
    return text + fmt::format(
                      "Memory depends on data: the command runs out of memory {}.\n  To judge one case, set "
                      "--masks to a share, like 0.15.\n",
                      where);
  return text + fmt::format(
                    "Memory depends on data: the true peaks are between these figures and\n"
                    "  {} allocated, {} reserved, {} used,\n"
                    "  {}. To judge one case, set --masks to a share, like 0.15.\n",
                    FormatBytes(upper.allocated_bytes), FormatBytes(upper.reserved_bytes),
                    FormatBytes(upper.device_used_bytes), where);
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
  return Places(result.assumed ? "At these places, the run's memory depends on data:\n"
                               : "At these places, the run's memory depends on data; "
                                 "the results are assumed to be empty:\n",
                result.data_reads, true) +
         Places(
             "Values read at these places are zeros. If the program branches on them, "
             "its memory depends on data:\n",
             result.data_reads, false);
}

// docs/dryrun.md describes how the range was measured.
std::string WorkspaceSentence(const ConvolutionWorkspaces& workspaces) {
  constexpr double kLow = 0.4, kHigh = 4;
  if (!workspaces.estimated || workspaces.largest_bytes == 0) return "";
  const auto bytes = static_cast<double>(workspaces.largest_bytes);
  return fmt::format(
      "Convolution workspaces are estimated: {} for the largest;\n"
      "  cuDNN itself needs {} to {}. Install nvidia-cudnn for exact sizes.\n",
      FormatBytes(workspaces.largest_bytes), FormatBytes(static_cast<uint64_t>(kLow * bytes)),
      FormatBytes(static_cast<uint64_t>(kHigh * bytes)));
}

std::string XlaSentence(const DryrunResult& result) {
  if (result.without_xla.empty()) return "";
  return fmt::format(
      "Keras ran without XLA, because {}.\n"
      "  On a GPU, Keras compiles the step with XLA, and the step needs a different amount of memory.\n",
      Printable(result.without_xla));
}

std::string UncountedSentence(const UncountedWorkspaces& uncounted) {
  if (!uncounted.attention && !uncounted.batch_norm) return "";
  return fmt::format("Workspaces of {} in cuDNN\n  are not known and count as 0.\n",
                     !uncounted.batch_norm ? "attention"
                     : uncounted.attention ? "attention and batch norm"
                                           : "batch norm");
}

std::string JobSentence(const DryrunResult& result) {
  if (result.job_processes == 0) return "";
  return fmt::format(
      "Only one of the job's {} processes was run; each process has {}. NCCL's buffers and the "
      "communication\n"
      "  between processes are not simulated.\n",
      result.job_processes, FormatCount(static_cast<uint64_t>(result.device.devices), "GPU"));
}

template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json ValuesJson(const AssumedValues& assumed) {
  return {{"masks", assumed.masks}, {"routing", assumed.balanced_routing ? "balanced" : "worst"}};
}

Json UpperJson(const OtherBound& upper) {
  return {{"assumed", ValuesJson(upper.assumed)},
          {"fits", OrNull(upper.fits)},
          {"peak",
           {{"allocated_bytes", upper.allocated_bytes},
            {"reserved_bytes", upper.reserved_bytes},
            {"device_used_bytes", upper.device_used_bytes}}}};
}

}  // namespace

std::string SimulatedSentence(const DryrunResult& result) {
  const std::string simulated =
      fmt::format("Simulated: {} itself allocates. Results are not computed", result.answer.framework->name);
  if (!result.assumed) return simulated + ", and data-dependent sizes are lower bounds.";
  if (result.assumed->masks != 1) return simulated + ".";
  return simulated +
         ". Data-dependent sizes are\nupper bounds: comparisons of computed values are assumed true for all "
         "elements.";
}

Json AssumedJson(const DryrunResult& result) {
  return result.assumed ? ValuesJson(*result.assumed) : Json(nullptr);
}

uint64_t BytesLeft(uint64_t capacity, uint64_t used) { return capacity - std::min(capacity, used); }

std::string StopSentence(const DryrunResult& result) {
  if (!result.waits_at.empty())
    return fmt::format(
        "The run ended at {}, a loop that waits for a value: it read 100,000 values and finished no step. No "
        "kernel computes here, so give the loop a limit.\n",
        Printable(result.waits_at));
  if (result.stopped_after == 0) return "";
  if (result.stopped_by_calm)
    return fmt::format(
        "The run ended after step {}: the peak had not grown for two steps. --steps all runs to the end.\n",
        result.stopped_after);
  return fmt::format("The run ended after step {}, as requested.\n", result.stopped_after);
}

nlohmann::ordered_json PeakJson(const DryrunResult& result) {
  Json peak;
  peak["allocated_bytes"] = result.answer.peak.allocated_bytes;
  const std::optional<uint64_t>& then = result.answer.peak.reserved_bytes;
  peak["reserved_bytes"] = then.has_value() ? Json(*then) : Json(nullptr);
  peak["reserved_peak_bytes"] = result.PeakReserved();
  const report::Device* device = result.answer.ChosenDevice();
  peak["requested_peak_bytes"] = OrNull(device != nullptr ? device->peak_requested_bytes : std::nullopt);
  peak["device_used_bytes"] = result.ledger.peak_bytes;
  return peak;
}

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
      table.AddRow({fmt::format("  by process {}", share.pid), FormatBytes(share.bytes), ""});
  }
  for (const LedgerEntry& entry : result.ledger.entries) {
    const std::string by =
        entry.library.empty() ? entry.call : fmt::format("{} by {}", entry.call, entry.library);
    table.AddRow({"  of these " + Printable(by), FormatBytes(entry.peak_bytes), Range(entry)});
  }
  std::string text = Sentence(result, terminal) + "\n" + table.ToString();
  for (const std::string& sentence :
       {StopSentence(result), RetrySentence(result), SurvivedSentence(result), AssumedSentence(result),
        DataSentence(result), WorkspaceSentence(result.workspaces), UncountedSentence(result.uncounted),
        XlaSentence(result), JobSentence(result), SimulatedSentence(result)})
    text += sentence;
  return text + "\n\n";
}

std::string VerdictJson(const DryrunResult& result) {
  auto document = Json::parse(report::ToJson(result.answer));
  document["fits"] = OrNull(result.Verdict());
  const std::string why_not = result.WhyNotJudged();
  document["not_judged_because"] = why_not.empty() ? Json(nullptr) : Json(why_not);
  document["command_ended"] = {
      {"exit_code", WIFEXITED(result.wait_status) ? Json(WEXITSTATUS(result.wait_status)) : Json(nullptr)},
      {"signal", WIFSIGNALED(result.wait_status) ? Json(WTERMSIG(result.wait_status)) : Json(nullptr)}};
  document["survived_out_of_memory"] = nullptr;
  if (result.survived_errors != 0)
    document["survived_out_of_memory"] = {{"errors", result.survived_errors},
                                          {"allocated_after_bytes", OrNull(result.allocated_after_bytes)}};
  document["assumed"] = AssumedJson(result);
  document["upper_bound"] = result.upper ? UpperJson(*result.upper) : Json(nullptr);
  document["gpu"] = result.device.gpu.name;
  document["job_processes"] = result.job_processes == 0 ? Json(nullptr) : Json(result.job_processes);
  document["capacity_bytes"] = result.ledger.capacity_bytes;
  document["shortfall_bytes"] = result.shortfall_bytes;
  document["retries"] = result.Retried();
  document["no_room_for"] = result.refused_beside.empty() ? Json(nullptr) : Json(result.refused_beside);
  document["stopped_after_step"] = result.stopped_after == 0 ? Json(nullptr) : Json(result.stopped_after);
  document["waits_at"] = result.waits_at.empty() ? Json(nullptr) : Json(result.waits_at);
  document["without_xla"] = result.without_xla.empty() ? Json(nullptr) : Json(result.without_xla);
  document["peak"].update(PeakJson(result));
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
  return text::Dump(document);
}

}  // namespace vramscope::cli
