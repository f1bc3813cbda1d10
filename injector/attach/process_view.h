// SPDX-License-Identifier: Apache-2.0
// Reads /proc for another process, without stopping or touching it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::attach {

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // in the file
  bool writable = false;
  bool executable = false;
  std::string path;  // as the process sees it; ends with " (deleted)" if the file is gone

  [[nodiscard]] bool Contains(uint64_t address) const { return address >= begin && address < end; }
};

// In the order of addresses. Empty if the process is gone, a kernel thread, or unreadable.
std::vector<Mapping> MappingsOf(pid_t pid);
// The file name of a mapping's path, without " (deleted)".
std::string_view FileNameOf(const Mapping& mapping);

// The value of a line of /proc/PID/status ("TracerPid"); nothing if there is none.
std::optional<std::string> StatusOf(pid_t pid, std::string_view key);
// Like StatusOf, for one thread.
std::optional<std::string> ThreadStatusOf(pid_t pid, pid_t thread, std::string_view key);
// The first number in such a value; `absent` if there is none.
uint64_t NumberIn(const std::optional<std::string>& value, int base = 10, uint64_t absent = 0);

std::vector<pid_t> ThreadsOf(pid_t pid);
// False if the process is gone or a zombie.
bool Lives(pid_t pid);
// A whole file in /proc; empty if unreadable.
std::string ReadProcFile(const std::string& path);
// "python (process 4711)"; "process 4711" without a name.
std::string Describe(pid_t pid);

// False if any of the bytes is unreadable. Requires permission to trace.
bool ReadMemory(pid_t pid, uint64_t address, void* to, size_t bytes);
// The text up to the first 0, at most `limit` bytes.
std::string ReadText(pid_t pid, uint64_t address, size_t limit);

}  // namespace vramscope::attach
