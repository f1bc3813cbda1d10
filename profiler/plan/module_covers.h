// SPDX-License-Identifier: Apache-2.0
// Chooses modules for checkpointing. Finds sets of modules that together free enough memory at every moment
// that needs too much. The set with the least added time comes first.
//
// The search decides module by module whether the set contains it. It always continues with the partial set
// that has the lowest bound. The bound is the time of the chosen modules plus the least time in which
// undecided modules, or fractions of them, free the remaining bytes at the hardest moment. Therefore the
// first complete set is the fastest.
//
//   One moment: 24 bytes are alive, and at most 16 may stay alive, so 8 must be freed.
//   a frees 6 in 3 ms, b frees 4 in 1 ms, c frees 5 in 4 ms.
//
//   undecided       b and 4/6 of a         at least 3.0 ms
//   with a          a and half of b        at least 3.5 ms
//   without a       b and 4/5 of c         at least 4.2 ms      the first set is {a, b} with 4 ms
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace vramscope::plan {

// One moment: the bytes alive without checkpoints, and the bytes that each module frees.
struct Cut {
  uint64_t live = 0;
  std::vector<uint64_t> freed;

  [[nodiscard]] uint64_t Left(const std::vector<bool>& chosen) const;
};

class Covers {
 public:
  // `ns` is the added time of each module. The sets leave at most `wanted` bytes alive at every cut.
  Covers(const std::vector<double>& ns, const std::vector<Cut>& cuts, uint64_t wanted);

  // Returns the next set that takes less than `below_ns`; true = the set contains the module. Returns nothing
  // if there is no such set, or after `work` decisions. Subtracts the number of decisions from `work`. The
  // caller may append cuts between two calls.
  std::optional<std::vector<bool>> Next(double below_ns, uint64_t& work);
  // Returns a lower bound for the time of all following sets.
  [[nodiscard]] double AtLeastNs() const;

 private:
  struct Decisions {
    double at_least_ns = 0;
    size_t decided = 0;  // number of modules of order_ that are decided
    std::vector<bool> chosen;

    bool operator<(const Decisions& other) const {  // the top of the queue has the least time
      if (at_least_ns != other.at_least_ns) return at_least_ns > other.at_least_ns;
      return decided < other.decided;  // if equal: more decided modules first
    }
  };
  [[nodiscard]] double Bound(const Decisions& decisions) const;

  const std::vector<double>& ns_;
  const std::vector<Cut>& cuts_;
  uint64_t wanted_;
  std::vector<size_t> order_;  // longest time first
  std::vector<size_t> place_;  // for each module: index in order_
  std::priority_queue<Decisions> open_;
  mutable std::vector<std::vector<size_t>> by_price_;  // for each cut: modules, least time per byte first
};

}  // namespace vramscope::plan
