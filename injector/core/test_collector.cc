// SPDX-License-Identifier: Apache-2.0
#include "injector/core/test_collector.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace vramscope::injector {
namespace {

trace::RingHeader* RingOf(trace::RingFileHeader* file, uint32_t index) {
  return reinterpret_cast<trace::RingHeader*>(reinterpret_cast<char*>(file) +
                                              trace::RingOffset(index, file->ring_bytes));
}

}  // namespace

TestCollector::TestCollector(const std::string& options) {
  std::string pattern =
      std::filesystem::exists("/dev/shm") ? "/dev/shm/injector-test-XXXXXX" : "/tmp/injector-test-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
  folder_ = pattern;
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  Lock();
  setenv(trace::kSessionVariable, folder_.c_str(), 1);
  setenv(trace::kCollectorVariable, std::to_string(getpid()).c_str(), 1);
  SetOptions(options);
}

TestCollector::~TestCollector() {
  for (auto& [key, file] : files_) munmap(file.header, file.bytes);
  std::filesystem::remove_all(folder_);
  close(lock_);
}

void TestCollector::Unlock() const { flock(lock_, LOCK_UN); }

void TestCollector::Lock() const { flock(lock_, LOCK_EX); }

void TestCollector::SetOptions(const std::string& options) {
  setenv(trace::kOptionsVariable, options.c_str(), 1);
}

void TestCollector::OpenNewFiles() {
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    int process = 0;
    unsigned image = 0;
    if (std::sscanf(entry.path().filename().c_str(), "%d.%u.ring", &process, &image) != 2) continue;
    if (files_.contains({process, image})) continue;
    const int descriptor = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    const uint64_t bytes = std::filesystem::file_size(entry.path());
    void* const memory =
        bytes == 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (memory == MAP_FAILED) continue;
    auto* const header = static_cast<trace::RingFileHeader*>(memory);
    if (__atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) != trace::kRingMagic) {
      munmap(memory, bytes);
      continue;
    }
    files_[{process, image}] = {header, bytes, {}, {}};
  }
}

void TestCollector::Drain() {
  OpenNewFiles();
  for (auto& [key, file] : files_) {
    const uint32_t rings = file.header->ring_count.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < rings; ++i) DrainRing(key, file, i);
  }
}

void TestCollector::DrainRing(const Key& key, File& file, uint32_t index) {
  trace::RingHeader* const ring = RingOf(file.header, index);
  const char* const data = reinterpret_cast<const char*>(ring) + trace::kRingHeaderBytes;
  const uint32_t state = ring->state.load(std::memory_order_acquire);
  const uint64_t head = ring->head.load(std::memory_order_acquire);
  uint64_t tail = ring->tail.load(std::memory_order_relaxed);
  while (tail != head) {
    const auto* const record =
        reinterpret_cast<const trace::RawRecord*>(data + tail % file.header->ring_bytes);
    if (record->units == 0) throw std::runtime_error("a record of no units");
    Take(key, file, ring->os_thread, record);
    tail += record->units * trace::kRawUnitBytes;
  }
  ring->tail.store(tail, std::memory_order_release);
  if (state == static_cast<uint32_t>(trace::RingState::kClosed)) {
    ring->state.store(static_cast<uint32_t>(trace::RingState::kFree), std::memory_order_release);
  }
}

void TestCollector::Take(const Key& key, File& file, uint32_t thread, const trace::RawRecord* record) {
  if (record->type == trace::kRawPadding) return;
  const uint64_t* const word = record->word;  // continues beyond the first unit
  if (record->type == trace::kRawDefineString) {
    const auto* const text = reinterpret_cast<const char*>(word + 1);
    file.texts[record->id] = std::string(text, word[0]);
    return;
  }
  if (record->type == trace::kRawDefineStack) {
    auto& frames = file.stacks[record->id];
    for (uint64_t i = 0; i < word[0]; ++i) frames.push_back(static_cast<uint32_t>(word[1 + i]));
    return;
  }
  if (record->type >= trace::kEventTypeCount) throw std::runtime_error("an unknown record type");
  TestRecord taken = {.process = key.first,
                      .image = key.second,
                      .thread = thread,
                      .type = record->type,
                      .ticks = record->ticks};
  const trace::RawLayout& layout = trace::kRawLayout[record->type];
  if (layout.small_field != trace::kNoField) taken.field[layout.small_field] = record->small;
  if (layout.id_field != trace::kNoField) taken.field[layout.id_field] = record->id;
  const size_t words = 2 + (record->units - 1u) * 4;
  for (size_t i = 0; i < words; ++i) {
    if (i < layout.word_count) {
      taken.field[layout.word_field[i]] = word[i];
    } else if (word[i] != 0) {
      throw std::runtime_error("an unused word that is not 0");
    }
  }
  records_.push_back(taken);
}

std::vector<TestRecord> TestCollector::Records() const {
  std::vector<TestRecord> sorted = records_;
  std::ranges::stable_sort(sorted, {}, &TestRecord::ticks);
  return sorted;
}

std::vector<TestRecord> TestCollector::Of(trace::EventType type) const {
  std::vector<TestRecord> found = Records();
  std::erase_if(found, [type](const TestRecord& record) { return !record.Is(type); });
  return found;
}

std::string TestCollector::Text(const TestRecord& record, uint64_t id) const {
  Key key = {record.process, record.image};
  while (files_.contains(key)) {
    const File& file = files_.at(key);
    const auto text = file.texts.find(static_cast<uint32_t>(id));
    if (text != file.texts.end()) return text->second;
    if (file.header->forked_from == 0 || id >= file.header->first_own_string) break;
    key = {static_cast<pid_t>(file.header->forked_from), file.header->forked_from_image};
  }
  return "";
}

std::vector<uint32_t> TestCollector::Stack(const TestRecord& record, uint64_t id) const {
  const auto file = files_.find({record.process, record.image});
  if (file == files_.end() || !file->second.stacks.contains(static_cast<uint32_t>(id))) return {};
  return file->second.stacks.at(static_cast<uint32_t>(id));
}

uint64_t TestCollector::Lost() const {
  uint64_t lost = 0;
  for (const auto& [key, file] : files_) {
    lost += file.header->lost_without_ring.load();
    for (uint32_t i = 0; i < file.header->ring_count.load(); ++i)
      lost += RingOf(file.header, i)->lost_count.load();
  }
  return lost;
}

trace::RingFileHeader* TestCollector::Header(pid_t process) const {
  trace::RingFileHeader* latest = nullptr;
  for (const auto& [key, file] : files_) {
    if (key.first == process) latest = file.header;
  }
  return latest;
}

}  // namespace vramscope::injector
