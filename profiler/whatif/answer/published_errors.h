// SPDX-License-Identifier: Apache-2.0
// How far predictions were from the truth where somebody looked: the table "Bounds" of docs/accuracy.md, and
// what follows from it for a prediction.
//
// Why in the code: a figure without its error is half an answer, and what fits by less than the error does
// not fit. A test holds this table against the page; tests/whatif_accuracy/bounds.py makes both.
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

// A share of the truth in per cent; kExact: the truth is what was predicted, and no byte is added.
inline constexpr double kExact = -1;

// What the truth kept to in 99 of 100 cases of one lever, or of those of its settings that begin alike.
struct PublishedBounds {
  const char* lever;  // "offload" or "offload=activations"
  uint32_t cells;     // cases: programs, each with a change
  double allocated_more;
  double allocated_less;
  double reserved_more;
  double reserved_less;
};
[[nodiscard]] std::span<const PublishedBounds> AllPublishedBounds();

// One side of one peak: truth = predicted / (1 - share) + bytes at most, predicted / (1 + share) - bytes at
// least.
struct Allowance {
  double share = 0;
  uint64_t bytes = 0;

  [[nodiscard]] uint64_t AtMost(uint64_t predicted) const;
  [[nodiscard]] uint64_t AtLeast(uint64_t predicted) const;
};

// What the truth is expected not to exceed.
struct ErrorBand {
  Allowance allocated_more;
  Allowance allocated_less;
  Allowance reserved_more;
  Allowance reserved_less;
  uint32_t cells = 0;  // of the lever that was measured least; 0 = no lever
  std::vector<std::string>
      not_measured;  // levers without a row: the worst of all, 5 % at least, stands for them

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

// Stands among changes for those that a re-run of the recorded program answers, all of them together.
inline constexpr std::string_view kReruns = "re-run";

// The confidence of the bounds, each way.
inline constexpr double kBandConfidence = 0.99;

// For changes together, "checkpoint=all" or just "checkpoint": their shares add up. Of rows that a change
// begins with, the longest counts. Unless all of them are exact there is beside the shares one block
// that was not worth splitting (1 MiB, allocated) and one segment (20 MiB, reserved).
[[nodiscard]] ErrorBand BandOf(std::span<const std::string> changes);

}  // namespace vramscope::whatif
