// SPDX-License-Identifier: Apache-2.0
// Prints the events of a trace for the tests, one line each: monotonic_ns pid thread type field...
//
//   list_events run.vms [alloc free ...]      only those types; all if none is named
//
// Strings are written as text with spaces replaced by '_', stacks as their number, everything else as a
// number.
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "trace_format/reader.h"

namespace {

using vramscope::trace::Event;
using vramscope::trace::FieldKind;
using vramscope::trace::kEventSchema;
using vramscope::trace::TraceReader;

std::string Text(const TraceReader& trace, uint64_t id) {
  std::string text(trace.String(static_cast<vramscope::trace::StringId>(id)));
  for (char& c : text) c = c == ' ' || c == '\n' ? '_' : c;
  return text.empty() ? "-" : text;
}

void Print(const TraceReader& trace, const Event& event) {
  const auto& spec = kEventSchema[static_cast<size_t>(event.type)];
  const uint32_t process = trace.threads()[event.thread].process;
  std::printf("%llu %u %u %s",
              static_cast<unsigned long long>(trace.clock().start_monotonic_ns + event.time_ns),
              trace.processes()[process].pid, event.thread, spec.name);
  for (size_t index = 0; index < spec.field_count; ++index) {
    if (spec.fields[index].kind == FieldKind::kString)
      std::printf(" %s", Text(trace, event.field[index]).c_str());
    else
      std::printf(" %llu", static_cast<unsigned long long>(event.field[index]));
  }
  std::putchar('\n');
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::set<std::string> wanted(argv + 2, argv + argc);
  const auto trace = TraceReader::Open(argv[1]);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().sentence.c_str());
    return 2;
  }
  const auto status = (*trace)->ForEachBatch([&](std::span<const Event> events) {
    for (const Event& event : events) {
      const char* const name = kEventSchema[static_cast<size_t>(event.type)].name;
      if (name != nullptr && (wanted.empty() || wanted.count(name) != 0)) Print(**trace, event);
    }
    return true;
  });
  return status ? 0 : 2;
}
