// SPDX-License-Identifier: Apache-2.0
// The published errors of predictions (table "Bounds" of docs/accuracy.md), and the error band of a
// prediction that follows from them.
//
// If a plan fits only by less than the error, it counts as not fitting. tests/whatif_accuracy/bounds.py
// generates this table and the page in docs.
//
//                prediction
//   ├─── less ───────┼─────── more ─────┤     the true value lies in this range, in 99 of 100 cases for each
//                                           side; one block or segment is added on each side
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::whatif {

// A bound is in percent of the true value. kExact means that the prediction equals the true value, and that
// no bytes are added.
inline constexpr double kExact = -1;

// The bounds that held in 99 of 100 cases of one lever, or of those settings of a lever that begin with
// `lever`. `more` is by how much the true peak exceeds the prediction, `less` is by how much it is lower.
struct PublishedBounds {
  const char* lever;  // "offload" or "offload=activations"
  uint32_t cells;     // number of measured cases; a case is one program with one change
  double allocated_more;
  double allocated_less;
  double reserved_more;
  double reserved_less;
};
[[nodiscard]] std::span<const PublishedBounds> AllPublishedBounds();

// One side of the error band around a predicted peak. The true value is between predicted / (1 + share) -
// bytes and predicted / (1 - share) + bytes.
//
// Example: predicted 1,900 MiB, share 0.05, bytes 20 MiB. The true value is at most 1,900 / 0.95 + 20 = 2,020
// MiB.
struct Allowance {
  double share = 0;
  uint64_t bytes = 0;

  [[nodiscard]] uint64_t AtMost(uint64_t predicted) const;
  [[nodiscard]] uint64_t AtLeast(uint64_t predicted) const;
};

struct ErrorBand {
  Allowance allocated_more;
  Allowance allocated_less;
  Allowance reserved_more;
  Allowance reserved_less;
  uint32_t cells = 0;                     // number of cases of the lever with the fewest cases; 0 = no lever
  std::vector<std::string> not_measured;  // levers that are not in the table, so the worst bounds are used

  [[nodiscard]] uint64_t AllocatedAtMost(uint64_t predicted) const {
    return allocated_more.AtMost(predicted);
  }
  [[nodiscard]] uint64_t AllocatedAtLeast(uint64_t predicted) const {
    return allocated_less.AtLeast(predicted);
  }
  [[nodiscard]] uint64_t ReservedAtMost(uint64_t predicted) const { return reserved_more.AtMost(predicted); }
  [[nodiscard]] uint64_t ReservedAtLeast(uint64_t predicted) const {
    return reserved_less.AtLeast(predicted);
  }
};

// Name of the row that is used for all changes answered by a re-run.
inline constexpr std::string_view kReruns = "re-run";

// Confidence of each bound: 99 of 100 cases.
inline constexpr double kBandConfidence = 0.99;

// Returns the error band for several changes. A change is "checkpoint=all" or just "checkpoint". The shares
// of the changes are added. For each change, the longest row name that the change begins with is used. Unless
// all changes are exact, the band also gets one unsplit block (1 MiB of allocated bytes) and one segment (20
// MiB of reserved bytes).
[[nodiscard]] ErrorBand BandOf(std::span<const std::string> changes);

}  // namespace vramscope::whatif
