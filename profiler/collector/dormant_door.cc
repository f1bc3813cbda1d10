// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/dormant_door.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "profiler/collector/process_facts.h"
#include "trace_format/ring.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

constexpr timeval kPatience = {10, 0};

void RemoveDeadDoors() {
  const fs::path door = trace::kDoorPath;
  const std::string prefix = door.filename().string();
  std::error_code failed;
  for (fs::directory_iterator it(door.parent_path(), failed), end; !failed && it != end;
       it.increment(failed)) {
    const std::string name = it->path().filename().string();
    pid_t pid = 0;
    if (!name.starts_with(prefix)) continue;
    const auto parsed = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc() || pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    fs::remove(it->path(), ignored);
  }
}

// A door that somebody else has set up in this process's name would tell them our session.
bool BelongsToOwner(int connection, pid_t pid) {
  ucred behind{};
  socklen_t length = sizeof behind;
  struct stat owner {};
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &behind, &length) == 0 &&
         stat(fmt::format("/proc/{}", pid).c_str(), &owner) == 0 && behind.uid == owner.st_uid;
}

Error NoDoor(pid_t pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH) return {fmt::format("There is no process {}.", pid)};
  return {fmt::format(
      "Process {} ({}) does not wait to be recorded: it was not started with vramscope record --dormant, has "
      "not used PyTorch yet, or belongs to another user. To record it all the same: vramscope attach {}",
      pid, ExecutableOf(static_cast<uint32_t>(pid)), pid)};
}

Result<int> Converse(int connection, pid_t pid, const std::string& order) {
  if (!BelongsToOwner(connection, pid))
    return Error{fmt::format("Another user listens in the name of process {}. It was not spoken to.", pid)};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  char answer[16] = {};
  int number = 0;
  const bool asked =
      send(connection, order.data(), order.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(order.size()) &&
      shutdown(connection, SHUT_WR) == 0;
  const ssize_t count = asked ? read(connection, answer, sizeof answer - 1) : 0;
  if (count <= 0 || std::from_chars(answer, answer + count, number).ec != std::errc())
    return Error{fmt::format("Process {} gave no answer. It may be stopped; try again when it runs.", pid)};
  return number;
}

}  // namespace

Result<int> SayAtDoor(pid_t pid, const std::string& order) {
  RemoveDeadDoors();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "{}{}", trace::kDoorPath, pid);
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 ||
      connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (connection >= 0) close(connection);
    return NoDoor(pid);
  }
  Result<int> answer = Converse(connection, pid, order);
  close(connection);
  return answer;
}

}  // namespace vramscope::collector
