// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/noted_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "trace_format/ring.h"

namespace vramscope::collector {

std::optional<NotedProgram> TakeNotedProgram(const std::string& path) {
  NotedProgram program;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return std::nullopt;
  struct stat facts {};
  bool whole = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
               facts.st_size >= static_cast<off_t>(sizeof program.step) &&
               static_cast<uint64_t>(facts.st_size) <= trace::kMostProgramBytes + sizeof program.step;
  if (whole) {
    std::string bytes(static_cast<size_t>(facts.st_size), '\0');
    size_t size = 0;
    for (ssize_t got = 1; got > 0 && size < bytes.size(); size += static_cast<size_t>(got > 0 ? got : 0))
      got = read(file, bytes.data() + size, bytes.size() - size);
    whole = size == bytes.size();
    std::memcpy(&program.step, bytes.data(), sizeof program.step);
    program.text = bytes.substr(sizeof program.step);
  }
  close(file);
  unlink(path.c_str());
  return whole ? std::optional(std::move(program)) : std::nullopt;
}

}  // namespace vramscope::collector
