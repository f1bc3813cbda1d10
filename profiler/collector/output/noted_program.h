// SPDX-License-Identifier: Apache-2.0
// Reads and removes a program that a recorded process has written (injector/core/program_file.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vramscope::collector {

struct NotedProgram {
  uint64_t step = 0;
  std::string text;
};

// Empty unless `path` is a regular file of at most trace::kMostProgramBytes. The file is removed in any case.
std::optional<NotedProgram> TakeNotedProgram(const std::string& path);

}  // namespace vramscope::collector
