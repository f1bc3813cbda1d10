// SPDX-License-Identifier: Apache-2.0
// `vramscope leaks`: what grows from step to step, where it is allocated, and what keeps it.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/classify/analysis.h"
#include "profiler/cli/arguments.h"
#include "profiler/cli/device_request.h"
#include "profiler/cli/progress.h"
#include "profiler/cli/terminal.h"
#include "profiler/cli/verb.h"
#include "profiler/leaks/all.h"

namespace vramscope::cli {

const VerbHelp& LeaksHelp() {
  static const VerbHelp help = {
      "leaks",
      "what grows from step to step",
      "leaks [options] FILE",
      {{"vramscope record --stacks python -- python train.py", "so that lines of code are known"},
       {"vramscope leaks run.vms", "what grows, since when, and what keeps it"}},
      {{"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."}},
      true};
  return help;
}

namespace {

using leaks::Growth;

constexpr size_t kMostShown = 12;

// "step 3", "steps 3 to 18", "9 of steps 3 to 18"
std::string StepsText(const Growth& growth) {
  if (growth.first_step == growth.last_step) return fmt::format("step {}", growth.first_step);
  const bool in_each = growth.steps == growth.last_step - growth.first_step + 1;
  return fmt::format("{}steps {} to {}", in_each ? "" : fmt::format("{} of ", growth.steps),
                     growth.first_step, growth.last_step);
}

// "train.py:42 (forward), layers.3.attn, aten::softmax"
std::string Where(const Growth& growth) {
  std::string text;
  for (const std::string& part : {growth.line, growth.module, growth.op}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + Printable(part);
  }
  if (text.empty()) text = "somewhere";
  return fmt::format(
      "{} in {}", text,
      growth.phase == timeline::Phase::kOther ? "no phase" : timeline::PhaseName(growth.phase));
}

std::string KeptBy(const Growth& growth) {
  if (growth.keeper == leaks::Keeper::kProgram)
    return "an object of the program keeps them: a list, a cache, a closure";
  return fmt::format(
      "autograd keeps them, made in {}: a tensor is kept with its graph; keep tensor.detach() or .item()",
      FormatCount(growth.places, "place"));
}

std::string Listed(const std::vector<Growth>& all, const Terminal& terminal) {
  std::string text;
  for (size_t i = 0; i < all.size() && i < kMostShown; ++i) {
    const Growth& growth = all[i];
    text += fmt::format(
        "\n  {} a step: {} of {} from {}\n",
        terminal.Paint(FormatSignedBytes(static_cast<int64_t>(growth.bytes_per_step)), Ink::Bold()),
        FormatBytes(growth.bytes),
        FormatCount(growth.blocks, growth.pinned_host ? "allocation of pinned host memory" : "tensor",
                    growth.pinned_host ? "allocations of pinned host memory" : ""),
        StepsText(growth));
    text += fmt::format("    allocated at {}\n    {}\n", Where(growth),
                        terminal.Paint(KeptBy(growth), Ink::Dim()));
  }
  if (all.size() > kMostShown)
    text += fmt::format("\n  ... and {} more, in --json\n", all.size() - kMostShown);
  return text;
}

std::string LeaksText(const leaks::Answer& answer, const Terminal& terminal) {
  const std::string judged = fmt::format("{}, judged by steps {} to {} of {}", answer.device,
                                         answer.first_judged, answer.last_judged, answer.steps);
  if (answer.leaks.empty()) {
    std::string text = terminal.Paint("Nothing grows from step to step.", Ink::Bold()) + "\n" +
                       terminal.Paint(judged, Ink::Dim()) + "\n";
    if (!answer.settled.empty())
      text += fmt::format("{} grew in the beginning and {} stopped.\n",
                          FormatCount(answer.settled.size(), "place"),
                          answer.settled.size() == 1 ? "has" : "have");
    return text;
  }
  uint64_t sum = 0;
  uint64_t pinned = 0;
  for (const Growth& growth : answer.leaks) (growth.pinned_host ? pinned : sum) += growth.bytes_per_step;
  std::string grows = sum == 0 ? "" : fmt::format("Memory grows by {} a step", FormatBytes(sum));
  if (pinned != 0) {
    grows +=
        fmt::format("{} by {} a step", grows.empty() ? "Pinned host memory grows" : ", pinned host memory",
                    FormatBytes(pinned));
  }
  grows += fmt::format(", from {}.", FormatCount(answer.leaks.size(), "place"));
  std::string text = terminal.Paint(grows, Ink::Bold());
  text += "\n" + terminal.Paint(judged, Ink::Dim()) + "\n" + Listed(answer.leaks, terminal);
  if (!answer.has_stacks) text += "\nNo lines of code: record again with --stacks python.\n";
  return text;
}

// A line for each device but the first.
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

int LeaksVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1) return Fail("leaks needs one trace: vramscope leaks run.vms");
  const Result<report::Request> request = DeviceRequest(arguments);
  if (!request.ok()) return Fail(request.error().sentence);
  const std::string& path = arguments.positionals().front();
  const Result<model::Run> run = LoadRun(path, arguments);
  if (!run.ok()) return Fail(run.error().sentence);
  const classify::Analysis analysis(*run);
  const Result<std::vector<leaks::DeviceGrowth>> all = leaks::FindGrowthOfAll(analysis, *request);
  if (!all.ok()) return Fail(path + ": " + all.error().sentence, kCannotJudge);
  const leaks::DeviceGrowth& first = all->front();
  if (!first.growth.ok()) return Fail(path + ": " + first.growth.error().sentence, kCannotJudge);
  if (arguments.Has("json"))
    fmt::print("{}\n", leaks::ToJson(*all));
  else
    fmt::print("{}{}{}", all->size() > 1 ? first.spoken.text + ": " : "", LeaksText(*first.growth, terminal),
               OthersText(*all, terminal));
  return kDone;
}

}  // namespace

int RunLeaks(std::span<const std::string> words) {
  return RunParsed(LeaksHelp(), Arguments::Parse(LeaksHelp(), words), LeaksVerb);
}

}  // namespace vramscope::cli
