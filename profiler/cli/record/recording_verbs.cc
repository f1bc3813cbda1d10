// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "profiler/cli/record/recording_verb.h"
#include "profiler/collector/launch/signal_relay.h"
#include "profiler/text/number.h"

namespace vramscope::cli {
namespace {

constexpr std::array kRecordingVerbs = {
    Verb{"record", "record what a command allocates", RunRecord, RecordHelp},
    Verb{"attach", "record a running process for a while", RunAttach, AttachHelp},
    Verb{"start", "start recording a dormant process (record --dormant)", RunStart, StartHelp},
    Verb{"stop", "end a recording that start began", RunStop, StopHelp},
    Verb{"dump", "write the last steps of a running recording", RunDump, DumpHelp},
    Verb{"dryrun", "run a command on a simulated GPU: does it fit, and how much memory does it need",
         RunDryrun, DryrunHelp},
    Verb{"try", "run a command with a change, without editing its code, and compare", RunTry, TryHelp},
};

constexpr std::array kWatchingVerbs = {
    Verb{"fleet", "all ranks of a job: which stand out, and why", RunFleet, FleetHelp},
    Verb{"top", "the ranks of running recordings: memory now, growth, steps until memory runs out", RunTop,
         TopHelp},
    Verb{"view", "see a run in a window: memory over time, every block at every moment", RunView, ViewHelp},
    Verb{"serve", "show runs of this machine in a browser, also over ssh", RunServe, ServeHelp},
    Verb{"mcp", "answer an agent's questions about the runs of a folder", RunMcp, McpHelp},
};

constexpr ptrdiff_t kAboutItself = 2;  // completion and man, the last ones in the list

}  // namespace

std::span<const Verb> Verbs() {
  static const std::vector<Verb> all = [] {
    std::vector<Verb> verbs(kRecordingVerbs.begin(), kRecordingVerbs.end());
    verbs.insert(verbs.end(), AnsweringVerbs().begin(), AnsweringVerbs().end());
    verbs.insert(verbs.end() - kAboutItself, kWatchingVerbs.begin(), kWatchingVerbs.end());
    return verbs;
  }();
  return all;
}

Result<pid_t> PidFrom(const Arguments& arguments, const std::string& example) {
  if (arguments.positionals().size() != 1)
    return Error{fmt::format("{} needs the id of one process: vramscope {}",
                             example.substr(0, example.find(' ')), example)};
  const std::string& text = arguments.positionals().front();
  const uint64_t number = text::ParseNumber<uint64_t>(text).value_or(0);
  if (number == 0)
    return Error{fmt::format("'{}' is not a process id. Find it with: pgrep -af python", Printable(text))};
  if (number > INT32_MAX) return Error{fmt::format("There is no process {}.", number)};
  return static_cast<pid_t>(number);
}

int ExitAsCommand(int wait_status) {
  std::fflush(nullptr);  // a signal would discard buffered output
  if (WIFSIGNALED(wait_status)) collector::DieBySignal(WTERMSIG(wait_status));
  return WEXITSTATUS(wait_status);
}

}  // namespace vramscope::cli
