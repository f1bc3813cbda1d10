// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/failed.h"

#include <sys/wait.h>

#include <cstring>

#include "profiler/report/device_choice.h"
#include "profiler/text/number.h"

namespace vramscope::report {
namespace {

// Exit status of the command itself; -1 if the trace does not have it.
int32_t StatusOfCommand(const model::Run& run) {
  const auto found = run.source->metadata().find("command.exit_status");
  if (found == run.source->metadata().end()) return -1;
  return text::ParseNumber<int32_t>(found->second).value_or(-1);
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
  if (status == 0) return "";
  constexpr const char* kConsequence = ", so its later memory use is not known.";
  const std::string how = ExitText(status);
  const std::string in_brackets = how.empty() ? "" : " (" + how + ")";
  Request request;
  request.pid = run.processes[process].info.pid;
  const auto failure = ChooseFailure(run, request, 0);
  if (failure.has_value() && failure->ended_its_process)
    return "An allocation on " + run.devices[failure->device].name + " failed and ended the run" +
           in_brackets + kConsequence;
  return how.empty() ? "" : "The run failed" + in_brackets + kConsequence;
}

}  // namespace vramscope::report
