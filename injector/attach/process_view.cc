// SPDX-License-Identifier: Apache-2.0
#include "injector/attach/process_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace vramscope::attach {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

// One line of /proc/PID/maps: "7f00-7f10 r-xp 00001000 08:01 1234   /lib/libc.so.6"
std::optional<Mapping> ParseMapping(const std::string& line) {
  Mapping mapping;
  char rights[5] = {};
  int path_at = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping.begin,
                  &mapping.end, rights, &mapping.offset, &path_at) != 4)
    return std::nullopt;
  mapping.writable = rights[1] == 'w';
  mapping.executable = rights[2] == 'x';
  if (path_at > 0) mapping.path = line.substr(static_cast<size_t>(path_at));
  return mapping;
}

std::optional<std::string> FieldOf(const std::string& file, std::string_view key) {
  const std::string text = "\n" + ReadProcFile(file);
  const std::string wanted = "\n" + std::string(key) + ":";
  const size_t found = text.find(wanted);
  if (found == std::string::npos) return std::nullopt;
  const size_t begin = text.find_first_not_of(" \t", found + wanted.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

std::string ReadProcFile(const std::string& path) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[16384];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(fd);
  return text;
}

std::vector<Mapping> MappingsOf(pid_t pid) {
  const std::string text = ReadProcFile("/proc/" + std::to_string(pid) + "/maps");
  std::vector<Mapping> mappings;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (auto mapping = ParseMapping(text.substr(at, end - at))) mappings.push_back(std::move(*mapping));
    at = end + 1;
  }
  return mappings;
}

std::string_view FileNameOf(const Mapping& mapping) {
  std::string_view name = mapping.path;
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return name.substr(name.rfind('/') + 1);
}

std::optional<std::string> StatusOf(pid_t pid, std::string_view key) {
  return FieldOf("/proc/" + std::to_string(pid) + "/status", key);
}

std::optional<std::string> ThreadStatusOf(pid_t pid, pid_t thread, std::string_view key) {
  return FieldOf("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/status", key);
}

uint64_t NumberIn(const std::optional<std::string>& value, int base, uint64_t absent) {
  if (!value) return absent;
  char* end = nullptr;
  const uint64_t number = std::strtoull(value->c_str(), &end, base);
  return end == value->c_str() ? absent : number;
}

std::vector<pid_t> ThreadsOf(pid_t pid) {
  std::vector<pid_t> threads;
  DIR* const folder = opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  if (folder == nullptr) return threads;
  while (const dirent* entry = readdir(folder)) {
    if (const pid_t thread = static_cast<pid_t>(std::atoi(entry->d_name)); thread > 0)
      threads.push_back(thread);
  }
  closedir(folder);
  return threads;
}

bool Lives(pid_t pid) {
  const std::vector<pid_t> threads = ThreadsOf(pid);
  return std::any_of(threads.begin(), threads.end(), [pid](pid_t thread) {
    const auto state = ThreadStatusOf(pid, thread, "State");
    return state && !state->starts_with('Z') && !state->starts_with('X');
  });
}

std::string Describe(pid_t pid) {
  const std::string number = "process " + std::to_string(pid);
  const auto name = StatusOf(pid, "Name");
  return name ? *name + " (" + number + ")" : number;
}

bool ReadMemory(pid_t pid, uint64_t address, void* to, size_t bytes) {
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

std::string ReadText(pid_t pid, uint64_t address, size_t limit) {
  constexpr size_t kPiece = 64;
  std::string text;
  while (text.size() < limit) {
    char piece[kPiece];
    // Never read past the end of a page: the next page may not be readable.
    const size_t bytes = std::min<size_t>(kPiece - (address + text.size()) % kPiece, limit - text.size());
    if (!ReadMemory(pid, address + text.size(), piece, bytes)) return text;
    const auto* const end = std::find(piece, piece + bytes, '\0');
    text.append(piece, static_cast<size_t>(end - piece));
    if (end != piece + bytes) return text;
  }
  return text;
}

}  // namespace vramscope::attach
