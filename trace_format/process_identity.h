// SPDX-License-Identifier: Apache-2.0
// Identifies a process of the machine. A pid alone is not enough: pids are reused, and each pid namespace
// (containers, sandboxed ranks) has its own pids.
//
//   pid 2, started at tick 8114, in namespace 4026531836      a process of the host
//   pid 2, started at tick 9000, in namespace 4026532417      a process in a container
//
// This code also runs inside recorded processes. So it does not allocate and does not throw. The code may be
// called wherever open and read may be called.
#pragma once

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vramscope::trace {

struct ProcessIdentity {
  uint32_t pid = 0;            // pid in the process's own pid namespace
  uint64_t pid_namespace = 0;  // inode of /proc/<pid>/ns/pid; 0 = unknown
  uint64_t start_ticks = 0;    // field 22 of /proc/<pid>/stat; 0 = unknown

  bool known() const { return pid_namespace != 0 && start_ticks != 0; }
  bool operator==(const ProcessIdentity& other) const = default;
};

// Returns the pid namespace of a process in /proc, such as "self" or "4711"; 0 if /proc cannot be read.
inline uint64_t PidNamespaceOf(const char* process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/ns/pid", process);
  struct stat facts;
  return stat(path, &facts) == 0 ? static_cast<uint64_t>(facts.st_ino) : 0;
}

// Returns field number `wanted` (1-based) of /proc/<process>/stat; 0 if the file cannot be read.
inline uint64_t StatFieldOf(const char* process, int wanted) {
  char path[64];
  char text[1024];
  snprintf(path, sizeof path, "/proc/%s/stat", process);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = 0;
  // "2 (name (with) anything) S 1 ...": the third field follows the last parenthesis.
  const char* at = strrchr(text, ')');
  for (int field = 2; at != nullptr && field < wanted; ++field) at = strchr(at + 1, ' ');
  return at == nullptr ? 0 : strtoull(at + 1, nullptr, 10);
}

inline uint64_t StartTicksOf(const char* process) { return StatFieldOf(process, 22); }

// Returns the identity of the calling process.
inline ProcessIdentity OwnIdentity() {
  return {static_cast<uint32_t>(getpid()), PidNamespaceOf("self"), StartTicksOf("self")};
}

}  // namespace vramscope::trace
