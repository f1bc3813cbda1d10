// SPDX-License-Identifier: Apache-2.0
// `vramscope report`: where the memory of a run went.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "profiler/classify/analysis.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/report/report_screen.h"
#include "profiler/cli/report/viewer_file.h"
#include "profiler/collector/output/new_file.h"
#include "profiler/experiment/savings.h"
#include "profiler/fragmentation/snapshot_subject.h"
#include "profiler/fragmentation/trace_subject.h"
#include "profiler/html/page.h"
#include "profiler/report/build.h"
#include "profiler/report/json.h"

namespace vramscope::cli {

const VerbHelp& ReportHelp() {
  static const VerbHelp help = {
      "report",
      "where the memory of a run went",
      "report [options] FILE",
      {{"vramscope report run.vms", "show the peak, its categories, its owners, and each step"},
       {"vramscope report run.vms --html run.html", "write the same as one HTML file that you can send"},
       {"vramscope report run.vms --at step:3 --blocks --json",
        "list every block that is live at the peak of step 3"}},
      {{"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."},
       {"html", '\0', "OUT", "Write one HTML file instead, with timeline, address map and flame graph."},
       {"viewer", '\0', nullptr,
        "With --html: write the whole viewer with the trace in it, as one file that any browser opens."},
       {"at", '\0', "T",
        "Also report this moment: peak (the most memory is allocated), step:3 (the peak of step 3),\n"
        "oom, oom:2, reserved (the most memory is reserved), end, event:1200, nanoseconds since the\n"
        "trace's start, or mono:NS (CLOCK_MONOTONIC). Can be repeated."},
       {"redact", '\0', nullptr,
        "Leave out folders, command arguments and source files, which can name users, hosts and projects\n"
        "or contain a password."},
       {"blocks", '\0', nullptr, "With --json: list the blocks that are live at each --at moment."},
       {"steps", '\0', "A:B", "Report only these steps (both included)."},
       {"top", '\0', "N",
        "Show this many owners of each kind, 0 = all. Default: 10 with --json or --html. Otherwise 5,\n"
        "without the lists of single modules and parameters."}},
      VerbSubject::kRun};
  return help;
}

namespace {

Result<report::Request> ReportRequestFrom(const Arguments& arguments) {
  report::Request request = VRAMSCOPE_TRY(DeviceRequest(arguments));
  request.blocks = arguments.Has("blocks");
  request.find_savings = [path = arguments.positionals().front()](const classify::Analysis& analysis,
                                                                  model::DeviceIndex device) {
    return experiment::FindSavings(analysis, device, path);
  };
  request.top = arguments.Has("json") || arguments.Has("html") ? 10 : 5;
  if (arguments.Has("top")) {
    request.top = VRAMSCOPE_TRY(NumberOf(arguments, "top"));
  }
  if (arguments.Has("steps")) {
    request.steps = VRAMSCOPE_TRY(report::ParseStepRange(arguments.Get("steps")));
  }
  for (const std::string& text : arguments.All("at")) {
    const auto moment = VRAMSCOPE_TRY(report::ParseMoment(text));
    request.at.push_back(moment);
  }
  return request;
}

// The layout of the answer's device. Nothing if the file has no segments: then there is no map to draw.
std::optional<fragmentation::Subject> LayoutOf(const RunFile& file, const classify::Analysis& analysis,
                                               const report::Answer& answer) {
  if (!answer.device.starts_with("cuda")) return std::nullopt;
  const model::Run& run = analysis.run();
  const model::DeviceIndex device = report::DeviceOf(run, answer);
  Result<fragmentation::Subject> subject = Error{};
  if (file.is_snapshot()) {
    const auto snapshot = file.ReadSnapshot();
    if (!snapshot.ok()) return std::nullopt;
    subject =
        fragmentation::SubjectOf(*snapshot, trace::DeviceIndexOf(run.devices[device].code), run.source.get());
  } else {
    subject = fragmentation::SubjectOf(analysis, device);
  }
  if (!subject.ok() || !subject->has_layout) return std::nullopt;
  return std::move(subject).value();
}

Result<int> WriteHtml(const RunFile& given, const Arguments& arguments, const classify::Analysis& analysis,
                      const report::Answer& answer) {
  const std::string& path = given.path();
  if (answer.device.empty())
    return Error{path + ": no allocation was recorded, so there is nothing to draw."};
  const std::string out = arguments.Get("html");
  collector::NewFile file = VRAMSCOPE_TRY(collector::NewFile::Create(out, arguments.positionals()));
  ProgressLine line(arguments, answer.events);
  line.Show("Drawing " + Printable(out));
  const std::optional<fragmentation::Subject> layout = LayoutOf(given, analysis, answer);
  const std::string page = html::MakePage({.analysis = analysis,
                                           .answer = answer,
                                           .subject = layout.has_value() ? &*layout : nullptr,
                                           .title = Printable(path.substr(path.find_last_of('/') + 1)),
                                           .version = VRAMSCOPE_VERSION});
  VRAMSCOPE_TRY(file.Write(page));
  VRAMSCOPE_TRY(file.Commit());
  return kDone;
}

Result<int> Report(const std::string& path, const report::Request& request, const Arguments& arguments,
                   const Terminal& terminal) {
  const RunFile file(path);
  const model::Run run = VRAMSCOPE_TRY(LoadRun(file, arguments));
  const classify::Analysis analysis(run);
  const report::Answer answer = VRAMSCOPE_TRY(PrefixError(path, report::BuildAnswer(analysis, request)));
  if (arguments.Has("html")) return WriteHtml(file, arguments, analysis, answer);
  if (arguments.Has("json")) {
    Print(report::ToJson(answer) + "\n");
  } else {
    const OwnersShown shown = arguments.Has("top") ? OwnersShown::kAll : OwnersShown::kFew;
    Print(ReportScreen(arguments.Has("redact") ? std::filesystem::path(path).filename().string() : path,
                       answer, shown, terminal));
  }
  return kDone;
}

Result<int> ReportVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1)
    return UsageError("report needs one trace or snapshot: vramscope report run.vms");
  if (arguments.Has("viewer")) {
    if (!arguments.Has("html")) return UsageError("--viewer needs --html OUT, the file to write.");
    if (arguments.Has("redact"))
      return UsageError(
          "--viewer embeds the whole trace. Redact it first: vramscope convert --redact run.vms clean.vms");
    return WriteViewerFile(arguments.Get("html"), arguments.positionals());
  }
  if (arguments.Has("json") && arguments.Has("html"))
    return UsageError("--json and --html exclude each other. Keep one.");
  const report::Request request = VRAMSCOPE_TRY(ReportRequestFrom(arguments));
  return Report(arguments.positionals().front(), request, arguments, terminal);
}

}  // namespace

int RunReport(std::span<const std::string> words) {
  return RunParsed(ReportHelp(), Arguments::Parse(ReportHelp(), words), ReportVerb);
}

}  // namespace vramscope::cli
