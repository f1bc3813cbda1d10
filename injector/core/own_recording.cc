// SPDX-License-Identifier: Apache-2.0
#include "injector/core/own_recording.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "injector/core/dormant.h"
#include "injector/core/options.h"
#include "injector/core/session.h"

// Defined by attach; missing in programs that test only this folder.
extern "C" __attribute__((weak)) int vramscope_in_place(void);

namespace vramscope::injector {
namespace {

constexpr size_t kMostVariables = 1024;
constexpr int kLifeline = 3;  // the descriptor that the command keeps open as long as it runs
constexpr int kLookEveryMs = 2;
constexpr int kDoorPatienceMs = 2000;
constexpr int kStartPatienceMs = 10'000;
constexpr int kStopPatienceMs = 30'000;

struct Launch {
  char command[PATH_MAX];
  char pid[16];
  const char* arguments[8];
  const char* environment[kMostVariables];
};

void Sleep(int milliseconds) {
  const timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
  nanosleep(&time, nullptr);
}

// The command is in <prefix>/bin; this library in <prefix>/lib/vramscope, <prefix>/lib/<triplet>/vramscope,
// or <build>/injector.
bool FindCommand(char (&command)[PATH_MAX]) {
  Dl_info found = {};
  if (dladdr(reinterpret_cast<const void*>(&StartOwnRecording), &found) == 0 || found.dli_fname == nullptr)
    return false;
  const char* const end = strrchr(found.dli_fname, '/');
  if (end == nullptr) return false;
  const int length = static_cast<int>(end - found.dli_fname);
  for (const char* up : {"/../../bin/vramscope", "/../bin/vramscope", "/../../../bin/vramscope"}) {
    const int written = snprintf(command, sizeof command, "%.*s%s", length, found.dli_fname, up);
    if (written > 0 && written < PATH_MAX && access(command, X_OK) == 0) return true;
  }
  return false;
}

// Variables that the command must not inherit: the recorder is not recorded itself.
bool IsOurs(const char* variable) {
  return strncmp(variable, "LD_PRELOAD=", 11) == 0 || strncmp(variable, "VRAMSCOPE", 9) == 0;
}

bool Prepare(Launch& launch, const char* file) {
  if (!FindCommand(launch.command)) return false;
  snprintf(launch.pid, sizeof launch.pid, "%d", static_cast<int>(getpid()));
  const char* const arguments[] = {launch.command, "start", "--quiet", "-o", file, launch.pid, nullptr};
  memcpy(launch.arguments, arguments, sizeof arguments);
  size_t count = 0;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!IsOurs(*variable) && count < kMostVariables - 1) launch.environment[count++] = *variable;
  }
  launch.environment[count] = nullptr;
  return true;
}

// Forks without fork handlers; with `signal_at_end` 0, the child's end sends no signal. The child may only
// make system calls.
pid_t ForkQuietly(int signal_at_end) {
  return static_cast<pid_t>(syscall(SYS_clone, signal_at_end, nullptr, nullptr, nullptr, nullptr));
}

// Runs in the grandchild. It starts the command without the program's descriptors, signal mask and terminal.
[[noreturn]] void Become(const Launch& launch, int lifeline) {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (lifeline < kLifeline || nowhere < 0) _exit(127);
  for (const int standard : {0, 1, 2}) dup2(nowhere, standard);
  if (lifeline != kLifeline) dup2(lifeline, kLifeline);
  if (syscall(SYS_close_range, kLifeline + 1, ~0U, 0) != 0) {  // before Linux 5.9
    for (int file = kLifeline + 1; file < 4096; ++file) close(file);
  }
  fcntl(kLifeline, F_SETFD, 0);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(launch.command, const_cast<char* const*>(launch.arguments),
         const_cast<char* const*>(launch.environment));
  _exit(127);
}

// Returns a descriptor that reaches end of file when the command ends, or -1.
int StartCommand(const Launch& launch) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  const pid_t child = ForkQuietly(0);
  if (child == 0) {
    if (ForkQuietly(SIGCHLD) == 0) Become(launch, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  if (child > 0) {
    while (syscall(SYS_wait4, child, nullptr, __WALL, nullptr) < 0 && errno == EINTR) continue;
    return ends[0];
  }
  close(ends[0]);
  return -1;
}

// From here on, every allocation is recorded.
bool HasBegun() {
  return RecordingFile() != nullptr && (vramscope_in_place == nullptr || vramscope_in_place() != 0);
}

bool WaitForBegin(int lifeline) {
  for (int waited = 0; waited < kStartPatienceMs; waited += kLookEveryMs) {
    if (HasBegun()) return true;
    pollfd end = {lifeline, POLLIN, 0};
    if (poll(&end, 1, kLookEveryMs) > 0) return HasBegun();  // the command has ended
  }
  return false;
}

// True if the process is dormant or has opened the socket itself. False if `vramscope record` records the
// whole program.
bool MayBeRecordedOnDemand() { return options.dormant || DoorIsOpen(); }

bool DoorOpens() {
  OpenDoor();
  for (int waited = 0; waited < kDoorPatienceMs; waited += kLookEveryMs) {
    if (DoorIsOpen()) return true;
    Sleep(kLookEveryMs);
  }
  return false;
}

}  // namespace

bool StartOwnRecording(const char* file) {
  if (RecordingFile() != nullptr) return true;
  if (file == nullptr || file[0] == 0 || !MayBeRecordedOnDemand()) return false;
  const int error = errno;
  Launch launch;
  bool begun = false;
  if (Prepare(launch, file) && DoorOpens()) {
    const int lifeline = StartCommand(launch);
    begun = lifeline >= 0 && WaitForBegin(lifeline);
    if (lifeline >= 0) close(lifeline);
  }
  errno = error;
  return begun;
}

bool StopOwnRecording() {
  const int collector = CollectorPid();
  if (!MayBeRecordedOnDemand() || !SessionIsWanted() || collector <= 0) return false;
  const int error = errno;
  kill(collector, SIGINT);
  bool complete = false;
  for (int waited = 0; !complete && waited < kStopPatienceMs; waited += kLookEveryMs) {
    Sleep(kLookEveryMs);
    // The hooks are removed some milliseconds before or after the command closes its file.
    const bool let_go = !SessionIsWanted() || CollectorPid() != collector;
    complete = let_go && kill(collector, 0) != 0 && errno == ESRCH;
  }
  errno = error;
  return complete;
}

}  // namespace vramscope::injector
