// SPDX-License-Identifier: Apache-2.0
// The header of a recorded program (docs/trace-format.md, block type 10): enough to decide whether it can be
// run again. Only vramscope_program reads its instructions.
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
  std::string torch;                      // "2.15.0+cu132"
  std::string python;                     // "3.12.4"
  std::vector<std::string> missing;       // what could not be recorded, one sentence each
  uint64_t step = 0;                      // the step that was recorded
  uint64_t batch = 0;                     // samples in the batch of that step; 0 = unknown
  bool has_body = false;                  // true: there is a program to run
  std::vector<std::string> checkpointed;  // modules that the model's own switch checkpoints; may be empty
};

// Returns nothing if the text is not such JSON. The text is untrusted.
[[nodiscard]] std::optional<ProgramHead> ReadProgramHead(std::string_view text);

struct NotedProgram {
  uint32_t process = 0;  // of the trace
  ProgramHead head;
  std::string_view text;
  std::string_view seal;
};
// The program of the first process that has one with a body. Otherwise that of the first process that states
// why it has none; nothing if no process has one. Holds views into `programs`.
[[nodiscard]] std::optional<NotedProgram> ProgramOf(const trace::Programs& programs);

}  // namespace vramscope::experiment
