// SPDX-License-Identifier: Apache-2.0
// `vramscope check`: rules about the memory of a run, for a build server.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "profiler/check/judge.h"
#include "profiler/classify/analysis.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/report/check_evidence.h"
#include "profiler/cli/report/check_text.h"
#include "profiler/collector/output/new_file.h"
#include "profiler/text/size_text.h"

namespace vramscope::cli {

const VerbHelp& CheckHelp() {
  static const VerbHelp help = {
      "check",
      "check the memory of a run against rules, for CI",
      "check [options] FILE",
      {{"vramscope check run.vms --peak-below 22GiB --no-leak-per-step", "exit with 1 if a rule is broken"},
       {"vramscope check run.vms --baseline main.vms --tolerance 2% --markdown comment.md",
        "compare with another run, and write a comment for the pull request"}},
      {{"peak-below", '\0', "SIZE", "Limit of the peak of allocated memory."},
       {"reserved-below", '\0', "SIZE", "Limit of the peak of reserved memory."},
       {"device-used-below", '\0', "SIZE", "Limit of the device memory in use, as the driver reports it."},
       {"category", '\0', "NAME<SIZE",
        "Limit of a category at the peak: 'activation<8GiB'. Can be repeated."},
       {"frag-below", '\0', "N%", "Limit of 1 - peak allocated / peak reserved, as frag reports it."},
       {"no-leak-per-step", '\0', nullptr, "No memory may grow from step to step, as leaks reports growth."},
       {"spread-below", '\0', "N%", "Limit of the spread of the ranks' peaks, as fleet reports it."},
       {"baseline", '\0', "FILE", "The peak must not exceed the peak of this run, as diff reports it."},
       {"tolerance", '\0', "N%", "The peak may exceed the peak of the baseline by this much; default 0%."},
       {"junit", '\0', "OUT", "Also write a JUnit report with one test case per rule."},
       {"markdown", '\0', "OUT", "Also write a comment for a pull request."},
       {"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."}},
      VerbSubject::kEveryRank};
  return help;
}

namespace {

using check::Rule;

Result<Rule> CategoryRule(const std::string& text) {
  const size_t sign = text.find('<');
  std::string name = text.substr(0, sign);
  std::replace(name.begin(), name.end(), '-', '_');
  const auto category = classify::CategoryFromKey(name);
  if (sign == std::string::npos || !category.has_value()) {
    std::string names;
    for (size_t i = 0; i < classify::kCategoryCount; ++i)
      names += (i == 0 ? "" : ", ") + std::string(classify::Info(static_cast<classify::Category>(i)).key);
    return Error{fmt::format(
        "--category needs a category and a size, like 'activation<8GiB', not '{}'. The categories are: {}.",
        Printable(text), names)};
  }
  const uint64_t bytes = VRAMSCOPE_TRY(text::ParseSize("category", text.substr(sign + 1)));
  return Rule{Rule::Kind::kCategory, "--category " + text, bytes, 0, *category};
}

Status AddBaseline(const Arguments& arguments, std::vector<Rule>& rules) {
  if (!arguments.Has("baseline")) {
    if (!arguments.Has("tolerance")) return {};
    return Error{"--tolerance needs --baseline, the run to compare with."};
  }
  const std::string tolerance = arguments.Get("tolerance", "0%");
  const double share = VRAMSCOPE_TRY(ShareOf("tolerance", tolerance));
  rules.push_back({Rule::Kind::kBaseline,
                   fmt::format("--baseline {} --tolerance {}", arguments.Get("baseline"), tolerance), 0,
                   share});
  return {};
}

Result<std::vector<Rule>> RulesFrom(const Arguments& arguments) {
  std::vector<Rule> rules;
  for (const auto& [option, kind] :
       {std::pair{"peak-below", Rule::Kind::kPeak}, std::pair{"reserved-below", Rule::Kind::kReserved},
        std::pair{"device-used-below", Rule::Kind::kDeviceUsed}}) {
    if (!arguments.Has(option)) continue;
    const std::string text = arguments.Get(option);
    const uint64_t bytes = VRAMSCOPE_TRY(text::ParseSize(option, text));
    rules.push_back({kind, fmt::format("--{} {}", option, text), bytes});
  }
  for (const std::string& text : arguments.All("category")) {
    const Rule rule = VRAMSCOPE_TRY(CategoryRule(text));
    rules.push_back(rule);
  }
  for (const auto& [option, kind] : {std::pair{"frag-below", Rule::Kind::kFragmentation},
                                     std::pair{"spread-below", Rule::Kind::kSpread}}) {
    if (!arguments.Has(option)) continue;
    const std::string text = arguments.Get(option);
    const double share = VRAMSCOPE_TRY(ShareOf(option, text));
    rules.push_back({kind, fmt::format("--{} {}", option, text), 0, share});
  }
  if (arguments.Has("no-leak-per-step")) rules.push_back({Rule::Kind::kNoLeak, "--no-leak-per-step"});
  VRAMSCOPE_TRY(AddBaseline(arguments, rules));
  if (rules.empty()) return Error{"check needs a rule: vramscope check run.vms --peak-below 22GiB"};
  return rules;
}

Result<Checked> Check(const std::string& path, const std::vector<Rule>& rules, const Arguments& arguments) {
  const report::Request request = VRAMSCOPE_TRY(DeviceRequest(arguments));
  const RunFile file(path);
  const model::Run run = VRAMSCOPE_TRY(LoadRun(file, arguments));
  const classify::Analysis analysis(run);
  CheckEvidence evidence(file, analysis, request);
  VRAMSCOPE_TRY(evidence.Read(rules, arguments));
  std::vector<check::Verdict> verdicts = check::JudgeAll(rules, evidence.all());
  return Checked{path, arguments.Get("baseline"), evidence.TakeAnswers(), std::move(verdicts)};
}

Status WriteFile(const std::string& path, const std::string& text, const Checked& checked) {
  collector::NewFile file = VRAMSCOPE_TRY(collector::NewFile::Create(path, {checked.path, checked.baseline}));
  VRAMSCOPE_TRY(file.Write(text));
  return file.Commit();
}

std::vector<const report::Answer*> Pointers(const std::vector<report::Answer>& answers) {
  std::vector<const report::Answer*> pointers;
  for (const report::Answer& answer : answers) pointers.push_back(&answer);
  return pointers;
}

Result<int> CheckVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1)
    return UsageError("check needs one trace or snapshot: vramscope check run.vms --peak-below 22GiB");
  const std::vector<Rule> rules = VRAMSCOPE_TRY(RulesFrom(arguments));
  const Checked checked = VRAMSCOPE_TRY(Check(arguments.positionals().front(), rules, arguments));
  Print(arguments.Has("json") ? check::ToJson(Pointers(checked.devices), checked.verdicts) + "\n"
                              : CheckScreen(checked, terminal));
  for (const auto& [option, text] :
       {std::pair{"junit", CheckJUnit(checked)}, std::pair{"markdown", CheckMarkdown(checked)}}) {
    if (!arguments.Has(option)) continue;
    VRAMSCOPE_TRY(WriteFile(arguments.Get(option), text, checked));
  }
  switch (check::Overall(checked.verdicts)) {
    case check::Outcome::kPass:
      return kDone;
    case check::Outcome::kFail:
      return kNo;
    case check::Outcome::kNotJudged:
      return kCannotJudge;
  }
  return kCannotJudge;
}

}  // namespace

int RunCheck(std::span<const std::string> words) {
  return RunParsed(CheckHelp(), Arguments::Parse(CheckHelp(), words), CheckVerb);
}

}  // namespace vramscope::cli
