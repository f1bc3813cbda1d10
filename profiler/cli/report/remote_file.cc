// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/remote_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "profiler/cli/frame/verb.h"

extern char** environ;

namespace vramscope::cli {
namespace {

using Seconds = std::chrono::seconds;
constexpr std::string_view kScheme = "ssh://";
constexpr Seconds kFarewell{1};  // for the commands of other machines

// Quotes `text` for the shell of the other machine.
std::string InQuotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The other machine's shell expands "~/" to the home folder.
std::string PathForShell(const std::string& path) {
  return path.starts_with("/~/") ? "~/" + InQuotes(path.substr(3)) : InQuotes(path);
}

// A command of the other machine that prints the rest of a file, and what is appended to it, until its input
// ends. sshd does not end commands whose connection is gone, and `tail` would wait for the next byte forever.
//
// The input ends when this process does, even if it is killed. The background command that waits for that end
// is killed in turn when `tail` ends first. `sh`: the user's own shell may be another one.
std::string TailCommand(const RemoteFile& file, uint64_t from) {
  return fmt::format(
      "sh -c 'exec 3<&0; tail -c +{} -f -- \"$0\" 3<&- & tail=$!; (cat; kill $tail) <&3 >/dev/null 2>&1 & "
      "input=$!; exec 3<&-; wait $tail; kill $input' {}",
      from, PathForShell(file.path));
}

// Starts ssh with its output appended to `copy`; -1: it cannot be started. `input`: what it reads, and then it
// asks nothing; -1: the terminal.
pid_t StartSsh(const RemoteFile& file, const std::string& command, const std::string& copy, int input) {
  const bool quiet = input >= 0;
  std::vector<std::string> words = {"ssh"};
  if (quiet) words.insert(words.end(), {"-o", "BatchMode=yes"});
  if (!file.port.empty()) words.insert(words.end(), {"-p", file.port});
  words.insert(words.end(), {"--", file.host, command});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, copy.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  if (quiet) {
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = -1;
  const int failed = posix_spawnp(&child, "ssh", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  errno = failed;
  return failed == 0 ? child : -1;
}

int StatusOf(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

Status Fetch(const RemoteFile& file, const std::string& copy) {
  const pid_t child = StartSsh(file, "cat -- " + PathForShell(file.path), copy, -1);
  if (child < 0) return Error{fmt::format("ssh cannot be started: {}.", std::strerror(errno))};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (StatusOf(status) == 0) return {};
  return Error{fmt::format("{} could not be fetched from {} by ssh (status {}).", Printable(file.path),
                           Printable(file.host), StatusOf(status))};
}

// A copy that grows with its original: what ssh appends, and when to try again after it ended.
struct Followed {
  RemoteFile file;
  std::string copy;
  pid_t child = -1;
  int input = -1;  // the end of a pipe: the other machine's command runs while it is open
  Seconds pause{1};
  std::chrono::steady_clock::time_point next{};

  void Start() {
    std::error_code failed;
    const uint64_t have = std::filesystem::file_size(copy, failed);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return Ended();
    input = ends[1];
    child = StartSsh(file, TailCommand(file, have + 1), copy, ends[0]);
    close(ends[0]);
    if (child < 0) Ended();
  }
  void Ended() {
    EndInput();
    child = -1;
    next = std::chrono::steady_clock::now() + pause;
    pause = std::min(2 * pause, Seconds(60));
  }
  void EndInput() {
    if (input >= 0) close(input);
    input = -1;
  }
  // Waits until `end` for the other machine's command, which ends with its input.
  void Stop(std::chrono::steady_clock::time_point end) {
    if (child <= 0) return;
    while (waitpid(child, nullptr, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() >= end) {
        kill(child, SIGTERM);
        (void)waitpid(child, nullptr, 0);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
};

class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "vramscope-ssh-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

int WaitWhileFollowing(pid_t worker, std::vector<Followed>& followed) {
  for (Followed& each : followed) each.Start();
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended == worker) return StatusOf(status);
    for (Followed& each : followed) {
      if (ended > 0 && each.child == ended) each.Ended();
      if (each.child < 0 && std::chrono::steady_clock::now() >= each.next) each.Start();
    }
    if (ended <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace

bool IsRemote(std::string_view word) { return word.starts_with(kScheme); }

Result<RemoteFile> ParseRemote(std::string_view word) {
  const std::string_view rest = word.substr(std::min(kScheme.size(), word.size()));
  const size_t slash = rest.find('/');
  RemoteFile file;
  file.host = rest.substr(0, slash);
  if (slash != std::string_view::npos) file.path = rest.substr(slash);
  const size_t colon = file.host.rfind(':');
  if (colon != std::string::npos && file.host.find(']') == std::string::npos) {
    file.port = file.host.substr(colon + 1);
    file.host.resize(colon);
  }
  const bool digits = file.port.find_first_not_of("0123456789") == std::string::npos;
  // A host that begins with '-' would be an option of ssh.
  if (file.host.empty() || file.host[0] == '-' || file.path.size() < 2 || file.path.ends_with('/') || !digits)
    return UsageError(
        fmt::format("'{}' must be like ssh://host/path/run.vms.", Printable(std::string(word))));
  return file;
}

Result<int> WithRemoteFiles(std::vector<std::string> words,
                            const std::function<int(const std::vector<std::string>&)>& work) {
  const Folder folder;
  if (folder.path().empty()) return Error{fmt::format("no folder for copies: {}.", std::strerror(errno))};
  std::vector<Followed> followed;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!IsRemote(words[i])) continue;
    // A place follows the file name: ssh://host/run.vms@step:3. An '@' before the first '/' is of user@host.
    const size_t slash = words[i].find('/', kScheme.size());
    const size_t at = words[i].rfind('@');
    std::string place;
    if (slash != std::string::npos && at != std::string::npos && at > slash) {
      place = words[i].substr(at);
      words[i].resize(at);
    }
    Followed file{.file = VRAMSCOPE_TRY(ParseRemote(words[i]))};
    const std::string own = fmt::format("{}/{}", folder.path(), i);
    mkdir(own.c_str(), 0700);
    file.copy = own + file.file.path.substr(file.file.path.rfind('/'));
    VRAMSCOPE_TRY(Fetch(file.file, file.copy));
    words[i] = file.copy + place;
    if (file.copy.ends_with(".vms")) followed.push_back(std::move(file));  // only traces grow
  }
  const pid_t worker = fork();
  if (worker < 0) return Error{fmt::format("no process can be started: {}.", std::strerror(errno))};
  if (worker == 0) _exit(work(words));
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C ends the worker, and then this process
  const int status = WaitWhileFollowing(worker, followed);
  for (Followed& each : followed) each.EndInput();
  const auto end = std::chrono::steady_clock::now() + kFarewell;
  for (Followed& each : followed) each.Stop(end);
  return status;
}

}  // namespace vramscope::cli
