// SPDX-License-Identifier: Apache-2.0
// Reads the file into which a recorded process has written the program of a step, and removes the file
// (injector/core/program_file.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vramscope::collector {

struct NotedProgram {
  uint64_t step = 0;
  std::string text;
};

// Returns nullopt unless `path` is a regular file of at most trace::kMostProgramBytes. Removes the file in
// any case.
std::optional<NotedProgram> TakeNotedProgram(const std::string& path);

}  // namespace vramscope::collector
