// SPDX-License-Identifier: Apache-2.0
// Messages between the ranks of a communicator: sizes, counts, flags. All processes of the run append to and
// read one file.
//
//   group  number  from    to  process  bytes       rank 1 waits for message 3 of rank 0 to all. It reads on
//   9f31        3     0   all     4711      8       from where it stopped until that message is there
//   9f31        1     1     0     4712     16
//
// group_calls.h explains why there is no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace vramscope::simulated {

// Identifies a message. All ranks of a group count 1, 2, ... for each pair, and for messages to all.
struct MessageKey {
  static constexpr int kToAll = -1;
  uint64_t group;
  uint32_t number;
  int from, to;

  bool operator<(const MessageKey& other) const {
    return std::tie(group, number, from, to) < std::tie(other.group, other.number, other.from, other.to);
  }
};

class Messages {
 public:
  explicit Messages(std::string file) : file_(std::move(file)) {}

  // False if the file cannot be written, or has reached kMostFileBytes.
  bool Tell(const MessageKey& key, const void* bytes, size_t count);

  // Waits for the message, and returns its bytes. Nothing after `patience_ms`, or if the sending process has
  // ended. No later call then waits for that rank.
  std::optional<std::vector<unsigned char>> Await(const MessageKey& key, int patience_ms);

  static constexpr uint64_t kMostFileBytes = uint64_t{256} << 20;

 private:
  using Rank = std::pair<uint64_t, int>;  // of a group

  void ReadOn();
  bool HasEnded(const Rank& rank) const;

  std::string file_;
  std::mutex mutex_;
  uint64_t read_ = 0;  // bytes of the file
  std::map<MessageKey, std::vector<unsigned char>> told_;
  std::map<Rank, int> processes_;
  std::set<Rank> silent_;
};

}  // namespace vramscope::simulated
