// SPDX-License-Identifier: Apache-2.0
// Reads the header of a recorded program (docs/trace-format.md, block type 10). Only the Python package
// vramscope_program reads the instructions of the program.
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
  bool has_body = false;                  // true: the program can be run
  std::vector<std::string> checkpointed;  // modules that the model itself checkpoints
};

// Returns nothing if the text is not a valid header. The text may come from an untrusted file.
[[nodiscard]] std::optional<ProgramHead> ReadProgramHead(std::string_view text);

struct NotedProgram {
  uint32_t process = 0;  // number of the process in the trace
  ProgramHead head;
  std::string_view text;
  std::string_view seal;
};
// Returns the first program that can be run. If there is none, returns the first program without a body; its
// header contains the reason. Returns nothing if no process has a program. The result refers to memory of
// `programs`.
[[nodiscard]] std::optional<NotedProgram> ProgramOf(const trace::Programs& programs);

}  // namespace vramscope::experiment
