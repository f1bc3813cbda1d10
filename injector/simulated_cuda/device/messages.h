// SPDX-License-Identifier: Apache-2.0
// Sends small messages (sizes, counts, flags) between the ranks of a communicator. All processes of the run
// append messages to one file and read this file.
//
//   group  number  from    to  process  bytes       rank 1 waits for message 3 of rank 0 to all ranks. It
//   9f31        3     0   all     4711      8       reads new lines of the file until this message arrives
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

// Identifies a message. All ranks of a group number the messages of each pair of ranks 1, 2, ...; messages to
// all ranks have their own numbers.
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

  // Appends a message. False if the file cannot be written, has reached kMostFileBytes, or the message is
  // longer than 1 MiB.
  bool Tell(const MessageKey& key, const void* bytes, size_t count);

  // Waits for the message and returns its bytes. Returns nullopt after `patience_ms`, or if the sending
  // process has ended. Later calls do not wait for that rank again.
  std::optional<std::vector<unsigned char>> Await(const MessageKey& key, int patience_ms);

  static constexpr uint64_t kMostFileBytes = uint64_t{256} << 20;

 private:
  using Rank = std::pair<uint64_t, int>;  // group, rank

  void ReadOn();
  bool HasEnded(const Rank& rank) const;

  std::string file_;
  std::mutex mutex_;
  uint64_t read_ = 0;  // bytes of the file read so far
  std::map<MessageKey, std::vector<unsigned char>> told_;
  std::map<Rank, int> processes_;
  std::set<Rank> silent_;
};

}  // namespace vramscope::simulated
