// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/recording_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "profiler/collector/output/output_place.h"
#include "profiler/collector/target/process_facts.h"

namespace vramscope::collector {
namespace {

uint64_t RealtimeNowNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// `vramscope fleet` aligns the clocks of hosts by these times. A recorder that lost its CPU between two
// readings was off by a millisecond, so the pair of readings that lie closest together counts.
trace::TraceClock StartOfTrace(const ClockAnchor& start) {
  constexpr int kTries = 5;
  uint64_t shortest = UINT64_MAX;
  trace::TraceClock clock{0, start.monotonic_ns};
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = MonotonicNs();
    const uint64_t realtime = RealtimeNowNs();
    const uint64_t took = MonotonicNs() - before;
    if (took >= shortest) continue;
    shortest = took;
    clock.start_realtime_ns = realtime - (before + took / 2 - start.monotonic_ns);
  }
  return clock;
}

// "main": the command itself; "worker": forked from a recorded process; "child": started by exec.
const char* RoleOf(const TargetProcess& process, pid_t command) {
  if (process.info.pid == static_cast<uint32_t>(command)) return "main";
  return process.facts().forked_from != 0 ? "worker" : "child";
}

void WriteEndFacts(const RecordOutcome& outcome, pid_t command, std::optional<int> wait_status,
                   const RingFolderWatch& folder, Drain& drain, trace::TraceWriter& writer) {
  TargetProcess* last_image_of_command = nullptr;
  for (const auto& process : drain.processes()) {
    writer.SetMetadata(fmt::format("process.{}.role", process->trace_process), RoleOf(*process, command));
    if (process->info.pid == static_cast<uint32_t>(command)) last_image_of_command = process.get();
  }
  if (last_image_of_command != nullptr && wait_status) last_image_of_command->info.exit_status = *wait_status;
  drain.WriteSummary();
  writer.SetMetadata("command.pid", std::to_string(command));
  if (wait_status) writer.SetMetadata("command.exit_status", std::to_string(*wait_status));
  if (!outcome.stop_sentence.empty()) writer.SetMetadata("recording.stopped", outcome.stop_sentence);
  if (!outcome.left_running.empty()) {
    writer.SetMetadata("recording.left_running", fmt::format("{}", fmt::join(outcome.left_running, " ")));
  }
  if (outcome.lost_events != 0)
    writer.SetMetadata("recording.lost_events", std::to_string(outcome.lost_events));
  if (outcome.unrecorded_processes != 0)
    writer.SetMetadata("recording.unrecorded_processes", std::to_string(outcome.unrecorded_processes));
  if (!folder.refused().empty()) {
    writer.SetMetadata("recording.refused_rings", fmt::format("{}", fmt::join(folder.refused(), " ")));
  }
}

Result<TraceClaim> ClaimOutput(const RecordOptions& options) {
  return options.output.empty() ? TraceClaim::Take("run.vms", OldTraces::kLeave)
                                : TraceClaim::Take(options.output, OldTraces::kWriteOver);
}

// Gives a complete part its name, and returns the file for the next one.
TraceOutput::NextSink NextPart(const std::string& path, std::function<void(const std::string&)> done) {
  return [path, done = std::move(done), number = 0]() mutable -> Result<std::unique_ptr<trace::ByteSink>> {
    const std::filesystem::path name(path);
    const std::string part = name.parent_path() / fmt::format("{}.part{}{}", name.stem().string(), ++number,
                                                              name.extension().string());
    std::error_code failed;
    std::filesystem::rename(name, part, failed);
    if (failed) return Error{fmt::format("{}: cannot be renamed to {}: {}.", path, part, failed.message())};
    TraceClaim claim = VRAMSCOPE_TRY(TraceClaim::Take(path, OldTraces::kWriteOver));
    if (done) done(part);
    return claim.TakeSink();
  };
}

}  // namespace

