// SPDX-License-Identifier: Apache-2.0
// `vramscope oom`: proves why a request failed, and suggests what to change.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/classify/category.h"
#include "profiler/cli/allocator/frag_screen.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/subject_file.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/fragmentation/autopsy.h"
#include "profiler/fragmentation/autopsy_words.h"
#include "profiler/fragmentation/model_words.h"
#include "profiler/text/number.h"

namespace vramscope::cli {

const VerbHelp& OomHelp() {
  static const VerbHelp help = {
      "oom",
      "why a request ran out of memory, with proof, and what to change",
      "oom [options] FILE",
      {{"vramscope oom run.vms", "explain the out-of-memory error that ended a recorded run"},
       {"vramscope oom snapshot.pickle --json", "explain the same for a PyTorch snapshot"}},
      {{"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."},
       {"number", '\0', "N",
        "Select the N-th out-of-memory error in order of time. Default: the first that ended its process."}},
      VerbSubject::kRun};
  return help;
}

namespace {

using fragmentation::Autopsy;
using fragmentation::Subject;
using fragmentation::Trial;
using fragmentation::TrialEnd;

constexpr size_t kWaitingShown = 5;

class OomScreen {
 public:
  OomScreen(const std::string& path, const Subject& subject, const Autopsy& autopsy, const Terminal& terminal)
      : path_(path), subject_(subject), autopsy_(autopsy), terminal_(terminal) {}

  std::string Build() const {
    std::string text = Headline();
    text += terminal_.Paint(
        fmt::format("{}, {} of {}{}\n", subject_.about, subject_.source, Printable(path_), OtherFailures()),
        Ink::Dim());
    text += Lines("Why the request failed", autopsy_.reasons);
    if (autopsy_.state.has_value()) {
      text += State();
      text += Lines("Freed, but waiting for other streams",
                    fragmentation::WaitingSentences(autopsy_.state->waiting, kWaitingShown));
    }
    text += Trials();
    if (!autopsy_.blockers.empty()) {
      text += Heading("What separates the free bytes") + SegmentTable(subject_, autopsy_.blockers, terminal_);
    }
    text +=
        Holders() + Lines("What to change", autopsy_.advice) + Lines("What is not known", autopsy_.unknown);
    for (const std::string& note : subject_.notes) text += terminal_.Paint("\n" + note, Ink::Dim()) + "\n";
    return text;
  }

 private:
  [[nodiscard]] std::string Heading(std::string_view text) const {
    return "\n" + terminal_.Paint(text, Ink::Bold()) + "\n";
  }

  [[nodiscard]] std::string Lines(std::string_view title, const std::vector<std::string>& lines) const {
    if (lines.empty()) return "";
    std::string text = Heading(title);
    for (const std::string& line : lines) text += "  " + Printable(line) + "\n";
    return text;
  }

  // "; failure 2 of 3, --number selects another"
  [[nodiscard]] std::string OtherFailures() const {
    if (autopsy_.failures < 2) return "";
    return fmt::format("; failure {} of {}, --number selects another", autopsy_.number, autopsy_.failures);
  }

  [[nodiscard]] std::string Headline() const {
    const std::string verdict = terminal_.Paint(VerdictSentence(autopsy_), Ink::Bold());
    if (!autopsy_.failure.has_value()) return verdict + "\n";
    std::string where;
    if (autopsy_.state.has_value() && autopsy_.state->place.step != 0) {
      where = fmt::format(" in step {}, {}", autopsy_.state->place.step, autopsy_.state->place.phase);
    }
    const std::string frame = fragmentation::TellingFrame(autopsy_.failure->frames);
    return fmt::format("{} failed{}{}{}. {}\n", terminal_.Paint(FormatBytes(autopsy_.rounded), Ink::Bad()),
                       where, frame.empty() ? "" : " at ", Printable(frame), verdict);
  }

