// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "profiler/collector/output/whole_file.h"
#include "trace_format/ring.h"

namespace vramscope::collector {
namespace {

constexpr char kName[] = "control";
constexpr size_t kLongestOrder = 256;
constexpr size_t kLongestAnswer = 16 * 1024;
constexpr int kGuestPatienceMs = 100;
constexpr int kAnswerPatienceMs = 60'000;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

// A socket path has room for 107 bytes. Through the folder's descriptor any folder fits.
sockaddr_un AddressIn(int folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/{}", folder, kName);
  return address;
}

const sockaddr* Generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// Reads until the end of a line or of the connection.
std::string ReadLine(int fd, size_t longest, int patience_ms) {
  std::string text;
  while (text.size() < longest && text.find('\n') == std::string::npos) {
    pollfd ready{fd, POLLIN, 0};
    if (poll(&ready, 1, patience_ms) != 1) break;
    char part[512];
    const ssize_t count = read(fd, part, sizeof part);
    if (count <= 0) break;
    text.append(part, static_cast<size_t>(count));
  }
  return text.substr(0, text.find('\n'));
}

void Send(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

// The value of a variable in the initial environment of the process.
std::string VariableOf(uint32_t pid, std::string_view name) {
  const std::string environment = ReadWhole(fmt::format("/proc/{}/environ", pid));
  size_t at = 0;
  while (at < environment.size()) {
    const std::string_view entry(environment.c_str() + at);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return std::string(entry.substr(name.size() + 1));
    at += entry.size() + 1;
  }
  return {};
}

// The session folder of a recording that began while the process ran. The environment does not name it, but
// the paths of the process's mappings do.
std::string MappedSession(uint32_t pid) {
  constexpr std::string_view kRing = ".ring";
  const std::string maps = ReadWhole(fmt::format("/proc/{}/maps", pid));
  for (size_t begin = 0; begin < maps.size();) {
    const size_t end = std::min(maps.find('\n', begin), maps.size());
    const std::string_view line = std::string_view(maps).substr(begin, end - begin);
    const size_t path = line.find('/');
    if (path != std::string_view::npos && line.ends_with(kRing))
      return std::string(line.substr(path, line.rfind('/') - path));
    begin = end + 1;
  }
  return {};
}

}  // namespace

Result<ControlSocket> ControlSocket::Listen(const std::string& folder) {
  const Descriptor place(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = AddressIn(place.get());
  const mode_t found = umask(0177);
  const bool bound = bind(listener.get(), Generic(address), sizeof address) == 0;
  umask(found);
  if (!bound || listen(listener.get(), 8) != 0) {
    return Error{fmt::format("{}/{}: cannot listen there: {}. vramscope dump will not reach this recording.",
                             folder, kName, std::strerror(errno))};
  }
  return ControlSocket(listener.Release());
}

ControlSocket::~ControlSocket() {
  if (listener_ >= 0) close(listener_);
}

void ControlSocket::Serve(const std::function<Result<std::string>(const std::string& order)>& answer) const {
  while (true) {
    const Descriptor guest(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (guest.get() < 0) return;
    const std::string order = ReadLine(guest.get(), kLongestOrder, kGuestPatienceMs);
    if (order.empty()) continue;
    const Result<std::string> given = answer(order);
    Send(guest.get(),
         given.ok() ? fmt::format("ok {}\n", *given) : fmt::format("no {}\n", given.error().sentence));
  }
}

Result<std::string> AskRecordingOf(uint32_t pid, const std::string& order) {
  if (access(fmt::format("/proc/{}", pid).c_str(), F_OK) != 0)
    return Error{fmt::format("There is no process {}.", pid)};
  std::string folder = VariableOf(pid, trace::kSessionVariable);
  if (folder.empty()) folder = MappedSession(pid);
  if (folder.empty()) {
    return Error{
        fmt::format("Process {} is not recorded, or belongs to another user. See: vramscope record "
                    "--help",
                    pid)};
  }
  const Descriptor place(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Descriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressIn(place.get());
  if (connect(connection.get(), Generic(address), sizeof address) != 0) {
    return Error{
        fmt::format("The recording of process {} does not accept this command: {}. Only a recording with "
                    "--black-box does.",
                    pid, std::strerror(errno))};
  }
  Send(connection.get(), order + "\n");
  const std::string answer = ReadLine(connection.get(), kLongestAnswer, kAnswerPatienceMs);
  if (answer.starts_with("ok ")) return answer.substr(3);
  if (answer.starts_with("no ")) return Error{answer.substr(3)};
  return Error{fmt::format("The recording of process {} did not answer. Try again.", pid)};
}

}  // namespace vramscope::collector
