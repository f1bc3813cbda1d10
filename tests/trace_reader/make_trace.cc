// SPDX-License-Identifier: Apache-2.0
// Writes an artificial trace that uses everything in the format; the same arguments always give the same
// trace.
//
//   make_trace OUT.vms random   SEED EVENTS EVENTS_PER_BLOCK     every event type, fields of any size
//   make_trace OUT.vms training SEED EVENTS EVENTS_PER_BLOCK     events of a training run
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "trace_format/append_variant.h"
#include "trace_format/testing/trace_builder.h"
#include "trace_format/testing/training_stream.h"

namespace vramscope::trace {
namespace {

constexpr uint32_t kThreads = 3;

std::vector<Event> RandomEvents(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Event> events(count);
  for (Event& event : events) event = testing::RandomEvent(random, kThreads);
  return events;
}

std::vector<Event> TrainingEvents(uint64_t seed, size_t count) {
  std::vector<Event> events;
  testing::TrainingStream stream(seed);
  while (events.size() < count) stream.AppendStep(&events);
  events.resize(count);
  return events;
}

void Define(TraceWriter* writer) {
  for (uint32_t process = 0; process < 2; ++process) {
    writer->AddProcess({.pid = 4000 + process,
                        .parent_pid = 1,
                        .start_ns = process * 1000,
                        .executable = "/usr/bin/python3"});
  }
  writer->AddThread({0, 4000, "main"});
  writer->AddThread({1, 4001, "worker"});
  writer->AddThread({0, 4002, ""});
  writer->SetMetadata("command_line", "python3 train.py --name \"a\\b\"");
  writer->SetMetadata("option.depth", "auto");
  const StringId frames[] = {writer->InternString("main"), writer->InternString("train.py:10 \xc3\xbc"),
                             writer->InternString(""), writer->InternString(std::string("\0\n", 2))};
  const StackId outer = writer->InternFrame(0, frames[0]);
  const StackId middle = writer->InternFrame(outer, frames[1]);
  writer->InternFrame(middle, frames[3]);
  writer->InternFrame(outer, frames[2]);
  writer->AddSourceFile("train.py", "import torch\n\nx = torch.ones(3)  # \xc3\xbc\n");
}

// Writes half of the events, flushes, writes what changes during a run, and then the rest.
Status WriteAll(TraceWriter* writer, std::span<const Event> events) {
  Define(writer);
  VRAMSCOPE_TRY(writer->Append(events.first(events.size() / 2)));
  VRAMSCOPE_TRY(writer->Flush());
  writer->SetMetadata("option.depth", "deep");
  writer->InternString("a string of the second half");
  writer->AddSourceFile("empty.py", "");
  writer->AddSourceFile("train.py", "import torch\n");
  writer->UpdateProcess(1, {.pid = 4001,
                            .parent_pid = 4000,
                            .start_ns = 1000,
                            .end_ns = 99'000,
                            .exit_status = -9,
                            .executable = "/usr/bin/python3",
                            .command_line = "python3 worker.py"});
  writer->AddProgram(0, {2, "seal", R"({"version": 1, "step": 2})"});
  writer->AddProgram(1, {7, "", "{}"});
  writer->AddProgram(0, {3, "", R"({"version": 1, "step": 3})"});
  VRAMSCOPE_TRY(writer->Append(events.subspan(events.size() / 2)));
  return writer->Close();
}

int Run(const std::string& path, const std::string& kind, uint64_t seed, size_t count,
        uint32_t events_per_block) {
  auto sink = CreateFileSink(path);
  if (!sink.ok()) return std::fprintf(stderr, "%s\n", sink.error().sentence.c_str()), 1;
  TraceWriter::Options options;
  options.events_per_block = events_per_block;
  options.blocks_per_checkpoint = 2;
  auto writer = TraceWriter::Create(std::move(sink).value(), {1'700'000'000'000'000'000, 5'000'000}, options);
  if (!writer.ok()) return std::fprintf(stderr, "%s\n", writer.error().sentence.c_str()), 1;
  const std::vector<Event> events =
      kind == "training" ? TrainingEvents(seed, count) : RandomEvents(seed, count);
  Status written = WriteAll(writer->get(), events);
  for (const std::string_view key : {"amp=bf16", "", "amp=bf16"}) {
    const std::string inner = written.ok() ? "stands for a trace, of " + std::string(key) : "";
    if (written.ok()) written = AppendVariant(path, key, AsBytes(inner));
  }
  if (!written.ok()) return std::fprintf(stderr, "%s\n", written.error().sentence.c_str()), 1;
  return 0;
}

}  // namespace
}  // namespace vramscope::trace

int main(int argc, char** argv) {
  if (argc != 6)
    return std::fprintf(stderr, "usage: make_trace OUT.vms random|training SEED EVENTS EVENTS_PER_BLOCK\n"),
           2;
  return vramscope::trace::Run(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10),
                               std::strtoull(argv[4], nullptr, 10),
                               static_cast<uint32_t>(std::strtoul(argv[5], nullptr, 10)));
}
