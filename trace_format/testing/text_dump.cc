// SPDX-License-Identifier: Apache-2.0
#include "trace_format/testing/text_dump.h"

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <limits>

namespace vramscope::trace::testing {
namespace {

std::string Number(uint64_t value) { return std::to_string(value); }

std::string Join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string ProcessText(size_t number, const ProcessInfo& info) {
  return Join({"process ", Number(number), " pid=", Number(info.pid), " parent=", Number(info.parent_pid),
               " start=", Number(info.start_ns), " end=", Number(info.end_ns),
               " status=", std::to_string(info.exit_status), " executable=", Quoted(info.executable),
               " command=", Quoted(info.command_line), "\n"});
}

std::string ThreadText(size_t number, const ThreadInfo& info) {
  return Join({"thread ", Number(number), " process=", Number(info.process),
               " os_thread=", Number(info.os_thread), " name=", Quoted(info.name), "\n"});
}

std::string LiveText(const LiveBlock& block) {
  return Join({"live ", Number(block.number), " address=", Number(block.address),
               " size=", Number(block.size), " device=", Number(block.device),
               " time=", Number(block.time_ns), " process=", Number(block.process), "\n"});
}

std::string DefinitionsText(const TraceReader& reader) {
  std::string text;
  for (const auto& [key, value] : reader.metadata()) {
    text += Join({"metadata ", Quoted(key), " ", Quoted(value), "\n"});
  }
  for (size_t i = 0; i < reader.processes().size(); ++i) text += ProcessText(i, reader.processes()[i]);
  for (size_t i = 0; i < reader.threads().size(); ++i) text += ThreadText(i, reader.threads()[i]);
  for (StringId id = 1; reader.String(id).data() != nullptr; ++id) {
    text += Join({"string ", Number(id), " ", Quoted(reader.String(id)), "\n"});
  }
  for (const auto& [path, content] : reader.source_files())
    text += Join({"source ", Quoted(path), " ", Quoted(content), "\n"});
  for (const auto& [process, program] : reader.programs())
    text += Join({"program ", Number(process), " step=", Number(program.step), " seal=", Quoted(program.seal),
                  " ", Quoted(program.text), "\n"});
  for (const auto& [key, masked] : reader.variants()) {
    const Bytes trace = MaskedTrace(masked);
    text += Join({"variant ", Quoted(key), " ",
                  Quoted({reinterpret_cast<const char*>(trace.data()), trace.size()}), "\n"});
  }
  for (StackId id = 1;; ++id) {
    const std::vector<StringId> frames = reader.Stack(id);
    if (frames.empty()) break;
    text += Join({"stack ", Number(id)});
    for (const StringId frame : frames) text += Join({" ", Number(frame)});
    text += '\n';
  }
  return text;
}

}  // namespace

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char character : text) {
    const unsigned char byte = static_cast<unsigned char>(character);
    if (byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\') {
      quoted += character;
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", byte);
    quoted += escape;
  }
  return quoted + '"';
}

std::string EventText(const Event& event) {
  const EventSpec& spec = kEventSchema[static_cast<size_t>(event.type)];
  std::string text = Join({"event ", Number(event.time_ns), " ", Number(event.thread), " ", spec.name});
  for (size_t field = 0; field < spec.field_count; ++field) {
    if (event.field[field] == 0) continue;
    text += Join({" ", spec.fields[field].name, "=", Number(event.field[field])});
  }
  return text;
}

std::string TraceText(const TraceReader& reader) {
  const TraceClock& clock = reader.clock();
  std::string text =
      Join({"clock ", Number(clock.start_realtime_ns), " ", Number(clock.start_monotonic_ns), "\n"});
  text += DefinitionsText(reader);
  (void)reader.ForEachBatch([&](std::span<const Event> batch) {
    for (const Event& event : batch) text += Join({EventText(event), "\n"});
    return true;
  });
  const auto alive = reader.LiveAt(std::numeric_limits<uint64_t>::max());
  if (!alive.ok()) return text;
  for (const LiveBlock& block : *alive) text += LiveText(block);
  return text;
}

}  // namespace vramscope::trace::testing
