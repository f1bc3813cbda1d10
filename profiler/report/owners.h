// SPDX-License-Identifier: Apache-2.0
// Who holds the memory at a moment: by module, by parameter, by op and by stack.
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

// Where a block was allocated, in words; "" if unknown.
struct Place {
  std::string_view module;
  std::string_view node;
  std::string_view op;
  uint32_t as_in_step = 0;
};
// The module comes from the block's name if it has one (parameters, their gradients and optimizer state).
// Otherwise it is the module in which the block was allocated.
[[nodiscard]] Place PlaceOf(const classify::Analysis& analysis, classify::Origins& origins,
                            model::BlockId block);

// The frame that represents a stack (text::TellingFrame); "" for an unknown stack.
[[nodiscard]] std::string_view FrameToShow(const model::Run& run, uint32_t stack);

// FrameToShow with a cache: many blocks share a stack. `run` must outlive it.
class FramesToShow {
 public:
  explicit FramesToShow(const model::Run& run) : run_(run) {}
  [[nodiscard]] std::string_view Of(uint32_t stack);

 private:
  const model::Run& run_;
  std::unordered_map<uint32_t, std::string_view> by_stack_;
};

// The frames of a stack for a flame graph, outermost first. The interpreter's frames are left out unless
// there are no others.
[[nodiscard]] std::vector<std::string_view> FramesToDraw(const model::Run& run, uint32_t stack);

struct Owners {
  std::vector<Owner> owners;              // by kind, largest first
  std::map<Owner::Kind, uint64_t> known;  // bytes with a known owner of that kind
  uint64_t inferred_blocks = 0;           // number of blocks whose place comes from a deep step
};

// `blocks`: those alive after event `at`. At most `top` owners of each kind; 0 = all.
[[nodiscard]] Owners FindOwners(const classify::Analysis& analysis, classify::Origins& origins,
                                std::span<const model::BlockId> blocks, model::EventIndex at, uint32_t top);

}  // namespace vramscope::report
