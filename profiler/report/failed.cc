// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/failed.h"

#include <sys/wait.h>

#include <cstring>

#include "profiler/report/device_choice.h"

namespace vramscope::report {
namespace {

// Of the command itself; -1 where the trace does not say which process that was.
int32_t StatusOfCommand(const model::Run& run) {
  for (model::ProcessIndex process = 0; process < run.processes.size(); ++process) {
    const auto role = run.source->metadata().find("process." + std::to_string(process) + ".role");
    if (role != run.source->metadata().end() && role->second == "main")
      return run.processes[process].info.exit_status;
  }
  return -1;
}

}  // namespace

std::string ExitText(int32_t wait_status) {
  if (wait_status == -1) return "";
  if (WIFEXITED(wait_status)) return "exit " + std::to_string(WEXITSTATUS(wait_status));
  if (!WIFSIGNALED(wait_status)) return "";
  return "killed by signal " + std::to_string(WTERMSIG(wait_status)) + " (" +
         strsignal(WTERMSIG(wait_status)) + ")";
}

std::string HowItFailed(const model::Run& run, model::ProcessIndex process) {
  const int32_t own = run.processes[process].info.exit_status;
  const int32_t status = own == -1 ? StatusOfCommand(run) : own;
  const std::string how = ExitText(status);
  if (status == 0 || how.empty()) return "";
  constexpr const char* kConsequence = ": it was cut short, and what would have come later is not known.";
  Request request;
  request.pid = run.processes[process].info.pid;
  const auto failure = ChooseFailure(run, request, 0);
  if (failure.has_value() && failure->ended_its_process)
    return "An allocation on " + run.devices[failure->device].name + " failed and ended the run (" + how +
           ")" + kConsequence;
  return "The run failed (" + how + ")" + kConsequence;
}

}  // namespace vramscope::report
