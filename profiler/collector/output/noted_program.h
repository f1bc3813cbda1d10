// SPDX-License-Identifier: Apache-2.0
// A program that a recorded process has noted (injector/core/program_file.cc), read and removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vramscope::collector {

struct NotedProgram {
  uint64_t step = 0;
  std::string text;
};

// Nothing for what is no regular file of at most trace::kMostProgramBytes; removed in any case.
std::optional<NotedProgram> TakeNotedProgram(const std::string& path);

}  // namespace vramscope::collector
