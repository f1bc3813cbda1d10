// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "profiler/collector/black_box_files.h"
#include "profiler/collector/command.h"
#include "profiler/collector/control_socket.h"
#include "profiler/collector/process_facts.h"
#include "profiler/collector/recorder.h"
#include "profiler/collector/session_folder.h"
#include "profiler/collector/target_program.h"
#include "trace_format/file_sink.h"
#include "trace_format/ring.h"

namespace vramscope::collector {
namespace {

constexpr int kMaxOutputNumber = 10'000;
constexpr char kNvtxVariable[] = "NVTX_INJECTION64_PATH";

trace::TraceClock StartOfTrace(const ClockAnchor& start) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return {static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec),
          start.monotonic_ns};
}

// NVTX loads one library: ours, which calls through to the one that was asked for before.
void PutInFrontOfNvtx(const std::string& injector, std::map<std::string, std::string>& changes) {
  const auto asked = changes.find(kNvtxVariable);
  const char* const inherited = getenv(kNvtxVariable);
  const std::string before = asked != changes.end() ? asked->second : inherited == nullptr ? "" : inherited;
  if (before == injector) return;  // a recording inside a recording
  if (!before.empty()) changes[trace::kNvtxNextVariable] = before;
  changes[kNvtxVariable] = injector;
}

std::map<std::string, std::string> RecordingEnvironment(const RecordOptions& options,
                                                        const std::string& session) {
  std::string text = fmt::format("device={};depth={};deep_steps={};stacks={}", options.device, options.depth,
                                 options.deep_steps, options.stacks);
  std::map<std::string, std::string> changes = options.environment;
  changes[trace::kSessionVariable] = session;
  changes[trace::kCollectorVariable] = std::to_string(getpid());
  // The recorder's own, what the options add, what is there already.
  const auto put_in_front = [&](const char* variable, std::string paths) {
    if (const auto more = changes.find(variable); more != changes.end())
      paths += paths.empty() ? more->second : ":" + more->second;
    if (!paths.empty()) changes[variable] = PrependToPathVariable(variable, paths);
  };
  put_in_front("LD_PRELOAD", options.installation ? options.installation->injector : "");
  put_in_front("PYTHONPATH", options.installation ? options.installation->python_shim : "");
  if (options.installation) {
    text += fmt::format(";shim={}", options.installation->python_shim);
    PutInFrontOfNvtx(options.installation->injector, changes);
  }
  if (!options.bridge.empty()) text += ";bridge=" + options.bridge;
  if (!options.more_options.empty()) text += ";" + options.more_options;
  changes[trace::kOptionsVariable] = text;
  return changes;
}

void WriteStartMetadata(const RecordOptions& options, trace::TraceWriter& writer) {
  std::map<std::string, std::string> facts = MachineFacts();
  facts.insert(options.metadata.begin(), options.metadata.end());
  facts["vramscope.version"] = options.version;
  facts["command_line"] = JoinCommandLine(options.command);
  facts["option.device"] = options.device;
  facts["option.depth"] = options.depth;
  facts["option.deep_steps"] = options.deep_steps;
  facts["option.stacks"] = options.stacks;
  if (!options.bridge_missing.empty()) facts["bridge.missing"] = options.bridge_missing;
  if (options.max_bytes != 0) facts["option.max_size_bytes"] = std::to_string(options.max_bytes);
  for (const auto& [key, value] : facts) writer.SetMetadata(key, value);
}

// "main": the command itself; "worker": forked from a recorded process; "child": started anew by exec.
const char* RoleOf(const TargetProcess& process, pid_t command) {
  if (process.facts().pid == static_cast<uint32_t>(command)) return "main";
  return process.facts().forked_from != 0 ? "worker" : "child";
}

