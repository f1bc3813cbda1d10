// SPDX-License-Identifier: Apache-2.0
// What a noted program says about itself (docs/trace-format.md, block type 10): enough to decide whether it
// can be run again. Its instructions are read by vramscope_program alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/reader.h"

namespace vramscope::experiment {

struct ProgramHead {
  uint64_t version = 0;
  std::string torch;                 // "2.15.0+cu132"
  std::string python;                // "3.12.4"
  std::vector<std::string> missing;  // what could not be noted, one sentence each
  uint64_t step = 0;                 // that was noted
  uint64_t batch = 0;                // samples in the batch of the noted step; 0 = not known
  bool has_body = false;             // there is something to run
};

// Nothing where the text is no such JSON. Foreign text: anything may be in it.
[[nodiscard]] std::optional<ProgramHead> ReadProgramHead(std::string_view text);

struct NotedProgram {
  uint32_t process = 0;  // of the trace
  ProgramHead head;
  std::string_view text;
  std::string_view seal;
};
// The program of the first process that has one with a body; else of the first that says why it has none;
// nothing: none was noted. Views into `programs`.
[[nodiscard]] std::optional<NotedProgram> ProgramOf(const trace::Programs& programs);

}  // namespace vramscope::experiment
