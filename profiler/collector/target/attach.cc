// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/attach.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <thread>

#include "injector/attach/inject.h"
#include "injector/attach/process_view.h"
#include "injector/attach/refusal.h"
#include "profiler/collector/launch/black_box_orders.h"
#include "profiler/collector/launch/recorder.h"
#include "profiler/collector/output/recording_trace.h"
#include "profiler/collector/output/session_folder.h"
#include "profiler/collector/target/dormant_recorder.h"
#include "trace_format/ring.h"

namespace vramscope::collector {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char kEntry[] = "vramscope_attach";
constexpr auto kFirstEventLimit = std::chrono::seconds(10);
constexpr auto kLetGoLimit = std::chrono::seconds(6);
// An optimizer with less than 1/kStillSteps of the steps of another one counts as no longer used.
constexpr uint64_t kStillSteps = 8;

enum Answer : int32_t { kBegun = 0, kBusy = 1, kNoThread = 2 };  // injector/torch/on_demand.h

bool SameNamespace(pid_t pid, const char* kind) {
  struct stat ours {
  }, theirs{};
  return stat(fmt::format("/proc/self/ns/{}", kind).c_str(), &ours) == 0 &&
         stat(fmt::format("/proc/{}/ns/{}", pid, kind).c_str(), &theirs) == 0 && ours.st_ino == theirs.st_ino;
}

Status CheckSurroundings(pid_t pid) {
  if (SameNamespace(pid, "mnt") && SameNamespace(pid, "pid")) return {};
  return Error{
      fmt::format("{} runs in another container than vramscope. Run vramscope attach inside that container, "
                  "with the process ID there. docker exec needs --cap-add SYS_PTRACE or the same user.",
                  attach::Describe(pid))};
}

// Gives `folder` to the user of process `pid`, so that the process can create its files there.
Status GiveTo(pid_t pid, const std::string& folder) {
  struct stat owner {};
  if (stat(fmt::format("/proc/{}", pid).c_str(), &owner) != 0 || owner.st_uid == geteuid()) return {};
  const std::string room = fmt::format("{}/{}", folder, trace::kRoomName);
  if (chown(room.c_str(), owner.st_uid, owner.st_gid) == 0 &&
      chown(folder.c_str(), owner.st_uid, owner.st_gid) == 0)
    return {};
  return Error{fmt::format("{}: cannot change its owner to the user of process {}: {}.", folder, pid,
                           std::strerror(errno))};
}

Result<attach::Injected> AskAtDoor(pid_t pid, const std::string& request) {
  const int answer = VRAMSCOPE_TRY(AskDormantRecorder(pid, "start\n" + request));
  return attach::Injected{answer, 0, 0};
}

Result<attach::Injected> Enter(const AttachOptions& options, const std::string& session) {
  const RecordOptions& recording = options.recording;
  attach::Injection injection;
  injection.library = recording.installation->injector;
  injection.entry = kEntry;
  injection.argument = fmt::format("{}\n{}\n{}", session, OptionsText(recording), getpid());
  injection.canceled = options.interrupted;
  auto entered = options.through_door ? AskAtDoor(options.pid, injection.argument)
                                      : attach::Inject(options.pid, injection);
  if (!entered.ok() || entered->result == kBegun) return entered;
  if (entered->result == kBusy)
    return Error{fmt::format(
        "{} is already being recorded by vramscope, or is still removing its last recorder. Try again.",
        attach::Describe(options.pid))};
  return Error{fmt::format("{} could not start the recorder's thread{}.", attach::Describe(options.pid),
                           entered->result == kNoThread ? ": it may have reached its thread limit" : "")};
}

// Complete steps that the process has done since the attach. The first step that ended is not counted,
// because it had begun before.
uint64_t StepsDone(const Drain& drain, pid_t pid) {
  uint64_t least = 0;
  for (const auto& process : drain.processes()) {
    if (process->facts().pid != static_cast<uint32_t>(pid)) continue;
    uint64_t most = 0;
    for (const auto& [optimizer, steps] : process->optimizer_steps) most = std::max(most, steps);
    least = most;
    for (const auto& [optimizer, steps] : process->optimizer_steps) {
      if (steps * kStillSteps >= most) least = std::min(least, steps);
    }
  }
  return least == 0 ? 0 : least - 1;
}

class Until {
 public:
  Until(const AttachOptions& options, const TraceOutput& output, Recorder& recorder)
      : options_(options),
        output_(output),
        recorder_(recorder),
        process_(static_cast<uint32_t>(options.pid)),
        entered_(steady_clock::now()) {}

