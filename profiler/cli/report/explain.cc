// SPDX-License-Identifier: Apache-2.0
// `vramscope explain`: why nvidia-smi shows more than PyTorch, in one paragraph and a table.
#include "profiler/report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/report/memory_text.h"
#include "profiler/report/json.h"
#include "profiler/report/memory_json.h"
#include "profiler/text/json_dump.h"

namespace vramscope::cli {

const VerbHelp& ExplainHelp() {
  static const VerbHelp help = {
      "explain",
      "why nvidia-smi shows more than PyTorch",
      "explain [options] RUN",
      {{"vramscope explain run.vms", "explain the difference at the peak of the run"},
       {"vramscope explain run.vms --at step:3 --json",
        "explain the difference at the peak of step 3, as JSON"}},
      {{"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."},
       {"at", '\0', "T",
        "The moment: peak (default), step:3 (the peak of step 3), oom, oom:2, reserved, end,\n"
        "event:1200, nanoseconds since the trace's start, or mono:NS (CLOCK_MONOTONIC)."}},
      VerbSubject::kRun};
  return help;
}

namespace {

using Json = nlohmann::ordered_json;
using report::DeviceMemory;
using report::DeviceRow;
using report::Explanation;
using report::Moment;

// "At the peak (step 3, backward)"
std::string When(const Moment& moment) {
  std::string place;
  if (moment.step != 0) place = fmt::format("step {}", moment.step);
  if (moment.phase != timeline::Phase::kOther)
    place += fmt::format("{}{}", place.empty() ? "" : ", ", timeline::PhaseName(moment.phase));
  if (place.empty()) place = FormatDuration(moment.time_ns) + " after the start";
  if (moment.asked == "peak") return fmt::format("At the peak ({})", place);
  if (moment.asked.starts_with("step:")) return fmt::format("At the peak of step {}", moment.step);
  return fmt::format("{} after the start", FormatDuration(moment.time_ns));
}

// "user.so 1.0 GiB, other.so 2.0 MiB"
std::string Libraries(const DeviceMemory& memory, DeviceRow row) {
  std::string text;
  for (const report::LibraryBytes& of : memory.libraries) {
    if (of.row != row || of.bytes <= 0) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", Printable(of.library));
  }
  return text;
}

std::string Part(const Explanation& explanation, DeviceRow row, int64_t bytes) {
  if (bytes < 0 && row == DeviceRow::kUnattributed)
    return fmt::format("the driver reports {} less than the recorded calls allocated",
                       FormatBytes(0 - static_cast<uint64_t>(bytes)));
  if (bytes < 0)
    return fmt::format("{} of the tensors are in segments whose allocation was not recorded",
                       FormatBytes(0 - static_cast<uint64_t>(bytes)));
  const DeviceMemory& memory = *explanation.moment.driver;
  std::string text =
      fmt::format("{} {}", FormatBytes(static_cast<uint64_t>(bytes)), WordsOf(row, *memory.framework).clause);
  const std::string libraries = Libraries(memory, row);
  return libraries.empty() ? text : fmt::format("{} ({})", text, libraries);
}

// One paragraph in a single line.
std::string Paragraph(const Explanation& explanation) {
  const Moment& moment = explanation.moment;
  const DeviceMemory& memory = *moment.driver;
  std::string text;
  if (memory.used.has_value()) {
    text = fmt::format("{} {} of {} are in use, as nvidia-smi shows. {}'s tensors are {} of that.",
                       When(moment), FormatBytes(*memory.used), explanation.device, memory.framework->name,
                       FormatBytes(moment.allocated_bytes));
  } else {
    text = fmt::format(
        "{} {} of {} were taken by recorded calls (the driver had not reported its own figure yet). "
        "{}'s tensors are {} of that.",
        When(moment), FormatBytes(static_cast<uint64_t>(std::max<int64_t>(memory.Sum(), 0))),
        explanation.device, memory.framework->name, FormatBytes(moment.allocated_bytes));
  }
  if (explanation.between.empty()) return text + " There is no difference.";
  const int64_t difference = explanation.difference_bytes;
  text += difference >= 0
              ? fmt::format(" Of the {} between the two, ", FormatBytes(static_cast<uint64_t>(difference)))
              : std::string(" Between the two, ");
  for (size_t i = 0; i < explanation.between.size(); ++i) {
    const bool last = i + 1 == explanation.between.size();
    if (i > 0) text += last ? (i > 1 ? ", and " : " and ") : ", ";
    text += Part(explanation, explanation.between[i].first, explanation.between[i].second);
  }
  return text + ".";
}

std::string WholeText(const Explanation& explanation) {
  const std::string text = Paragraph(explanation);
  return explanation.caching_off.empty() ? text : text + " " + explanation.caching_off;
}

// Wraps between words at `width` columns.
std::string Wrap(const std::string& text, size_t width) {
  std::string wrapped;
  size_t column = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (column > 0 && column + 1 + DisplayWidth(word) > width) {
      wrapped += '\n';
      column = 0;
    }
    if (column > 0) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += DisplayWidth(word);
    begin = end + 1;
  }
  return wrapped + "\n";
}

std::string ExplainJson(const Explanation& explanation) {
  const Moment& moment = explanation.moment;
  const auto or_null = [](const auto& value) { return value.has_value() ? Json(*value) : Json(nullptr); };
  Json between = Json::array();
  for (const auto& [row, bytes] : explanation.between)
    between.push_back({{"row", report::Info(row).key}, {"bytes", bytes}});
  const Json document = {{"schema_version", report::kSchemaVersion},
                         {"device", explanation.device},
                         {"process", explanation.pid},
                         {"at", moment.asked},
                         {"time_ns", moment.time_ns},
                         {"monotonic_ns", moment.monotonic_ns},
                         {"step", moment.step == 0 ? Json(nullptr) : Json(moment.step)},
                         {"phase", timeline::PhaseName(moment.phase)},
                         {"device_used_bytes", or_null(moment.driver->used)},
                         {"capacity_bytes", or_null(moment.driver->capacity)},
                         {"allocated_bytes", moment.allocated_bytes},
                         {"difference_bytes", explanation.difference_bytes},
                         {"between", std::move(between)},
                         {"driver", report::DriverJson(moment.driver)},
                         {"driver_libraries", report::DriverLibrariesJson(moment.driver)},
                         {"explanation", WholeText(explanation)}};
  return text::Dump(document);
}

Result<report::Request> ExplainRequestFrom(const Arguments& arguments) {
  report::Request request = VRAMSCOPE_TRY(DeviceRequest(arguments));
  if (arguments.Has("at")) {
    const auto moment = VRAMSCOPE_TRY(report::ParseMoment(arguments.Get("at")));
    request.at.push_back(moment);
  }
  return request;
}

Result<int> ExplainVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1)
    return UsageError("explain needs one trace: vramscope explain run.vms");
  const report::Request request = VRAMSCOPE_TRY(ExplainRequestFrom(arguments));
  const std::string& path = arguments.positionals().front();
  const model::Run run = VRAMSCOPE_TRY(LoadTrace(RunFile(path), arguments));
  if (const std::string why_not = report::WhyNotExplained(run); !why_not.empty())
    return CannotJudge(path + ": " + why_not);
  const classify::Analysis analysis(run);
  const Explanation explanation = VRAMSCOPE_TRY(PrefixError(path, report::Explain(analysis, request)));
  if (arguments.Has("json")) {
    Print(ExplainJson(explanation) + "\n");
    return kDone;
  }
  const DeviceMemory& memory = *explanation.moment.driver;
  Print(fmt::format(
      "{}\n{}\n{}", Wrap(WholeText(explanation), static_cast<size_t>(std::clamp(terminal.width, 40, 100))),
      terminal.Paint(DeviceMemoryHeading(memory, "then"), Ink::Bold()), DeviceMemoryTable(memory, terminal)));
  return kDone;
}

}  // namespace

int RunExplain(std::span<const std::string> words) {
  return RunParsed(ExplainHelp(), Arguments::Parse(ExplainHelp(), words), ExplainVerb);
}

}  // namespace vramscope::cli
