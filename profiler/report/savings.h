// SPDX-License-Identifier: Apache-2.0
// The savings that a report suggests: usual changes to a training program, predicted for one recorded step.
//
// The list is fixed. Ranked by reserved bytes, because a GPU runs out of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vramscope::report {

// One change, or two combined.
struct Saving {
  std::string title;       // "checkpoint=all": as `vramscope whatif --compare` accepts it
  std::string cost;        // in words, without the time: "half the samples a step"
  const char* kind = "";   // where the figures come from: "transformed", "re-run"
  size_t levers = 1;       // number of changes that it combines
  uint64_t allocated = 0;  // the peaks with the change
  uint64_t reserved = 0;
  std::string phase;                 // phase of the peak with the change
  std::optional<uint64_t> extra_ns;  // per step; nullopt = unknown
  std::vector<std::string> code;     // lines to write
  std::vector<std::string> notes;
};

struct Savings {
  uint32_t step = 0;       // the step that the estimates come from
  uint64_t allocated = 0;  // the peaks as recorded
  uint64_t reserved = 0;
  std::vector<Saving> cases;   // all that change a peak, fewest reserved bytes first
  std::vector<Saving> reruns;  // PyTorch's own figures from re-runs; in the same order

  // The best case of each single change that saves at least 1 % of reserved memory and raises no peak. Best
  // first, at most `most`. The last place is for an allocator setting that saves a tenth or more. Such a
  // setting costs the training nothing.
  [[nodiscard]] std::vector<const Saving*> Worthwhile(size_t most) const;
  // Like Worthwhile, plus the best re-run of each single change that saves at least 1 %. At most `most` of
  // each kind.
  [[nodiscard]] std::vector<const Saving*> Advised(size_t most) const;
  [[nodiscard]] bool IsRerun(const Saving& saving) const {
    return !reruns.empty() && &saving >= reruns.data() && &saving < reruns.data() + reruns.size();
  }
};

// Fewest reserved bytes first, then fewest allocated.
[[nodiscard]] bool TakesLess(const Saving& a, const Saving& b);

}  // namespace vramscope::report
