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
#include "profiler/html/diff_page.h"

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
      true};
  return help;
}

namespace {

// `file` may name a rank: run.vms@rank:63.
Result<diff::Side> ReadSide(const std::string& file, const Arguments& arguments) {
  const auto [path, rank] = SplitRank(file);
  if (!rank.empty() && arguments.Has("rank"))
    return Error{fmt::format("{}: names a rank, and --rank too. Keep one.", file)};
  const Result<report::Request> request =
      DeviceRequest(rank.empty() ? arguments : arguments.With("rank", rank));
  if (!request.ok()) return request.error();
  const Result<model::Run> run = LoadRun(path, arguments);
  if (!run.ok()) return run.error();
  const classify::Analysis analysis(*run);
  Result<diff::Side> side = diff::SideOf(path, analysis, *request);
  if (!side.ok()) return side;
  if (const Status comparable = diff::IsComparable(*side); !comparable.ok()) return comparable.error();
  return side;
}

int WriteHtml(const diff::Side& before, const diff::Side& after, const diff::Diff& diff,
              const std::string& out) {
  const auto name = [](const diff::Side& side) { return side.path.substr(side.path.find_last_of('/') + 1); };
  const std::string page = html::MakeDiffPage({.document = diff::ToJson(before, after, diff),
                                               .headline = diff::Headline(diff),
                                               .title = Printable(name(before) + " against " + name(after)),
                                               .version = VRAMSCOPE_VERSION});
  Result<collector::NewFile> file = collector::NewFile::Create(out, {before.path, after.path});
  if (!file.ok()) return Fail(file.error().sentence);
  if (const Status written = file->Write(page); !written.ok()) return Fail(written.error().sentence);
  if (const Status committed = file->Commit(); !committed.ok()) return Fail(committed.error().sentence);
  return kDone;
}

int DiffVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 2)
    return Fail("diff needs two traces or snapshots: vramscope diff before.vms after.vms");
  if (arguments.Has("json") + arguments.Has("markdown") + arguments.Has("html") > 1)
    return Fail("--json, --markdown and --html exclude each other. Keep one.");
  size_t top = 8;
  if (arguments.Has("top")) {
    const auto number = NumberOf(arguments, "top");
    if (!number.ok()) return Fail(number.error().sentence);
    top = *number;
  }
  const Result<diff::Side> before = ReadSide(arguments.positionals()[0], arguments);
  if (!before.ok()) return Fail(before.error().sentence);
  const Result<diff::Side> after = ReadSide(arguments.positionals()[1], arguments);
  if (!after.ok()) return Fail(after.error().sentence);
  const diff::Diff diff = diff::Compare(*before, *after);
  if (arguments.Has("html")) return WriteHtml(*before, *after, diff, arguments.Get("html"));
  if (arguments.Has("json")) {
    Print(diff::ToJson(*before, *after, diff) + "\n");
  } else if (arguments.Has("markdown")) {
    Print(DiffMarkdown(*before, *after, diff, top));
  } else {
    Print(DiffScreen(*before, *after, diff, top, terminal));
  }
  return kDone;
}

}  // namespace

int RunDiff(std::span<const std::string> words) {
  return RunParsed(DiffHelp(), Arguments::Parse(DiffHelp(), words), DiffVerb);
}

}  // namespace vramscope::cli
