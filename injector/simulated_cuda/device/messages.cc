// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/messages.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace vramscope::simulated {
namespace {

constexpr uint32_t kMagic =
    0x5652534d;  // marks the start of a message: reading ends at a write that was cut off
constexpr size_t kMostBytes = 1 << 20;
constexpr uint32_t kKept = 256;  // number of messages to all that are kept

struct Header {
  MessageKey key;
  int process;
  uint32_t bytes, magic;
};

void Pause(int microseconds) {
  const timespec pause = {0, microseconds * 1'000L};
  nanosleep(&pause, nullptr);
}

uint64_t NowMs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

// errno belongs to the program and is restored.
class KeepErrno {
 public:
  KeepErrno() : saved_(errno) {}
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int saved_;
};

}  // namespace

bool Messages::Tell(const MessageKey& key, const void* bytes, size_t count) {
  const KeepErrno keep;
  if (count > kMostBytes) return false;
  const int descriptor = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  Header header = {key, getpid(), static_cast<uint32_t>(count), kMagic};
  iovec parts[] = {{&header, sizeof(header)}, {const_cast<void*>(bytes), count}};
  struct stat known = {};
  const bool done = fstat(descriptor, &known) == 0 && known.st_size < static_cast<off_t>(kMostFileBytes) &&
                    writev(descriptor, parts, 2) == static_cast<ssize_t>(sizeof(header) + count);
  close(descriptor);
  return done;
}

void Messages::ReadOn() {
  const int descriptor = open(file_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  Header header;
  while (pread(descriptor, &header, sizeof(header), static_cast<off_t>(read_)) == sizeof(header) &&
         header.magic == kMagic && header.bytes <= kMostBytes) {
    std::vector<unsigned char> bytes(header.bytes);
    if (pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(read_ + sizeof(header))) !=
        static_cast<ssize_t>(bytes.size()))
      break;
    read_ += sizeof(header) + bytes.size();
    processes_[{header.key.group, header.key.from}] = header.process;
    told_[header.key] = std::move(bytes);
  }
  close(descriptor);
}

bool Messages::HasEnded(const Rank& rank) const {
  const auto known = processes_.find(rank);
  return known != processes_.end() && kill(known->second, 0) != 0 && errno == ESRCH;
}

std::optional<std::vector<unsigned char>> Messages::Await(const MessageKey& key, int patience_ms) {
  constexpr int kShortUs = 50, kLongUs = 1'000;
  constexpr uint64_t kSoonMs = 20;
  const KeepErrno keep;
  const Rank rank = {key.group, key.from};
  for (const uint64_t begin = NowMs();;) {
    const uint64_t waited = NowMs() - begin;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const bool ended = waited >= kSoonMs && HasEnded(rank);  // checked before reading: nothing follows
      ReadOn();
      if (const auto found = told_.find(key); found != told_.end()) {
        std::vector<unsigned char> bytes = found->second;
        if (key.to != MessageKey::kToAll) told_.erase(found);
        // Other ranks of this process may still need messages to all.
        else if (key.number > kKept)
          told_.erase({key.group, key.number - kKept, key.from, key.to});
        return bytes;
      }
      if (ended || silent_.count(rank) != 0 || waited >= static_cast<uint64_t>(patience_ms)) {
        silent_.insert(rank);
        return std::nullopt;
      }
    }
    Pause(waited < kSoonMs ? kShortUs : kLongUs);
  }
}

}  // namespace vramscope::simulated
