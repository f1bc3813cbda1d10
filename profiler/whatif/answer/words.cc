// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/answer/words.h"

#include <fmt/format.h>

#include "profiler/text/format.h"

namespace vramscope::whatif {

std::string LeverLines(const Applied& applied) {
  std::string lines;
  if (!applied.outcome.code.empty()) lines = "    " + applied.outcome.code + "\n";
  for (size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 5)
    if (at + 1 < lines.size()) lines.replace(at, 1, "\n    ");
  if (!applied.outcome.time_basis.empty()) {
    lines += fmt::format("    {} more a step: {}\n",
                         text::FormatDuration(static_cast<uint64_t>(applied.outcome.extra_ns)),
                         applied.outcome.time_basis);
  }
  for (const std::string& note : applied.outcome.notes) lines += "    " + note + "\n";
  return lines;
}

}  // namespace vramscope::whatif
