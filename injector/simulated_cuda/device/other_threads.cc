// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/other_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vramscope::simulated {
namespace {

// The letter after the name in /proc/self/task/TID/stat; 'S' for a thread that has just ended.
char StateOf(const char* tid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%.16s/stat", tid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 'S';
  char text[128];  // "tid (name) R ...": a name has at most 15 characters, any of them
  const ssize_t read_bytes = read(file, text, sizeof(text) - 1);
  close(file);
  text[std::max<ssize_t>(read_bytes, 0)] = '\0';
  const char* const end = std::strrchr(text, ')');
  return end != nullptr && end[1] == ' ' ? end[2] : 'S';
}

uint64_t Read(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

pid_t OwnThread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

bool AnotherThreadRuns(std::span<const pid_t> except) {
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return true;
  const pid_t self = OwnThread();
  bool runs = false;
  while (const dirent* const entry = runs ? nullptr : readdir(tasks)) {
    const pid_t tid = static_cast<pid_t>(std::atol(entry->d_name));
    if (tid == 0 || tid == self || std::find(except.begin(), except.end(), tid) != except.end()) continue;
    const char state = StateOf(entry->d_name);
    runs = state == 'R' || state == 'D';
  }
  closedir(tasks);
  return runs;
}

uint64_t CpuNanosecondsOfOtherThreads() {
  const uint64_t own = Read(CLOCK_THREAD_CPUTIME_ID);
  return std::max(Read(CLOCK_PROCESS_CPUTIME_ID), own) - own;
}

}  // namespace vramscope::simulated