std::string OptionsText(const RecordOptions& options) {
  std::string text = fmt::format("device={};depth={};deep_steps={};stacks={}", options.device, options.depth,
                                 options.deep_steps, options.stacks);
  if (options.installation)
    text += fmt::format(";shim={};cupti={}", options.installation->python_shim, options.cupti);
  text += options.program ? ";program=on" : ";program=off";
  if (options.emit_nvtx_mem) text += ";emit_nvtx_mem=on";
  if (!options.bridge.empty())
    text += fmt::format(";bridge={};bridge_torch_bytes={}", options.bridge, options.bridge_torch_bytes);
  if (!options.more_options.empty()) text += ";" + options.more_options;
  return text;
}

void RecordingTrace::Discard() const {
  if (claim) claim->Discard();
}

Result<RecordingTrace> OpenTrace(const RecordOptions& options) {
  RecordingTrace trace;
  trace.start = TakeAnchor();
  auto output = Result<std::unique_ptr<TraceOutput>>(Error{});
  if (options.black_box_steps != 0) {  // its file is created when it is written
    VRAMSCOPE_TRY(CheckMayBeTrace(options.output));
    output = TraceOutput::CreateBlackBox(StartOfTrace(trace.start), options.black_box_steps);
  } else {
    if (options.part_bytes != 0 && !options.output.empty() &&
        VRAMSCOPE_TRY(PlaceOf(options.output)).is_stream)
      return Error{options.output + ": is no regular file, so --keep cannot remove parts of it."};
    TraceClaim claim = VRAMSCOPE_TRY(ClaimOutput(options));
    trace.claim.emplace(std::move(claim));
    trace.path = trace.claim->path();
    output = options.part_bytes == 0
                 ? TraceOutput::Create(trace.claim->TakeSink(), StartOfTrace(trace.start), options.max_bytes)
                 : TraceOutput::CreateParts(trace.claim->TakeSink(), StartOfTrace(trace.start),
                                            options.part_bytes, NextPart(trace.path, options.part_done));
  }
  if (!output.ok()) {
    trace.Discard();
    return output.error();
  }
  trace.output = std::move(output).value();
  if (options.embed_source) trace.output->EmbedSources();
  if (trace.claim && trace.claim->evaded() && options.say)
    options.say(fmt::format("{} is the trace of another active recorder; this one writes {}.", options.output,
                            trace.path));
  return trace;
}

void WriteStartFacts(const RecordOptions& options, trace::TraceWriter& writer) {
  std::map<std::string, std::string> facts = MachineFacts();
  facts.insert(options.metadata.begin(), options.metadata.end());
  facts["vramscope.version"] = options.version;
  facts["option.device"] = options.device;
  facts["option.depth"] = options.depth;
  facts["option.deep_steps"] = options.deep_steps;
  facts["option.stacks"] = options.stacks;
  facts["option.cupti"] = options.cupti;
  if (options.embed_source) facts["option.embed_source"] = "on";
  if (!options.bridge_missing.empty()) facts["bridge.missing"] = options.bridge_missing;
  if (options.max_bytes != 0) facts["option.max_size_bytes"] = std::to_string(options.max_bytes);
  for (const auto& [key, value] : facts) writer.SetMetadata(key, value);
}

void CloseTrace(pid_t command, std::optional<int> wait_status, Recorder& recorder,
                const RingFolderWatch& folder, TraceOutput& output, RecordOutcome& outcome) {
  Drain& drain = recorder.drain();
  output.Flush();
  outcome.left_running = recorder.LeftRunning();
  outcome.stop_sentence = output.stop_sentence();
  outcome.lost_events = drain.lost() + output.events_lost();
  outcome.processes = drain.processes().size();
  outcome.unrecorded_processes = folder.unrecorded();
  outcome.peak_bytes = drain.totals().PeakBytes();
  WriteEndFacts(outcome, command, wait_status, folder, drain, output.writer());
  output.Close();
  outcome.stop_sentence = output.stop_sentence();
  outcome.events = output.events();
  outcome.lost_events = drain.lost() + output.events_lost();
  outcome.file_bytes = output.bytes();
}

}  // namespace vramscope::collector
