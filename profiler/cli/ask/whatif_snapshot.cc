// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/whatif_snapshot.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profiler/allocator/rerun.h"
#include "profiler/cli/ask/whatif_screen.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/subject_file.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/fragmentation/answer.h"
#include "profiler/fragmentation/layout_walk.h"
#include "profiler/text/json_dump.h"
#include "profiler/whatif/answer/words.h"

namespace vramscope::cli {
namespace {

using Json = nlohmann::ordered_json;
using allocator::PeakUse;
using allocator::RerunResult;

constexpr const char* kRecord =
    "a snapshot has blocks but no operators. Record the program with vramscope record -- python train.py, "
    "and use that trace.";

struct Answered {
  const WhatifQuestion* question = nullptr;
  RerunResult result;  // with the applied settings
  std::vector<whatif::Applied> applied;
  std::vector<whatif::Refused> refused;
};

Result<Answered> Ask(const allocator::History& history, const WhatifQuestion& question) {
  const std::string settings = whatif::AllocatorSettingsLever().info().name;
  Answered answered{&question, {}, {}, {}};
  allocator::RerunRequest request{history.settings};
  for (const whatif::Asked& asked : question.asked) {
    if (asked.lever == settings) {
      request.settings = asked.value;
      answered.applied.push_back({asked, {}});
    } else if (whatif::FindLeverInfo(asked.lever) == nullptr) {
      answered.refused.push_back({asked, "there is no such change; vramscope whatif --list shows all."});
    } else {
      answered.refused.push_back({asked, kRecord});
    }
  }
  answered.result = VRAMSCOPE_TRY(allocator::Rerun(history, request));
  for (whatif::Applied& applied : answered.applied) {
    applied.outcome.code = "PYTORCH_CUDA_ALLOC_CONF=" + request.settings;
    applied.outcome.notes = answered.result.notes;
  }
  return answered;
}

Json PeakJson(const PeakUse& peak) {
  return {{"peak",
           {{"allocated_bytes", peak.allocated_bytes},
            {"reserved_bytes", peak.reserved_then},
            {"reserved_peak_bytes", peak.reserved_bytes},
            {"device_used_bytes", nullptr},
            {"fragmentation", fragmentation::FragmentationOf(peak.allocated_bytes, peak.reserved_bytes)},
            {"requested_bytes", nullptr},
            {"phase", nullptr},
            {"category", nullptr},
            {"categories", Json::object()}}}};
}

Json AnswerJson(const Answered& answered) {
  whatif::Prediction levers;
  levers.levers = answered.applied;
  Json refused = Json::array();
  for (const whatif::Refused& one : answered.refused)
    refused.push_back({{"lever", one.asked.lever}, {"value", one.asked.value}, {"reason", one.reason}});
  return {{"after", PeakJson(answered.result.peak)},
          {"error_band", nullptr},
          {"levers", LeversJson(levers)},
          {"refused", refused}};
}

// The peaks that the file itself contains, over the whole history.
PeakUse RecordedPeak(const fragmentation::Subject& subject) {
  const fragmentation::LayoutWalk walk(subject.history, subject.rules);
  const fragmentation::Domain then = walk.At(walk.most_allocated()).Total();
  return {walk.peak_allocated(), walk.peak_reserved(), walk.most_allocated(), then.reserved};
}

// The recorded peaks, and those of a replay under the recorded settings. Other settings are compared with the
// replay: it requests the initial blocks in another order than the program did.
struct Before {
  PeakUse recorded;
  PeakUse rerun;
};

std::string AllJson(const fragmentation::Subject& subject, const Before& before,
                    const std::vector<Answered>& answers, bool table) {
  Json document = {{"schema_version", 1},
                   {"device", subject.device},
                   {"process", nullptr},
                   {"rank", nullptr},
                   {"others", subject.others},
                   {"step", nullptr},
                   {"recorded_allocated_bytes", before.recorded.allocated_bytes},
                   {"before", PeakJson(before.recorded)},
                   {"rerun", PeakJson(before.rerun)}};
  if (!table) {
    document.update(AnswerJson(answers.front()));
  } else {
    document["cases"] = Json::array();
    for (const Answered& answered : answers) {
      Json one = {{"title", answered.question->title}};
      one.update(AnswerJson(answered));
      document["cases"].push_back(one);
    }
  }
  return text::Dump(document) + "\n";
}

std::string AllText(const std::string& path, const fragmentation::Subject& subject, const Before& before,
                    const std::vector<Answered>& answers, const Terminal& terminal) {
  std::string text = fmt::format("{}: a snapshot of {}.\n\n", terminal.Paint(Printable(path), Ink::Bold()),
                                 AboutText(subject.about, subject.others));
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"", "allocated", "", "reserved", ""});
  const PeakUse& rerun = before.rerun;
  table.AddRow({"as recorded", FormatBytes(before.recorded.allocated_bytes), "",
                FormatBytes(before.recorded.reserved_bytes), ""});
  table.AddRow({"rerun, same settings", FormatBytes(rerun.allocated_bytes), "",
                FormatBytes(rerun.reserved_bytes), ""});
  for (const Answered& answered : answers) {
    if (answered.applied.empty()) continue;
    std::string title = answered.question->title;
    if (title.empty())
      title = answered.applied.front().asked.lever + " " + answered.applied.front().asked.value;
    const PeakUse& after = answered.result.peak;
    table.AddRow({Printable(title), FormatBytes(after.allocated_bytes),
                  FormatChange(rerun.allocated_bytes, after.allocated_bytes),
                  FormatBytes(after.reserved_bytes),
                  FormatChange(rerun.reserved_bytes, after.reserved_bytes)});
  }
  text += table.ToString() + terminal.Paint(
                                 "Changes are relative to a replay that begins with an empty allocator. The "
                                 "recorded run may have begun with memory in use.\n",
                                 Ink::Dim());
  for (const Answered& answered : answers) {
    for (const whatif::Applied& applied : answered.applied)
      text += "\n" + Printable(whatif::LeverLines(applied));
    for (const whatif::Refused& refused : answered.refused)
      text += fmt::format("\n  not applied: --{} {}: {}\n", Printable(refused.asked.lever),
                          Printable(refused.asked.value), refused.reason);
  }
  return text;
}

}  // namespace

Result<int> AnswerForSnapshot(const snapshot::RunFile& given, const std::vector<WhatifQuestion>& questions,
                              bool table, const Arguments& arguments, const Terminal& terminal) {
  const std::string& path = given.path();
  const auto file = VRAMSCOPE_TRY(OpenSubject(given, arguments));
  const fragmentation::Subject& subject = file->subject;
  const auto rerun = VRAMSCOPE_TRY(
      CannotJudge(PrefixError(path, allocator::Rerun(subject.history, {subject.history.settings}))));
  const Before before{RecordedPeak(subject), rerun.peak};
  std::vector<Answered> answers;
  bool refused = false;
  for (const WhatifQuestion& question : questions) {
    Answered answered = VRAMSCOPE_TRY(CannotJudge(PrefixError(path, Ask(subject.history, question))));
    refused |= !answered.refused.empty();
    answers.push_back(std::move(answered));
  }
  Print(arguments.Has("json") ? AllJson(subject, before, answers, table)
                              : AllText(path, subject, before, answers, terminal));
  return refused ? kCannotJudge : kDone;
}

}  // namespace vramscope::cli
