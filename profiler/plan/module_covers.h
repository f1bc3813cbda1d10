// SPDX-License-Identifier: Apache-2.0
// Sets of modules that free enough at every moment that was seen to be too large, the shortest first.
//
// Why not all sets: 30 modules have a thousand million. A set is decided module by module; what is decided,
// and the least that the others must add when parts of modules would count too, bounds what any set with
// these decisions takes. The decisions with the least bound are gone on with, so the first whole set that
// comes out is the shortest there is.
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

// At one moment: what is alive with nothing checkpointed, and what each module frees.
struct Cut {
  uint64_t live = 0;
  std::vector<uint64_t> freed;

  [[nodiscard]] uint64_t Left(const std::vector<bool>& chosen) const;
};

class Covers {
 public:
  // Of each module its time. Sets that leave at most `wanted` at every cut.
  Covers(const std::vector<double>& ns, const std::vector<Cut>& cuts, uint64_t wanted);

  // The next that takes less than `below_ns`; nothing when there is none, or when `work` decisions were
  // looked at. `cuts` may have grown since.
  std::optional<std::vector<bool>> Next(double below_ns, uint64_t& work);
  // No set that is still to come takes less.
  [[nodiscard]] double AtLeastNs() const;

 private:
  struct Decisions {
    double at_least_ns = 0;
    size_t decided = 0;  // of order_
    std::vector<bool> chosen;

    bool operator<(const Decisions& other) const {  // for a queue whose top is the shortest
      if (at_least_ns != other.at_least_ns) return at_least_ns > other.at_least_ns;
      return decided < other.decided;  // of equals what is nearly whole
    }
  };
  [[nodiscard]] double Bound(const Decisions& decisions) const;

  const std::vector<double>& ns_;
  const std::vector<Cut>& cuts_;
  uint64_t wanted_;
  std::vector<size_t> order_;  // the longest first
  std::vector<size_t> place_;  // in it, by module
  std::priority_queue<Decisions> open_;
  mutable std::vector<std::vector<size_t>> by_price_;  // of each cut: its modules, the cheapest byte first
};

}  // namespace vramscope::plan
