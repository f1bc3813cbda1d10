// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/dormant_recorder.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <utility>

#include "profiler/collector/target/process_facts.h"
#include "trace_format/process_identity.h"
#include "trace_format/ring.h"

namespace vramscope::collector {
namespace {

constexpr timeval kPatience = {10, 0};

// The address of a process's door (the socket of its dormant recorder), and its length.
std::pair<sockaddr_un, socklen_t> DoorOf(pid_t pid) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto end = fmt::format_to_n(address.sun_path + 1, sizeof address.sun_path - 1, "{}{}-{}",
                                    trace::kDoorName, trace::PidNamespaceOf(std::to_string(pid).c_str()), pid)
                       .out;
  return {address, static_cast<socklen_t>(end - reinterpret_cast<char*>(&address))};
}

// False if the door was set up by another process under this process's name: that one would learn our
// session.
bool BelongsTo(int connection, pid_t pid) {
  ucred behind{};
  socklen_t length = sizeof behind;
  struct stat owner {};
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &behind, &length) == 0 && behind.pid == pid &&
         stat(fmt::format("/proc/{}", pid).c_str(), &owner) == 0 && behind.uid == owner.st_uid;
}

Error NoDoor(pid_t pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH) return {fmt::format("There is no process {}.", pid)};
  return {fmt::format(
      "Process {} ({}) is not waiting to be recorded. It was not started with vramscope record --dormant, "
      "has not used PyTorch yet, or belongs to another user. To record it anyway: vramscope attach {}",
      pid, ExecutableOf(static_cast<uint32_t>(pid)), pid)};
}

// A signal that ends the recording may come here: the process has begun to record already, and its answer
// decides whether there is a trace.
ssize_t ReadThroughSignals(int connection, char* buffer, size_t bytes) {
  ssize_t count = 0;
  do {
    count = read(connection, buffer, bytes);
  } while (count < 0 && errno == EINTR);
  return count;
}

Result<int> Converse(int connection, pid_t pid, const std::string& order) {
  if (!BelongsTo(connection, pid))
    return Error{fmt::format(
        "Another process listens under the name of process {}. vramscope did not contact it.", pid)};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  char answer[16] = {};
  int number = 0;
  const bool asked =
      send(connection, order.data(), order.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(order.size()) &&
      shutdown(connection, SHUT_WR) == 0;
  const ssize_t count = asked ? ReadThroughSignals(connection, answer, sizeof answer - 1) : 0;
  if (count <= 0 || std::from_chars(answer, answer + count, number).ec != std::errc())
    return Error{fmt::format("Process {} did not answer. It may be stopped; try again when it runs.", pid)};
  return number;
}

}  // namespace

Result<int> AskDormantRecorder(pid_t pid, const std::string& order) {
  const uint64_t theirs = trace::PidNamespaceOf(std::to_string(pid).c_str());
  if (theirs != 0 && theirs != trace::PidNamespaceOf("self"))
    return Error{
        fmt::format("Process {} runs in another container than vramscope. Run vramscope inside that "
                    "container, with the process ID there.",
                    pid)};
  const auto [address, length] = DoorOf(pid);
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    if (connection >= 0) close(connection);
    return NoDoor(pid);
  }
  Result<int> answer = Converse(connection, pid, order);
  close(connection);
  return answer;
}

}  // namespace vramscope::collector
