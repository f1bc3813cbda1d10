// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "profiler/collector/launch/black_box_orders.h"
#include "profiler/collector/launch/command.h"
#include "profiler/collector/launch/recorder.h"
#include "profiler/collector/output/recording_trace.h"
#include "profiler/collector/output/session_folder.h"
#include "profiler/collector/target/process_facts.h"
#include "profiler/collector/target/target_program.h"
#include "profiler/text/redact.h"
#include "trace_format/ring.h"

namespace vramscope::collector {
namespace {

constexpr char kDriverVariable[] = "CUDA_INJECTION64_PATH";
constexpr char kProgramVariable[] = "VRAMSCOPE_PROGRAM";  // injector/python/vramscope_program
constexpr char kNvtxVariable[] = "NVTX_INJECTION64_PATH";

// NVTX loads one library: ours, which calls through to the previously requested one.
void PutInFrontOfNvtx(const std::string& injector, std::map<std::string, std::string>& changes) {
  const auto asked = changes.find(kNvtxVariable);
  const char* const inherited = getenv(kNvtxVariable);
  const std::string before = asked != changes.end() ? asked->second : inherited == nullptr ? "" : inherited;
  if (before == injector) return;  // a recording inside a recording
  if (!before.empty()) changes[trace::kNvtxNextVariable] = before;
  changes[kNvtxVariable] = injector;
}

// The driver loads one library. PyTorch's profiler does not start by itself if this variable is set. So it is
// set only if CUPTI was requested, and never over another tool's value.
void StartWithDriver(const std::string& injector, std::map<std::string, std::string>& changes) {
  if (getenv(kDriverVariable) == nullptr) changes.emplace(kDriverVariable, injector);
}

std::map<std::string, std::string> RecordingEnvironment(const RecordOptions& options,
                                                        const std::string& session) {
  std::map<std::string, std::string> changes = options.environment;
  changes[trace::kSessionVariable] = session;
  changes.emplace(kProgramVariable, options.program ? "on" : "off");
  changes[trace::kCollectorVariable] = std::to_string(getpid());
  // In this order: the recorder's own, those from the options, existing ones.
  const auto put_in_front = [&](const char* variable, std::string paths) {
    if (const auto more = changes.find(variable); more != changes.end())
      paths += paths.empty() ? more->second : ":" + more->second;
    if (!paths.empty()) changes[variable] = PrependToPathVariable(variable, paths);
  };
  put_in_front("LD_PRELOAD", options.installation ? options.installation->injector : "");
  put_in_front("PYTHONPATH", options.installation ? options.installation->python_shim : "");
  put_in_front("PATH", "");
  if (options.installation) {
    PutInFrontOfNvtx(options.installation->injector, changes);
    if (options.cupti == "on") StartWithDriver(options.installation->injector, changes);
  }
  changes[trace::kOptionsVariable] = OptionsText(options);
  return changes;
}

// A large launch needs a pidfd per process: more than the soft limit of 1024 that many systems set. The
// command keeps its own limit.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void ReleaseStdio() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  close(null);
}

}  // namespace

void FindBridge(RecordOptions& options, const BridgeOptions& wishes) {
  if (options.depth == "light") return;
  const Result<BridgeInfo> bridge = EnsureBridge(options.command, wishes);
  if (bridge.ok()) {
    options.bridge = bridge->path;
    options.bridge_torch_bytes = bridge->torch_bytes;
  } else {
    options.bridge_missing = bridge.error().sentence;
  }
}

Result<std::string> CheckCommand(const std::vector<std::string>& command) {
  const std::string program = VRAMSCOPE_TRY(FindProgram(command.front()));
  return CheckRecordable(program);
}

Result<RecordOutcome> Record(const RecordOptions& options) {
  const std::string unrecorded = VRAMSCOPE_TRY(CheckCommand(options.command));
  auto trace_file = VRAMSCOPE_TRY(OpenTrace(options));
  TraceOutput& output = *trace_file.output;
  const auto give_up = [&](const Error& error) -> Result<RecordOutcome> {
    trace_file.Discard();
    return error;
  };
  // Created before anything needs a cleanup. From now on Ctrl-C goes to the command, even if it has not begun
  // yet.
  SignalRelay relay;
  auto session = SessionFolder::Create();
  if (!session.ok()) return give_up(session.error());
  WriteStartFacts(options, output.writer());
  const std::string line = JoinCommandLine(options.command);
  output.writer().SetMetadata("command_line", options.redact ? text::Redacted(line) : line);
  if (!unrecorded.empty()) output.writer().SetMetadata("command.unrecorded", unrecorded);

  RingFolderWatch folder((*session)->path());
  const auto environment = EnvironmentWith(RecordingEnvironment(options, (*session)->path()));
  const Result<pid_t> command = StartCommand(options.command, environment, relay);
  if (!command.ok()) return give_up(command.error());
  relay.StartSentinel();
  RaiseDescriptorLimit();
  if (options.release_stdio) ReleaseStdio();

  Recorder recorder(output, trace_file.start, folder, &relay);
  if (options.redact) recorder.RedactCommandLines();
  RecordOutcome outcome;
  outcome.path = trace_file.path;
  outcome.unrecorded = unrecorded;
  std::optional<BlackBoxOrders> black_box;
  if (options.black_box_steps != 0) black_box.emplace((*session)->path(), options.output, output, recorder);
  outcome.wait_status = recorder.Run(*command);
  try {
    output.writer().SetMetadata("command.wait_status", std::to_string(outcome.wait_status));
    CloseTrace(*command, outcome.wait_status, recorder, folder, output, outcome);
    if (black_box) black_box->Finish(outcome.wait_status != 0, outcome);
  } catch (const std::exception& failure) {  // report only how the command ended
    outcome.stop_sentence = fmt::format("the trace could not be closed ({})", failure.what());
  }
  return outcome;
}

}  // namespace vramscope::collector