  [[nodiscard]] std::string State() const {
    const auto& total = autopsy_.state->metrics.total;
    std::string text = Heading(fmt::format("{} reserved, {} {}; the difference by cause",
                                           FormatBytes(total.reserved), FormatBytes(total.requested),
                                           subject_.requests_known ? "requested" : "in blocks"));
    text += CauseTable(subject_, autopsy_.state->metrics.causes, terminal_);
    if (autopsy_.failure.has_value()) return text;
    const uint64_t largest = autopsy_.free.largest_block;
    text += Heading("What would have happened to a request");
    Table table({Align::kLeft, Align::kLeft});
    table.AddRow({"up to " + FormatBytes(largest), "served from a free block"});
    if (autopsy_.returned > largest) {
      table.AddRow({"up to " + FormatBytes(autopsy_.returned),
                    fmt::format("served by a new segment, after {} has released its wholly free segments",
                                fragmentation::WordsOf(subject_.history.model).framework)});
    }
    if (autopsy_.free.all() > std::max(largest, autopsy_.returned)) {
      table.AddRow(
          {"up to " + FormatBytes(autopsy_.free.all()), "served only if the free bytes were in one piece"});
    }
    table.AddRow({"more", "depends on what the driver had left"});
    return text + table.ToString();
  }

  [[nodiscard]] std::string Trials() const {
    if (autopsy_.trials.empty() || !autopsy_.reproduced.value_or(false)) return "";
    Table table({Align::kLeft, Align::kLeft, Align::kRight});
    for (const Trial& trial : autopsy_.trials) {
      table.AddRow({trial.settings, EndText(trial), FormatBytes(trial.reserved) + " reserved"});
    }
    return Heading("Replayed with other settings (a replay with the recorded settings fails here too)") +
           table.ToString();
  }

  [[nodiscard]] std::string EndText(const Trial& trial) const {
    switch (trial.end) {
      case TrialEnd::kFits:
        return terminal_.Paint("fits", Ink::Good());
      case TrialEnd::kFails:
        return terminal_.Paint("fails", Ink::Bad());
      case TrialEnd::kFailsBefore:
        return terminal_.Paint("fails earlier", Ink::Bad());
      case TrialEnd::kFailsAfter:
        return terminal_.Paint(fmt::format("fails {} later", FormatCount(trial.served + 1, "request")),
                               Ink::Bad());
    }
    return "";
  }

  [[nodiscard]] std::string Holders() const {
    Table table({Align::kRight, Align::kRight, Align::kLeft, Align::kLeft, Align::kLeft});
    table.MayCut(3, terminal_);
    const uint64_t all = autopsy_.state.has_value() ? autopsy_.state->metrics.active() : 0;
    for (const auto& holder : autopsy_.holders) {
      const auto category = classify::CategoryFromKey(holder.category);
      table.AddRow({FormatBytes(holder.bytes), FormatPercent(holder.bytes, all),
                    category.has_value() ? terminal_.Paint(classify::Info(*category).name,
                                                           Ink::Rgb(classify::Info(*category).rgb))
                                         : "",
                    Printable(holder.title), "(" + FormatCount(holder.blocks, "block") + ")"});
    }
    return autopsy_.holders.empty() ? "" : Heading("What uses the memory") + table.ToString();
  }

  const std::string& path_;
  const Subject& subject_;
  const Autopsy& autopsy_;
  const Terminal& terminal_;
};

Result<int> OomVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1) return UsageError("oom needs one file: vramscope oom run.vms");
  size_t number = 0;
  if (arguments.Has("number")) {
    const std::string text = arguments.Get("number");
    number = text::ParseNumber<size_t>(text).value_or(0);
    if (number == 0)
      return UsageError(fmt::format("--number needs a number, 1 or more, not \"{}\".", Printable(text)));
  }
  const std::string& path = arguments.positionals().front();
  const auto file =
      VRAMSCOPE_TRY(OpenSubject(snapshot::RunFile(path), arguments, {.failure = true, .number = number}));
  const Subject& subject = file->subject;
  const fragmentation::LayoutWalk walk(subject.history, subject.rules);
  auto autopsy =
      VRAMSCOPE_TRY(PrefixError(path, fragmentation::Examine(subject, walk, file->failure_on_device)));
  autopsy.number = file->failure;
  autopsy.failures = file->failures;
  Print(arguments.Has("json") ? fragmentation::ToJson(subject, autopsy) + "\n"
                              : OomScreen(path, subject, autopsy, terminal).Build());
  return autopsy.verdict == fragmentation::Verdict::kUnknown ? kCannotJudge : kDone;
}

}  // namespace

int RunOom(std::span<const std::string> words) {
  return RunParsed(OomHelp(), Arguments::Parse(OomHelp(), words), OomVerb);
}

}  // namespace vramscope::cli