void WriteEndMetadata(const RecordOutcome& outcome, pid_t command, const RingFolderWatch& folder,
                      Drain& drain, trace::TraceWriter& writer) {
  TargetProcess* last_image_of_command = nullptr;
  for (const auto& process : drain.processes()) {
    writer.SetMetadata(fmt::format("process.{}.role", process->trace_process), RoleOf(*process, command));
    if (process->facts().pid == static_cast<uint32_t>(command)) last_image_of_command = process.get();
  }
  if (last_image_of_command != nullptr) last_image_of_command->info.exit_status = outcome.wait_status;
  drain.WriteSummary();
  writer.SetMetadata("command.pid", std::to_string(command));
  writer.SetMetadata("command.wait_status", std::to_string(outcome.wait_status));
  if (!outcome.stop_sentence.empty()) writer.SetMetadata("recording.stopped", outcome.stop_sentence);
  if (!outcome.left_running.empty()) {
    writer.SetMetadata("recording.left_running", fmt::format("{}", fmt::join(outcome.left_running, " ")));
  }
  if (outcome.lost_events != 0)
    writer.SetMetadata("recording.lost_events", std::to_string(outcome.lost_events));
  if (!folder.refused().empty()) {
    writer.SetMetadata("recording.refused_rings", fmt::format("{}", fmt::join(folder.refused(), " ")));
  }
}

// Closes the trace and says in `outcome` what became of it.
void Finish(pid_t command, Recorder& recorder, const RingFolderWatch& folder, TraceOutput& output,
            RecordOutcome& outcome) {
  Drain& drain = recorder.drain();
  output.Flush();
  outcome.left_running = recorder.LeftRunning();
  outcome.stop_sentence = output.stop_sentence();
  outcome.lost_events = drain.lost() + output.events_lost();
  outcome.processes = drain.processes().size();
  outcome.peak_bytes = drain.totals().PeakBytes();
  WriteEndMetadata(outcome, command, folder, drain, output.writer());
  output.Close();
  outcome.stop_sentence = output.stop_sentence();
  outcome.events = output.events();
  outcome.lost_events = drain.lost() + output.events_lost();
  outcome.file_bytes = output.bytes();
}

Result<std::unique_ptr<TraceOutput>> OpenOutput(const RecordOptions& options, const std::string& path,
                                                const ClockAnchor& start) {
  if (options.black_box_steps != 0)
    return TraceOutput::CreateBlackBox(StartOfTrace(start), options.black_box_steps);
  auto sink = trace::CreateFileSink(path);
  if (!sink.ok()) return sink.error();
  return TraceOutput::Create(std::move(sink).value(), StartOfTrace(start), options.max_bytes);
}

// Out-of-memory errors and orders are answered between two turns, when everything up to them has been
// drained.
void TakeOrders(const std::string& session, BlackBoxFiles& files, Recorder& recorder,
                std::optional<ControlSocket>& control) {
  if (Result<ControlSocket> listening = ControlSocket::Listen(session); listening.ok())
    control.emplace(std::move(listening).value());
  recorder.AfterEachTurn(control ? control->descriptor() : -1, [&files, &control] {
    files.WriteAfterOutOfMemory();
    if (!control) return;
    control->Serve([&](const std::string& order) -> Result<std::string> {
      if (order == "dump") return files.WriteByOrder();
      return Error{"This recording knows one order: dump."};
    });
  });
}

void FinishBlackBox(TraceOutput& output, BlackBoxFiles& files, RecordOutcome& outcome) {
  if (outcome.wait_status != 0) files.WriteAtEnd();
  outcome.black_boxes = files.paths();
  outcome.path = files.paths().empty() ? "" : files.paths().back();
  if (!files.trouble().empty()) outcome.stop_sentence = files.trouble();
  outcome.events = output.events();
  outcome.file_bytes = output.bytes();
}

// A pidfd for each process of a large launch: more than the soft limit of 1024 that many systems set. The
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

// The trace's file, and whether it was made for this recording and may be removed when the command cannot be
// started.
struct Output {
  std::string path;
  bool new_file = true;
};

