// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/tool_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace vramscope::collector {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxOutputBytes = 1 << 20;

// Sets the descriptors and signals of the new program: ours may be blocked or ignored.
class SpawnPlan {
 public:
  SpawnPlan(int output, const std::string& log) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, log.empty() ? "/dev/null" : log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // 0 or an errno.
  int Start(const std::vector<std::string>& arguments, pid_t* pid) const {
    std::vector<char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    return posix_spawn(pid, pointers[0], &files_, &attributes_, pointers.data(), environ);
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// Everything that comes through `fd` until its other end closes; empty if that takes longer than `deadline`.
std::optional<std::string> ReadUntil(int fd, Clock::time_point deadline) {
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready = {fd, POLLIN, 0};
    if (left <= 0) return std::nullopt;
    if (poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    char buffer[4096];
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return text;
    if (got > 0 && text.size() < kMaxOutputBytes) text.append(buffer, static_cast<size_t>(got));
  }
}

struct Waited {
  int status = 0;
  rusage usage = {};
};

Waited WaitFor(pid_t pid) {
  Waited waited;
  while (wait4(pid, &waited.status, 0, &waited.usage) < 0 && errno == EINTR) {
  }
  return waited;
}

}  // namespace

Result<ToolEnd> RunToolToItsEnd(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                                const std::string& log) {
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0)
    return Error{fmt::format("Cannot create a pipe: {}.", std::strerror(errno))};
  pid_t pid = 0;
  const int error = SpawnPlan(output[1], log).Start(arguments, &pid);
  close(output[1]);
  if (error != 0) {
    close(output[0]);
    return Error{fmt::format("{} cannot be started: {}.", arguments[0], std::strerror(error))};
  }
  std::optional<std::string> text = ReadUntil(output[0], Clock::now() + limit);
  close(output[0]);
  if (!text) kill(pid, SIGKILL);
  const auto [status, usage] = WaitFor(pid);
  if (!text) {
    return Error{fmt::format("{} did not answer within {} s.", arguments[0],
                             std::chrono::duration_cast<std::chrono::seconds>(limit).count())};
  }
  if (WIFEXITED(status))
    return ToolEnd{*std::move(text), WEXITSTATUS(status), static_cast<uint64_t>(usage.ru_maxrss) * 1024};
  return Error{fmt::format("{} was killed by signal {}.", arguments[0], WTERMSIG(status))};
}

Result<std::string> RunTool(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                            const std::string& log) {
  ToolEnd end = VRAMSCOPE_TRY(RunToolToItsEnd(arguments, limit, log));
  if (end.exit_code == 0) return std::move(end.output);
  return Error{fmt::format("{} failed with exit code {}.", arguments[0], end.exit_code)};
}

}  // namespace vramscope::collector