  bool operator()() {
    if (ended() || output_.stopped()) return true;
    if (options_.interrupted != nullptr && options_.interrupted->load()) return true;
    const auto now = steady_clock::now();
    if (recorder_.drain().processes().empty()) return now - entered_ > kFirstEventLimit;
    if (!begun_) begun_ = now;
    if (options_.duration && now - *begun_ >= *options_.duration) return true;
    return options_.steps != 0 && StepsDone(recorder_.drain(), options_.pid) >= options_.steps;
  }
  [[nodiscard]] bool ended() const { return process_.HasEnded(); }

 private:
  const AttachOptions& options_;
  const TraceOutput& output_;
  Recorder& recorder_;
  ProcessWatch process_;
  steady_clock::time_point entered_;
  std::optional<steady_clock::time_point> begun_;
};

// True if the process no longer maps anything of the session.
bool HasLetGo(pid_t pid, const std::string& session) {
  const auto deadline = steady_clock::now() + kLetGoLimit;
  for (;;) {
    const auto mappings = attach::MappingsOf(pid);
    const bool mapped = std::any_of(mappings.begin(), mappings.end(), [&](const attach::Mapping& mapping) {
      return mapping.path.starts_with(session + "/");
    });
    if (!mapped) return true;
    if (steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
}

std::string CommandLineForPeople(pid_t pid) {
  std::string line = attach::ReadProcFile(fmt::format("/proc/{}/cmdline", pid));
  while (!line.empty() && line.back() == '\0') line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

void WriteFacts(const AttachOptions& options, trace::TraceWriter& writer) {
  WriteStartFacts(options.recording, writer);
  writer.SetMetadata("command_line", CommandLineForPeople(options.pid));
  writer.SetMetadata("attach.pid", std::to_string(options.pid));
}

}  // namespace

Result<AttachOutcome> RecordAttached(const AttachOptions& options) {
  if (options.through_door) {
    VRAMSCOPE_TRY(AskDormantRecorder(options.pid, "who"));
  } else if (const Status target = attach::CheckTarget(options.pid); !target.ok()) {
    return target.error();
  }
  VRAMSCOPE_TRY(CheckSurroundings(options.pid));
  auto trace_file = VRAMSCOPE_TRY(OpenTrace(options.recording));
  TraceOutput& output = *trace_file.output;
  const auto give_up = [&](const Error& error) -> Result<AttachOutcome> {
    trace_file.Discard();
    return error;
  };
  auto session = SessionFolder::Create();
  if (!session.ok()) return give_up(session.error());
  if (const Status given = GiveTo(options.pid, (*session)->path()); !given.ok())
    return give_up(given.error());
  WriteFacts(options, output.writer());

  RingFolderWatch folder((*session)->path());
  const auto entered = Enter(options, (*session)->path());
  if (!entered.ok()) return give_up(entered.error());
  output.writer().SetMetadata("attach.stopped_ns", std::to_string(entered->stopped_ns));

  Recorder recorder(output, trace_file.start, folder, nullptr);
  std::optional<BlackBoxOrders> black_box;
  if (options.recording.black_box_steps != 0)
    black_box.emplace((*session)->path(), options.recording.output, output, recorder);
  Until until(options, output, recorder);
  recorder.RunUntil([&until] { return until(); });
  AttachOutcome outcome;
  outcome.stopped_ns = entered->stopped_ns;
  outcome.steps = StepsDone(recorder.drain(), options.pid);
  outcome.process_ended = until.ended();
  outcome.let_go = outcome.process_ended || HasLetGo(options.pid, (*session)->path());
  outcome.recording.path = trace_file.path;
  try {
    CloseTrace(options.pid, std::nullopt, recorder, folder, output, outcome.recording);
    outcome.recording.left_running.clear();
    if (black_box) black_box->Finish(false, outcome.recording);
  } catch (const std::exception& failure) {
    outcome.recording.stop_sentence = fmt::format("the trace could not be closed ({})", failure.what());
  }
  return outcome;
}

}  // namespace vramscope::collector
