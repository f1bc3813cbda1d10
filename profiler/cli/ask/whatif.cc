// SPDX-License-Identifier: Apache-2.0
// `vramscope whatif`: the memory that a recorded program would need if it were changed.
#include <fmt/format.h>

#include <charconv>

#include "profiler/cli/ask/whatif_screen.h"
#include "profiler/cli/ask/whatif_snapshot.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/option_value.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/experiment/answerer.h"
#include "profiler/experiment/recorded_step.h"
#include "profiler/experiment/try/try_change.h"
#include "profiler/plan/fit_limit.h"
#include "profiler/text/number.h"

namespace vramscope::cli {

using experiment::AnswerOptions;
using experiment::ReadRecordedStep;
using experiment::WhatifAnswerer;
using experiment::WhoAnswers;

const VerbHelp& WhatifHelp() {
  static const VerbHelp help = [] {
    VerbHelp one{"whatif",
                 "how much memory a recorded program would need after a change",
                 "whatif [options] RUN",
                 {{"vramscope whatif run.vms --batch 0.5x --checkpoint all", "predict both changes together"},
                  {"vramscope whatif run.vms --sweep batch=8..64:8", "predict a table of batch sizes"}},
                 {{"list", '\0', nullptr, "List the changes, and what must be recorded for each."}},
                 VerbSubject::kRun};
    for (const whatif::LeverInfo& lever : whatif::LeverTable())
      one.options.push_back({lever.name, '\0', lever.option, lever.help});
    one.options.insert(
        one.options.end(),
        {{"sweep", '\0', "LEVER=A..B[:STEP]",
          "Predict one line for each of these values, together with the other changes."},
         {"compare", '\0', "CHANGES",
          "Predict one line with these changes: 'batch=0.5x optimizer=sgd'. Can be\nrepeated."},
         {"by", '\0', "auto|rerun|transform",
          "How to answer changes that only PyTorch can compute. auto: re-run the recorded program\n"
          "and keep the result in the trace. rerun: do the same for traces of other users too.\n"
          "transform: use only the recorded step."},
         {"gpu", '\0', "MODEL", "The simulated GPU for re-runs."},
         {"limit", '\0', "SECONDS", "Time limit of a re-run; default 300."},
         {"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."}});
    return one;
  }();
  return help;
}

namespace {

constexpr uint64_t kMostPoints = 4096;

using Case = WhatifQuestion;

std::vector<whatif::Asked> AskedByOptions(const Arguments& arguments) {
  std::vector<whatif::Asked> asked;
  for (const whatif::LeverInfo& lever : whatif::LeverTable())
    if (arguments.Has(lever.name)) asked.push_back({lever.name, arguments.Get(lever.name)});
  return asked;
}

// The cases of --sweep "batch=8..64:8", each with the other changes.
Result<std::vector<Case>> Sweep(const std::string& text, const std::vector<whatif::Asked>& others) {
  const Error error{fmt::format("--sweep needs a change and numbers like batch=8..64:8, not \"{}\".", text)};
  const size_t equals = text.find('=');
  const size_t dots = text.find("..");
  if (equals == std::string::npos || dots == std::string::npos || dots < equals) return error;
  const auto number = [&](size_t from, uint64_t* value, size_t* behind) {
    const auto [end, failed] = std::from_chars(text.data() + from, text.data() + text.size(), *value);
    *behind = static_cast<size_t>(end - text.data());
    return failed == std::errc();
  };
  uint64_t first = 0, last = 0, stride = 1;
  size_t behind = 0;
  if (!number(equals + 1, &first, &behind) || behind != dots || !number(dots + 2, &last, &behind))
    return error;
  if (behind < text.size() && (text[behind] != ':' || !number(behind + 1, &stride, &behind))) return error;
  if (behind != text.size() || stride == 0 || first > last || (last - first) / stride >= kMostPoints)
    return error;
  std::vector<Case> cases;
  for (uint64_t value = first; value <= last; value += stride) {
    Case one{fmt::format("{} {}", text.substr(0, equals), value), others};
    one.asked.push_back({text.substr(0, equals), std::to_string(value)});
    cases.push_back(std::move(one));
  }
  return cases;
}

// The case of --compare "batch=0.5x optimizer=sgd", with the other changes.
Result<Case> Comparison(const std::string& text, const std::vector<whatif::Asked>& others) {
  Case one{text, others};
  for (size_t from = 0; from < text.size();) {
    const size_t space = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, space - from);
    from = space + 1;
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string::npos)
      return Error{fmt::format("--compare needs changes like batch=0.5x, not \"{}\".", word)};
    one.asked.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return one;
}

Result<std::vector<Case>> CasesOf(const Arguments& arguments) {
  const std::vector<whatif::Asked> asked = AskedByOptions(arguments);
  std::vector<Case> cases;
  if (arguments.Has("sweep")) cases = VRAMSCOPE_TRY(Sweep(arguments.Get("sweep"), asked));
  for (const std::string& text : arguments.All("compare")) {
    Case one = VRAMSCOPE_TRY(Comparison(text, asked));
    cases.push_back(std::move(one));
  }
  if (cases.empty()) cases.push_back({"", asked});
  for (const Case& one : cases) {
    for (const whatif::Asked& change : one.asked) {
      VRAMSCOPE_TRY(experiment::CheckValue(change));
    }
  }
  return cases;
}

int ListLevers() {
  Table table({Align::kLeft, Align::kLeft});
  for (const whatif::LeverInfo& info : whatif::LeverTable()) {
    table.AddRow({fmt::format("--{} {}", info.name, info.values), info.summary});
    table.AddRow({"", fmt::format("needs {}", info.facts)});
  }
  Print(table.ToString());
  return kDone;
}

Result<AnswerOptions> AnswerOptionsFrom(const Arguments& arguments, const report::Request& request) {
  AnswerOptions options;
  options.say = Say;
  options.device = request;
  options.gpu = arguments.Get("gpu");
  options.quiet = arguments.Has("quiet");
  if (!options.gpu.empty()) {
    VRAMSCOPE_TRY(plan::FindGpu(options.gpu));
  }
  const std::string by = arguments.Get("by", "auto");
  VRAMSCOPE_TRY(CheckChoice("by", by, {"auto", "rerun", "transform"}));
  options.by = by == "rerun"       ? WhoAnswers::kRerun
               : by == "transform" ? WhoAnswers::kTransform
                                   : WhoAnswers::kAuto;
  if (!arguments.Has("limit")) return options;
  const std::string text = arguments.Get("limit");
  const unsigned seconds = text::ParseNumber<unsigned>(text).value_or(0);
  if (seconds == 0) return Error{fmt::format("--limit {}: must be a number of seconds.", Printable(text))};
  options.limit = std::chrono::seconds(seconds);
  return options;
}

// A line of a table that states why it has no figures.
WhatifCase WithoutAnswer(const Case& question, const whatif::Baseline& baseline, const Error& why) {
  WhatifCase answer;
  answer.title = question.title;
  answer.prediction.before = answer.prediction.after = baseline.use;
  // "--compare ''" (the unchanged program) has no lever.
  answer.prediction.refused.push_back(
      {question.asked.empty() ? whatif::Asked{} : question.asked.front(), why.sentence});
  return answer;
}

Result<int> AnswerTo(const std::string& path, const Arguments& arguments, const Terminal& terminal) {
  const std::vector<Case> cases = VRAMSCOPE_TRY(CasesOf(arguments));
  const bool table = arguments.Has("sweep") || arguments.Has("compare");
  const report::Request request = VRAMSCOPE_TRY(DeviceRequest(arguments));
  const AnswerOptions options = VRAMSCOPE_TRY(AnswerOptionsFrom(arguments, request));
  const RunFile file(path);
  if (file.is_snapshot()) return AnswerForSnapshot(file, cases, table, arguments, terminal);
  const auto recorded =
      VRAMSCOPE_TRY(ReadRecordedStep(path, LoadTrace(file, arguments), request, cases.front().asked));
  const whatif::Step& step = recorded->step;
  const whatif::Baseline& baseline = recorded->baseline;
  WhatifAnswerer answerer(*recorded, path, options);

  WhatifAnswer answer{path, recorded->spoken, recorded->failed, &step, &baseline, {}, table, {}};
  if (const std::optional<plan::Beside> beside = plan::BesideOf(recorded->run, recorded->device, step))
    answer.beside_bytes = beside->total();
  bool refused = false;
  answerer.Prepare(cases);
  for (const Case& one : cases) {
    Result<WhatifCase> made = answerer.Answer(one);
    if (!made.ok() && !table) return CannotJudge(path + ": " + made.error().sentence);
    if (!made.ok()) made = WithoutAnswer(one, baseline, made.error());
    refused |= !made->prediction.refused.empty();
    answer.cases.push_back(std::move(made).value());
  }
  Print(arguments.Has("json") ? WhatifJson(answer) : WhatifText(answer, terminal));
  return refused ? kCannotJudge : kDone;
}

Result<int> WhatifVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.Has("list")) return ListLevers();
  if (arguments.positionals().size() != 1)
    return UsageError("whatif needs one trace: vramscope whatif run.vms --batch 0.5x");
  return AnswerTo(arguments.positionals().front(), arguments, terminal);
}

}  // namespace

int RunWhatif(std::span<const std::string> words) {
  return RunParsed(WhatifHelp(), Arguments::Parse(WhatifHelp(), words), WhatifVerb);
}

}  // namespace vramscope::cli
