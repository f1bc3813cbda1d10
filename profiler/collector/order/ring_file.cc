// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/order/ring_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace vramscope::collector {
namespace {

constexpr uint64_t kSmallestRing = 4096;
constexpr uint64_t kLargestRing = uint64_t{1} << 30;

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Opens without following links: the folder is private to this user, but a target may put anything into it.
Result<int> OpenRegular(const std::string& path, uint64_t* bytes) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return Error{fmt::format("{}: cannot be opened: {}.", BaseName(path), std::strerror(errno))};
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return Error{fmt::format("{}: not a regular file.", BaseName(path))};
  }
  *bytes = static_cast<uint64_t>(info.st_size);
  return fd;
}

}  // namespace

RingFile::RingFile(std::byte* memory, size_t bytes, bool mapped) : memory_(memory), bytes_(bytes) {
  if (mapped) guard_.emplace(memory, bytes);
}

RingFile::~RingFile() {
  if (!guard_) return;
  guard_.reset();
  munmap(memory_, bytes_);
}

Result<std::unique_ptr<RingFile>> RingFile::Open(const std::string& path) {
  uint64_t bytes = 0;
  int fd = VRAMSCOPE_TRY(OpenRegular(path, &bytes));
  if (bytes < trace::kRingHeaderBytes) {  // created, but its size is not set yet
    close(fd);
    return std::unique_ptr<RingFile>();
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int map_errno = errno;
  close(fd);
  if (memory == MAP_FAILED) {
    return Error{fmt::format("{}: cannot be mapped: {}.", BaseName(path), std::strerror(map_errno))};
  }
  std::unique_ptr<RingFile> file(new RingFile(static_cast<std::byte*>(memory), bytes, true));
  bool ready = VRAMSCOPE_TRY(file->ReadHeader(BaseName(path)));
  if (!ready) file.reset();
  return file;
}

Result<std::unique_ptr<RingFile>> RingFile::Attach(std::byte* memory, size_t bytes, const std::string& name) {
  std::unique_ptr<RingFile> file(new RingFile(memory, bytes, false));
  bool ready = VRAMSCOPE_TRY(file->ReadHeader(name));
  if (!ready) file.reset();
  return file;
}

Result<bool> RingFile::ReadHeader(const std::string& name) {
  const uint64_t magic = std::atomic_ref<uint64_t>(header().magic).load(std::memory_order_acquire);
  if (magic == 0) return false;
  if (magic != trace::kRingMagic) return Error{fmt::format("{}: not a ring file of vramscope.", name)};
  if (header().version != trace::kRingVersion) {
    return Error{
        fmt::format("{}: ring version {}, this vramscope reads version {}; install both from one release.",
                    name, header().version, trace::kRingVersion)};
  }
  const trace::RingFileHeader& from = header();
  facts_ = {.pid = from.pid,
            .parent_pid = from.parent_pid,
            .image = ParseRingFileName(name).value_or(RingFileName{}).image,
            .clock = from.clock,
            .ring_bytes = from.ring_bytes,
            .ring_capacity = from.ring_capacity,
            .created_ticks = from.created_ticks,
            .created_monotonic_ns = from.created_monotonic_ns,
            .forked_from = from.forked_from,
            .forked_from_image = from.forked_from_image,
            .first_own_string = from.first_own_string,
            .pid_namespace = from.pid_namespace,
            .start_ticks = from.start_ticks};
  // Check the copy, not the shared memory: the target could change it in between.
  const bool sizes_fit = std::has_single_bit(facts_.ring_bytes) && facts_.ring_bytes >= kSmallestRing &&
                         facts_.ring_bytes <= kLargestRing && facts_.ring_capacity >= 1 &&
                         facts_.ring_capacity <= trace::kMaxRings &&
                         trace::RingOffset(facts_.ring_capacity, facts_.ring_bytes) <= bytes_;
  const bool clock_known =
      facts_.clock == trace::ClockKind::kTsc || facts_.clock == trace::ClockKind::kMonotonic;
  if (!sizes_fit || !clock_known) {
    return Error{fmt::format("{}: its header is broken ({} rings of {} bytes in a file of {}).", name,
                             facts_.ring_capacity, facts_.ring_bytes, bytes_)};
  }
  return true;
}

trace::RingFileHeader& RingFile::header() const { return *reinterpret_cast<trace::RingFileHeader*>(memory_); }

uint32_t RingFile::ring_count() const {
  return std::min(header().ring_count.load(std::memory_order_acquire), facts_.ring_capacity);
}

trace::RingHeader& RingFile::ring(uint32_t index) const {
  return *reinterpret_cast<trace::RingHeader*>(memory_ + trace::RingOffset(index, facts_.ring_bytes));
}

const std::byte* RingFile::ring_data(uint32_t index) const {
  return memory_ + trace::RingOffset(index, facts_.ring_bytes) + trace::kRingHeaderBytes;
}

uint64_t RingFile::lost_without_ring() const {
  return header().lost_without_ring.load(std::memory_order_relaxed);
}

void RingFile::Pause() const { header().mode.store(0, std::memory_order_relaxed); }

void RingFile::Detach() const { header().detached.store(1, std::memory_order_release); }

std::optional<RingFileName> ParseRingFileName(const std::string& name) {
  RingFileName parsed;
  const char* end = name.data() + name.size();
  const auto pid = std::from_chars(name.data(), end, parsed.pid);
  if (pid.ec != std::errc() || pid.ptr == end || *pid.ptr != '.') return std::nullopt;
  const auto image = std::from_chars(pid.ptr + 1, end, parsed.image);
  if (image.ec != std::errc() ||
      std::string_view(image.ptr, static_cast<size_t>(end - image.ptr)) != ".ring") {
    return std::nullopt;
  }
  return parsed;
}

}  // namespace vramscope::collector
