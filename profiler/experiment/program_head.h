// SPDX-License-Identifier: Apache-2.0
// The header of a recorded program (docs/trace-format.md, block type 10). Only vramscope_program reads its
// instructions.
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
  std::vector<std::string> missing;       // parts that could not be recorded, one sentence each
  uint64_t step = 0;                      // recorded step
  uint64_t batch = 0;                     // samples in the batch; 0 = unknown
  bool has_body = false;                  // true: there is a program to run
  std::vector<std::string> checkpointed;  // modules with the model's own checkpointing
};

// Returns nothing if the text is not such JSON. Accepts untrusted text.
[[nodiscard]] std::optional<ProgramHead> ReadProgramHead(std::string_view text);

struct NotedProgram {
  uint32_t process = 0;  // of the trace
  ProgramHead head;
  std::string_view text;
  std::string_view seal;
};
// The first program with a body. Otherwise the first program without a body, which states why it has none.
// Nothing if no process has a program. Holds views into `programs`.
[[nodiscard]] std::optional<NotedProgram> ProgramOf(const trace::Programs& programs);

}  // namespace vramscope::experiment
