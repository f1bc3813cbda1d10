// SPDX-License-Identifier: Apache-2.0
// How far predictions were from the truth where somebody looked: the table of docs/accuracy.md, "Predicted
// changes", and the bounds that follow from it for a prediction.
//
// Why in the code: a figure without its error is half an answer, and what fits by less than the error does
// not fit. A test holds this table against the page.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::whatif {

// A row of the page: one change, made to several programs. Errors are predicted / re-run - 1, in per cent.
struct PublishedErrors {
  const char* row;    // its name there
  const char* lever;  // of Levers()
  uint32_t cells;     // programs
  double allocated_median;
  double allocated_worst;  // with its sign: below 0 = more was taken than predicted
  double reserved_median;
  double reserved_worst;
};
[[nodiscard]] std::span<const PublishedErrors> AllPublishedErrors();

// What the truth is expected not to exceed.
struct ErrorBand {
  double allocated_share = 0;             // of the predicted peak, either way
  double reserved_share = 0;              // the same
  uint64_t allocated_bytes = 0;           // and so much beside it
  uint64_t reserved_bytes = 0;            // the same
  uint32_t cells = 0;                     // of the lever that was measured least; 0 = no lever
  std::vector<std::string> not_measured;  // levers without a row: the worst of all rows stands for them

  [[nodiscard]] uint64_t AllocatedAtMost(uint64_t predicted) const;
  [[nodiscard]] uint64_t AllocatedAtLeast(uint64_t predicted) const;
  [[nodiscard]] uint64_t ReservedAtMost(uint64_t predicted) const;
  [[nodiscard]] uint64_t ReservedAtLeast(uint64_t predicted) const;
};

// The confidence of the bounds, each way.
inline constexpr double kBandConfidence = 0.99;

// For levers together: their misses add up. Of n measured programs the worst stands at the n / (n + 1)
// quantile of the misses, which are taken to fall off exponentially; from it the 99 % quantile follows, worst
// x ln 100 / ln (n + 1), while fewer than 99 were measured. A row without a miss adds nothing; beside the
// share there is always one block that was not worth splitting (1 MiB, allocated) and one segment (20 MiB,
// reserved).
[[nodiscard]] ErrorBand BandOf(std::span<const std::string_view> levers);

}  // namespace vramscope::whatif
