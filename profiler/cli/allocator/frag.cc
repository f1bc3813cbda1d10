// SPDX-License-Identifier: Apache-2.0
// `vramscope frag`: reserved bytes that no tensor requested, by cause, and the blocks that pin them.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "profiler/cli/allocator/frag_screen.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/subject_file.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/fragmentation/answer.h"
#include "profiler/fragmentation/json.h"
#include "profiler/fragmentation/picture.h"

namespace vramscope::cli {

const VerbHelp& FragHelp() {
  static const VerbHelp help = {
      "frag",
      "how much memory is reserved but not used, why, and which tensors pin it",
      "frag [options] FILE",
      {{"vramscope frag run.vms",
        "show fragmentation by cause at the peak of reserved memory, and the pinned segments"},
       {"vramscope frag snapshot.pickle --at oom --json",
        "show the same for a PyTorch snapshot, at the moment when its program ran out of memory"}},
      {{"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."},
       {"at", '\0', "T",
        "The moment: reserved (the most memory is reserved; default), worst (the most memory is reserved\n"
        "but not requested), peak (the most memory is allocated), step:3, oom, oom:2, end, event:1200,\n"
        "nanoseconds since the start, or mono:NS. Can be repeated."},
       {"segments", '\0', "N", "Show this many segments; 0 = all. Default: 5; with --json, all."},
       {"pins", '\0', "N", "Show this many blocks of each segment; 0 = all. Default: 3; with --json, all."},
       {"points", '\0', "N", "Number of points of the series in --json; default 256, 0 = none."},
       {"svg", '\0', "OUT", "Write an SVG picture to this file instead."},
       {"picture", '\0', "NAME",
        "Which picture to draw. For the whole run: causes (reserved memory by cause; default) or shares\n"
        "(metrics from 0 to 1). For the chosen moment: map (segments) or sizes (free blocks)."}},
      VerbSubject::kRun};
  return help;
}

namespace {

Result<int> WriteSvg(const Arguments& arguments, const fragmentation::Subject& subject,
                     const fragmentation::LayoutWalk& walk, const fragmentation::Answer& answer,
                     fragmentation::Picture picture) {
  const std::string path = arguments.Get("svg");
  const std::string text = fragmentation::DrawSvg(subject, answer, walk.At(answer.chosen.moment), picture);
  std::FILE* file = std::fopen(path.c_str(), "we");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return kDone;
  return Error{
      fmt::format("{}: the picture could not be written: {}.", Printable(path), std::strerror(errno))};
}

Result<int> FragVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1) return UsageError("frag needs one file: vramscope frag run.vms");
  const bool json = arguments.Has("json");
  fragmentation::Question question;
  question.at = arguments.All("at");
  question.segments = json ? 0 : 5;
  question.pins = json ? 0 : 3;
  const auto picture = fragmentation::PictureFromName(arguments.Get("picture", "causes"));
  if (!picture.has_value()) {
    return UsageError(fmt::format("--picture must be causes, shares, map or sizes, not \"{}\".",
                                  Printable(arguments.Get("picture"))));
  }
  question.points = json ? 256 : arguments.Has("svg") ? 400 : 0;
  for (const auto& [option, value] :
       {std::pair{"segments", &question.segments}, std::pair{"pins", &question.pins},
        std::pair{"points", &question.points}}) {
    if (!arguments.Has(option)) continue;
    *value = VRAMSCOPE_TRY(NumberOf(arguments, option));
  }
  const std::string& path = arguments.positionals().front();
  const auto file = VRAMSCOPE_TRY(OpenSubject(snapshot::RunFile(path), arguments, {.at = question.at}));
  const fragmentation::Subject& subject = file->subject;
  const fragmentation::LayoutWalk walk(subject.history, subject.rules);
  const auto answer = VRAMSCOPE_TRY(PrefixError(path, fragmentation::BuildAnswer(subject, walk, question)));
  if (arguments.Has("svg")) return WriteSvg(arguments, subject, walk, answer, *picture);
  Print(json ? fragmentation::ToJson(subject, answer) + "\n" : FragScreen(path, subject, answer, terminal));
  return kDone;
}

}  // namespace

int RunFrag(std::span<const std::string> words) {
  return RunParsed(FragHelp(), Arguments::Parse(FragHelp(), words), FragVerb);
}

}  // namespace vramscope::cli
