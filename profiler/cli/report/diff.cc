// SPDX-License-Identifier: Apache-2.0
// `vramscope diff`: how two runs differ, and what was changed in the program.
#include <fmt/format.h>

#include "profiler/classify/analysis.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/rank_request.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/report/diff_screen.h"
#include "profiler/collector/output/new_file.h"
#include "profiler/diff/compare.h"
#include "profiler/diff/words.h"
#include "profiler/html/answer_page.h"

namespace vramscope::cli {

const VerbHelp& DiffHelp() {
  static const VerbHelp help = {
      "diff",
      "what differs between two runs",
      "diff [options] BEFORE AFTER",
      {{"vramscope diff before.vms after.vms", "show what was changed, and how the peak changed"},
       {"vramscope diff main.vms branch.vms --markdown", "write the same for a pull request"},
       {"vramscope diff run.vms@rank:0 run.vms@rank:63", "compare two ranks of one run"},
       {"vramscope diff main.vms branch.vms --html diff.html", "write the same as one HTML file"}},
      {{"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."},
       {"html", '\0', "OUT", "Write one HTML file instead."},
       {"markdown", '\0', nullptr, "Print Markdown instead."},
       {"top", '\0', "N", "Show this many rows of each kind; default 8. --json has all of them."}},
      VerbSubject::kTwoRuns};
  return help;
}

namespace {

// `file` may name a rank: run.vms@rank:63.
Result<diff::Side> ReadSide(const std::string& file, const Arguments& arguments) {
  const auto [path, rank] = SplitRank(file);
  if (!rank.empty() && arguments.Has("rank"))
    return UsageError(fmt::format("{}: contains a rank, and --rank names one too. Keep one.", file));
  const report::Request request =
      VRAMSCOPE_TRY(DeviceRequest(rank.empty() ? arguments : arguments.With("rank", rank)));
  const model::Run run = VRAMSCOPE_TRY(LoadRun(RunFile(path), arguments));
  const classify::Analysis analysis(run);
  diff::Side side = VRAMSCOPE_TRY(diff::SideOf(path, analysis, request));
  VRAMSCOPE_TRY(diff::IsComparable(side));
  return side;
}

Result<int> WriteHtml(const diff::Side& before, const diff::Side& after, const diff::Diff& diff,
                      const std::string& out) {
  const auto name = [](const diff::Side& side) { return side.path.substr(side.path.find_last_of('/') + 1); };
  const std::string page = html::MakeDiffPage({.document = diff::ToJson(before, after, diff),
                                               .headline = diff::Headline(diff),
                                               .title = Printable(name(before) + " against " + name(after)),
                                               .version = VRAMSCOPE_VERSION,
                                               .framework = diff.framework});
  collector::NewFile file = VRAMSCOPE_TRY(collector::NewFile::Create(out, {before.path, after.path}));
  VRAMSCOPE_TRY(file.Write(page));
  VRAMSCOPE_TRY(file.Commit());
  return kDone;
}

Result<int> DiffVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 2)
    return UsageError("diff needs two traces or snapshots: vramscope diff before.vms after.vms");
  if (arguments.Has("json") + arguments.Has("markdown") + arguments.Has("html") > 1)
    return UsageError("--json, --markdown and --html exclude each other. Keep one.");
  size_t top = 8;
  if (arguments.Has("top")) {
    top = VRAMSCOPE_TRY(NumberOf(arguments, "top"));
  }
  const diff::Side before = VRAMSCOPE_TRY(ReadSide(arguments.positionals()[0], arguments));
  const diff::Side after = VRAMSCOPE_TRY(ReadSide(arguments.positionals()[1], arguments));
  const diff::Diff diff = diff::Compare(before, after);
  if (arguments.Has("html")) return WriteHtml(before, after, diff, arguments.Get("html"));
  if (arguments.Has("json")) {
    Print(diff::ToJson(before, after, diff) + "\n");
  } else if (arguments.Has("markdown")) {
    Print(DiffMarkdown(before, after, diff, top));
  } else {
    Print(DiffScreen(before, after, diff, top, terminal));
  }
  return kDone;
}

}  // namespace

int RunDiff(std::span<const std::string> words) {
  return RunParsed(DiffHelp(), Arguments::Parse(DiffHelp(), words), DiffVerb);
}

}  // namespace vramscope::cli
