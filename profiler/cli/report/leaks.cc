// SPDX-License-Identifier: Apache-2.0
// `vramscope leaks`: what grows from step to step, where it is allocated, and what keeps it.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/classify/analysis.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/growth/words.h"
#include "profiler/leaks/all.h"

namespace vramscope::cli {

const VerbHelp& LeaksHelp() {
  static const VerbHelp help = {
      "leaks",
      "what grows from step to step",
      "leaks [options] FILE",
      {{"vramscope record --stacks python -- python train.py",
        "record with stacks, so that lines of code are known"},
       {"vramscope leaks run.vms", "show what grows, since which step, and what keeps it"}},
      {{"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."}},
      VerbSubject::kRun};
  return help;
}

namespace {

using growth::Growth;
using growth::KeeperText;
using growth::MissingText;
using growth::PlaceText;
using growth::RateText;
using growth::SinceText;

constexpr size_t kMostShown = 12;

std::string Listed(const std::vector<Growth>& all, const Terminal& terminal) {
  std::string text;
  for (size_t i = 0; i < all.size() && i < kMostShown; ++i) {
    const Growth& growth = all[i];
    const bool in_phase = growth.phase != timeline::Phase::kOther;
    text += fmt::format(
        "\n  {}, {}: {} of {}\n", terminal.Paint("+" + RateText(growth), Ink::Bold()), SinceText(growth),
        FormatBytes(growth.bytes),
        FormatCount(growth.blocks, growth.pinned_host ? "allocation of pinned host memory" : "tensor",
                    growth.pinned_host ? "allocations of pinned host memory" : ""));
    text += fmt::format("    allocated at {}{}\n    {}\n", Printable(PlaceText(growth)),
                        in_phase ? std::string(" in ") + timeline::PhaseName(growth.phase) : "",
                        terminal.Paint(KeeperText(growth), Ink::Dim()));
    if (const std::string missing = MissingText(growth); !missing.empty())
      text += "    " + terminal.Paint(missing, Ink::Dim()) + "\n";
  }
  if (all.size() > kMostShown)
    text += fmt::format("\n  ... and {} more, in --json\n", all.size() - kMostShown);
  return text;
}

std::string HostText(const leaks::Answer& answer) {
  std::string text;
  for (const leaks::HostGrowth& host : answer.host) {
    text += fmt::format("\nHost memory of {} grows by {} a step, {} so far.\n",
                        host.pid != 0 ? fmt::format("process {}", host.pid)
                                      : FormatCount(host.processes, "DataLoader worker"),
                        FormatBytes(host.growth.bytes_per_step), FormatBytes(host.growth.bytes));
  }
  return text;
}

std::string LeaksText(const leaks::Answer& answer, const Terminal& terminal) {
  const std::string judged = fmt::format("{}, judged by steps {} to {} of {}", answer.device,
                                         answer.first_judged, answer.last_judged, answer.steps);
  if (answer.leaks.empty()) {
    std::string text = terminal.Paint("Nothing grows from step to step.", Ink::Bold()) + "\n" +
                       terminal.Paint(judged, Ink::Dim()) + "\n";
    if (!answer.settled.empty())
      text += fmt::format("{} grew at first and {} stopped growing.\n",
                          FormatCount(answer.settled.size(), "place"),
                          answer.settled.size() == 1 ? "has" : "have");
    return text + HostText(answer);
  }
  std::string text = terminal.Paint(growth::Headline(answer.leaks), Ink::Bold());
  text += "\n" + terminal.Paint(judged, Ink::Dim()) + "\n" + Listed(answer.leaks, terminal);
  return text + HostText(answer);
}

// A line for each device except the first.
std::string OthersText(const std::vector<leaks::DeviceGrowth>& all, const Terminal& terminal) {
  if (all.size() < 2) return "";
  Table table({Align::kLeft, Align::kLeft});
  for (auto device = all.begin() + 1; device != all.end(); ++device) {
    const std::string found =
        !device->growth.ok() ? "not judged: " + device->growth.error().sentence
        : device->growth->leaks.empty()
            ? "nothing grows"
            : fmt::format("{} a step; --process {} shows where",
                          FormatSignedBytes(static_cast<int64_t>(leaks::BytesPerStep(*device->growth))),
                          device->spoken.pid);
    table.AddRow({device->spoken.text, found});
  }
  return "\n" + terminal.Paint("Others", Ink::Bold()) + "\n" + table.ToString();
}

Result<int> LeaksVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1)
    return UsageError("leaks needs one trace: vramscope leaks run.vms");
  const report::Request request = VRAMSCOPE_TRY(DeviceRequest(arguments));
  const std::string& path = arguments.positionals().front();
  const model::Run run = VRAMSCOPE_TRY(LoadRun(RunFile(path), arguments));
  const classify::Analysis analysis(run);
  const std::vector<leaks::DeviceGrowth> all =
      VRAMSCOPE_TRY(CannotJudge(PrefixError(path, leaks::FindGrowthOfAll(analysis, request))));
  const leaks::DeviceGrowth& first = all.front();
  if (!first.growth.ok()) return CannotJudge(path + ": " + first.growth.error().sentence);
  if (arguments.Has("json"))
    Print(leaks::ToJson(all) + "\n");
  else
    Print((all.size() > 1 ? first.spoken.text + ": " : "") + LeaksText(*first.growth, terminal) +
          OthersText(all, terminal));
  return kDone;
}

}  // namespace

int RunLeaks(std::span<const std::string> words) {
  return RunParsed(LeaksHelp(), Arguments::Parse(LeaksHelp(), words), LeaksVerb);
}

}  // namespace vramscope::cli
