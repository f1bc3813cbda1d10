// SPDX-License-Identifier: Apache-2.0
// The usual changes to a training program, asked of one recorded step: what a report advises.
//
// Why a fixed list and not a search: each change is one that people make in a minute and that reads as one
// line. Why by reserved bytes: they are what a GPU runs out of.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::whatif {

// One change, or two together.
struct Saving {
  std::string title;       // "checkpoint=all": as `vramscope whatif --compare` takes it
  std::string cost;        // in words, without the time: "half the samples a step"
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

// Nothing where the run lacks what an answer needs: a GPU, a deep step, settings that can be modelled. Steps
// with very many blocks are asked fewer questions, so that a report does not wait: at most some 0.3 s beyond
// reading the trace up to that step. `reruns`: those that were kept, of a recording with this baseline.
using RerunsOf = std::function<std::vector<Saving>(const Baseline& baseline)>;
[[nodiscard]] std::optional<Savings> FindSavings(const classify::Analysis& analysis,
                                                 model::DeviceIndex device, const RerunsOf& reruns = {});

}  // namespace vramscope::whatif
