// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/unfinished_files.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>

namespace vramscope::collector {
namespace {

enum class Slot : int { kFree, kFilling, kFull };

// The signal handler reads it, so it must not contain strings that allocate.
struct UnfinishedFile {
  std::atomic<Slot> state = Slot::kFree;
  bool is_folder = false;
  pid_t owner = 0;  // a fork that has not called exec yet must not remove anything
  std::array<char, PATH_MAX> path{};
};
std::array<UnfinishedFile, 8> unfinished_files;

// Removing a folder allocates, which a handler must not do; a separate program may.
void RemoveFolder(const char* path) {
  const pid_t remover = fork();
  if (remover == 0) {
    execl("/bin/rm", "rm", "-rf", "--", path, nullptr);
    _exit(1);
  }
  if (remover > 0) waitpid(remover, nullptr, 0);
}

void RemoveAndDie(int signal) {
  for (const UnfinishedFile& file : unfinished_files) {
    const bool watched = file.state.load(std::memory_order_acquire) == Slot::kFull;
    if (!watched || file.owner != getpid()) continue;
    file.is_folder ? RemoveFolder(file.path.data()) : static_cast<void>(unlink(file.path.data()));
  }
  ::signal(signal, SIG_DFL);
  raise(signal);  // delivered when this handler returns
}

void HandleEndingSignalsOnce() {
  static const bool installed = [] {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
      struct sigaction found {};
      if (sigaction(signal, nullptr, &found) == 0 && found.sa_handler == SIG_DFL)
        ::signal(signal, RemoveAndDie);
    }
    return true;
  }();
  (void)installed;
}

void Watch(const std::string& path, bool is_folder) {
  HandleEndingSignalsOnce();
  if (path.size() >= PATH_MAX) return;
  for (UnfinishedFile& file : unfinished_files) {
    Slot free = Slot::kFree;
    if (!file.state.compare_exchange_strong(free, Slot::kFilling)) continue;
    std::memcpy(file.path.data(), path.c_str(), path.size() + 1);
    file.is_folder = is_folder;
    file.owner = getpid();
    file.state.store(Slot::kFull, std::memory_order_release);
    return;
  }
}

}  // namespace

void RemoveOnSignal(const std::string& path) { Watch(path, false); }

void RemoveFolderOnSignal(const std::string& path) { Watch(path, true); }

void KeepOnSignal(const std::string& path) {
  for (UnfinishedFile& file : unfinished_files) {
    if (file.state.load(std::memory_order_acquire) == Slot::kFull && path == file.path.data())
      file.state.store(Slot::kFree, std::memory_order_release);
  }
}

}  // namespace vramscope::collector
