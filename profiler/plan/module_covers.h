// SPDX-License-Identifier: Apache-2.0
// Finds sets of modules that free enough at each moment that needs too much memory, the fastest set first.
//
// The search decides on one module after the other, and extends the partial set with the lowest bound. The
// bound is the set's time plus the least time in which undecided modules free the rest, if fractions of
// modules could be chosen. So the first complete set is the fastest.
//
//   cut at t: 24 alive, 16 wanted       a frees 6 in 3 ms, b 4 in 1 ms, c 5 in 4 ms
//   {}           b and 4/6 of a         >= 3.0 ms
//   {a ...}      a, then half of b      >= 3.5 ms
//   {no a ...}   b, then 4/5 of c       >= 4.2 ms      so {a, b} with 4 ms comes first
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
  // `ns`: the time of each module. Finds sets that leave at most `wanted` bytes at every cut.
  Covers(const std::vector<double>& ns, const std::vector<Cut>& cuts, uint64_t wanted);

  // The next set that takes less than `below_ns`. Nothing if there is none, or after `work` decisions.
  // Subtracts the decisions from `work`. `cuts` may have grown since the last call.
  std::optional<std::vector<bool>> Next(double below_ns, uint64_t& work);
  // A lower bound for the time of all further sets.
  [[nodiscard]] double AtLeastNs() const;

 private:
  struct Decisions {
    double at_least_ns = 0;
    size_t decided = 0;  // number of modules of order_ that are decided
    std::vector<bool> chosen;

    bool operator<(const Decisions& other) const {  // for a queue whose top has the least time
      if (at_least_ns != other.at_least_ns) return at_least_ns > other.at_least_ns;
      return decided < other.decided;  // if equal: the one nearer to completion
    }
  };
  [[nodiscard]] double Bound(const Decisions& decisions) const;

  const std::vector<double>& ns_;
  const std::vector<Cut>& cuts_;
  uint64_t wanted_;
  std::vector<size_t> order_;  // longest time first
  std::vector<size_t> place_;  // by module: its index in order_
  std::priority_queue<Decisions> open_;
  mutable std::vector<std::vector<size_t>> by_price_;  // by cut: its modules, least time per byte first
};

}  // namespace vramscope::plan
