// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/host_room.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "profiler/text/number.h"

namespace vramscope::cli {
namespace {

// The number in a file of a control group; nothing if there is none, or it is "max".
std::optional<uint64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  return file >> word ? text::ParseNumber<uint64_t>(word) : std::nullopt;
}

uint64_t FreeOnMachine() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    uint64_t kib = 0;
    if (name == "MemAvailable:" && file >> kib) return kib * 1024;
    file.ignore(256, '\n');
  }
  return UINT64_MAX;
}

// The least free memory of this process's control group and the groups above it: each of them is a limit.
uint64_t FreeInGroup() {
  std::ifstream file("/proc/self/cgroup");
  std::string group;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) group = line.substr(3);
  uint64_t free = UINT64_MAX;
  for (; !group.empty(); group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'))) {
    const std::string folder = "/sys/fs/cgroup" + (group == "/" ? "" : group);
    const std::optional<uint64_t> most = NumberIn(folder + "/memory.max");
    const std::optional<uint64_t> used = NumberIn(folder + "/memory.current");
    if (most.has_value() && used.has_value()) free = std::min(free, *most - std::min(*most, *used));
  }
  return free;
}

}  // namespace

uint64_t FreeHostBytes() { return std::min(FreeOnMachine(), FreeInGroup()); }

size_t RunsAtATime(size_t cores, uint64_t free, uint64_t each) {
  if (each == 0) return 1;
  const uint64_t fitting = (free - free / 5) / each;
  return static_cast<size_t>(std::clamp<uint64_t>(fitting, 1, std::max<size_t>(cores, 1)));
}

}  // namespace vramscope::cli
