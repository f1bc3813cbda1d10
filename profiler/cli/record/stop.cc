// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "profiler/cli/record/recording_verb.h"
#include "profiler/collector/target/dormant_recorder.h"
#include "profiler/collector/target/process_watch.h"

namespace vramscope::cli {

const VerbHelp& StopHelp() {
  static const VerbHelp help = {
      "stop",
      "end a recording that start began",
      "stop PID",
      {{"vramscope start 4711 -o live.vms", "record process 4711 until vramscope stop"},
       {"vramscope stop 4711", "close the trace; the process continues"}},
      {}};
  return help;
}

namespace {

constexpr auto kPatience = std::chrono::minutes(5);  // for the end of a large trace, on a busy machine

bool WaitForEnd(const collector::ProcessWatch& collector) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (collector.HasEnded()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

Result<int> StopVerb(const Arguments& arguments, const Terminal&) {
  const pid_t pid = VRAMSCOPE_TRY(PidFrom(arguments, "stop 4711"));
  const int collector = VRAMSCOPE_TRY(collector::AskDormantRecorder(pid, "who"));
  if (collector <= 0) return Error{fmt::format("Process {} is not being recorded.", pid)};
  const collector::ProcessWatch watch(static_cast<uint32_t>(collector));
  if (kill(collector, SIGINT) != 0)
    return Error{fmt::format(
        "The vramscope that records process {} belongs to another user. Stop the recording as that user.",
        pid)};
  if (!WaitForEnd(watch))
    return Error{fmt::format("The vramscope that records process {} is still writing its trace.", pid)};
  return kDone;
}

}  // namespace

int RunStop(std::span<const std::string> words) {
  return RunParsed(StopHelp(), Arguments::Parse(StopHelp(), words), StopVerb);
}

}  // namespace vramscope::cli
