// SPDX-License-Identifier: Apache-2.0
// Who holds the memory of a moment: by module, by parameter, by op and by stack.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"
#include "profiler/report/answer.h"

namespace vramscope::report {

// Where a block comes from, in words; "" where it is not known.
struct Place {
  std::string_view module;
  std::string_view node;
  std::string_view op;
  uint32_t as_in_step = 0;
};
// The module is the one that the block's name tells (parameters, their gradients and optimizer state), else
// that of its birth.
[[nodiscard]] Place PlaceOf(const classify::Analysis& analysis, classify::Origins& origins,
                            model::BlockId block);

// The frame that stands for a stack (text::TellingFrame); "" for an unknown stack.
[[nodiscard]] std::string_view FrameToShow(const model::Run& run, uint32_t stack);

// The same, remembered: many blocks have one stack. `run` must outlive it.
class FramesToShow {
 public:
  explicit FramesToShow(const model::Run& run) : run_(run) {}
  [[nodiscard]] std::string_view Of(uint32_t stack);

 private:
  const model::Run& run_;
  std::unordered_map<uint32_t, std::string_view> by_stack_;
};

// The frames of a stack for a flame graph, outermost first: without those of the interpreter, unless it has
// no others.
[[nodiscard]] std::vector<std::string_view> FramesToDraw(const model::Run& run, uint32_t stack);

struct Owners {
  std::vector<Owner> owners;              // by kind, largest first
  std::map<Owner::Kind, uint64_t> known;  // bytes whose owner of that kind is known
  uint64_t inferred_blocks = 0;           // whose place is taken from a deep step
};

// `blocks`: those alive after event `at`. At most `top` owners of each kind; 0 = all.
[[nodiscard]] Owners FindOwners(const classify::Analysis& analysis, classify::Origins& origins,
                                std::span<const model::BlockId> blocks, model::EventIndex at, uint32_t top);

}  // namespace vramscope::report
