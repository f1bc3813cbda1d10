// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/black_box/job_orders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace vramscope::collector {
namespace {

constexpr char kOrders[] = ".vramscope-orders";
constexpr uint64_t kLookEveryNs = 500'000'000;
constexpr size_t kMostRead = 64 * 1024;
constexpr size_t kLongestWhy = 200;
constexpr std::string_view kDump = "dump ";

uint64_t SizeOf(const std::string& file) {
  struct stat facts {};
  return stat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) ? static_cast<uint64_t>(facts.st_size) : 0;
}

// "dump SENDER STEP WHY"
bool ParseOrder(std::string_view line, JobOrder& order) {
  if (!line.starts_with(kDump)) return false;
  line.remove_prefix(kDump.size());
  const size_t first = line.find(' ');
  const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return false;
  const auto parsed = std::from_chars(line.data() + first + 1, line.data() + second, order.step);
  if (parsed.ec != std::errc() || parsed.ptr != line.data() + second) return false;
  order.sender = line.substr(0, first);
  order.why = line.substr(second + 1, kLongestWhy);
  return true;
}

std::string SelfName() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::string name = host.data();
  std::replace(name.begin(), name.end(), ' ', '_');
  return fmt::format("{}-{}-", name, getpid());
}

}  // namespace

JobOrders::JobOrders(const std::string& output)
    : file_((std::filesystem::path(output).parent_path() / kOrders).string()),
      read_to_(SizeOf(file_)),
      self_(SelfName()) {}

std::vector<JobOrder> JobOrders::TakeNew(uint64_t now_ns) {
  std::vector<JobOrder> orders;
  if (now_ns - looked_ns_ < kLookEveryNs) return orders;
  looked_ns_ = now_ns;
  const uint64_t size = SizeOf(file_);
  if (size < read_to_) read_to_ = 0;  // somebody has removed the file
  if (size == read_to_) return orders;
  const int fd = open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return orders;
  std::string text(std::min<uint64_t>(size - read_to_, kMostRead), '\0');
  const ssize_t count = pread(fd, text.data(), text.size(), static_cast<off_t>(read_to_));
  close(fd);
  text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  const size_t whole = text.rfind('\n') + 1;  // 0 if there is none: the line is still being written
  read_to_ += whole == 0 && text.size() == kMostRead ? text.size() : whole;
  for (size_t begin = 0; begin < whole;) {
    const size_t end = text.find('\n', begin);
    JobOrder order;
    if (ParseOrder(std::string_view(text).substr(begin, end - begin), order) &&
        !order.sender.starts_with(self_))
      orders.push_back(std::move(order));
    begin = end + 1;
  }
  return orders;
}

Status JobOrders::Send(uint64_t step, const std::string& why) {
  const std::string line = fmt::format("{}{}{} {} {}\n", kDump, self_, ++sent_, step, why);
  const int fd =
      open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0644);
  if (fd < 0) return Error{fmt::format("{}: {}.", file_, std::strerror(errno))};
  const bool written = write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int failed = errno;
  close(fd);
  if (!written) return Error{fmt::format("{}: {}.", file_, std::strerror(failed))};
  return {};
}

}  // namespace vramscope::collector
