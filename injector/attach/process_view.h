// SPDX-License-Identifier: Apache-2.0
// Reads another process's memory mappings, threads, status and memory. The process keeps running.
//
// All functions read /proc/PID, except ReadMemory and ReadText, which call process_vm_readv().
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
  uint64_t offset = 0;  // bytes from the start of the mapped file
  bool writable = false;
  bool executable = false;
  std::string path;  // in the process's file system; ends with " (deleted)" if the file was deleted

  [[nodiscard]] bool Contains(uint64_t address) const { return address >= begin && address < end; }
};

// Returns the process's mappings, ordered by address. The result is empty if the process has ended, is a
// kernel thread, or cannot be read.
std::vector<Mapping> MappingsOf(pid_t pid);
// Returns the file name of the mapping's path, without " (deleted)".
std::string_view FileNameOf(const Mapping& mapping);

// Returns the value of the line `key` ("TracerPid") in /proc/PID/status; std::nullopt if there is no such
// line.
std::optional<std::string> StatusOf(pid_t pid, std::string_view key);
// Returns the value of the line `key` in /proc/PID/task/THREAD/status; std::nullopt if there is no such line.
std::optional<std::string> ThreadStatusOf(pid_t pid, pid_t thread, std::string_view key);
// Returns the number at the start of a value of StatusOf; `absent` if the value does not start with a number.
uint64_t NumberIn(const std::optional<std::string>& value, int base = 10, uint64_t absent = 0);

std::vector<pid_t> ThreadsOf(pid_t pid);
// False if the process has ended or is a zombie.
bool Lives(pid_t pid);
// Returns the content of a file in /proc; empty if the file cannot be read.
std::string ReadProcFile(const std::string& path);
// Returns the process's name and number: "python (process 4711)". If the name cannot be read: "process 4711".
std::string Describe(pid_t pid);

// Copies `bytes` bytes from `address` in the process to `to`. False if not all bytes could be read. The
// caller needs permission to trace the process.
bool ReadMemory(pid_t pid, uint64_t address, void* to, size_t bytes);
// Returns the 0-terminated string at `address`, at most `limit` bytes. The string ends earlier if memory
// cannot be read.
std::string ReadText(pid_t pid, uint64_t address, size_t limit);

}  // namespace vramscope::attach
