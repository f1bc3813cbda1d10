// SPDX-License-Identifier: Apache-2.0
// `vramscope top`: the ranks of running recordings, read from the traces that their recorders write.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "profiler/cli/fleet/top_screen.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/fleet/job.h"
#include "profiler/fleet/read.h"

namespace vramscope::cli {

const VerbHelp& TopHelp() {
  static const VerbHelp help = {
      "top",
      "the ranks of running recordings: memory now, growth, steps until it runs out",
      "top [options] PID|FOLDER|FILE...",
      {{"vramscope top job", "watch the traces that recorders write into this folder"},
       {"vramscope top 4711 --once", "print one picture of the recording that process 4711 belongs to"}},
      {{"once", '\0', nullptr, "Print one picture and end. This is the default unless on a terminal."},
       {"interval", '\0', "SECONDS", "Read again after this time; default 2."}}};
  return help;
}

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A trace is read as a whole. At most this part of the time is spent on it, so that top does not take the
// processors from the training.
constexpr int kRestFactor = 9;

bool IsNumber(const std::string& word) {
  return !word.empty() && word.size() < 10 && word.find_first_not_of("0123456789") == std::string::npos;
}

Result<std::vector<std::string>> TopFiles(const std::vector<std::string>& words) {
  std::vector<std::string> paths;
  for (const std::string& word : words) {
    std::error_code failed;
    if (!IsNumber(word) || std::filesystem::exists(word, failed)) {
      paths.push_back(word);
      continue;
    }
    const std::vector<std::string> traces =
        fleet::TracesOf(static_cast<uint32_t>(std::strtoul(word.c_str(), nullptr, 10)));
    if (traces.empty())
      return Error{
          fmt::format("no recorder of process {} has a trace open. Name the folder of the traces.", word)};
    paths.insert(paths.end(), traces.begin(), traces.end());
  }
  return fleet::FindFiles(paths);
}

uint64_t AgeNs(const std::string& path) {
  std::error_code failed;
  const auto written = std::filesystem::last_write_time(path, failed);
  if (failed) return 0;
  const auto age = std::filesystem::file_time_type::clock::now() - written;
  return static_cast<uint64_t>(
      std::max<int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(age).count(), 0));
}

Result<std::string> TopPicture(const std::vector<std::string>& words, const Terminal& terminal) {
  const auto files = VRAMSCOPE_TRY(TopFiles(words));
  fleet::ReadRanks read = fleet::ReadFiles(files);
  if (read.ranks.empty())
    return Error{read.unreadable.empty() ? "there are no ranks in these files." : read.unreadable.front()};
  const fleet::Job job = fleet::Compare(std::move(read.ranks));
  std::vector<uint64_t> ages;
  for (const fleet::RankSummary& rank : job.ranks) ages.push_back(AgeNs(rank.file));
  return TopScreen(job, ages, terminal);
}

int Watch(const std::vector<std::string>& words, milliseconds interval, const Terminal& terminal) {
  for (;;) {
    const Clock::time_point begin = Clock::now();
    const Result<std::string> picture = TopPicture(words, terminal);
    const auto cost = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
    std::fputs("\x1b[H\x1b[2J", stdout);  // home, clear
    Print(picture.ok() ? *picture : Printable(picture.error().sentence) + "\n");
    Print(terminal.Paint("Ctrl-C ends it.", Ink::Dim()) + "\n");
    if (std::fflush(stdout) != 0) return kDone;  // the reader is gone
    std::this_thread::sleep_for(std::max(interval, cost * kRestFactor));
  }
}

Result<int> TopVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().empty())
    return UsageError("top needs a process, a folder or files: vramscope top job");
  double seconds = 2;
  if (arguments.Has("interval")) {
    const std::string text = arguments.Get("interval");
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() ||
        !(seconds >= 0.1 && seconds <= 3600))
      return UsageError(fmt::format("--interval needs seconds from 0.1 to 3600, not '{}'.", Printable(text)));
  }
  if (!arguments.Has("once") && isatty(STDOUT_FILENO) == 1)
    return Watch(arguments.positionals(), milliseconds(static_cast<int64_t>(seconds * 1000)), terminal);
  const std::string picture = VRAMSCOPE_TRY(TopPicture(arguments.positionals(), terminal));
  Print(picture);
  return kDone;
}

}  // namespace

int RunTop(std::span<const std::string> words) {
  return RunParsed(TopHelp(), Arguments::Parse(TopHelp(), words), TopVerb);
}

}  // namespace vramscope::cli
