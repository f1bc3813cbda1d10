// SPDX-License-Identifier: Apache-2.0
// The savings that a report suggests: the effect of common changes to a training program, predicted for one
// recorded step.
//
// The list of changes is fixed. The list is sorted by reserved bytes, because a GPU runs out of reserved
// memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vramscope::report {

// The effect of one change, or of two combined changes.
struct Saving {
  std::string title;       // in the form of `vramscope whatif --compare`: "checkpoint=all"
  std::string cost;        // cost in words, without the time: "half the samples a step"
  const char* kind = "";   // source of the figures: "transformed" or "re-run" (glossary)
  size_t levers = 1;       // number of combined changes
  uint64_t allocated = 0;  // peak of allocated bytes with the change
  uint64_t reserved = 0;
  std::string phase;                 // phase of the peak with the change
  std::optional<uint64_t> extra_ns;  // added nanoseconds per step; nullopt = unknown
  std::vector<std::string> code;     // lines of Python code to write
  std::vector<std::string> notes;
};

struct Savings {
  uint32_t step = 0;       // number of the step that the estimates come from
  uint64_t allocated = 0;  // peak of allocated bytes as recorded
  uint64_t reserved = 0;
  std::vector<Saving> cases;   // all changes that affect a peak, fewest reserved bytes first
  std::vector<Saving> reruns;  // changes measured by re-runs, fewest reserved bytes first

  // Returns the best case for each lever that saves at least 1 % of reserved memory and raises no peak. The
  // result has at most `most` cases, best first. If an allocator setting saves 10 % or more and is not among
  // the best cases, it replaces the last case. The reason is that an allocator setting does not slow the
  // training.
  [[nodiscard]] std::vector<const Saving*> Worthwhile(size_t most) const;
  // Like Worthwhile, plus the best re-run for each further lever that saves at least 1 %. Returns at most
  // `most` cases and `most` re-runs, sorted by reserved bytes.
  [[nodiscard]] std::vector<const Saving*> Advised(size_t most) const;
  [[nodiscard]] bool IsRerun(const Saving& saving) const {
    return !reruns.empty() && &saving >= reruns.data() && &saving < reruns.data() + reruns.size();
  }
};

// Comparison for sorting: fewest reserved bytes first; on a tie, fewest allocated bytes first.
[[nodiscard]] bool TakesLess(const Saving& a, const Saving& b);

}  // namespace vramscope::report
