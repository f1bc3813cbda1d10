// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/testing/ring_writer.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace vramscope::collector::testing {

using trace::RingState;

namespace {

uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t NowTicks(trace::ClockKind clock) {
#if defined(__x86_64__)
  if (clock == trace::ClockKind::kTsc) return __builtin_ia32_rdtsc();
#endif
  (void)clock;
  return NowNs();
}

}  // namespace

RingMemory::RingMemory(const RingSetup& setup)
    : bytes_(trace::RingOffset(setup.rings, setup.ring_bytes)),
      ring_bytes_(setup.ring_bytes),
      mapped_(false) {
  memory_ = static_cast<std::byte*>(std::aligned_alloc(4096, bytes_));
  std::memset(memory_, 0, bytes_);
  FillHeader(setup);
}

RingMemory::RingMemory(const RingSetup& setup, const std::string& folder, uint32_t image)
    : bytes_(trace::RingOffset(setup.rings, setup.ring_bytes)), ring_bytes_(setup.ring_bytes), mapped_(true) {
  const std::string path = folder + "/" + std::to_string(setup.pid) + "." + std::to_string(image) + ".ring";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes_)) != 0) _exit(90);
  memory_ = static_cast<std::byte*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  close(fd);
  if (memory_ == MAP_FAILED) _exit(91);
  FillHeader(setup);
}

RingMemory::~RingMemory() {
  if (mapped_) {
    munmap(memory_, bytes_);
  } else {
    std::free(memory_);
  }
}

void RingMemory::FillHeader(const RingSetup& setup) {
  trace::RingFileHeader& to = header();
  to.version = trace::kRingVersion;
  to.pid = setup.pid;
  to.parent_pid = static_cast<uint32_t>(getppid());
  to.clock = setup.clock;
  to.ring_bytes = setup.ring_bytes;
  to.ring_capacity = setup.rings;
  to.created_ticks = NowTicks(setup.clock);
  to.created_monotonic_ns = NowNs();
  to.forked_from = setup.forked_from;
  to.forked_from_image = setup.forked_from_image;
  to.first_own_string = setup.first_own_string;
  to.mode.store(trace::kModeRecord);
  std::atomic_ref<uint64_t>(to.magic).store(trace::kRingMagic, std::memory_order_release);
}

trace::RingFileHeader& RingMemory::header() const {
  return *reinterpret_cast<trace::RingFileHeader*>(memory_);
}

trace::RingHeader& RingMemory::ring(uint32_t index) const {
  return *reinterpret_cast<trace::RingHeader*>(memory_ + trace::RingOffset(index, ring_bytes_));
}

std::byte* RingMemory::ring_data(uint32_t index) const {
  return memory_ + trace::RingOffset(index, ring_bytes_) + trace::kRingHeaderBytes;
}

RingWriter::RingWriter(RingMemory& memory, uint32_t os_thread)
    : file_(&memory.header()), ring_bytes_(memory.ring_bytes()) {
  static std::mutex taking;
  const std::lock_guard lock(taking);
  const uint32_t used = memory.header().ring_count.load(std::memory_order_acquire);
  uint32_t index = 0;
  for (; index < used; ++index) {
    auto expected = static_cast<uint32_t>(RingState::kFree);
    if (memory.ring(index).state.compare_exchange_strong(expected, static_cast<uint32_t>(RingState::kLive)))
      break;
  }
  if (index == memory.header().ring_capacity) _exit(92);
  header_ = &memory.ring(index);
  header_->os_thread = os_thread;
  header_->lost_count.store(0, std::memory_order_relaxed);
  ++header_->generation;
  header_->state.store(static_cast<uint32_t>(RingState::kLive), std::memory_order_release);
  if (index == used) memory.header().ring_count.store(used + 1, std::memory_order_release);
  data_ = memory.ring_data(index);
  head_ = header_->head.load(std::memory_order_relaxed);
}

std::byte* RingWriter::Place(uint64_t bytes) {
  const uint64_t to_end = ring_bytes_ - head_ % ring_bytes_;
  const uint64_t padding = to_end < bytes ? to_end : 0;
  while (head_ + padding + bytes - header_->tail.load(std::memory_order_acquire) > ring_bytes_) {
    if (file_->detached.load(std::memory_order_relaxed) != 0) return nullptr;
    sched_yield();
  }
  if (padding != 0) {
    auto* record = reinterpret_cast<trace::RawRecord*>(data_ + head_ % ring_bytes_);
    record->type = trace::kRawPadding;
    record->units = static_cast<uint8_t>(padding / trace::kRawUnitBytes);
    head_ += padding;
  }
  return data_ + head_ % ring_bytes_;
}

void RingWriter::Record(uint8_t type, uint16_t small, uint32_t id, uint64_t ticks,
                        std::span<const uint64_t> words) {
  const uint8_t units = trace::RawUnitsForWords(words.size());
  const uint64_t bytes = units * trace::kRawUnitBytes;
  const bool recording = file_->detached.load(std::memory_order_relaxed) == 0;
  std::byte* place = recording ? Place(bytes) : nullptr;
  if (place == nullptr) {
    CountLost(1, ticks);
    return;
  }
  const trace::RawRecord record = {type, units, small, id, ticks, {}};
  std::memcpy(place, &record, sizeof(record));
  std::memset(place + offsetof(trace::RawRecord, word), 0, bytes - offsetof(trace::RawRecord, word));
  if (!words.empty()) std::memcpy(place + offsetof(trace::RawRecord, word), words.data(), words.size_bytes());
  head_ += bytes;
  header_->head.store(head_, std::memory_order_release);
}

void RingWriter::Alloc(uint64_t ticks, uint64_t address, uint64_t size, uint64_t device, uint64_t total) {
  const uint64_t words[] = {address, size, 0, size, total, 0};
  Record(static_cast<uint8_t>(trace::EventType::kAlloc), static_cast<uint16_t>(device), 0, ticks, words);
}

void RingWriter::Free(uint64_t ticks, uint64_t address, uint64_t device, uint64_t total) {
  const uint64_t words[] = {address, 0, total, 0};
  Record(static_cast<uint8_t>(trace::EventType::kFree), static_cast<uint16_t>(device), 0, ticks, words);
}

void RingWriter::Mark(uint64_t ticks, trace::MarkKind kind, uint64_t value, uint32_t name) {
  const uint64_t words[] = {value, 0};
  Record(static_cast<uint8_t>(trace::EventType::kMark), static_cast<uint16_t>(kind), name, ticks, words);
}

void RingWriter::DefineString(uint64_t ticks, uint32_t id, std::string_view text) {
  std::vector<uint64_t> words(1 + (text.size() + 7) / 8);
  words[0] = text.size();
  std::memcpy(words.data() + 1, text.data(), text.size());
  Record(trace::kRawDefineString, 0, id, ticks, words);
}

void RingWriter::DefineStack(uint64_t ticks, uint32_t id, std::span<const uint64_t> frames) {
  std::vector<uint64_t> words = {frames.size()};
  words.insert(words.end(), frames.begin(), frames.end());
  Record(trace::kRawDefineStack, 0, id, ticks, words);
}

void RingWriter::CountLost(uint64_t count, uint64_t ticks) {
  if (header_->lost_count.load(std::memory_order_relaxed) == 0) header_->lost_first_ticks.store(ticks);
  header_->lost_last_ticks.store(ticks);
  header_->lost_count.fetch_add(count, std::memory_order_release);
}

void RingWriter::Close() {
  header_->state.store(static_cast<uint32_t>(RingState::kClosed), std::memory_order_release);
}

}  // namespace vramscope::collector::testing
