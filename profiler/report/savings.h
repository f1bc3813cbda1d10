// SPDX-License-Identifier: Apache-2.0
// What changes to the training program would save: figures that a report is given, and which of them it
// advises.
//
// Why given: a report of what was recorded needs nothing of the what-if library; experiment/savings.h asks
// it. Why ordered by reserved bytes: they are what a GPU runs out of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vramscope::report {

// One change, or two together.
struct Saving {
  std::string title;       // "checkpoint=all": as `vramscope whatif --compare` takes it
  std::string cost;        // in words, without the time: "half the samples a step"
  const char* kind = "";   // where the figures come from: "transformed", "re-run"
  size_t levers = 1;       // how many changes it is
  uint64_t allocated = 0;  // the peaks with it
  uint64_t reserved = 0;
  std::string phase;                 // where the peak is then
  std::optional<uint64_t> extra_ns;  // of a step; nullopt = nothing is said about time
  std::vector<std::string> code;     // to write
  std::vector<std::string> notes;
};

struct Savings {
  uint32_t step = 0;       // that the estimates are from
  uint64_t allocated = 0;  // the peaks as recorded
  uint64_t reserved = 0;
  std::vector<Saving> cases;   // all that change a peak, fewest reserved bytes first
  std::vector<Saving> reruns;  // PyTorch's own figures, where the program was run again; in the same order

  // The best of each single change that saves at least 1 % of reserved memory and takes no more of anything,
  // best first, at most `most`. The last place is that of a setting, which costs the training nothing, where
  // one saves a tenth.
  [[nodiscard]] std::vector<const Saving*> Worthwhile(size_t most) const;
  // Those and the best re-run of each single change that saves as much, at most `most` of each kind; best
  // first.
  [[nodiscard]] std::vector<const Saving*> Advised(size_t most) const;
  [[nodiscard]] bool IsRerun(const Saving& saving) const {
    return !reruns.empty() && &saving >= reruns.data() && &saving < reruns.data() + reruns.size();
  }
};

// Fewest reserved bytes first, then fewest allocated.
[[nodiscard]] bool TakesLess(const Saving& a, const Saving& b);

}  // namespace vramscope::report
