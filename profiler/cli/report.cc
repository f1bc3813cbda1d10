// SPDX-License-Identifier: Apache-2.0
// `vramscope report`: where the memory of a run went.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "profiler/classify/analysis.h"
#include "profiler/cli/arguments.h"
#include "profiler/cli/report_screen.h"
#include "profiler/cli/terminal.h"
#include "profiler/cli/verb.h"
#include "profiler/report/build.h"
#include "profiler/report/json.h"
#include "profiler/snapshot/source.h"

namespace vramscope::cli {
namespace {

const VerbHelp& Help() {
  static const VerbHelp help = {
      "report",
      "where the memory of a run went",
      "report [options] FILE",
      {{"vramscope report run.vms", "the peak, what it is made of, who owns it, step by step"},
       {"vramscope report run.vms --at step:3 --blocks --json", "every block alive at the peak of step 3"}},
      {{"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."},
       {"at", '\0', "T",
        "Also tell of this moment: peak, step:3 (the peak of step 3), nanoseconds since\n"
        "the trace's start, or mono:NS (CLOCK_MONOTONIC). May be given again."},
       {"blocks", '\0', nullptr, "With --json: list the blocks alive at each --at moment."},
       {"device", '\0', "NAME", "cpu, cuda:0, ...; default: the one with the largest peak, CUDA before CPU."},
       {"process", '\0', "PID", "Default: the process with the largest peak."},
       {"steps", '\0', "A:B", "Only these steps (both included)."},
       {"top", '\0', "N", "Owners of every kind, 0 = all; default: 5 of the main ones, 10 with --json."},
       {"color", '\0', "auto|always|never", "Colours; auto: on a terminal, unless NO_COLOR is set."}}};
  return help;
}

Result<uint32_t> Number(const Arguments& arguments, const char* option) {
  const std::string text = arguments.Get(option);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return Error{fmt::format("--{} needs a number, not \"{}\".", option, text)};
}

Result<report::Request> RequestFrom(const Arguments& arguments) {
  report::Request request;
  request.blocks = arguments.Has("blocks");
  request.top = arguments.Has("json") ? 10 : 5;
  if (arguments.Has("device")) request.device = arguments.Get("device");
  if (arguments.Has("process")) {
    const auto pid = Number(arguments, "process");
    if (!pid.ok()) return pid.error();
    request.pid = *pid;
  }
  if (arguments.Has("top")) {
    const auto top = Number(arguments, "top");
    if (!top.ok()) return top.error();
    request.top = *top;
  }
  if (arguments.Has("steps")) {
    const auto steps = report::ParseStepRange(arguments.Get("steps"));
    if (!steps.ok()) return steps.error();
    request.steps = *steps;
  }
  for (const std::string& text : arguments.All("at")) {
    const auto moment = report::ParseMoment(text);
    if (!moment.ok()) return moment.error();
    request.at.push_back(*moment);
  }
  return request;
}

int Report(const std::string& path, const report::Request& request, const Arguments& arguments,
           const Terminal& terminal) {
  const Result<model::Run> run = snapshot::LoadFile(path);
  if (!run.ok()) return Fail(run.error().sentence);
  const classify::Analysis analysis(*run);
  const Result<report::Answer> answer = report::BuildAnswer(analysis, request);
  if (!answer.ok()) return Fail(path + ": " + answer.error().sentence);
  if (arguments.Has("json")) {
    fmt::print("{}\n", report::ToJson(*answer));
  } else {
    const OwnersShown shown = arguments.Has("top") ? OwnersShown::kAll : OwnersShown::kFew;
    fmt::print("{}", ReportScreen(path, *answer, shown, terminal));
  }
  return kDone;
}

int ReportVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1) return Fail("report needs one trace or snapshot: vramscope report run.vms");
  const Result<report::Request> request = RequestFrom(arguments);
  if (!request.ok()) return Fail(request.error().sentence);
  return Report(arguments.positionals().front(), *request, arguments, terminal);
}

}  // namespace

int RunReport(std::span<const std::string> words) {
  return RunParsed(Help(), Arguments::Parse(Help(), words), ReportVerb);
}

}  // namespace vramscope::cli
