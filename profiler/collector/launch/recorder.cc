// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/recorder.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "profiler/collector/output/noted_program.h"
#include "profiler/collector/output/seal.h"
#include "profiler/collector/target/launch_facts.h"
#include "profiler/collector/target/process_facts.h"
#include "profiler/text/harmless.h"
#include "profiler/text/redact.h"

namespace vramscope::collector {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kShortestSleep = std::chrono::microseconds(500);
constexpr nanoseconds kLongestSleep = milliseconds(20);
constexpr nanoseconds kSleepWhenStopped = milliseconds(200);
constexpr uint32_t kBusyPercent = 25;
constexpr uint32_t kQuietPercent = 5;
// How much of a trace a killed collector may lose. A shorter interval would cost size: each flush begins a
// new block.
constexpr uint64_t kFlushEveryNs = 5'000'000'000;
constexpr uint64_t kPatienceAfterCommandNs = 2'000'000'000;

}  // namespace

Recorder::Recorder(TraceOutput& output, ClockAnchor start, RingFolderWatch& folder, SignalRelay* relay)
    : output_(output),
      clock_(start),
      drain_(output, clock_, start.monotonic_ns),
      folder_(folder),
      relay_(relay),
      host_counters_(output),
      start_monotonic_ns_(start.monotonic_ns),
      sleep_(kLongestSleep),
      flushed_ns_(start.monotonic_ns) {}

void Recorder::AfterEachTurn(int descriptor, std::function<void()> work) {
  work_descriptor_ = descriptor;
  work_ = std::move(work);
}

int Recorder::Run(pid_t command) {
  SignalRelay::CommandState state;
  while (!state.exited) {
    Sleep();
    state = relay_->Relay(command);
    Turn();
  }
  command_ended_ = true;
  const uint64_t ended_ns = MonotonicNs();
  while (!watched_.empty() && MonotonicNs() - ended_ns < kPatienceAfterCommandNs) {
    Sleep();
    Turn();
  }
  closing_ = true;
  drain_.DetachAll();
  Turn();  // for what was recorded until they noticed
  return state.wait_status;
}

void Recorder::RunUntil(const std::function<bool()>& done) {
  do {
    Sleep();
    Turn();
  } while (!done());
  closing_ = true;
  drain_.PauseAll();  // first: what is not recorded from here on does not count as lost
  drain_.DetachAll();
  Turn();
}

void Recorder::Sleep() const {
  std::vector<pollfd> wake = {{folder_.descriptor(), POLLIN, 0}};
  if (relay_ != nullptr && !command_ended_) wake.push_back({relay_->descriptor(), POLLIN, 0});
  if (work_descriptor_ >= 0) wake.push_back({work_descriptor_, POLLIN, 0});
  for (const Watched& watched : watched_) wake.push_back({watched.watch.descriptor(), POLLIN, 0});
  const nanoseconds sleep = output_.stopped() ? kSleepWhenStopped : sleep_;
  const timespec timeout{0, static_cast<long>(sleep.count())};
  ppoll(wake.data(), wake.size(), &timeout, nullptr);
}

void Recorder::Turn() {
  // The order matters. A process that has ended is read to its end, and a new file from its beginning:
  // everything written before the anchor was taken is found after it.
  NoteEnded();
  const ClockAnchor anchor = TakeAnchor();
  clock_.Add(anchor);
  try {
    Welcome(anchor.monotonic_ns);
    DrainOnce(anchor.monotonic_ns);
    TakePrograms();
    AddHostMemory();
    FlushSometimes(anchor.monotonic_ns);
    if (work_) work_();
  } catch (const std::exception& failure) {
    output_.Stop(fmt::format("the collector failed ({})", failure.what()));
  }
  if (output_.stopped()) AnnounceStop();
}

void Recorder::NoteEnded() {
  const uint64_t now = drain_.ToTraceNs(MonotonicNs());
  std::erase_if(watched_, [&](const Watched& watched) {
    const bool retired = watched.process->retired();
    if (!retired && !watched.watch.HasEnded()) return false;
    host_.Forget(watched.process->trace_process);
    if (retired) return true;
    const uint64_t start_ticks = watched.process->facts().identity().start_ticks;
    watched.process->SetEnded(now, watched.watch.ExitStatus(start_ticks).value_or(-1));
    return true;
  });
}

void Recorder::Welcome(uint64_t now_ns) {
  for (RingFolderWatch::Found& found : folder_.Collect()) {
    const uint32_t pid = PidHere(found.file->facts().identity());
    if (output_.stopped() || closing_) found.file->Detach();
    // An earlier process image with this pid has ended by exec.
    for (const Watched& watched : watched_) {
      if (watched.process->info.pid == pid) watched.process->SetEnded(drain_.ToTraceNs(now_ns), -1);
    }
    std::string line = CommandLineOf(pid);
    if (redact_) line = text::Redacted(line);
    TargetProcess& process = drain_.AddProcess(std::move(found.file), found.path, ExecutableOf(pid), line);
    // Now and not at the end, so that the trace has these facts even if the recorder is killed.
    for (const auto& [key, value] : LaunchFactsOf(pid, redact_))
      output_.writer().SetMetadata(fmt::format("process.{}.{}", process.trace_process, key), value);
    watched_.push_back({&process, ProcessWatch(pid)});
    host_.Watch(pid, process.trace_process);
  }
}

void Recorder::DrainOnce(uint64_t watermark) {
  const Drain::PassResult result = drain_.Pass(watermark);
  if (result.fullest_percent >= kBusyPercent) {
    sleep_ = std::max(sleep_ / 2, kShortestSleep);
  } else if (result.fullest_percent <= kQuietPercent) {
    sleep_ = std::min(sleep_ * 3 / 2, kLongestSleep);
  }
}

void Recorder::TakePrograms() {
  for (const auto& [ring, path] : folder_.TakePrograms()) {
    const auto program = TakeNotedProgram(path);
    const auto name = ParseRingFileName(ring);
    if (!program || !name || output_.stopped()) continue;
    for (const auto& process : drain_.processes()) {
      if (process->facts().pid != name->pid || process->facts().image != name->image) continue;
      output_.writer().AddProgram(process->trace_process,
                                  {program->step, SealOf(program->text), program->text});
    }
  }
}

// Must come after the records of the same time, see HostCounters::Add.
void Recorder::AddHostMemory() {
  const std::vector<HostSample> samples = host_.Take();
  if (!output_.stopped()) host_counters_.Add(samples, start_monotonic_ns_);
}

void Recorder::FlushSometimes(uint64_t now_ns) {
  if (now_ns - flushed_ns_ < kFlushEveryNs) return;
  flushed_ns_ = now_ns;
  output_.Flush();
}

void Recorder::AnnounceStop() {
  if (stop_announced_) return;
  stop_announced_ = true;
  drain_.DetachAll();
  const std::string line = fmt::format("vramscope: recording has stopped; the command continues: {}\n",
                                       text::OneLine(output_.stop_sentence()));
  std::fputs(line.c_str(), stderr);  // errors are ignored: stderr may have no reader any more
}

std::vector<uint32_t> Recorder::LeftRunning() const {
  std::vector<uint32_t> pids;
  for (const Watched& watched : watched_) pids.push_back(watched.process->info.pid);
  return pids;
}

}  // namespace vramscope::collector
