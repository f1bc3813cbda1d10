// SPDX-License-Identifier: Apache-2.0
// A collector for tests of the injector: creates a session folder and reads the records that a process writes
// into its rings. Implements trace_format/ring.h and raw_record.h independently of the injector's code.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace_format/event.h"
#include "trace_format/ring.h"

namespace vramscope::injector {

struct TestRecord {
  pid_t process = 0;
  uint32_t image = 0;  // number of the process's ring file (session_file.h)
  uint32_t thread = 0;
  uint8_t type = 0;
  uint64_t ticks = 0;
  uint64_t field[trace::kMaxEventFields] = {};

  bool Is(trace::EventType wanted) const { return type == static_cast<uint8_t>(wanted); }
};

class TestCollector {
 public:
  // Creates and locks a session folder. Sets the environment variables that pass the folder and these options
  // to new processes.
  explicit TestCollector(const std::string& options);
  ~TestCollector();  // removes the folder
  TestCollector(const TestCollector&) = delete;
  TestCollector& operator=(const TestCollector&) = delete;

  const std::string& folder() const { return folder_; }
  // Unlock() simulates a killed collector.
  void Unlock() const;
  void Lock() const;
  // Sets the environment for processes started from now on.
  void SetOptions(const std::string& options);

  // Moves the records from the rings to the list that Records() returns.
  void Drain();
  // All records so far, ordered by time. Records of one thread keep their order.
  std::vector<TestRecord> Records() const;
  std::vector<TestRecord> Of(trace::EventType type) const;
  void Clear() { records_.clear(); }

  // Returns the text with this string id in the record's process, or in its parent before the fork; "" if
  // there is none.
  std::string Text(const TestRecord& record, uint64_t id) const;
  std::vector<uint32_t> Stack(const TestRecord& record, uint64_t id) const;

  // Number of dropped records in all rings.
  uint64_t Lost() const;
  size_t FileCount() const { return files_.size(); }
  // Returns the header of the process's latest ring file, or nullptr.
  trace::RingFileHeader* Header(pid_t process) const;

 private:
  struct File {
    trace::RingFileHeader* header = nullptr;
    uint64_t bytes = 0;
    std::map<uint32_t, std::string> texts;
    std::map<uint32_t, std::vector<uint32_t>> stacks;
  };
  using Key = std::pair<pid_t, uint32_t>;

  void OpenNewFiles();
  void DrainRing(const Key& key, File& file, uint32_t index);
  void Take(const Key& key, File& file, uint32_t thread, const trace::RawRecord* record);

  std::string folder_;
  int lock_ = -1;  // descriptor of the folder; locked = the collector is alive
  std::map<Key, File> files_;
  std::vector<TestRecord> records_;
};

}  // namespace vramscope::injector
