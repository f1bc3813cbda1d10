// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/out_of_memory_text.h"

#include <fmt/format.h>

namespace vramscope::cli {
namespace {

constexpr size_t kShownAtEachEnd = 5;

std::string Sentence(const report::OutOfMemory& oom) {
  const std::string when =
      oom.step == 0 ? "" : fmt::format(" at step {}, {}", oom.step, timeline::PhaseName(oom.phase));
  return fmt::format("Out of memory on {}{}: {} were requested.", oom.device, when,
                     FormatBytes(oom.requested_bytes));
}

std::string Lines(std::span<const report::OutOfMemory> failures, const Terminal& terminal) {
  std::string text;
  for (const report::OutOfMemory& oom : failures) text += terminal.Paint(Sentence(oom), Ink::Bad()) + "\n";
  return text;
}

}  // namespace

std::string OutOfMemoryText(std::span<const report::OutOfMemory> failures, const Terminal& terminal) {
  if (failures.size() <= 2 * kShownAtEachEnd) return Lines(failures, terminal);
  const size_t left_out = failures.size() - 2 * kShownAtEachEnd;
  return Lines(failures.first(kShownAtEachEnd), terminal) +
         fmt::format("{0} {1} more such errors {0}\n", terminal.unicode ? "…" : "...",
                     FormatCount(left_out)) +
         Lines(failures.last(kShownAtEachEnd), terminal);
}

}  // namespace vramscope::cli
