// SPDX-License-Identifier: Apache-2.0
// Published errors of predictions (table "Bounds" of docs/accuracy.md), and a prediction's error band.
//
// A plan that fits by less than the error counts as not fitting. tests/whatif_accuracy/bounds.py generates
// this table and the page.
//
//                    predicted
//   ├─── less by ───────┼────── more by ──────┤     of the truth, 99 of 100 cases each way
//   (and a block or a segment less)       (and a block or a segment more)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::whatif {

// A bound is a share of the true value, in percent. kExact: the prediction equals the true value, and no
// bytes are added.
inline constexpr double kExact = -1;

// Bounds that held in 99 of 100 cases of one lever, or of its settings with one prefix.
struct PublishedBounds {
  const char* lever;  // "offload" or "offload=activations"
  uint32_t cells;     // cases: programs, each with a change
  double allocated_more;
  double allocated_less;
  double reserved_more;
  double reserved_less;
};
[[nodiscard]] std::span<const PublishedBounds> AllPublishedBounds();

// One side of the error band of a peak. The truth is between predicted / (1 + share) - bytes and predicted /
// (1 - share) + bytes.
//
// Example: 1,900 MiB predicted, share 0.05, 20 MiB. The truth is at most 1,900 / 0.95 + 20 = 2,020 MiB.
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
  uint32_t cells = 0;                     // cases of the least measured lever; 0 = no lever
  std::vector<std::string> not_measured;  // levers without a row: the worst bounds count, at least 5 %

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

// One row for all changes that a re-run answers.
inline constexpr std::string_view kReruns = "re-run";

// The confidence of the bounds, in each direction.
inline constexpr double kBandConfidence = 0.99;

// Band for several changes, each "checkpoint=all" or just "checkpoint": their shares add up. The longest row
// that matches the start of a change counts. Unless all changes are exact, adds one unsplit block (1 MiB,
// allocated) and one segment (20 MiB, reserved).
[[nodiscard]] ErrorBand BandOf(std::span<const std::string> changes);

}  // namespace vramscope::whatif