Result<Output> ChooseOutput(const RecordOptions& options) {
  if (options.black_box_steps != 0) return Output{"", false};  // named when it is written
  if (!options.output.empty()) {
    const bool new_file = access(options.output.c_str(), F_OK) != 0;
    return Output{options.output, new_file};
  }
  Result<std::string> reserved = ReserveOutput(".");
  if (!reserved.ok()) return reserved.error();
  return Output{*reserved, true};
}

}  // namespace

Result<std::string> ReserveOutput(const std::string& folder) {
  for (int number = 1; number < kMaxOutputNumber; ++number) {
    const std::string name = number == 1 ? "run.vms" : fmt::format("run-{}.vms", number);
    const std::string path = folder == "." ? name : fmt::format("{}/{}", folder, name);
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd >= 0) {
      close(fd);
      return path;
    }
    if (errno != EEXIST) {
      return Error{
          fmt::format("{}: cannot be created: {}. Name another place with -o.", path, std::strerror(errno))};
    }
  }
  return Error{fmt::format("run.vms to run-{}.vms all exist. Name the trace with -o.", kMaxOutputNumber - 1)};
}

void FindBridge(RecordOptions& options, const BridgeOptions& wishes) {
  if (options.depth == "light") return;
  const Result<BridgeInfo> bridge = EnsureBridge(options.command, wishes);
  if (bridge.ok()) {
    options.bridge = bridge->path;
  } else {
    options.bridge_missing = bridge.error().sentence;
  }
}

Result<std::string> CheckCommand(const std::vector<std::string>& command) {
  const Result<std::string> program = FindProgram(command.front());
  if (!program.ok()) return program.error();
  return CheckRecordable(*program);
}

Result<RecordOutcome> Record(const RecordOptions& options) {
  const Result<std::string> unrecorded = CheckCommand(options.command);
  if (!unrecorded.ok()) return unrecorded.error();
  const Result<Output> file = ChooseOutput(options);
  if (!file.ok()) return file.error();
  const auto give_up = [&](const Error& error) -> Result<RecordOutcome> {
    if (file->new_file) unlink(file->path.c_str());
    return error;
  };

  const ClockAnchor start = TakeAnchor();
  auto output = OpenOutput(options, file->path, start);
  if (!output.ok()) return give_up(output.error());
  auto session = SessionFolder::Create();
  if (!session.ok()) return give_up(session.error());
  WriteStartMetadata(options, (*output)->writer());
  if (!unrecorded->empty()) (*output)->writer().SetMetadata("command.unrecorded", *unrecorded);

  RingFolderWatch folder((*session)->path());
  SignalRelay relay;
  const auto environment = EnvironmentWith(RecordingEnvironment(options, (*session)->path()));
  const Result<pid_t> command = StartCommand(options.command, environment, relay);
  if (!command.ok()) return give_up(command.error());
  relay.StartSentinel();
  RaiseDescriptorLimit();
  if (options.release_stdio) ReleaseStdio();

  Recorder recorder(**output, start, folder, relay);
  RecordOutcome outcome;
  outcome.path = file->path;
  outcome.unrecorded = *unrecorded;
  BlackBoxFiles black_box(**output, options.output, [&] { recorder.drain().WriteSummary(); });
  std::optional<ControlSocket> control;
  if (options.black_box_steps != 0) TakeOrders((*session)->path(), black_box, recorder, control);
  outcome.wait_status = recorder.Run(*command);
  try {
    Finish(*command, recorder, folder, **output, outcome);
    if (options.black_box_steps != 0) FinishBlackBox(**output, black_box, outcome);
  } catch (const std::exception&
               failure) {  // the command has ended well or badly; that is what the caller is told
    outcome.stop_sentence = fmt::format("the trace could not be closed ({})", failure.what());
  }
  return outcome;
}

}  // namespace vramscope::collector
