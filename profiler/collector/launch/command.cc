// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace vramscope::collector {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the forked child. Reports errno through `report` on failure; on success the kernel closes it.
[[noreturn]] void Execute(char* const* arguments, char* const* environment, const SignalRelay& relay,
                          int report) {
  relay.RestoreForExec();
  execvpe(arguments[0], arguments, environment);
  const int reason = errno;
  while (write(report, &reason, sizeof(reason)) < 0 && errno == EINTR) {
  }
  _exit(127);
}

// errno of a failed exec, or 0 on success.
int ReadReport(int fd) {
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(fd, &reason, sizeof(reason));
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof(reason)) ? reason : 0;
}

}  // namespace

std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : changes) result.push_back(fmt::format("{}={}", name, value));
  return result;
}

std::string PrependToPathVariable(const char* variable, const std::string& value) {
  const char* previous = std::getenv(variable);
  if (previous == nullptr || *previous == '\0') return value;
  const std::string text = previous;
  if (text == value || text.starts_with(value + ":")) return text;
  return fmt::format("{}:{}", value, text);
}

Result<pid_t> StartCommand(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment, const SignalRelay& relay) {
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> environment_pointers = Pointers(environment);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0)
    return Error{fmt::format("Cannot create a pipe: {}.", std::strerror(errno))};
  const pid_t pid = fork();
  if (pid == 0) Execute(argument_pointers.data(), environment_pointers.data(), relay, report[1]);
  const int fork_errno = errno;
  close(report[1]);
  const int reason = pid < 0 ? fork_errno : ReadReport(report[0]);
  close(report[0]);
  if (reason == 0) return pid;
  if (pid > 0) waitpid(pid, nullptr, 0);
  return Error{fmt::format("{} cannot be started: {}.", arguments[0], std::strerror(reason))};
}

}  // namespace vramscope::collector
