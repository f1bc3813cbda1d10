// SPDX-License-Identifier: Apache-2.0
// `vramscope top`: the ranks of running recordings, read from the traces that their recorders write.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "profiler/cli/fleet/keyboard.h"
#include "profiler/cli/fleet/metrics_site.h"
#include "profiler/cli/fleet/orders.h"
#include "profiler/cli/fleet/top_screen.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/record/recording_options.h"
#include "profiler/fleet/job.h"
#include "profiler/fleet/metrics.h"
#include "profiler/fleet/read.h"
#include "profiler/text/number.h"

namespace vramscope::cli {

const VerbHelp& TopHelp() {
  static const VerbHelp help = {
      "top",
      "the ranks of running recordings: memory now, growth, steps until memory runs out",
      "top [options] PID|FOLDER|FILE...",
      {{"vramscope top job", "watch the traces that recorders write into this folder"},
       {"vramscope top 4711 --once", "print the state of the recording that process 4711 belongs to"}},
      {{"once", '\0', nullptr, "Print the state once and end. Default if the output is not a terminal."},
       {"format", '\0', "table|prometheus|otlp",
        "With --once: print the figures as metrics in the format of Prometheus or OTLP."},
       {"prometheus", '\0', "ADDRESS",
        "Serve metrics to Prometheus at this port (9400: this machine only) or address (0.0.0.0:9400)."},
       {"interval", '\0', "SECONDS", "Read the traces again after this many seconds; default 2."}}};
  return help;
}

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A trace is read as a whole. After a read that took t, top rests for at least 9 t, so that it does not slow
// down the training.
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

uint64_t SinceEpochNs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Since something was written to the rank's file, or to the last one if it has several.
uint64_t AgeNs(const fleet::RankSummary& rank) {
  const std::string& path = rank.last_file.empty() ? rank.file : rank.last_file;
  std::error_code failed;
  const auto written = std::filesystem::last_write_time(path, failed);
  if (failed) return 0;
  const auto age = std::filesystem::file_time_type::clock::now() - written;
  return static_cast<uint64_t>(
      std::max<int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(age).count(), 0));
}

Result<fleet::Job> ReadTop(const std::vector<std::string>& words) {
  const auto files = VRAMSCOPE_TRY(TopFiles(words));
  fleet::ReadRanks read = fleet::ReadFiles(files);
  if (read.ranks.empty())
    return Error{read.unreadable.empty() ? "there are no ranks in these files." : read.unreadable.front()};
  for (fleet::RankSummary& rank : read.ranks)  // a trace that is still written has no end yet
    if (rank.ending == fleet::Ending::kCutOff && AgeNs(rank) < kSilentNs)
      rank.ending = fleet::Ending::kUnknown;
  return fleet::Compare(std::move(read.ranks));
}

std::string TopPicture(const fleet::Job& job, const Terminal& terminal) {
  std::vector<uint64_t> ages;
  for (const fleet::RankSummary& rank : job.ranks) ages.push_back(AgeNs(rank));
  return TopScreen(job, ages, terminal);
}

// Does what the key stands for. Returns one sentence about it; "" = the key has no meaning.
std::string Obey(char key, const std::vector<std::string>& words) {
  std::error_code failed;
  const std::string& folder = words.front();
  const bool has_folder = std::filesystem::is_directory(folder, failed);
  if ((key == 'd' || key == 's') && !has_folder)
    return "This key needs the folder of the job: vramscope top FOLDER";
  const Result<std::string> done = key == 'd'   ? DumpAll(folder, 0)
                                   : key == 's' ? StartAll(folder, {})
                                   : key == 'x' ? StopAll()
                                                : Result<std::string>(std::string());
  return done.ok() ? *done : done.error().sentence;
}

int Watch(const std::vector<std::string>& words, milliseconds interval, const Terminal& terminal) {
  const Keyboard keyboard;
  signal(SIGCHLD, SIG_IGN);  // no zombies of the recorders that the key s starts
  std::string said;
  for (;;) {
    const Clock::time_point begin = Clock::now();
    const Result<fleet::Job> job = ReadTop(words);
    const Result<std::string> picture =
        job.ok() ? Result<std::string>(TopPicture(*job, terminal)) : job.error();
    const auto cost = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
    std::fputs("\x1b[H\x1b[2J", stdout);  // home, clear
    Print(picture.ok() ? *picture : Printable(picture.error().sentence) + "\n");
    Print(terminal.Paint(
              keyboard.there() ? "d dump black boxes   s start   x stop   q quit" : "Ctrl-C ends it.",
              Ink::Dim()) +
          "\n");
    if (!said.empty()) Print(Printable(said) + "\n");
    if (std::fflush(stdout) != 0) return kDone;  // the reader is gone
    if (const auto key = keyboard.Wait(std::max(interval, cost * kRestFactor))) {
      if (*key == 'q') return kDone;
      said = Obey(*key, words);
    }
  }
}

Result<int> TopVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().empty())
    return UsageError("top needs a process, a folder or files: vramscope top job");
  double seconds = 2;
  if (arguments.Has("interval")) {
    const std::string text = arguments.Get("interval");
    seconds = text::ParseNumber<double>(text).value_or(0);
    if (!(seconds >= 0.1 && seconds <= 3600))
      return UsageError(fmt::format("--interval needs seconds from 0.1 to 3600, not '{}'.", Printable(text)));
  }
  const std::string format = arguments.Get("format", "table");
  VRAMSCOPE_TRY(CheckChoice("format", format, {"table", "prometheus", "otlp"}));
  if (arguments.Has("prometheus")) {
    if (arguments.Has("once") || arguments.Has("format"))
      return UsageError("--prometheus serves until Ctrl-C. Leave out --once and --format.");
    const MetricsPlace place = VRAMSCOPE_TRY(ParsePlace(arguments.Get("prometheus")));
    VRAMSCOPE_TRY(ServeMetrics(place, [&] { return ReadTop(arguments.positionals()); }));
    return kDone;
  }
  if (!arguments.Has("once") && format == "table" && isatty(STDOUT_FILENO) == 1)
    return Watch(arguments.positionals(), milliseconds(static_cast<int64_t>(seconds * 1000)), terminal);
  const fleet::Job job = VRAMSCOPE_TRY(ReadTop(arguments.positionals()));
  Print(format == "prometheus" ? fleet::PrometheusText(job)
        : format == "otlp"     ? fleet::OtlpText(job, SinceEpochNs())
                               : TopPicture(job, terminal));
  return kDone;
}

}  // namespace

int RunTop(std::span<const std::string> words) {
  return RunParsed(TopHelp(), Arguments::Parse(TopHelp(), words), TopVerb);
}

}  // namespace vramscope::cli
